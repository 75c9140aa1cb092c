package httptap

import (
	"bytes"
	"io"
)

// An endpointReader passes an event stream on and, in the endpoint event that opens
// HTTP+SSE, replaces the address that clients are to post to, if it names the
// server's own host. Every other byte goes on as it comes; of the event's data,
// nothing until its line is complete.
type endpointReader struct {
	io.ReadCloser
	replace func(data string) string

	out    []byte // still to be given
	line   []byte // of the line that comes in
	inside bool   // of an endpoint event
	past   bool   // the first event is over: the rest passes
	err    error
}

// maxEndpoint is the longest line that is looked at.
const maxEndpoint = 16 << 10

func (r *endpointReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.ReadCloser.Read(p)
		if r.past {
			return n, err
		}
		r.err = err
		r.take(p[:n])
		if err != nil {
			r.out = append(r.out, r.held()...)
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// held is what was not passed on of the current line.
func (r *endpointReader) held() []byte {
	if r.inside && !r.past {
		return r.line
	}
	return nil
}

func (r *endpointReader) take(b []byte) {
	for len(b) > 0 && !r.past {
		i := lineEnd(b)
		if i < 0 {
			r.more(b)
			return
		}
		r.more(b[:i])
		r.endLine(b[i])
		b = b[i+1:]
	}
	r.out = append(r.out, b...)
}

// more takes bytes of a line.
func (r *endpointReader) more(b []byte) {
	r.line = append(r.line, b...)
	if !r.inside {
		r.out = append(r.out, b...)
	}
	if len(r.line) > maxEndpoint {
		r.out = append(r.out, r.held()...)
		r.past = true
	}
}

func (r *endpointReader) endLine(end byte) {
	name, value, _ := bytes.Cut(bytes.TrimPrefix(r.line, byteOrder), []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case r.past:
	case r.inside && string(name) == "data":
		r.out = append(r.out, r.line[:len(r.line)-len(value)]...)
		r.out = append(r.out, r.replace(string(value))...)
		r.past = true
	case r.inside:
		r.out = append(r.out, r.line...)
	case string(name) == "event":
		r.inside = string(value) == "endpoint"
		r.past = !r.inside
	case string(name) == "data":
		r.past = true // an event of another kind
	}
	r.out = append(r.out, end)
	r.line = r.line[:0]
}
