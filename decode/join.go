package decode

import (
	"encoding/binary"
	"slices"
	"time"
)

// OpKind is what makes several calls one operation.
type OpKind uint8

// The kinds of operations.
const (
	OpCall   OpKind = iota // one call
	OpRounds               // a multi-round-trip request and its retries
	OpTask                 // a call that made a task, and what followed it up
	OpPages                // one walk over the pages of a list
	OpURL                  // a call refused until a URL was opened, and tried again
	OpListen               // a subscription and its stream
)

var opNames = [...]string{"call", "rounds", "task", "pages", "url elicitation", "listen"}

func (k OpKind) String() string { return nameOf(opNames[:], int(k)) }

// group is an operation of several calls, or one call with a doubt.
type group struct {
	kind   OpKind
	doubt  doubt
	legs   []uint32
	states []taskState
}

type doubt uint8

const (
	doubtNone doubt = iota
	doubtOrphan
	doubtAmbiguous
	doubtNoTask
	doubtNoPage
)

var doubts = [...]string{
	doubtOrphan:    "it answers a question that is not in this capture",
	doubtAmbiguous: "it answers one of several questions that look alike: which one is not known",
	doubtNoTask:    "the task it names was not created in this capture",
	doubtNoPage:    "its cursor was not handed out in this capture",
}

// joinTo makes call c a leg of the operation that call to belongs to.
func (s *Session) joinTo(c, to uint32, kind OpKind) {
	t := s.calls.at(int(to))
	if t.group == 0 {
		t.group = uint32(s.groups.add(group{kind: kind, legs: []uint32{to}}))
	}
	g := s.groups.at(int(t.group))
	if g.kind == OpCall || kind == OpTask {
		g.kind = kind
	}
	e := s.calls.at(int(c))
	if e.group != 0 {
		return
	}
	g.legs = append(g.legs, c)
	e.group = t.group
}

func (s *Session) setDoubt(c uint32, d doubt) {
	e := s.calls.at(int(c))
	if e.group == 0 {
		e.group = uint32(s.groups.add(group{legs: []uint32{c}}))
	}
	s.groups.at(int(e.group)).doubt = d
}

// join finds the operation that a client's request goes on with.
func (s *Session) join(c uint32, p *peek, q *params) {
	e := s.calls.at(int(c))
	switch s.methods.name(e.method) {
	case "tools/call", "prompts/get", "resources/read":
		e.args = s.argsHash(p, q)
		if e.bits&callRetry != 0 {
			s.joinRound(c, p, q)
		} else if to, ok := s.retries[s.subjectHash(e, saltRetry)]; ok {
			delete(s.retries, s.subjectHash(e, saltRetry))
			s.joinTo(c, to, OpURL)
		}
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list":
		s.askListing(c, p, q)
		s.joinPage(c, p, q)
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		s.joinTask(c, p, q)
	}
}

// maxCanon is the longest arguments that are compared by meaning; longer ones are
// compared byte by byte.
const maxCanon = 4 << 10

func (s *Session) argsHash(p *peek, q *params) uint32 {
	if !q.arguments.there() {
		return 0
	}
	if q.arguments.size() <= maxCanon {
		if h, ok := canon(p.body, q.arguments); ok {
			return uint32(h)
		}
	}
	return uint32(s.ids.hash(0, 0, q.arguments.of(p.body)))
}

// subjectHash is the hash of what a request asks for.
func (s *Session) subjectHash(e *call, salt uint8) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint32(b[0:], e.method)
	binary.LittleEndian.PutUint32(b[4:], e.name)
	binary.LittleEndian.PutUint32(b[8:], e.args)
	binary.LittleEndian.PutUint32(b[12:], uint32(e.dir))
	return s.ids.hash(0, salt, b[:])
}

// roundKey is what a retry and the interim result it answers have in common: the
// state if there is one, else the arguments (basic/patterns/mrtr). Rounds may use
// any connection, so the scope is left out.
func (s *Session) roundKey(e *call, state []byte) uint64 {
	if state == nil {
		return s.subjectHash(e, saltState)
	}
	b := binary.LittleEndian.AppendUint32(nil, e.method)
	b = binary.LittleEndian.AppendUint32(b, e.name)
	return s.ids.hash(0, saltState+1, append(b, state...))
}

// interims are the interim results that one retry could answer.
type interims struct {
	open []interim
	last uint32 // the newest that was answered, call + 1
}

type interim struct {
	call uint32
	keys []uint64 // hashes of its inputRequests' keys
}

// maxInterims is how many open interim results that look alike are told apart.
const maxInterims = 8

func (s *Session) joinRound(c uint32, p *peek, q *params) {
	e := s.calls.at(int(c))
	var state []byte
	if q.state.there() {
		state = q.state.of(p.body)
	}
	in := s.rounds[s.roundKey(e, state)]
	if in == nil {
		s.setDoubt(c, doubtOrphan)
		return
	}
	fit := in.open
	if state == nil {
		fit = overlapping(fit, keyHashes(p.body, q.responses))
	}
	switch {
	case len(fit) > 1:
		s.setDoubt(c, doubtAmbiguous)
	case len(fit) == 1:
		in.last = fit[0].call + 1
		in.open = slices.DeleteFunc(in.open, func(i interim) bool { return i.call == in.last-1 })
		s.joinTo(c, in.last-1, OpRounds)
	case in.last > 0: // the same interim result answered once more
		s.joinTo(c, in.last-1, OpRounds)
	default:
		s.setDoubt(c, doubtOrphan)
	}
}

