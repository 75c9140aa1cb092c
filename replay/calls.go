package replay

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/internal/wire"
	"github.com/mcptap/mcptap/tap"
)

// A Call is one use of a tool: a tools/call with what belongs to it. Rounds of a
// multi-round-trip request and polls of a task are the same use.
type Call struct {
	Session int
	Index   int    // of the call that leads its operation, in its session
	Tool    string // as the server knows it; text from the outside
	ID      string // Anthropic id of the tool use, where the host says it in _meta
	Request Ref    // frame that asked first
	Start   time.Duration
	Answer  Answer
	Doubt   string // why it may not be the model's; empty as a rule
	// OddInput says what its arguments are where they are no object, though there are
	// some; empty as a rule.
	OddInput string

	Turn int    // index in Timeline.Turns
	Join Reason // why it is in the turn it is in

	hostRequest string
}

// An Answer is how a use of a tool ended.
type Answer struct {
	Frame   int           // that holds the result, -1 while there is none
	Call    int           // that the frame answers
	Path    string        // JSON pointer to the result or the error in the frame
	End     time.Duration // since the first session's start; meaningless without a frame
	Outcome decode.Outcome
	Why     string
	Code    int64 // of a protocol error
	Hidden  *decode.Hidden
}

// There reports whether there is an answer.
func (a *Answer) There() bool { return a.Frame >= 0 }

// Ref names the answer's frame.
func (c *Call) Ref() Ref { return Ref{c.Session, c.Answer.Frame} }

// asked is what was read of a request. It does not change.
type asked struct {
	tool        string
	id          string
	hostRequest string
	oddInput    string
	permission  bool
	values      []string
	scanned     bool // its result was searched for values
}

// findCalls collects the calls of tools and sets apart those that are not the
// model's.
func (t *Timeline) findCalls() {
	t.Calls, t.Apart = nil, nil
	for s := range t.Sessions {
		t.findCallsOf(s)
	}
	slices.SortStableFunc(t.Calls, func(a, b Call) int { return t.compareRefs(a.Request, b.Request) })
	t.dropRepeats()
}

func (t *Timeline) findCallsOf(session int) {
	s := t.Sessions[session]
	for i := range s.Calls() {
		c := s.Call(i)
		if c.Dir != tap.C2S || c.Method != "tools/call" || !s.Leads(i) {
			continue
		}
		q := t.readRequest(session, &c)
		call := Call{
			Session: session, Index: i, Tool: q.tool, ID: q.id, hostRequest: q.hostRequest, OddInput: q.oddInput,
			Request: Ref{session, c.Request}, Start: t.offsets[session] + c.Start,
		}
		call.Answer = t.answer(session, &c)
		if reason := t.apart(&call, q); reason != "" {
			t.Apart = append(t.Apart, Apart{call, reason})
			continue
		}
		if c.Start < theThresholds().Early.duration() {
			call.Doubt = "it came so soon after the session's start that no reply of a model fits before it"
		}
		t.Calls = append(t.Calls, call)
	}
}

// readRequest reads what the body of a request tells, once.
func (t *Timeline) readRequest(session int, c *decode.Call) *asked {
	if q := t.read[session][c.Index]; q != nil {
		return q
	}
	q := &asked{tool: c.Name}
	t.read[session][c.Index] = q
	body := t.Sessions[session].Body(c.Request)
	if body == nil {
		q.oddInput = "not in the recording"
		return q
	}
	params := wire.Message(body, string(c.ID), false).Get("params")
	if q.tool == "" || decode.Shortened(q.tool) {
		q.tool = params.Get("name").Text()
	}
	meta := params.Get("_meta")
	th := theThresholds()
	q.id = meta.Get(th.ToolUseID).Text()
	for _, name := range th.RequestIDs {
		if id := meta.Get(name); q.hostRequest == "" && id.There() {
			q.hostRequest = id.Raw
		}
	}
	t.noteMeta(session, meta)
	arguments := params.Get("arguments")
	q.oddInput = oddInput(arguments)
	q.permission = asksPermission(arguments)
	q.values = distinctive(arguments)
	return q
}

