package decode

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// web is what a session knows of HTTP. It is empty on stdio.
type web struct {
	exchanges list[exchange]
	numbers   map[uint32]uint32 // exchanges whose number is not their index + 1
	carried   list[carried]     // by frame
	words     names             // verbs, targets, addresses, reasons
	heads     heads
	paths     map[string]bool // that messages go to

	scopes    Scope            // the newest
	loose     Scope            // of legacy requests that name no session
	opened    bool             // it had a handshake
	sessions  map[string]Scope // by Mcp-Session-Id, masked as it is
	endpoints map[string]Scope // by target, and by query
	streams   map[Scope]uint32 // of HTTP+SSE: the exchange of the stream

	events map[uint64]event // by scope and id
	bytes  HTTPBytes
}

// maxWord is how much is kept of a target, an address or a reason.
const maxWord = 1 << 10

// carried is what HTTP adds to what a session knows of a frame.
type carried struct {
	exchange uint32 // index + 1; 0 if the frame did not come over HTTP
	before   uint32 // the frame before it in its exchange, + 1
	framing  int32  // bytes of the event besides the frame
	name     uint32 // of the event
	bits     carriedBits
}

type carriedBits uint8

const (
	carriedEvent   carriedBits = 1 << iota // an event of a stream, no body
	carriedID                              // with an id
	carriedReplay                          // that came before
	carriedTwice                           // whose id another event had
	carriedDecoded                         // its Content-Encoding was taken off
	carriedJSON                            // it is one JSON text
)

// event is an event with an id.
type event struct {
	frame    uint32 // + 1; 0 if it carried no message
	exchange uint32 // index
	body     uint32 // hash
}

// Verbs of HTTP.
const (
	verbGet  = "GET"
	verbPost = "POST"
)

// maxPaths bounds what a client's targets can make grow.
const maxPaths = 256

func (w *web) at(frame int) *carried {
	if frame >= w.carried.n {
		return nil
	}
	if c := w.carried.at(frame); c.exchange != 0 {
		return c
	}
	return nil
}

// entry finds the exchange of that number, or makes it: a capture may have begun in
// the middle of one.
func (w *web) entry(number uint32) (i uint32, x *exchange) {
	if k := int(number) - 1; k >= 0 && k < w.exchanges.n && w.exchanges.at(k).number == number {
		return uint32(k), w.exchanges.at(k)
	}
	if i, ok := w.numbers[number]; ok {
		return i, w.exchanges.at(int(i))
	}
	i = uint32(w.exchanges.add(exchange{number: number, start: never, head: never, end: never, retry: -1}))
	if i != number-1 {
		if w.numbers == nil {
			w.numbers = map[uint32]uint32{}
		}
		w.numbers[number] = i
	}
	return i, w.exchanges.at(int(i))
}

// word keeps a text of a head, cut to what is kept of one.
func (w *web) word(s string) uint32 {
	return w.words.id([]byte(s[:min(len(s), maxWord)]))
}

// expect learns from a header where messages go to.
func (w *web) expect(h *tap.Header) {
	if u, err := url.Parse(h.Listen); err == nil && h.Transport == "http" && h.Listen != "" {
		w.learn(cmp.Or(u.Path, "/"))
	}
}

func (w *web) newScope() Scope {
	w.scopes++
	return w.scopes
}

func (w *web) learn(path string) {
	if w.paths == nil {
		w.paths = map[string]bool{}
	}
	if len(w.paths) < maxPaths {
		w.paths[path] = true
	}
}

// moment takes a moment of an exchange.
func (s *Session) moment(m *tap.Exchange) {
	i, x := s.web.entry(m.Exchange)
	if x.n == 0 {
		x.n = m.N
	}
	if x.bits&exStream != 0 {
		x.quieted(m.Time, m.SSE)
	}
	x.active = m.Time
	switch m.Phase {
	case tap.PhaseRequest:
		s.requestHead(x, m)
	case tap.PhaseResponse:
		s.answerHead(x, m)
	case tap.PhaseEvent:
		s.eventAlone(i, x, m)
	case tap.PhaseEnd:
		x.end, x.up, x.down, x.reason = m.Time, m.Up, m.Down, s.web.word(PlainError(m.Error))
		x.by = ender(m.By)
		if x.decoded > 0 { // a compressed stream
			s.totals.Packed[tap.S2C] += x.down - x.decoded - x.framing
		}
		s.endExchange(i+1, int(x.status), m.By == tap.EndClient)
	}
}

func ender(by string) uint8 {
	for i, name := range enders {
		if name == by {
			return uint8(i)
		}
	}
	return 0
}

// quieted counts the silence of a stream up to a moment, half of it if comments kept
// the connection alive meanwhile: when they came is not recorded.
func (x *exchange) quieted(now time.Duration, e *tap.SSE) {
	gap := now - x.active
	if e != nil {
		gap /= time.Duration(e.Comments + 1)
	}
	x.quiet = max(x.quiet, gap)
}

