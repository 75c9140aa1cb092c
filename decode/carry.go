package decode

import (
	"math"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

// addCarried takes a frame that came over HTTP.
func (s *Session) addCarried(f *tap.Frame) {
	w := &s.web
	at := s.frames.n
	for w.carried.n < at { // others, before it
		w.carried.add(carried{})
	}
	i, x := w.entry(f.HTTP.Exchange)
	c := carried{exchange: i + 1, before: x.newest}
	x.newest, x.frames = uint32(at)+1, x.frames+1
	if x.bits&exStream != 0 {
		x.quieted(f.Time, f.SSE)
	}
	x.active = f.Time
	if f.HTTP.Encoding != "" {
		c.bits |= carriedDecoded
	}
	if f.JSON {
		c.bits |= carriedJSON
	}
	if f.SSE != nil {
		s.takeEvent(x, f, &c)
	}
	w.carried.add(c)
	if !s.isMessage(x, f) {
		s.addBody(f)
		return
	}
	x.bits |= exRPC
	in := s.whereIn(i, x, f)
	if f.SSE != nil && f.SSE.ID != nil && s.replayed(i, x, f, at) {
		s.addReplay(f, in)
		return
	}
	s.addAt(f, in)
	if f.Dir == tap.C2S {
		s.sent(x, at)
	}
}

func (s *Session) takeEvent(x *exchange, f *tap.Frame, c *carried) {
	c.bits |= carriedEvent
	if f.SSE.Event != "" {
		c.name = s.web.word(f.SSE.Event)
	}
	if f.SSE.ID != nil {
		c.bits |= carriedID
	}
	if framing := f.HTTP.Wire - Crossed(f); framing > 0 && f.HTTP.Encoding == "" {
		c.framing = int32(min(framing, math.MaxInt32))
		x.framing += framing
		s.web.bytes.Framing[f.Dir] += framing
	}
	if f.HTTP.Encoding != "" {
		x.decoded += Crossed(f)
	}
	s.eventFields(x, f.SSE, true)
}

// isMessage tells messages from the other bodies that HTTP carries: pages of
// gateways, documents about authorization, acknowledgements, token requests.
func (s *Session) isMessage(x *exchange, f *tap.Frame) bool {
	switch {
	case f.HTTP.Masked || x.bits&exAlien != 0:
		return false
	case f.SSE != nil:
		return f.SSE.Event == "" || f.SSE.Event == "message"
	case f.Dir == tap.C2S:
		return s.isAsked(x, f)
	}
	return f.JSON && (isRPC(f) || x.status < 300 && x.call != 0 && s.web.paths[pathOf(s.web.words.name(x.target))])
}

// isAsked is isMessage for the body of a request. What goes to a path of messages
// should have been one.
func (s *Session) isAsked(x *exchange, f *tap.Frame) bool {
	w := &s.web
	path := pathOf(w.words.name(x.target))
	if f.JSON && isRPC(f) {
		w.learn(path)
		return true
	}
	form := strings.HasPrefix(w.heads.get(x.request, "content-type"), "application/x-www-form-urlencoded")
	return !form && (w.paths[path] || len(w.paths) == 0)
}

// isRPC reports whether a JSON body is one message or several, whole or not.
func isRPC(f *tap.Frame) bool {
	if f.Digest != nil {
		p := lookEnds([]byte(f.Digest.Head), []byte(f.Digest.Tail))
		return p.kind != kindMalformed && p.kind != kindCut
	}
	in := whole(f.Body)
	if isArray(f.Body, trim(f.Body, in)) {
		w := walk(f.Body, in)
		if !w.next() {
			return true // an empty batch
		}
		in = w.value
	}
	p := look(f.Body, in)
	return p.version.there() || p.method.there() || p.kind == kindResult || p.kind == kindError && p.faults&FaultErrorForm == 0
}

// addBody takes a body that is no message of MCP.
func (s *Session) addBody(f *tap.Frame) {
	at := s.place(f)
	e := s.frames.at(at)
	e.kind = kindBody
	if f.Dir == tap.S2C && !f.JSON {
		e.stray = strayNumber(Classify(beginning(f)))
	}
	if s.opts.Bytes {
		s.addTotals(f, at)
	}
}

// beginning is what of a body is at hand.
func beginning(f *tap.Frame) []byte {
	if f.Digest != nil {
		return []byte(f.Digest.Head)
	}
	return f.Body
}

// whereIn gives what a frame has from its exchange.
func (s *Session) whereIn(i uint32, x *exchange, f *tap.Frame) where {
	w := &s.web
	if x.scope == 0 {
		x.scope = s.scopeFor(x, f)
	}
	in := where{scope: x.scope, exchange: i + 1, version: w.heads.get(x.request, "mcp-protocol-version"), session: w.heads.get(x.request, "mcp-session-id") != ""}
	for hops := 0; x.resumes != 0 && hops < maxHops; hops++ { // the stream goes on for the call that began it
		in.exchange = x.resumes
		x = w.exchanges.at(int(x.resumes) - 1)
	}
	return in
}

// maxHops is how often one stream is followed back to where it began.
const maxHops = 16

// scopeFor finds the scope of an exchange by its first message. The modern era has
// none beyond the exchange; of the legacy one it is the session that a header or
// the endpoint names, or that the request opens (basic/transports).
func (s *Session) scopeFor(x *exchange, f *tap.Frame) Scope {
	w := &s.web
	version, id := w.heads.get(x.request, "mcp-protocol-version"), w.heads.get(x.request, "mcp-session-id")
	if f.Dir == tap.C2S {
		if sc, ok := w.endpoint(w.words.name(x.target)); ok {
			x.bits |= exOldPost
			return sc
		}
		if modern, opens := glance(f); modern || version >= rev2026 && !opens {
			return w.newScope()
		} else if opens && id == "" {
			return w.openLoose()
		}
	}
	if id != "" {
		if _, known := w.sessions[id]; !known {
			w.bind(id, w.newScope())
		}
		return w.sessions[id]
	}
	if w.loose == 0 {
		w.loose, w.opened = w.newScope(), false
	}
	return w.loose
}

// openLoose gives the scope of a handshake: a new one, but for the first, to which
// what came before it belongs as well.
func (w *web) openLoose() Scope {
	if w.loose == 0 || w.opened {
		w.loose = w.newScope()
	}
	w.opened = true
	return w.loose
}

// glance tells whether a request says that it is modern, or opens a legacy session.
func glance(f *tap.Frame) (modern, opens bool) {
	var p peek
	switch {
	case f.Digest != nil:
		p = lookEnds([]byte(f.Digest.Head), []byte(f.Digest.Tail))
	case f.JSON:
		p = look(f.Body, whole(f.Body))
	}
	if is(p.body, p.method, "initialize") {
		return false, true
	}
	v, _ := plain(p.body, path(p.body, p.params, "_meta", metaVersion))
	method, _ := plain(p.body, p.method)
	return string(v) >= rev2026 || methodEra(string(method)) == Modern, false
}

// scopeOf is the scope of a stream's events before a message has told it.
func (w *web) scopeOf(x *exchange) Scope {
	switch sc := w.sessions[w.heads.get(x.request, "mcp-session-id")]; {
	case x.scope != 0:
		return x.scope
	case sc != 0:
		return sc
	}
	return w.loose
}

// replayed reports whether an event was sent before: a client that lost a stream may
// get what it had once more (basic/transports). Only the same message counts, since
// some servers use an id for several.
func (s *Session) replayed(i uint32, x *exchange, f *tap.Frame, at int) bool {
	key := s.eventKey(x.scope, *f.SSE.ID)
	body := f.Body
	if f.Digest != nil {
		body = []byte(f.Digest.SHA256)
	}
	e := event{frame: uint32(at) + 1, exchange: i, body: uint32(s.ids.hash(0, saltEvent, body))}
	old, known := s.web.events[key]
	if !known || old.frame == 0 && old.exchange == i {
		s.keepEvent(key, e)
		return false
	}
	c := s.web.carried.at(at)
	if old.frame != 0 && old.body == e.body && old.exchange != i {
		c.bits |= carriedReplay
		return true
	}
	c.bits |= carriedTwice
	return false
}

// addReplay takes an event that was sent before: it is shown with the call of the
// first one, and joins nothing anew.
func (s *Session) addReplay(f *tap.Frame, in where) {
	at := s.place(f)
	e := s.frames.at(at)
	first := s.frames.at(int(s.web.events[s.eventKey(in.scope, *f.SSE.ID)].frame) - 1)
	e.kind, e.method, e.call, e.faults = first.kind, first.method, first.call, first.faults
	if e.call != 0 && e.kind != kindBatch {
		s.hang(int(e.call)-1, note{frame: uint32(at), kind: NoteReplay})
	}
	if s.opts.Bytes {
		s.addTotals(f, at)
	}
}

// sent notes what the body of a request was, once it has been taken in.
func (s *Session) sent(x *exchange, at int) {
	e := s.frames.at(at)
	if x.sent != SentNothing { // the calls of an exchange are those of one body
		x.sent |= SentSeveralBodies
		return
	}
	if e.kind != kindBatch {
		x.sent |= sentOf[e.kind]
		s.asked(x, e.call, e.kind)
		return
	}
	x.sent |= SentBatch
	for i := s.batches[e.call].from; i < s.batches[e.call].to; i++ {
		m := s.parts.at(i)
		x.sent |= sentOf[m.kind]
		s.asked(x, m.call, m.kind)
	}
}

var sentOf = [...]Sent{kindMalformed: SentBroken, kindRequest: SentRequest, kindNotification: SentNotification, kindResult: SentResponse,
	kindError: SentResponse, kindBatch: SentBatch, kindStray: SentBroken, kindLog: SentNothing, kindCut: SentNothing, kindBody: SentNothing}

func (s *Session) asked(x *exchange, call uint32, k kind) {
	if k != kindRequest || call == 0 {
		return
	}
	if x.call == 0 {
		x.call = call
	}
	x.calls = call - x.call + 1
}
