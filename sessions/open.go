package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/mcptap/mcptap/sessions/neutral"
	"github.com/mcptap/mcptap/tap"
)

// A Session is an opened recording, read record by record: a journal of a tap,
// or a neutral recording.
type Session struct {
	in      *tap.Reader
	file    io.ReaderAt
	path    string // "" if it is no file
	closer  io.Closer
	foreign *neutral.Translator
	queue   []tap.Record // records of a neutral recording's line that were not given yet
	again   *tap.Parser
}

// Open opens the recording at path.
func Open(path string) (*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if stat, err := f.Stat(); err == nil && stat.IsDir() {
		_ = f.Close()
		return nil, fmt.Errorf("%s is a folder", path)
	}
	return &Session{in: tap.NewReader(f), file: f, path: path, closer: f, again: new(tap.Parser)}, nil
}

// Read reads a recording from a stream, all of it before the first record is
// given. Side files are not at hand then.
func Read(in io.Reader) (*Session, error) {
	all, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	b := bytes.NewReader(all)
	return &Session{in: tap.NewReader(b), file: b, again: new(tap.Parser)}, nil
}

// Next gives the next record, as tap.Reader does.
func (s *Session) Next() (tap.Record, error) {
	for {
		if len(s.queue) > 0 {
			rec := s.queue[0]
			s.queue = s.queue[1:]
			return rec, nil
		}
		rec, err := s.in.Next()
		if err != nil {
			return rec, err
		}
		if rec.Line == 1 && rec.Bad != nil && bytes.HasPrefix(s.in.Line(), []byte(neutral.Start)) {
			s.foreign = new(neutral.Translator)
		}
		if s.foreign == nil {
			return rec, nil
		}
		s.queue = s.foreign.Line(s.in.Line(), rec)
	}
}

// pending reports records of a line that was read, and that were not given yet.
func (s *Session) pending() bool { return len(s.queue) > 0 }

// Path is where the recording lies; "" if it was read from a stream.
func (s *Session) Path() string { return s.path }

// Foreign reports a recording that no tap of ours made: that it has no end says
// nothing then.
func (s *Session) Foreign() bool { return s.foreign != nil }

// Unfinished reports a last line without its end, as tap.Reader does.
func (s *Session) Unfinished() (tap.Record, bool) { return s.in.Unfinished() }

// Problem says why there is nothing to show of what was opened, as Info.Problem does; ""
// if it is a recording, as far as its two ends tell.
func (s *Session) Problem() string {
	i := Info{}
	switch f := s.file.(type) {
	case *os.File:
		stat, err := f.Stat()
		if err != nil {
			return ""
		}
		i.Size = stat.Size()
	case *bytes.Reader:
		i.Size = f.Size()
	}
	i.read(s.file, s.Running)
	return i.Problem
}

// line reads the line of a record again.
func (s *Session) line(p place) ([]byte, error) {
	line := make([]byte, p.size)
	_, err := s.file.ReadAt(line, p.offset)
	return line, err
}

// Close closes the recording.
func (s *Session) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// Running reports whether the session's tap is still writing.
func (s *Session) Running() bool {
	f, ok := s.file.(*os.File)
	return ok && live(f)
}

// startTime is how long a tap may take from creating its recording to locking it and
// writing the first line, on a machine that has much else to do.
const startTime = 10 * time.Second

// Starting reports whether the journal is as empty as one that its tap has just created:
// it may not have come to locking it yet.
func (s *Session) Starting(now time.Time) bool {
	f, ok := s.file.(*os.File)
	if !ok {
		return false
	}
	stat, err := f.Stat()
	return err == nil && stat.Size() == 0 && now.Sub(stat.ModTime()).Abs() < startTime
}

// Starting reports whether a recording that was listed may be one that its tap has just
// created.
func (i *Info) Starting(now time.Time) bool { return i.Empty && now.Sub(i.Start).Abs() < startTime }

// Grown reports whether the journal has more than was read: its tap may have
// written its last records between our last read and its end.
func (s *Session) Grown() bool {
	f, ok := s.file.(*os.File)
	if !ok {
		return false
	}
	stat, err := f.Stat()
	at, seekErr := f.Seek(0, io.SeekCurrent)
	return err == nil && seekErr == nil && at < stat.Size()
}

// Size is how many bytes the journal has; 0 if it was read from a stream.
func (s *Session) Size() int64 {
	f, ok := s.file.(*os.File)
	if !ok {
		return 0
	}
	stat, err := f.Stat()
	if err != nil {
		return 0
	}
	return stat.Size()
}

// Fate is what became of a recording's file since it was opened.
type Fate uint8

// The fates of a file.
const (
	There    Fate = iota
	Deleted       // no file has its name
	Replaced      // another file has its name
	Cut           // it is shorter than what was read of it
)

// Fate looks at the recording's file. One that was read from a stream is always there.
func (s *Session) Fate() Fate {
	f, ok := s.file.(*os.File)
	if !ok || s.path == "" {
		return There
	}
	named, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Deleted
	}
	own, ownErr := f.Stat()
	if err != nil || ownErr != nil {
		return There // that can't be told
	}
	switch at, err := f.Seek(0, io.SeekCurrent); {
	case !os.SameFile(named, own):
		return Replaced
	case err == nil && own.Size() < at:
		return Cut
	}
	return There
}

// Body gives a frame's exact bytes without its end, from the journal or from
// its side file.
func (s *Session) Body(f *tap.Frame) (io.ReadCloser, error) {
	d := f.Digest
	switch {
	case d == nil:
		return io.NopCloser(bytes.NewReader(f.Body)), nil
	case d.File == "":
		return nil, fmt.Errorf("the bytes of frame %d were not kept: %s", f.N, d.Reason)
	case s.path == "":
		return nil, fmt.Errorf("the bytes of frame %d lie in a file beside the journal, which was read from a stream", f.N)
	}
	path, err := sidePath(s.path, d.File)
	if err != nil {
		return nil, fmt.Errorf("frame %d: %w", f.N, err)
	}
	side, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the bytes of frame %d: %w", f.N, err)
	}
	if stat, err := side.Stat(); err != nil || !stat.Mode().IsRegular() || stat.Size() != d.Bytes {
		_ = side.Close()
		return nil, fmt.Errorf("the bytes of frame %d: %s does not hold the %d bytes that were recorded", f.N, path, d.Bytes)
	}
	return side, nil
}
