package decode

import (
	"slices"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// An Operation is what a client wanted done: one call, or several that belong
// together. Its times add up to End - Start as long as legs do not overlap.
type Operation struct {
	Kind    OpKind
	Dir     tap.Dir // of the first request: s2c for a server's own
	Method  string  // of the first leg
	Name    string
	Legs    []Leg
	Outcome Outcome
	Why     string
	Doubt   string // why something that may belong here was left apart

	Start, End time.Duration // first request, last response; End is 0 while open
	Server     time.Duration // the server was working: legs, less what it waited for the client
	Client     time.Duration // the client or its user was: between rounds, and in nested requests

	Task []TaskStatus // of a task: what was told, and when
}

// A Leg is one call of an operation.
type Leg struct {
	Call   int
	Role   string // request, round, poll, page, ...
	Frames []int  // request, response, and all that hangs on the call
}

// A TaskStatus is a status of a task from the moment it was first told.
type TaskStatus struct {
	At     time.Duration
	Status string
}

// Operations gives all operations, in the order of their first frames. Requests
// that a server made while it worked on a call are part of that call's operation.
func (s *Session) Operations() []Operation {
	var out []Operation
	for i := range s.calls.n {
		if s.Leads(i) {
			out = append(out, s.Operation(i))
		}
	}
	return out
}

// Leads reports whether a call is the first of its operation.
func (s *Session) Leads(c int) bool {
	e := s.calls.at(c)
	if _, nested := s.parents[uint32(c)]; nested {
		return false
	}
	return e.group == 0 || s.groups.at(int(e.group)).legs[0] == uint32(c)
}

// Alone reports a call that is an operation by itself and has no message hanging on
// it: then the call tells all that Operation would, for less.
func (s *Session) Alone(c int) bool {
	e := s.calls.at(c)
	return e.group == 0 && e.notes == 0
}

// Operation gives the operation that a call belongs to.
func (s *Session) Operation(c int) Operation {
	e := s.calls.at(c)
	g := &group{legs: []uint32{uint32(c)}}
	if e.group != 0 {
		g = s.groups.at(int(e.group))
	}
	o := Operation{Kind: g.kind, Doubt: doubts[g.doubt]}
	legs := make([]Call, len(g.legs))
	for i, l := range g.legs {
		legs[i] = s.Call(int(l))
		o.Legs = append(o.Legs, Leg{int(l), role(o.Kind, i, legs[i].Method), s.legFrames(&legs[i])})
	}
	lead := &legs[0]
	o.Dir, o.Method, o.Name, o.Start = lead.Dir, lead.Method, lead.Name, lead.Start
	if lead.Listen {
		o.Kind = OpListen
	}
	s.setTask(&o, g)
	s.setOutcome(&o, legs, g)
	s.setTimes(&o, legs)
	return o
}

func role(kind OpKind, i int, method string) string {
	switch {
	case i == 0:
		return "request"
	case kind == OpRounds:
		return "round"
	case kind == OpPages:
		return "page"
	case kind == OpURL:
		return "retry"
	}
	switch method {
	case "tasks/get":
		return "poll"
	case "tasks/result":
		return "result"
	case "tasks/cancel":
		return "cancel"
	case "tasks/update":
		return "input"
	}
	return "round"
}

// legFrames names the frames of a call in order, those of nested requests as well.
func (s *Session) legFrames(c *Call) []int {
	frames := []int{c.Request}
	if c.Response >= 0 {
		frames = append(frames, c.Response)
	}
	for _, n := range s.Notes(c.Index) {
		frames = append(frames, n.Frame)
		if n.Call < 0 {
			continue
		}
		if nested := s.calls.at(n.Call); nested.response != 0 {
			frames = append(frames, int(nested.response)-1)
		}
	}
	slices.Sort(frames)
	return slices.Compact(frames)
}

func (s *Session) setTask(o *Operation, g *group) {
	for _, st := range g.states {
		if n := len(o.Task); n > 0 && o.Task[n-1].Status == s.strs.name(st.status) {
			continue
		}
		o.Task = append(o.Task, TaskStatus{st.at, s.strs.name(st.status)})
	}
}

// setOutcome takes the last leg's outcome; a task's status tells more than the
// answer to a poll does.
func (s *Session) setOutcome(o *Operation, legs []Call, g *group) {
	last := &legs[len(legs)-1]
	o.Outcome, o.Why = last.Outcome, last.Why
	if last.Response >= 0 {
		o.End = last.End
	}
	if o.Kind == OpTask {
		s.setTaskOutcome(o, legs, g)
	}
	if o.Outcome == InputRequired {
		o.Why = "the question was not answered"
	}
}

func (s *Session) setTaskOutcome(o *Operation, legs []Call, g *group) {
	for i := len(legs) - 1; i >= 0; i-- {
		if legs[i].Method == "tasks/result" && legs[i].Response >= 0 {
			o.Outcome, o.Why = legs[i].Outcome, legs[i].Why
			return
		}
	}
	if len(g.states) == 0 {
		return
	}
	st := g.states[len(g.states)-1]
	status := s.strs.name(st.status)
	o.Why = "the task is " + status
	switch {
	case st.fails != OK:
		o.Outcome = st.fails
	case status == "completed":
		o.Outcome = OK
	case status == "failed":
		o.Outcome = ProtocolError
	case status == "cancelled":
		o.Outcome = Cancelled
	default:
		o.Outcome = Open
	}
}

// setTimes splits the time of an operation. A listen stream is pending for its
// whole life, and nobody's work.
func (s *Session) setTimes(o *Operation, legs []Call) {
	if o.Kind == OpListen {
		return
	}
	for i := range legs {
		c := &legs[i]
		if i > 0 && legs[i-1].Response >= 0 && c.Start > legs[i-1].End {
			o.addGap(legs[i-1].End, c.Start)
		}
		if c.Response >= 0 {
			waited := s.nestedTime(c)
			o.Server += c.End - c.Start - waited
			o.Client += waited
		}
	}
	if o.Dir == tap.S2C { // the client did the work
		o.Server, o.Client = o.Client, o.Server
	}
}

// addGap adds the time between two legs: the client's, but for a task while it is
// being worked on.
func (o *Operation) addGap(from, to time.Duration) {
	working := time.Duration(0)
	if o.Kind == OpTask {
		working = o.working(from, to)
	}
	o.Server += working
	o.Client += to - from - working
}

// working is for how long of an interval the task was said to be working.
func (o *Operation) working(from, to time.Duration) (sum time.Duration) {
	for i, st := range o.Task {
		until := to
		if i+1 < len(o.Task) {
			until = min(until, o.Task[i+1].At)
		}
		if since := max(from, st.At); st.Status == "working" && until > since {
			sum += until - since
		}
	}
	return sum
}

// nestedTime is how long a call waited for the client to answer the server's own
// requests; overlapping ones count once.
func (s *Session) nestedTime(c *Call) (sum time.Duration) {
	covered := c.Start
	for _, n := range s.Notes(c.Index) {
		if n.Call < 0 {
			continue
		}
		e := s.calls.at(n.Call)
		if e.response == 0 {
			continue
		}
		from := max(s.frames.at(int(e.request)).t, covered)
		to := min(s.frames.at(int(e.response)-1).t, c.End)
		if to > from {
			sum += to - from
			covered = to
		}
	}
	return sum
}