func (s *Session) requestHead(x *exchange, m *tap.Exchange) {
	w := &s.web
	x.start, x.headUp = m.Time, m.Bytes
	x.secretUp = secretIn(m, len(m.Method)+len(m.Target)+len(m.Proto)+len("  \r\n"))
	x.verb, x.target, x.client = w.word(m.Method), w.word(m.Target), w.word(m.Client)
	x.request = w.heads.keep(m.Headers)
	w.bytes.Heads[tap.C2S] += m.Bytes
	if alien(m.Target) {
		x.bits |= exAlien
		return
	}
	if m.Method != verbPost {
		x.scope = w.sessions[w.heads.get(x.request, "mcp-session-id")]
	}
	if last, ok := find(w.heads.set(x.request), "last-event-id"); ok {
		x.bits |= exResume
		if e, ok := w.events[s.eventKey(w.scopeOf(x), last)]; ok {
			x.resumes = e.exchange + 1
		}
	}
}

func (s *Session) answerHead(x *exchange, m *tap.Exchange) {
	w := &s.web
	x.head, x.headDown = m.Time, m.Bytes
	x.secretDown = secretIn(m, len(m.Proto)+len(" ")+len(strconv.Itoa(m.Status)+" "+http.StatusText(m.Status))+len("\r\n"))
	x.status = int16(min(max(m.Status, 0), 999))
	x.answer = w.heads.keep(m.Headers)
	w.bytes.Heads[tap.S2C] += m.Bytes
	if isStreamType(w.heads.get(x.answer, "content-type")) {
		x.bits |= exStream
		if w.words.name(x.verb) == verbGet && x.bits&exAlien == 0 {
			w.learn(pathOf(w.words.name(x.target)))
		}
	}
	if id := w.heads.get(x.answer, "mcp-session-id"); id != "" && x.scope != 0 && w.heads.get(x.request, "mcp-session-id") == "" {
		w.bind(id, x.scope)
	}
}

func isStreamType(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "text/event-stream")
}

// bind gives a session that was just issued the scope of the exchange that did it.
func (w *web) bind(id string, sc Scope) {
	if w.sessions == nil {
		w.sessions = map[string]Scope{}
	}
	w.sessions[id] = sc
	if w.loose == sc {
		w.loose = 0
	}
}

// eventAlone takes an event without a message.
func (s *Session) eventAlone(i uint32, x *exchange, m *tap.Exchange) {
	s.web.bytes.Framing[tap.S2C] += m.Wire
	x.framing += m.Wire
	if m.SSE == nil {
		return
	}
	s.eventFields(x, m.SSE, m.Data != "")
	if m.SSE.ID != nil {
		s.keepEvent(s.eventKey(s.web.scopeOf(x), *m.SSE.ID), event{exchange: i})
	}
	if m.SSE.Event == "endpoint" && x.endpoint == 0 && s.web.words.name(x.verb) == verbGet {
		s.openEndpoint(i, x, m.Data)
	}
}

func (s *Session) eventFields(x *exchange, e *tap.SSE, hasData bool) {
	if x.first == 0 && (hasData || e.Event != "") {
		name := e.Event
		if name == "" {
			name = "message"
		}
		x.first = s.web.word(name)
	}
	if e.ID != nil {
		x.bits |= exEventID
	}
	if ms, err := strconv.ParseInt(e.Retry, 10, 32); err == nil && ms >= 0 {
		x.retry = int32(ms)
	}
}

// openEndpoint begins a session of HTTP+SSE: its POSTs go to the URI that the stream
// named (basic/transports, 2024-11-05).
func (s *Session) openEndpoint(i uint32, x *exchange, said string) {
	w := &s.web
	if x.scope == 0 {
		x.scope = w.newScope()
	}
	x.endpoint = w.word(said)
	target := endpointOf(w.words.name(x.target), said)
	if w.endpoints == nil {
		w.endpoints, w.streams = map[string]Scope{}, map[Scope]uint32{}
	}
	w.endpoints[target] = x.scope
	if q := queryOf(target); q != "" {
		w.endpoints["?"+q] = x.scope
	}
	w.streams[x.scope] = i
	w.learn(pathOf(target))
}

func (w *web) endpoint(target string) (sc Scope, ok bool) {
	if sc, ok = w.endpoints[target]; ok {
		return sc, true
	}
	q := queryOf(target)
	sc, ok = w.endpoints["?"+q]
	return sc, ok && q != ""
}

func (s *Session) eventKey(sc Scope, id string) uint64 {
	return s.ids.hash(sc, saltEvent, []byte(id))
}

func (s *Session) keepEvent(key uint64, e event) {
	if s.web.events == nil {
		s.web.events = map[uint64]event{}
	}
	if _, taken := s.web.events[key]; !taken {
		s.web.events[key] = e
	}
}
