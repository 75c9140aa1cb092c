package decode

import (
	"math"

	"github.com/mcptap/mcptap/tap"
)

// lane is one direction of one scope: an id space of its own (basic/index).
type lane struct {
	scope Scope
	dir   tap.Dir
}

// traffic counts the open requests of a lane. An exclusive or over their indexes
// names the one that is open when only one is.
type traffic struct {
	open, openXor uint32
	logs, logsXor uint32 // those that asked for log messages
	all           uint32 // listen streams included
}

func (s *Session) traffic(l lane) *traffic {
	t := s.inUse[l]
	if t == nil {
		t = new(traffic)
		s.inUse[l] = t
	}
	return t
}

// begin and finish keep a lane's traffic when a call opens or ends.
func (s *Session) begin(c uint32) {
	e := s.calls.at(int(c))
	t := s.traffic(lane{e.scope, e.dir})
	t.all++
	t.count(c, e.bits, 1)
}

func (s *Session) finish(c uint32) {
	e := s.calls.at(int(c))
	l := lane{e.scope, e.dir}
	t := s.traffic(l)
	t.all--
	t.count(c, e.bits, math.MaxUint32)
	if t.all == 0 && l.scope != 0 {
		delete(s.inUse, l) // an exchange of modern HTTP is a scope, and there are many
	}
}

func (t *traffic) count(c uint32, bits callBits, by uint32) {
	if bits&callListen == 0 {
		t.open += by
		t.openXor ^= c
	}
	if bits&callLogs != 0 {
		t.logs += by
		t.logsXor ^= c
	}
}

func opposite(d tap.Dir) tap.Dir {
	if d == tap.C2S {
		return tap.S2C
	}
	return tap.C2S
}

// enqueue puts a new call behind those with the same id. The open ones form a
// ring: the newest links to the oldest, each other one to the next. So both ends
// are at hand, and a million requests with one id cost no more than others. One that
// was answered out of turn, in its own exchange, stays until its turn comes.
func (s *Session) enqueue(c uint32, l lane, raw []byte) {
	e := s.calls.at(int(c))
	e.link = c
	s.roomForOne()
	last := s.newestOf(l, raw)
	if old := *last - 1; *last != 0 && !s.turnedAway(old) {
		e.bits |= callReused
		o := s.calls.at(int(old))
		if first, waits := s.oldest(old); waits {
			e.bits |= callInFlight | callAmbiguous
			if o.response == 0 {
				first = old
			}
			s.calls.at(int(first)).bits |= callAmbiguous
			if o.outcome == Open || o.link != old { // else nobody waits for the old one any more
				e.link, o.link = o.link, c
			}
		}
	}
	if *last == 0 {
		s.newest.n++
	}
	*last = c + 1
}

// oldest gives the oldest open call with an id, given the newest with it, and drops
// those before it from the ring.
func (s *Session) oldest(newest uint32) (c uint32, ok bool) {
	e := s.calls.at(int(newest))
	for e.link != newest && s.calls.at(int(e.link)).response != 0 {
		e.link = s.calls.at(int(e.link)).link
	}
	return e.link, s.calls.at(int(e.link)).response == 0
}

// dequeue takes the oldest open call with that id, given the newest.
func (s *Session) dequeue(newest uint32) (c uint32, ok bool) {
	c, ok = s.oldest(newest)
	if ok && c != newest {
		s.calls.at(int(newest)).link = s.calls.at(int(c)).link
	}
	return c, ok
}

// ask opens a call.
func (s *Session) ask(p *peek, in incoming, method uint32) int {
	q := lookParams(p.body, p.params)
	raw := p.id.of(p.body)
	e := call{id: s.ids.keep(raw), request: uint32(in.frame), method: method, scope: in.where.scope, dir: in.dir}
	e.name, e.bits = s.subject(p, &q), s.askBits(p, &q, in)
	e.era, e.revision = s.requestEra(p, &q, in)
	s.peers.addClient(p, &q, in.frame)
	c := uint32(s.calls.add(e))
	s.era.opening(c, s.methods.name(method))
	l := lane{e.scope, e.dir}
	s.enqueue(c, l, raw)
	s.begin(c)
	if q.meta.token.there() {
		s.tokens[s.ids.hash(l.scope, saltToken+uint8(l.dir), q.meta.token.of(p.body))] = c
	}
	if in.where.exchange > 0 && in.dir == tap.C2S {
		s.exchanges[in.where.exchange] = c
	}
	if in.dir == tap.S2C && !q.taskID.there() { // a task is followed up by whoever asked for it
		s.nest(c, p, &q, in)
	} else {
		s.join(c, p, &q)
	}
	return int(c)
}

// Salts keep the joins of different kinds apart in one hash.
const (
	saltToken = 8 + iota*8
	saltState
	saltCursor
	saltTask
	saltURL
	saltRetry
	saltEvent
)