func overlapping(in []interim, keys []uint64) []interim {
	var out []interim
	for _, i := range in {
		if slices.ContainsFunc(i.keys, func(k uint64) bool { return slices.Contains(keys, k) }) {
			out = append(out, i)
		}
	}
	return out
}

func keyHashes(b []byte, in span) (keys []uint64) {
	if !in.there() {
		return nil
	}
	for w := walk(b, in); w.object && w.next() && len(keys) < maxKeys; {
		keys = append(keys, mix('k', uint64(len(w.name())), canonKey(w.name())))
	}
	return keys
}

func (s *Session) keepRound(c uint32, p *peek, r *result) {
	e := s.calls.at(int(c))
	var state []byte
	if r.state.there() {
		state = r.state.of(p.body)
	}
	key := s.roundKey(e, state)
	in := s.rounds[key]
	if in == nil {
		in = new(interims)
		s.rounds[key] = in
	}
	if len(in.open) < maxInterims {
		in.open = append(in.open, interim{c, keyHashes(p.body, r.requests)})
	}
}

func (s *Session) joinPage(c uint32, p *peek, q *params) {
	if !q.cursor.there() {
		return
	}
	to, ok := s.walks[s.pageKey(c, q.cursor.of(p.body))]
	if !ok {
		s.setDoubt(c, doubtNoPage)
		return
	}
	s.joinTo(c, to, OpPages)
}

func (s *Session) pageKey(c uint32, cursor []byte) uint64 {
	b := binary.LittleEndian.AppendUint32(nil, s.calls.at(int(c)).method)
	return s.ids.hash(0, saltCursor, append(b, cursor...))
}

func (s *Session) joinTask(c uint32, p *peek, q *params) {
	to, ok := s.tasks[s.ids.hash(0, saltTask, q.taskID.of(p.body))]
	if !ok {
		s.setDoubt(c, doubtNoTask)
		return
	}
	s.joinTo(c, to, OpTask)
}

// joinAnswer remembers what a later request may go on with.
func (s *Session) joinAnswer(c uint32, p *peek, r *result) {
	e := s.calls.at(int(c))
	switch {
	case e.outcome == InputRequired:
		s.keepRound(c, p, r)
	case e.outcome == ProtocolError && e.code == -32042:
		s.retries[s.subjectHash(e, saltRetry)] = c
		s.keepURLs(c, p)
	case e.bits&callAsTask != 0:
		s.keepTask(c, p, r)
	case r.next.there():
		s.walks[s.pageKey(c, r.next.of(p.body))] = c
	case e.group != 0 && r.status.there():
		s.followTask(c, p, r)
	}
}

// A taskState is one status of a task, from the moment it was first told.
type taskState struct {
	at     time.Duration
	status uint32
	fails  Outcome // of a result inside: ToolError or ProtocolError, else OK
}

// maxStates is how many changes of one task are kept.
const maxStates = 256

func (s *Session) keepTask(c uint32, p *peek, r *result) {
	id, status := r.taskID, r.status
	if r.task.there() { // 2025-11-25 nests it
		id, status = member(p.body, r.task, "taskId"), member(p.body, r.task, "status")
	}
	if !id.there() {
		return
	}
	s.tasks[s.ids.hash(0, saltTask, id.of(p.body))] = c
	s.joinTo(c, c, OpTask)
	s.addState(c, p, status, OK)
}

// followTask takes the status that a poll tells.
func (s *Session) followTask(c uint32, p *peek, r *result) {
	fails := OK
	if isTrue(p.body, path(p.body, p.result, "result", "isError")) {
		fails = ToolError
	} else if member(p.body, p.result, "error").there() {
		fails = ProtocolError
	}
	s.addState(c, p, r.status, fails)
}

func (s *Session) addState(c uint32, p *peek, status span, fails Outcome) {
	e := s.calls.at(int(c))
	s.pushState(e.group, taskState{s.frames.at(int(e.response) - 1).t, s.strs.of(p.body, status), fails})
}

func (s *Session) setTaskStatus(p *peek, id, status span, at time.Duration) {
	if c, ok := s.tasks[s.ids.hash(0, saltTask, id.of(p.body))]; ok {
		s.pushState(s.calls.at(int(c)).group, taskState{at, s.strs.of(p.body, status), OK})
	}
}

func (s *Session) pushState(g uint32, st taskState) {
	to := &s.groups.at(int(g)).states
	if n := len(*to); n > 0 && (*to)[n-1].status == st.status && st.fails == OK || n >= maxStates {
		return
	}
	*to = append(*to, st)
}

// keepURL and keepURLs remember elicitation ids for the notification that the
// URL was done with (client/elicitation, 2025-11-25).
func (s *Session) keepURL(c uint32, p *peek, q *params) {
	if q.elicitation.there() {
		s.urls[s.ids.hash(0, saltURL, q.elicitation.of(p.body))] = c
	}
}

func (s *Session) keepURLs(c uint32, p *peek) {
	all := path(p.body, p.failure, "data", "elicitations")
	if !all.there() {
		return
	}
	for w := walk(p.body, all); w.next(); {
		if id := member(p.body, w.value, "elicitationId"); id.there() {
			s.urls[s.ids.hash(0, saltURL, id.of(p.body))] = c
		}
	}
}
