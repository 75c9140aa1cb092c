package sessions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/neutral"
	"github.com/mcptap/mcptap/tap"
)

// Loaded is a session with its meaning, as far as it was read.
type Loaded struct {
	*decode.Session
	Header  *tap.Header  // nil if the recording has none
	End     *tap.End     // nil if it has none
	Remarks []tap.Record // lines that were passed over, and gaps: the first of them
	Passed  int          // how many there are
	Records int          // that were read

	source *Session
	places places
	until  int64 // what was read of the file, in bytes
}

const maxRemarks = 100

// Load reads all that a session has so far and decodes it.
func Load(s *Session, o decode.Options) (*Loaded, error) {
	l := Begin(s, o)
	return l, l.More()
}

// More reads on to the end of what the recording has by now. What is written in the
// meantime is left for the next time: a tap may write as fast as this reads.
func (l *Loaded) More() error {
	size := l.source.Size()
	for size == 0 || l.until < size || l.source.pending() {
		if more, err := l.Some(morePiece); !more {
			return err
		}
	}
	return nil
}

// morePiece is how many records are read between two looks at how far that goes.
const morePiece = 64

// pieceBytes is after how many bytes Some stops: a record may be as long as a thousand
// others.
const pieceBytes = 1 << 20

// Some is More for at most so many records, or so many bytes; it reports whether it stopped
// before the end. A view draws in between.
func (l *Loaded) Some(records int) (more bool, err error) {
	for begin := l.until; records > 0 && l.until-begin < pieceBytes; records-- {
		rec, err := l.source.Next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("reading the session: %w", err)
		}
		l.take(&rec)
	}
	return true, nil
}

// Read is how far the file was read, in bytes.
func (l *Loaded) Read() int64 { return l.until }

// Begin is Load that reads nothing yet.
func Begin(s *Session, o decode.Options) *Loaded {
	return &Loaded{Session: decode.New(o), source: s}
}

func (l *Loaded) take(rec *tap.Record) {
	if rec.Bad != nil || rec.Missing > 0 {
		if l.Passed++; l.Passed <= maxRemarks {
			l.Remarks = append(l.Remarks, *rec)
		}
	}
	if rec.Bad == nil {
		l.Records++
	}
	l.until = max(l.until, rec.Offset+rec.Size)
	switch {
	case rec.Header != nil:
		l.Header = rec.Header
	case rec.End != nil:
		l.End = rec.End
	case rec.Frame != nil:
		l.places.add(place{rec.Offset, rec.Size})
		whole := *rec
		whole.Frame = l.whole(rec.Frame)
		rec = &whole
	}
	l.Record(rec)
}

// whole puts the body of a frame that lies in a side file back into it, if it is at
// hand: what a long result says may stand at its very end.
func (l *Loaded) whole(f *tap.Frame) *tap.Frame {
	body := l.sideBody(f)
	if body == nil {
		return f
	}
	w := *f
	w.Body, w.Digest = body, nil
	return &w
}

// TapFrame reads a frame again, with its body; nil if it can't be read.
func (l *Loaded) TapFrame(frame int) *tap.Frame { return l.reread(frame, l.source.again)() }

// Reread gives what reads a frame again, as TapFrame does. It may run while the session is
// read on, and what it gives is nobody else's.
func (l *Loaded) Reread(frame int) func() *tap.Frame { return l.reread(frame, new(tap.Parser)) }

func (l *Loaded) reread(frame int, with *tap.Parser) func() *tap.Frame {
	if !l.places.has(frame) {
		return func() *tap.Frame { return nil }
	}
	p, n, foreign := l.places.at(frame), l.Frame(frame).N, l.source.Foreign()
	return func() *tap.Frame {
		line, err := l.source.line(p)
		switch {
		case err != nil:
			return nil
		case !foreign:
			return with.Parse(bytes.TrimSuffix(line, []byte("\n"))).Frame
		}
		t := neutral.Last(line)
		if t != nil { // a foreign line has no number
			t.N = n
		}
		return t
	}
}

// Body gives the bytes of a frame by its index. Those of a frame that is not in
// the journal itself are read from its side file; nil if they are not at hand.
func (l *Loaded) Body(frame int) []byte {
	return l.BodyOf(l.TapFrame(frame))
}

// BodyOf is Body for a frame that was read. It may run while the session is read on.
func (l *Loaded) BodyOf(f *tap.Frame) []byte {
	switch {
	case f == nil:
		return nil
	case f.Digest == nil:
		return f.Body
	}
	return l.sideBody(f)
}

// TotalsOf sums up the byte accounts of some frames.
func (l *Loaded) TotalsOf(selected func(frame int) bool) *decode.Totals {
	t := new(decode.Totals)
	for i := range l.places.n {
		if !selected(i) {
			continue
		}
		if f := l.TapFrame(i); f != nil {
			l.AddTo(t, i, l.whole(f))
		}
	}
	return t
}

// Path is where the recording lies; "" if it was read from a stream.
func (l *Loaded) Path() string { return l.source.path }

// Unfinished reports a last line without its end, as Session.Unfinished does.
func (l *Loaded) Unfinished() (tap.Record, bool) { return l.source.Unfinished() }

// Nothing says why there is nothing to do anything with in what was read; "" if there
// is, be it a header alone.
func (l *Loaded) Nothing() string {
	if l.Header != nil || l.Len() > 0 {
		return ""
	}
	return cmp.Or(l.source.Problem(), "it has no header and no frames")
}

// sideBody reads a side file; nil if there is none, or it is not what it was.
func (l *Loaded) sideBody(f *tap.Frame) []byte {
	if f.Digest == nil || f.Digest.File == "" || f.Digest.Bytes > maxBody {
		return nil
	}
	body, err := l.source.Body(f)
	if err != nil {
		return nil
	}
	defer body.Close()
	all, err := io.ReadAll(io.LimitReader(body, maxBody))
	if err != nil || int64(len(all)) < f.Digest.Bytes {
		return nil
	}
	return all
}

// maxBody is the longest side file that is read into memory.
const maxBody = 64 << 20

// Name is what to call a session whose header does not tell.
func (l *Loaded) Name() string {
	if l.Header != nil && l.Header.Label != "" {
		return l.Header.Label
	}
	return strings.TrimSuffix(l.source.path, journalExt)
}

// ServerName is what a host's configuration may call the server: the session's label.
func (l *Loaded) ServerName() string {
	return strings.TrimSuffix(filepath.Base(l.Name()), journalExt)
}