// subject is what a request is about: its tool, prompt or resource.
func (s *Session) subject(p *peek, q *params) uint32 {
	switch {
	case isString(p.body, q.name):
		return s.names.of(p.body, q.name)
	case isString(p.body, q.uri):
		return s.names.of(p.body, q.uri)
	}
	return 0
}

func (s *Session) askBits(p *peek, q *params, in incoming) (b callBits) {
	set := func(on bool, bit callBits) {
		if on {
			b |= bit
		}
	}
	set(in.cut, callCut)
	set(in.batch, callBatch)
	set(q.meta.token.there(), callToken)
	set(q.meta.logLevel.there(), callLogs)
	set(q.task.there(), callTask)
	set(q.state.there() || q.responses.there(), callRetry)
	set(is(p.body, p.method, "subscriptions/listen"), callListen)
	return b
}

// answer joins a response to its call.
func (s *Session) answer(p *peek, in incoming) (c uint32, bits frameBits) {
	if !p.id.there() || isNull(p.body, p.id) {
		return s.answerExchange(p, in)
	}
	l := lane{in.where.scope, opposite(in.dir)}
	raw := p.id.of(p.body)
	c, known, open := s.asker(l, raw, in)
	switch {
	case !known:
		return s.answerOther(l, raw, in)
	case !open:
		s.calls.at(int(c)).bits |= callAnswered2
		s.hang(int(c), note{frame: uint32(in.frame), kind: NoteSecond})
		return c + 1, bitSecond
	}
	s.close(c, p, in)
	return c + 1, 0
}

// asker finds the call that a response with that id is for, and whether it was still
// open: of those with the id the oldest, or the one of its own exchange.
func (s *Session) asker(l lane, raw []byte, in incoming) (c uint32, known, open bool) {
	if x := s.postOf(in); x != nil {
		return s.askedIn(x, l, raw)
	}
	newest, ok := s.find(l, raw)
	if !ok {
		return 0, false, false
	}
	if c, open = s.dequeue(newest); open {
		return c, true, true
	}
	return newest, true, false
}

// answerExchange handles an error without an id. Only HTTP tells what it answers:
// the request of its exchange, unless that was a batch.
func (s *Session) answerExchange(p *peek, in incoming) (uint32, frameBits) {
	c, ok := s.exchanges[in.where.exchange]
	if p.kind != kindError || p.faults&(FaultErrorForm|FaultVersion) != 0 { // an error of the HTTP layer, told in JSON
		return 0, bitOrphan
	}
	if !ok || s.calls.at(int(c)).bits&callBatch != 0 || s.calls.at(int(c)).dir == in.dir {
		return 0, bitOrphan
	}
	e := s.calls.at(int(c))
	l := lane{e.scope, e.dir}
	newest, ok := s.find(l, s.ids.raw(e.id))
	if !ok || newest != c || e.link != c || e.response != 0 { // others with its id are open too
		return 0, bitOrphan
	}
	s.close(c, p, in)
	return c + 1, 0
}

// answerOther handles a response to no known id: one of another JSON type
// perhaps. It does not answer the call, since the client won't take it either.
func (s *Session) answerOther(l lane, raw []byte, in incoming) (uint32, frameBits) {
	var other []byte
	if raw[0] == '"' {
		other = raw[1:max(1, len(raw)-1)]
	} else {
		other = append(append([]byte{'"'}, raw...), '"')
	}
	c, ok := s.find(l, other)
	if x := s.postOf(in); x != nil {
		c, ok, _ = s.askedIn(x, l, other)
	}
	if !ok || s.calls.at(int(c)).response != 0 {
		return 0, bitOrphan
	}
	s.calls.at(int(c)).bits |= callWrongID
	s.hang(int(c), note{frame: uint32(in.frame), kind: NoteWrongID})
	return c + 1, bitWrongID
}

// close ends a call with its response.
func (s *Session) close(c uint32, p *peek, in incoming) {
	e := s.calls.at(int(c))
	e.response = uint32(in.frame) + 1
	if e.bits&callCancelled != 0 {
		e.bits |= callLate
	}
	if in.cut {
		e.bits |= callCut
	}
	switch {
	case e.outcome == TransportError || e.outcome == Unauthorized: // its exchange broke off, and the answer came by another
		e.outcome, e.code = Open, 0
	case e.outcome != Cancelled:
		s.finish(c)
	}
	if s.exchanges[in.where.exchange] == c {
		delete(s.exchanges, in.where.exchange)
	}
	r := lookResult(p.body, p.result)
	if in.dir == tap.S2C {
		s.peers.addServer(p, &r, in.frame)
	}
	s.outcome(c, p, &r)
	s.refused(e, in)
	s.answerEra(c, p, &r)
	s.joinAnswer(c, p, &r)
	s.keepListing(c, p, &r)
}
