package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/sessions/redact"
	"github.com/mcptap/mcptap/tap"
)

// An Excerpt is a part of a session to be saved as a recording of its own.
type Excerpt struct {
	// Selected tells of each frame, by its index, whether it is part of it.
	Selected func(frame int) bool
	// Filter is what selected them, for the header.
	Filter string
	// Redact masks secrets in frames, by the names they are given and by their
	// shape (package redact), and takes out of the header what names the machine.
	Redact bool
	// Moved, if set, is told each frame's number in the session and in the excerpt.
	Moved func(from, to uint64)
}

// Save writes an excerpt to a new file at path. It is a recording as a tap makes
// them: the frames have their bytes and times and are numbered anew, lost records
// stand where frames were left out, and the header says what it is a part of. A file
// that is there already is never touched. It gives how many frames were saved.
func (l *Loaded) Save(path string, e Excerpt) (saved int, err error) {
	if l.source.Foreign() && l.Header != nil && l.Header.Transport != "stdio" {
		return 0, fmt.Errorf("saving an excerpt: this is a recording of a foreign tool over %s, which a journal can't hold", l.Header.Transport)
	}
	if why := l.Nothing(); why != "" {
		return 0, fmt.Errorf("saving an excerpt: there is nothing to save, it is not a recording: %s", why)
	}
	if err := unclaimed(path); err != nil {
		return 0, fmt.Errorf("saving an excerpt: %w", err)
	}
	file, err := create(path)
	if errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("saving an excerpt to %s: %w; choose another name", path, fs.ErrExist)
	}
	if err != nil {
		return 0, fmt.Errorf("saving an excerpt: %w", err)
	}
	x := &excerpter{l: l, Excerpt: e, file: file, via: map[uint32]bool{}}
	x.out = tap.NewWriter(x.header(), tap.WriterOptions{
		Open: func() (tap.File, error) { return file, nil }, Side: x.side, DropSide: file.DropSide,
		Since: func() time.Duration { return x.now },
		Warn:  func(what string) { x.fail(errors.New(what)) },
	})
	x.run()
	_ = file.Close() // at the end of the recording the writer has closed it
	if x.err != nil {
		_ = os.Remove(path)
		for _, suffix := range x.sides {
			file.DropSide(suffix)
		}
		return 0, fmt.Errorf("saving an excerpt: %w", x.err)
	}
	return x.saved, nil
}

