package httptap

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"sync"
	"syscall"

	"github.com/mcptap/mcptap/tap"
)

// An exchange is one request and its answer on their way through the tap.
//
// The request's body is read while the answer may already come. What is recorded is
// recorded in turn, by one direction at a time: so the order in the journal is one,
// and nothing follows an exchange's end. What else both need is behind mu.
type exchange struct {
	tap        *Tap
	session    *session
	n          uint32
	w          http.ResponseWriter
	in         *http.Request
	mapping    *Mapping
	seen       opening // what the beginning of the request's body told
	atEndpoint bool    // it goes to the server's MCP endpoint

	turn sync.Mutex // taken before mu

	mu       sync.Mutex
	up, down *recorder
	answer   *http.Response
	status   int
	owed     *tap.Exchange // the answer's head, not yet recorded
	ended    bool
	err      error // why it broke off
	upBroke  bool  // within the request
	remarks  []string
	rewrites []tap.Rewrite // not yet recorded
}

// record records frames, after the head that is owed and before another moment.
// It reports false once the journal has ended. The turn must be held.
func (x *exchange) record(frames []tap.Frame, after *tap.Exchange) bool {
	x.mu.Lock()
	before := x.owed
	x.owed = nil
	x.mu.Unlock()
	return x.session.journal.RecordHTTP(before, frames, after)
}

// recordOwed records the head that is owed.
func (x *exchange) recordOwed() {
	x.turn.Lock()
	defer x.turn.Unlock()
	x.mu.Lock()
	owed := x.owed != nil
	x.mu.Unlock()
	if owed {
		x.record(nil, nil)
	}
}

// remark keeps a sentence for the end's record.
func (x *exchange) remark(s string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remarks = append(x.remarks, s)
}

// rewrote keeps what was changed for the record that comes next.
func (x *exchange) rewrote(changes ...tap.Rewrite) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rewrites = append(x.rewrites, changes...)
}

// takeRewrites gives what was changed since it was last asked.
func (x *exchange) takeRewrites() []tap.Rewrite {
	x.mu.Lock()
	defer x.mu.Unlock()
	changes := x.rewrites
	x.rewrites = nil
	return changes
}

// requestHead is the record of the request's beginning.
func (x *exchange) requestHead(r *http.Request) *tap.Exchange {
	target := r.RequestURI
	return &tap.Exchange{
		Exchange: x.n, Phase: tap.PhaseRequest, Method: r.Method, Target: x.tap.Mask.Target(target), Proto: r.Proto, Client: r.RemoteAddr,
		Headers:  x.tap.maskHeaders(r.Header, r.Host),
		Bytes:    int64(len(r.Method)+len(target)+len(r.Proto)) + 4 + headerLen(r.Header) + int64(len("Host: ")+len(r.Host)+2) + 2,
		Rewrites: x.takeRewrites(),
	}
}

// responseHead is the record of the answer's beginning.
func (x *exchange) responseHead(res *http.Response) *tap.Exchange {
	return &tap.Exchange{
		Exchange: x.n, Phase: tap.PhaseResponse, Status: res.StatusCode, Proto: res.Proto,
		Headers:  x.tap.maskHeaders(res.Header, ""),
		Bytes:    int64(len(res.Proto)+len(res.Status)) + 3 + headerLen(res.Header) + 2,
		Rewrites: x.takeRewrites(),
	}
}

// headerLen is the length of header lines as HTTP/1.1 writes them.
func headerLen(h http.Header) (n int64) {
	for name, values := range h {
		for _, v := range values {
			n += int64(len(name) + len(": ") + len(v) + len("\r\n"))
		}
	}
	return n
}

// maskHeaders gives the headers as they may be recorded, by name.
func (t *Tap) maskHeaders(h http.Header, host string) [][2]string {
	pairs := make([][2]string, 0, len(h)+1)
	if host != "" {
		pairs = append(pairs, [2]string{"Host", host})
	}
	for name, values := range h {
		for _, v := range values {
			pairs = append(pairs, [2]string{name, t.masked.header(t.Mask, name, v)})
		}
	}
	sort.SliceStable(pairs, func(i, j int) bool { return pairs[i][0] < pairs[j][0] })
	return pairs
}

// answered takes the answer's head. It is recorded with the body's first piece, or
// at once if it is delivered before that. own is the body in the server's own words,
// if it was translated.
func (x *exchange) answered(res *http.Response, own []byte) {
	x.turn.Lock()
	defer x.turn.Unlock()
	head := x.responseHead(res)
	down := newRecorder(x, tap.S2C, res.Header, res.ContentLength)
	down.trailers = len(res.Trailer) > 0
	x.mu.Lock()
	x.answer, x.status, x.owed, x.down = res, res.StatusCode, head, down
	x.mu.Unlock()
	x.session.answered(x, res)
	switch {
	case res.StatusCode == http.StatusSwitchingProtocols:
		x.record(nil, nil)
	case res.Body == nil || res.Body == http.NoBody:
		down.ended()
	case own != nil:
		down.length, down.trailers = int64(len(own)), false
		down.take(own)
	case x.in.Method == http.MethodGet && x.in.Header.Get(sessionHeader) == "" && down.events != nil && down.decoder == nil:
		x.record(nil, nil)
		res.Body = &endpointReader{ReadCloser: &tee{src: res.Body, rec: down}, replace: x.translateEndpoint}
	case down.events != nil || res.ContentLength < 0:
		x.record(nil, nil)
		res.Body = &tee{src: res.Body, rec: down}
	default:
		res.Body = &tee{src: res.Body, rec: down}
	}
}

