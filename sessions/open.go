package sessions

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/mcptap/mcptap/tap"
)

// A Session is an opened recording, read record by record.
type Session struct {
	*tap.Reader
	path string
	file *os.File
}

// Open opens the journal at path.
func Open(path string) (*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Session{Reader: tap.NewReader(f), path: path, file: f}, nil
}

// Read reads a journal from a stream. Side files are not at hand then.
func Read(in io.Reader) *Session {
	return &Session{Reader: tap.NewReader(in)}
}

// Close closes the journal.
func (s *Session) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Running reports whether the session's tap is still writing.
func (s *Session) Running() bool {
	if s.file == nil {
		return false
	}
	if tryLock(s.file) {
		unlock(s.file)
		return false
	}
	return true
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
	case s.file == nil:
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

// Grown reports whether the journal has more than was read: its tap may have
// written its last records between our last read and its end.
func (s *Session) Grown() bool {
	if s.file == nil {
		return false
	}
	stat, err := s.file.Stat()
	at, seekErr := s.file.Seek(0, io.SeekCurrent)
	return err == nil && seekErr == nil && at < stat.Size()
}