// oddInput says what arguments are that are no object.
func oddInput(v wire.Value) string {
	switch {
	case !v.Exists() || v.IsObject():
		return ""
	case v.IsArray():
		return "an array"
	case v.Type == gjson.String:
		return "a text"
	case v.Type == gjson.Number:
		return "a number"
	}
	return v.Raw // null, true, false
}

// maxMeta bounds the names of _meta members kept of a session.
const maxMeta = 256

func (t *Timeline) noteMeta(session int, meta wire.Value) {
	names, _ := meta.Members()
	for _, n := range names {
		if len(t.meta[session]) < maxMeta {
			t.meta[session][n] = true
		}
	}
}

// HasMeta reports whether a tools/call of a session carries this member of _meta.
func (t *Timeline) HasMeta(session int, name string) bool { return t.meta[session][name] }

// answer finds what a use of a tool came to.
func (t *Timeline) answer(session int, c *decode.Call) Answer {
	s := t.Sessions[session]
	o := s.Operation(c.Index)
	a := Answer{Frame: -1, Call: -1, Outcome: o.Outcome, Why: o.Why}
	for _, leg := range slices.Backward(o.Legs) {
		l := s.Call(leg.Call)
		path, final, last := t.final(session, &l)
		if final {
			a.Frame, a.Call, a.Path, a.End = l.Response, l.Index, path, t.offsets[session]+l.End
			a.Code, a.Hidden = l.Code, l.Hidden
		}
		if final || last {
			break
		}
	}
	return a
}

// final reports whether the answer to a leg is what the whole operation came to,
// and where in the frame it stands; last that no earlier leg can have it.
func (t *Timeline) final(session int, l *decode.Call) (path string, final, last bool) {
	if l.Response < 0 {
		return "", false, l.Method == "tools/call"
	}
	switch l.Method {
	case "tools/call":
		if l.MadeTask || l.Outcome == decode.InputRequired {
			return "", false, true
		}
	case "tasks/result":
	case "tasks/get":
		return t.inlined(session, l)
	default:
		return "", false, false
	}
	m := wire.Message(t.Sessions[session].Body(l.Response), string(l.ID), true)
	if l.Outcome == decode.ProtocolError {
		return m.Path + "/error", true, true
	}
	return m.Path + "/result", true, true
}

// inlined finds the result that an answer to tasks/get holds when the task is done.
func (t *Timeline) inlined(session int, l *decode.Call) (path string, final, last bool) {
	r := wire.Message(t.Sessions[session].Body(l.Response), string(l.ID), true).Get("result")
	for _, name := range []string{"result", "error"} {
		if v := r.Get(name); v.IsObject() {
			return v.Path, true, true
		}
	}
	return "", false, false
}

// dropRepeats sets calls apart whose tool-use id was there before: the host tried
// again, and the model asked once. It reads the answer that there was.
func (t *Timeline) dropRepeats() {
	t.again = map[callKey]callKey{}
	first := map[string]int{}
	kept := t.Calls[:0]
	for i := range t.Calls {
		c := t.Calls[i]
		at, again := first[c.ID]
		if c.ID == "" || !again {
			first[c.ID] = len(kept)
			kept = append(kept, c)
			continue
		}
		was := &kept[at]
		if was.Session == c.Session {
			t.again[callKey{c.Session, c.Index}] = callKey{was.Session, was.Index}
			if !was.Answer.There() {
				was.Answer = c.Answer
			}
		}
		t.Apart = append(t.Apart, Apart{c, "the host tried again: it carries the tool-use id of an earlier call"})
	}
	t.Calls = kept
}

// CallOf gives the use of a tool that a call of a session belongs to, as an index
// in Calls; -1 if it is none of the model's. A call that the host repeats belongs to
// the first one.
func (t *Timeline) CallOf(session, call int) int {
	lead := t.Sessions[session].Operation(call).Legs[0].Call
	if first, again := t.again[callKey{session, lead}]; again {
		lead = first.index
	}
	at := Ref{session, t.Sessions[session].Call(lead).Request}
	i, found := slices.BinarySearchFunc(t.Calls, at, func(c Call, r Ref) int { return t.compareRefs(c.Request, r) })
	if !found {
		return -1
	}
	for ; i < len(t.Calls) && t.Calls[i].Request == at; i++ { // a batch has several in one frame
		if t.Calls[i].Index == lead {
			return i
		}
	}
	return -1
}
