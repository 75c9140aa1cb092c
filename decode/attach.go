package decode

import "github.com/mcptap/mcptap/tap"

// notify hangs a notification on the call that it names, if it names one
// (basic/utilities/progress, cancellation, logging; basic/patterns/subscriptions).
func (s *Session) notify(p *peek, in incoming, method uint32) (call uint32, bits frameBits) {
	q := lookParams(p.body, p.params)
	s.announce(s.methods.name(method), in.frame)
	switch s.methods.name(method) {
	case "notifications/progress":
		return s.progress(p, &q, in)
	case "notifications/cancelled":
		return s.cancel(p, &q, in)
	case "notifications/message":
		return s.logged(p, &q, in)
	case "notifications/elicitation/complete":
		return s.urlDone(p, &q, in)
	case "notifications/tasks", "notifications/tasks/status":
		return s.taskNote(p, &q, in)
	case "notifications/initialized":
		s.era.ready = true
	}
	if q.meta.subscription.there() {
		return s.streamed(p, &q, in)
	}
	return s.related(p, &q, in)
}

func (s *Session) progress(p *peek, q *params, in incoming) (uint32, frameBits) {
	if !q.token.there() {
		return 0, bitUnjoined
	}
	dir := opposite(in.dir)
	c, ok := s.tokens[s.ids.hash(in.where.scope, saltToken+uint8(dir), q.token.of(p.body))]
	if !ok {
		return 0, bitUnjoined
	}
	kind := NoteProgress
	if e := s.calls.at(int(c)); e.response != 0 && e.bits&callAsTask == 0 {
		kind = NoteLateProgress
	}
	s.hang(int(c), note{frame: uint32(in.frame), kind: kind})
	return c + 1, 0
}

// cancel takes a cancellation. The sender names a request of its own; a server
// that ends a listen stream names the client's (basic/patterns/cancellation).
func (s *Session) cancel(p *peek, q *params, in incoming) (uint32, frameBits) {
	if !q.requestID.there() {
		return s.related(p, q, in)
	}
	raw := q.requestID.of(p.body)
	c, ok := s.find(lane{in.where.scope, in.dir}, raw)
	if !ok && in.dir == tap.S2C {
		if c, ok = s.find(lane{in.where.scope, tap.C2S}, raw); ok && s.calls.at(int(c)).bits&callListen == 0 {
			ok = false
		}
	}
	if !ok {
		return 0, bitUnjoined
	}
	kind := NoteLateCancel
	if e := s.calls.at(int(c)); e.response == 0 {
		kind = NoteCancel
		if e.outcome == Open { // from here on its sender does not wait for it
			s.finish(c)
		}
		e.outcome, e.code, e.bits = Cancelled, 0, e.bits|callCancelled
	}
	s.hang(int(c), note{frame: uint32(in.frame), kind: kind})
	return c + 1, 0
}

// logged joins a log message: on HTTP to the request of its exchange, on stdio to
// the only open request that asked for log messages (modern), else to none. No id
// says so, hence it is a guess; more than one candidate is no answer at all.
func (s *Session) logged(p *peek, q *params, in incoming) (uint32, frameBits) {
	if c, bits := s.related(p, q, in); c != 0 {
		return c, bits
	}
	if c, ok := s.exchanges[in.where.exchange]; ok && in.where.exchange > 0 {
		s.hang(int(c), note{frame: uint32(in.frame), kind: NoteLog})
		return c + 1, 0
	}
	t := s.inUse[lane{in.where.scope, opposite(in.dir)}]
	if t == nil || t.logs != 1 {
		return 0, 0
	}
	s.hang(int(t.logsXor), note{frame: uint32(in.frame), kind: NoteLog})
	return t.logsXor + 1, 0
}

// streamed joins a notification to its listen request by the subscription id,
// which is that request's id, JSON type included.
func (s *Session) streamed(p *peek, q *params, in incoming) (uint32, frameBits) {
	c, ok := s.find(lane{in.where.scope, opposite(in.dir)}, q.meta.subscription.of(p.body))
	if !ok || s.calls.at(int(c)).bits&callListen == 0 {
		return 0, bitUnjoined
	}
	s.hang(int(c), note{frame: uint32(in.frame), kind: NoteStream})
	return c + 1, 0
}

// related joins a message to the call that created the task it names.
func (s *Session) related(p *peek, q *params, in incoming) (uint32, frameBits) {
	if !q.meta.task.there() {
		return 0, 0
	}
	return s.hangTask(p, q.meta.task, in)
}

func (s *Session) taskNote(p *peek, q *params, in incoming) (uint32, frameBits) {
	if !q.taskID.there() {
		return 0, bitUnjoined
	}
	if st := member(p.body, p.params, "status"); st.there() {
		s.setTaskStatus(p, q.taskID, st, in.t)
	}
	return s.hangTask(p, q.taskID, in)
}

func (s *Session) hangTask(p *peek, id span, in incoming) (uint32, frameBits) {
	c, ok := s.tasks[s.ids.hash(0, saltTask, id.of(p.body))]
	if !ok {
		return 0, bitUnjoined
	}
	s.hang(int(c), note{frame: uint32(in.frame), kind: NoteTask})
	return c + 1, 0
}

func (s *Session) urlDone(p *peek, q *params, in incoming) (uint32, frameBits) {
	if !q.elicitation.there() {
		return 0, bitUnjoined
	}
	c, ok := s.urls[s.ids.hash(0, saltURL, q.elicitation.of(p.body))]
	if !ok {
		return 0, bitUnjoined
	}
	s.hang(int(c), note{frame: uint32(in.frame), kind: NoteURLDone})
	return c + 1, 0
}

// nest joins a request of the server to the client's call that it was made for.
// Tasks name it, and on HTTP the stream does; otherwise it is a guess, made when
// one call is open.
func (s *Session) nest(c uint32, p *peek, q *params, in incoming) {
	s.keepURL(c, p, q)
	parent, ok := uint32(0), false
	if q.meta.task.there() {
		parent, ok = s.tasks[s.ids.hash(0, saltTask, q.meta.task.of(p.body))]
	}
	if !ok && in.where.exchange > 0 {
		parent, ok = s.exchanges[in.where.exchange]
	}
	guessed := !ok
	if t := s.inUse[lane{in.where.scope, tap.C2S}]; !ok && t != nil && t.open == 1 {
		parent, ok = t.openXor, true
	}
	if !ok || s.methods.name(s.calls.at(int(parent)).method) == "initialize" {
		return
	}
	e := s.calls.at(int(c))
	s.parents[c] = parent
	if guessed {
		e.bits |= callGuessed
	}
	s.hang(int(parent), note{frame: uint32(in.frame), kind: NoteNested, call: c})
}
