package tap

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// A Carriage is how HTTP carried a frame: the body of a request or an answer, or
// one event of an event stream.
type Carriage struct {
	Exchange uint32 `json:"exchange"` // number of the exchange within its session, from 1
	// Wire is how many bytes carried the frame, if not just its own: its event
	// with all fields and the comments before it, its compressed form, or what it
	// was before it was masked. 0 otherwise, and where the compressed length of a
	// part is not known.
	Wire     int64  `json:"wire,omitempty"`
	Encoding string `json:"encoding,omitempty"` // the Content-Encoding that was taken off for the journal
	Masked   bool   `json:"masked,omitempty"`   // secrets are masked: the bytes are not those that crossed
}

// An SSE is what an event of an event stream says besides its data.
type SSE struct {
	Event    string  `json:"event,omitempty"`    // its name; "" means message
	ID       *string `json:"id,omitempty"`       // nil if the event has none
	Retry    string  `json:"retry,omitempty"`    // milliseconds, as sent
	Comments int     `json:"comments,omitempty"` // lines of comment since the event before
}

// A Phase is a moment of an HTTP exchange.
type Phase string

// The phases. Every exchange has a request and an end, and those between that
// came.
const (
	PhaseRequest  Phase = "request"  // the request's head came: method, target, headers
	PhaseResponse Phase = "response" // the answer's head came: status, headers
	PhaseEvent    Phase = "event"    // an event that carries no message: endpoint, a priming event, a trailing comment
	PhaseEnd      Phase = "end"      // nothing more will come
)

// An Exchange is a moment of one HTTP exchange. Bodies are frames of their own.
type Exchange struct {
	N    uint64        `json:"-"`
	Time time.Duration `json:"-"`

	Exchange uint32 `json:"exchange"` // from 1 within the session
	Phase    Phase  `json:"phase"`

	// Of a request and an answer. Headers are pairs of name and value in no
	// particular order, after redaction; Bytes is the head's length in the form
	// of HTTP/1.1, before redaction.
	Method  string      `json:"method,omitempty"`
	Target  string      `json:"target,omitempty"` // path and query, secrets masked
	Proto   string      `json:"proto,omitempty"`  // HTTP/1.1, HTTP/2.0
	Client  string      `json:"client,omitempty"` // address and port of the connection
	Status  int         `json:"status,omitempty"`
	Headers [][2]string `json:"headers,omitempty"`
	Bytes   int64       `json:"bytes,omitempty"`

	// Of an event. Wire is how many bytes it took on the stream.
	SSE  *SSE   `json:"sse,omitempty"`
	Data string `json:"data,omitempty"`
	Wire int64  `json:"wire,omitempty"`

	// Of an end. By tells who ended it: EndServer in the right order, else who
	// broke it off. Up and Down are the lengths of the two bodies on the wire.
	By       string      `json:"by,omitempty"`
	Error    string      `json:"error,omitempty"`
	Up       int64       `json:"up,omitempty"`
	Down     int64       `json:"down,omitempty"`
	Trailers [][2]string `json:"trailers,omitempty"`

	// Rewrites is what the tap changed of the head or of the body.
	Rewrites []Rewrite `json:"rewrites,omitempty"`
}

// Who ended an exchange.
const (
	EndServer = "server" // the answer came whole
	EndClient = "client" // the client went away before that
	EndBroken = "broken" // the server's answer broke off, or none came (Error)
	EndTap    = "tap"    // the tap refused it, or was told to end (Error)
)

// A Rewrite is something that an HTTP tap had to change on its way.
type Rewrite struct {
	What string `json:"what"` // a header's name, or a member of a document
	From string `json:"from"`
	To   string `json:"to"`
}

// RecordHTTP records what of one exchange is known at once: a moment before the
// frames, the frames, a moment after them, each of which may be missing. Like
// Record it returns when they are written, and reports false, and does nothing,
// once the journal has ended. Moments that could not be written count as lost
// frames.
func (w *Writer) RecordHTTP(before *Exchange, frames []Frame, after *Exchange) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	now := w.opt.Since()
	first := w.begin(now)
	w.moment(before, now)
	for i := range frames {
		w.frame(&frames[i], now)
	}
	w.moment(after, now)
	if w.commit() {
		w.frames += int64(len(frames))
		return true
	}
	w.lose(first, frames, before, after)
	return true
}

func (w *Writer) moment(x *Exchange, now time.Duration) {
	if x == nil {
		return
	}
	w.start(now)
	x.N, x.Time = w.n, now
	w.member("http", x)
}

// carriage appends the members of a frame that came over HTTP.
func (w *Writer) carriage(f *Frame) {
	c := f.HTTP
	w.buf = append(w.buf, `,"http":{"exchange":`...)
	w.buf = strconv.AppendUint(w.buf, uint64(c.Exchange), 10)
	if c.Wire != 0 {
		w.buf = append(w.buf, `,"wire":`...)
		w.buf = strconv.AppendInt(w.buf, c.Wire, 10)
	}
	if c.Encoding != "" {
		w.buf = append(w.buf, `,"encoding":`...)
		w.buf = appendJSON(w.buf, c.Encoding)
	}
	if c.Masked {
		w.buf = append(w.buf, `,"masked":true`...)
	}
	w.buf = append(w.buf, '}')
	if f.SSE != nil {
		w.buf = append(w.buf, `,"sse":`...)
		w.buf = f.SSE.append(w.buf)
	}
}

// append appends it as JSON: there is one for each event, and most are short.
func (s *SSE) append(dst []byte) []byte {
	dst = append(dst, '{')
	from := len(dst)
	member := func(name string) {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
	}
	text := func(name, value string) {
		member(name)
		dst = appendString(dst, []byte(strings.ToValidUTF8(value, "\uFFFD")))
	}
	if s.Event != "" {
		text("event", s.Event)
	}
	if s.ID != nil {
		text("id", *s.ID)
	}
	if s.Retry != "" {
		text("retry", s.Retry)
	}
	if s.Comments != 0 {
		member("comments")
		dst = strconv.AppendInt(dst, int64(s.Comments), 10)
	}
	return append(dst, '}')
}

// appendJSON appends v as JSON; what can't be (nothing of ours) as null.
func appendJSON(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}
