package httptap

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/tap"
)

// A recorder makes frames of one direction of an exchange. It is shown each piece
// of the body before the piece is passed on.
type recorder struct {
	x       *exchange
	dir     tap.Dir
	content string // Content-Type without parameters
	length  int64  // of the body if known, else -1

	trailers bool // are to come after the body

	data    *collector
	events  *splitter // nil if the body is no event stream
	decoder *decoder  // nil if the body is not compressed
	coding  string
	raw     []byte // the beginning of a compressed body
	wire    int64  // bytes of the body so far
	framed  int64  // of wire, those that belong to frames given
	frames  []tap.Frame
	done    bool
	refused bool // the journal has ended: nothing may be delivered
}

func newRecorder(x *exchange, dir tap.Dir, h http.Header, length int64) *recorder {
	r := &recorder{x: x, dir: dir, length: length}
	r.content, _, _ = mime.ParseMediaType(h.Get("Content-Type"))
	r.data = newCollector(r.spill)
	r.data.size = int(min(length, tap.MaxFrame))
	if r.content == "text/event-stream" && dir == tap.S2C {
		r.events = &splitter{data: r.data, emit: r.event}
	}
	if coding := strings.Join(h.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		d, err := newDecoder(coding, maxDecoded, r.decoded)
		if err == nil {
			r.decoder, r.coding = d, coding
		} // else the body is recorded as it is: an encoding that we do not know
	}
	return r
}

// feed takes the next piece and records what it finishes, and with it the end of
// the exchange if the body is complete. It reports whether the piece may go on.
func (r *recorder) feed(b []byte) bool {
	r.x.turn.Lock()
	defer r.x.turn.Unlock()
	return r.take(b)
}

// take is feed for who has the turn.
func (r *recorder) take(b []byte) bool {
	if r.done {
		return false // the exchange has ended meanwhile
	}
	r.wire += int64(len(b))
	if r.decoder != nil {
		r.raw = append(r.raw, b[:min(len(b), maxRaw-len(r.raw))]...)
		r.decoder.Feed(b)
	} else {
		r.decoded(b)
	}
	switch {
	case r.wire == r.length && !r.trailers:
		return r.ended()
	case r.events == nil && (r.decoder == nil && r.wire == r.length || r.length < 0 && r.data.complete()):
		r.body() // the end of the exchange may come at any time later
	}
	return r.flush(nil)
}

func (r *recorder) decoded(b []byte) {
	if r.events != nil {
		r.events.feed(b)
		return
	}
	r.data.add(b)
}

// end takes the end of the body, and reports as feed does.
func (r *recorder) end() bool {
	r.x.turn.Lock()
	defer r.x.turn.Unlock()
	return r.done || r.ended()
}

func (r *recorder) hasEnded() bool {
	r.x.turn.Lock()
	defer r.x.turn.Unlock()
	return r.done
}

func (r *recorder) ended() bool {
	r.close("")
	return r.flush(r.x.endOfBoth())
}

// close finishes what is unfinished. why says why there will be no more; it is
// empty if the body is whole.
func (r *recorder) close(why string) {
	if r.done {
		return
	}
	r.done = true
	if r.decoder != nil {
		r.closeDecoder(why)
	}
	if r.events == nil {
		if r.data.some {
			r.body()
		}
		return
	}
	if rest, ok := r.events.rest(); ok {
		r.moment(&rest)
	}
}

// closeDecoder ends the decoding. A body that did not decode at all is recorded as
// it came, as far as its beginning was kept.
func (r *recorder) closeDecoder(why string) {
	err := r.decoder.Close()
	if err == nil {
		return
	}
	if why == "" {
		r.x.remark("the " + r.coding + " encoding of the body: " + err.Error())
	}
	if r.events == nil && !r.data.some && r.framed == 0 {
		r.data.add(r.raw)
		r.coding = ""
	}
}

// maxRaw is how much is kept of a compressed body that may not decode.
const maxRaw = 16 << 10

// flush records the frames there are, and a moment after them.
func (r *recorder) flush(after *tap.Exchange) bool {
	if len(r.frames) > 0 || after != nil {
		r.refused = !r.x.record(r.frames, after) || r.refused
		r.frames = r.frames[:0]
		r.data.reset()
	}
	return !r.refused
}