// unclaimed makes sure that no file that is left of another recording would become part of
// one at path: a side file, or marks.
func unclaimed(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil // what says so is the attempt to create it
	}
	dir, base := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), journalExt)+"."
	entries, _ := os.ReadDir(dir) // of a folder that is not there, creating the file says so
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), base)
		if ok && (tap.SideName(rest) || "."+rest == marks.Ext) {
			return fmt.Errorf("%s is in the way: it is left of another recording of that name; move it away, or choose another name", filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// excerpter copies records.
type excerpter struct {
	Excerpt
	l     *Loaded
	file  *Recording
	out   *tap.Writer
	now   time.Duration // of the record that is being copied
	frame int           // index of the next
	saved int
	left  tap.Lost      // frames left out since the last record
	since time.Duration // when the last of them crossed
	sides []string
	via   map[uint32]bool // HTTP exchanges that carried a selected frame
	err   error
}

func (x *excerpter) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

func (x *excerpter) side(suffix string) (tap.File, error) {
	f, err := x.file.Side(suffix)
	if err == nil {
		x.sides = append(x.sides, suffix)
	}
	return f, err
}

func (x *excerpter) header() tap.Header {
	h := tap.Header{Transport: "stdio"}
	if x.l.Header != nil {
		h = *x.l.Header
	}
	was := h.Excerpt
	h.Excerpt = &tap.Excerpt{Of: h.Session, Frames: int64(x.l.Len()), Filter: x.Filter, Redacted: x.Redact}
	if was != nil {
		h.Excerpt.Of, h.Excerpt.Frames = was.Of, was.Frames
		h.Excerpt.Redacted = was.Redacted || x.Redact
	}
	if x.Redact {
		h.Cwd, h.Env, h.PID, h.Host = "", nil, 0, nil
		h.Command = redact.Command(h.Command)
		h.Excerpt.Filter = redact.Text(h.Excerpt.Filter) // it may look for a secret
	}
	return h
}

// run reads the recording again, as far as it was read before.
func (x *excerpter) run() {
	x.each(x.findExchange)
	x.frame = 0
	x.each(x.record)
	x.sayLeft()
}

// findExchange notes what exchanges are needed: their moments go along.
func (x *excerpter) findExchange(r *tap.Record) {
	if r.Frame == nil {
		return
	}
	if c := r.Frame.HTTP; c != nil && x.Selected(x.frame) {
		x.via[c.Exchange] = true
	}
	x.frame++
}

func (x *excerpter) each(do func(*tap.Record)) {
	again := &Session{in: tap.NewReader(io.NewSectionReader(x.l.source.file, 0, math.MaxInt64)), file: x.l.source.file, path: x.l.source.path, again: new(tap.Parser)}
	for x.err == nil {
		rec, err := again.Next()
		if errors.Is(err, io.EOF) || err == nil && rec.Offset >= x.l.until {
			break
		}
		if err != nil {
			x.fail(err)
			return
		}
		do(&rec)
	}
}

func (x *excerpter) record(r *tap.Record) {
	if _, at := r.Position(); at > 0 {
		x.now = at
	}
	if r.Missing > 0 {
		x.leave(int64(r.Missing), 0, "missing in the recording that this was taken from")
	}
	switch {
	case r.Bad != nil:
		x.leave(1, r.Size, "not readable in the recording that this was taken from")
	case r.Frame != nil:
		x.takeFrame(r.Frame)
	case r.Event != nil:
		x.sayLeft()
		x.out.Event(r.Event.Name, x.text(r.Event.Detail))
	case r.HTTP != nil:
		if x.via[r.HTTP.Exchange] {
			x.sayLeft()
			x.out.RecordHTTP(x.moment(r.HTTP), nil, nil)
		}
	case r.Lost != nil:
		x.leave(r.Lost.Frames, r.Lost.Bytes, r.Lost.Reason)
	case r.End != nil:
		x.sayLeft()
		x.out.End(*r.End)
	}
}

const leftOut = "left out of this excerpt"

// leave counts frames that are not in the excerpt; those in a row for one reason
// become one record.
func (x *excerpter) leave(frames, length int64, why string) {
	if x.left.Reason != why {
		x.sayLeft()
	}
	if frames < 1 || length < 0 { // not as a tap writes it
		return
	}
	x.left.Frames += frames
	x.left.Bytes += length
	x.left.Reason, x.since = why, x.now
}

func (x *excerpter) sayLeft() {
	if x.left.Frames > 0 {
		now := x.now
		x.now = x.since
		x.out.Skip(x.left)
		x.now = now
	}
	x.left = tap.Lost{}
}

func (x *excerpter) takeFrame(f *tap.Frame) {
	i := x.frame
	x.frame++
	if !x.Selected(i) {
		x.leave(1, f.Len(), leftOut)
		return
	}
	x.sayLeft()
	from := f.N
	one := [1]tap.Frame{*f}
	x.body(&one[0])
	if x.err != nil {
		return
	}
	x.out.Record(one[:])
	x.saved++
	if x.Moved != nil {
		x.Moved(from, one[0].N)
	}
}

// body gives the frame that is written the bytes it is to have.
func (x *excerpter) body(f *tap.Frame) {
	if f.Digest != nil {
		x.digest(f)
		return
	}
	if x.Redact {
		x.mask(f)
	}
	if int64(len(f.Body)) > tap.MaxFrame { // a foreign recording has them in its lines
		x.spill(f, bytes.NewReader(f.Body))
	}
}

// mask masks the secrets of a frame.
func (x *excerpter) mask(f *tap.Frame) {
	was, masked := string(f.Body), redact.Text
	if f.JSON {
		masked = redact.JSON
	}
	is := masked(was)
	if is == was {
		return
	}
	f.Body = []byte(is)
	if f.HTTP != nil {
		carriage := *f.HTTP
		carriage.Masked = true
		f.HTTP = &carriage
	}
}

// moment masks what of an exchange may hold a secret: its tap has masked headers and
// targets.
func (x *excerpter) moment(m *tap.Exchange) *tap.Exchange {
	out := *m
	out.Data, out.Error = x.text(m.Data), x.text(m.Error)
	return &out
}

func (x *excerpter) text(s string) string {
	if x.Redact {
		return redact.Text(s)
	}
	return s
}

// digest copies a frame whose bytes lie in a side file, or nowhere.
func (x *excerpter) digest(f *tap.Frame) {
	if x.Redact {
		if body := x.l.sideBody(f); body != nil {
			f.Body, f.Digest = body, nil
			x.mask(f)
			if len(f.Body) > tap.MaxFrame {
				x.spill(f, bytes.NewReader(f.Body))
			}
			return
		}
		d := *f.Digest
		d.Head, d.Tail = redact.Text(d.Head), "" // a secret may have its beginning in what is not here
		d.File, d.Reason = "", "left out: its secrets could not be masked"
		f.Digest = &d
		return
	}
	if f.Digest.File == "" {
		return
	}
	body, err := x.l.source.Body(f)
	if err != nil {
		d := *f.Digest
		d.File, d.Reason = "", "not at hand when this was taken out of its recording"
		f.Digest = &d
		return
	}
	defer body.Close()
	x.spill(f, body)
}

// spill writes a long body to a side file.
func (x *excerpter) spill(f *tap.Frame, body io.Reader) {
	s := x.out.Spill(f.Dir)
	buf := make([]byte, 256<<10)
	for {
		n, err := body.Read(buf)
		s.Add(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			x.fail(fmt.Errorf("the bytes of frame %d: %w", f.N, err))
			break
		}
	}
	f.Body, f.Digest = nil, s.Digest()
}