// translateEndpoint gives the data of an endpoint event as the client has to get it.
// The event's record says what was changed.
func (x *exchange) translateEndpoint(data string) string {
	to, _ := x.mapping.Endpoint(data)
	return to
}

// endOfBoth is the record of the exchange's end once both bodies have ended.
func (x *exchange) endOfBoth() *tap.Exchange {
	x.mu.Lock()
	both := x.down != nil && x.down.done && (x.up == nil || x.up.done)
	x.mu.Unlock()
	if !both {
		return nil
	}
	return x.end(tap.EndServer, "")
}

// end is the record of the exchange's end; nil if it has one.
func (x *exchange) end(by, why string) *tap.Exchange {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return nil
	}
	x.ended = true
	if why != "" {
		x.remarks = append(x.remarks, why)
	}
	e := &tap.Exchange{Exchange: x.n, Phase: tap.PhaseEnd, By: by, Error: strings.Join(x.remarks, "; "), Rewrites: x.rewrites}
	if x.up != nil {
		e.Up = x.up.wire
	}
	if x.down != nil {
		e.Down = x.down.wire
	}
	if x.answer != nil && len(x.answer.Trailer) > 0 {
		e.Trailers = x.tap.maskHeaders(x.answer.Trailer, "")
	}
	return e
}

// fail takes the reason for which there is no answer, or no more of it.
func (x *exchange) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil {
		x.err = err
	}
}

// finish ends what has no end yet, once nothing more will be delivered.
func (x *exchange) finish() {
	x.turn.Lock()
	defer x.turn.Unlock()
	x.mu.Lock()
	up, down, ended := x.up, x.down, x.ended
	x.mu.Unlock()
	if ended {
		return
	}
	by, why := x.breaker()
	if down != nil && down.done {
		by, why = tap.EndServer, "the answer came before the end of the request"
	}
	for _, r := range [...]*recorder{up, down} {
		if r != nil && !r.done {
			r.close("broken off")
			r.flush(nil)
		}
	}
	x.record(nil, x.end(by, why))
}

// breaker tells who broke the exchange off, and why.
func (x *exchange) breaker() (by, why string) {
	stopping := x.tap.stopping()
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.upBroke:
		return tap.EndClient, plainError(x.err)
	case x.down != nil && x.down.wire == x.down.length && x.status != http.StatusSwitchingProtocols:
		return tap.EndServer, "" // all of it came, but for trailers
	case x.in.Context().Err() != nil:
		return tap.EndClient, ""
	case stopping:
		return tap.EndTap, "the tap was ended"
	case x.status == http.StatusSwitchingProtocols:
		return tap.EndServer, ""
	case x.err != nil:
		return tap.EndBroken, plainError(x.err)
	case x.status == 0:
		return tap.EndBroken, "no answer came"
	}
	return tap.EndClient, "" // the answer could not be written
}

// endpoint takes the data of an endpoint event of HTTP+SSE, where the client posts
// its messages, and gives what of it is changed on the way (see endpointReader).
func (x *exchange) endpoint(data string) []tap.Rewrite {
	if u, err := url.Parse(data); err == nil {
		x.session.owner.bindEndpoint(x.session, x.tap.Upstream.ResolveReference(x.in.URL).ResolveReference(u).RequestURI())
	}
	_, done := x.mapping.Endpoint(data)
	return done
}

// plainError is an error without the words that Go puts around it.
func plainError(err error) string {
	what, _, broke := strings.Cut(err.Error(), brokeOff)
	if broke {
		return what + brokeOff + cause(err)
	}
	return cause(err)
}

const brokeOff = " broke off: "

// cause is what lies at the bottom of an error, as far as that has a plain name.
func cause(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed in the middle"
	}
	_, s, broke := strings.Cut(err.Error(), brokeOff)
	if !broke {
		s = err.Error()
	}
	for _, noise := range []string{"http: proxy error: ", "http: ", "net/http: "} {
		s = strings.TrimPrefix(s, noise)
	}
	return s
}

// A tee shows a body to its recorder on the way.
type tee struct {
	src    io.ReadCloser
	prefix []byte // read before
	rec    *recorder
	during func() // called before each read
	atEnd  func() // called when the body has ended
}

func (t *tee) Read(p []byte) (n int, err error) {
	if len(t.prefix) > 0 {
		n = copy(p, t.prefix)
		t.prefix = t.prefix[n:]
	} else {
		if t.during != nil {
			t.during()
		}
		n, err = t.src.Read(p)
	}
	if n > 0 && !t.rec.feed(p[:n]) {
		return 0, errJournalEnded
	}
	if err == nil {
		return n, nil
	}
	if err != io.EOF {
		t.rec.broke(err)
		return n, err
	}
	if t.atEnd != nil {
		t.atEnd()
	}
	if !t.rec.end() {
		return n, errJournalEnded
	}
	return n, err
}

// broke takes the reason for which there is no more of a body.
func (r *recorder) broke(err error) {
	if r.dir == tap.S2C {
		r.x.fail(fmt.Errorf("the answer broke off: %w", err))
		return
	}
	r.x.mu.Lock()
	r.x.upBroke = r.x.err == nil
	r.x.mu.Unlock()
	r.x.fail(fmt.Errorf("the request broke off: %w", err))
}

// Close closes the body; what comes after it is not delivered.
func (t *tee) Close() error { return t.src.Close() }

var errJournalEnded = fmt.Errorf("the recording has ended")