// body makes a frame of the collected body.
func (r *recorder) body() {
	f := r.data.frame(r.dir, true)
	f.HTTP = &tap.Carriage{Exchange: r.x.n, Encoding: r.coding}
	if r.decoder != nil {
		f.HTTP.Wire = r.wire - r.framed
		r.framed = r.wire
	}
	r.keep(f)
}

// event makes a frame of an event that carries a message, and a moment of any
// other.
func (r *recorder) event(e *eventHead) {
	if !e.hasData || !named(e.Event) {
		r.moment(e)
		return
	}
	f := r.data.frame(r.dir, false)
	carried := &struct { // in one piece
		tap.Carriage
		tap.SSE
	}{tap.Carriage{Exchange: r.x.n, Encoding: r.coding, Wire: e.wire}, e.SSE}
	f.HTTP, f.SSE = &carried.Carriage, &carried.SSE
	if len(f.Body) == 0 && f.Digest == nil {
		r.moment(e)
		return
	}
	r.keep(f)
}

// named reports the name of an event that carries a message.
func named(event string) bool { return event == "" || event == "message" }

// maxEventData is how much is kept of the data of an event that is no message.
const maxEventData = 4 << 10

// moment records an event without a message.
func (r *recorder) moment(e *eventHead) {
	sse := e.SSE
	m := &tap.Exchange{Exchange: r.x.n, Phase: tap.PhaseEvent, SSE: &sse, Wire: e.wire}
	if e.hasData && r.data.some {
		body := r.data.frame(r.dir, false).Body
		m.Data = r.x.tap.Mask.Endpoint(string(body[:min(len(body), maxEventData)]))
		if e.Event == "endpoint" {
			m.Rewrites = r.x.endpoint(string(body))
		}
	}
	r.flush(m)
}

// keep puts a frame among those to be recorded. What is no message of MCP is
// masked: it may be a token request, or its answer.
func (r *recorder) keep(f tap.Frame) {
	if f.Digest == nil && !r.exact(&f) {
		if masked, changed := r.x.tap.Mask.Body(r.content, f.Body); changed {
			if f.HTTP.Wire == 0 {
				f.HTTP.Wire = f.Len()
			}
			f.Body, f.HTTP.Masked = masked, true
			f.JSON = f.JSON && gjson.ValidBytes(masked)
		}
	}
	r.frames = append(r.frames, f)
}

// exact reports a frame that is recorded as it is: a message, or, where messages
// go, what was to be one and is broken. A form, or what goes to where tokens are
// had, never is.
func (r *recorder) exact(f *tap.Frame) bool {
	if r.content == "application/x-www-form-urlencoded" || r.x.mapping.Role(r.x.in.URL.Path) != RoleNone {
		return false
	}
	if r.x.atEndpoint && !f.JSON && r.content != "text/html" || f.SSE != nil && f.JSON {
		return true
	}
	return isMessage(f)
}

// isMessage reports a body that is JSON-RPC, or was meant to be.
func isMessage(f *tap.Frame) bool {
	if !f.JSON {
		return saysRPC(f.Body)
	}
	member := "jsonrpc"
	if text := bytes.TrimLeft(f.Body, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		member = "0.jsonrpc"
	}
	return gjson.GetBytes(f.Body, member).Exists()
}

// saysRPC looks for the member that every message has, where it stands as a rule.
func saysRPC(b []byte) bool {
	return bytes.Contains(b[:min(len(b), 1<<10)], []byte(`"jsonrpc"`))
}

// spill starts a side file for a large message. A large body that is none is
// not kept, nor are the large data of another event.
func (r *recorder) spill(head []byte) *tap.Spill {
	if r.events != nil && !named(r.events.event.Event) {
		return tap.Unkept("the data of an event that is no message")
	}
	if saysRPC(head) || r.x.atEndpoint && (r.events != nil || strings.Contains(r.content, "json")) {
		return r.x.session.journal.Spill(r.dir)
	}
	return tap.Unkept("a large body that is no message of MCP")
}
