package sessions

import (
	"bytes"

	"github.com/mcptap/mcptap/tap"
)

// NotKept reports a frame of which there is only the length: one that a limit cut off,
// or a body over HTTP in whose place the tap put a few words (as sessions/redact does).
func NotKept(f *tap.Frame) bool {
	if f.Digest != nil {
		return f.Digest.File == ""
	}
	return f.HTTP != nil && f.HTTP.Masked && bytes.HasPrefix(f.Body, []byte("«not kept: ")) && bytes.HasSuffix(f.Body, []byte("»"))
}

// window is how much of a file is read at once by Bodies.
const window = 1 << 20

// Bodies gives a way to read the bytes of many frames, one after the other: the
// file is read a large piece at a time, and nothing is copied out of it. Bytes are
// valid until the next call; else it is as Body. It is not safe for concurrent use,
// but two of them are, as long as the session does not grow meanwhile.
func (l *Loaded) Bodies() func(frame int) []byte {
	r := &bodies{l: l}
	return r.body
}

type bodies struct {
	l      *Loaded
	parser tap.Parser
	buf    []byte
	from   int64 // of buf in the file
	n      int   // bytes of buf that were read
}

func (r *bodies) body(frame int) []byte {
	l := r.l
	switch {
	case !l.places.has(frame):
		return nil
	case l.source.foreign != nil:
		return l.Body(frame)
	}
	line := r.line(l.places.at(frame))
	if line == nil {
		return nil
	}
	rec := r.parser.Parse(bytes.TrimSuffix(line, []byte("\n")))
	switch f := rec.Frame; {
	case f == nil:
		return nil
	case f.Digest != nil:
		return l.sideBody(f)
	default:
		return f.Body
	}
}

// line gives the bytes at a place, nil if they can't be read.
func (r *bodies) line(p place) []byte {
	at := p.offset - r.from
	if at < 0 || at+p.size > int64(r.n) {
		if r.fill(p); r.n < int(p.size) {
			return nil
		}
		at = 0
	}
	return r.buf[at : at+p.size]
}

// fill reads the piece of the file that begins at p, and as much of p as there is.
func (r *bodies) fill(p place) {
	if need := max(window, int(p.size)); len(r.buf) != need { // the room of a very long line is not kept
		r.buf = make([]byte, need)
	}
	r.from = p.offset
	r.n, _ = r.l.source.file.ReadAt(r.buf, p.offset) // what is missing is seen by its length
}
