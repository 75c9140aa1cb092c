package decode

import (
	"fmt"
	"math"

	"github.com/mcptap/mcptap/tap"
)

// Outcome is how a call ended.
type Outcome uint8

// The outcomes, kept apart everywhere.
const (
	Open Outcome = iota // no answer yet, or never
	OK
	ToolError      // isError: true; the model reads it and may try again
	ProtocolError  // a JSON-RPC error
	TransportError // the connection or the process ended first
	HiddenError    // reads as success, and its payload says failure: a suspicion
	InputRequired  // a round of a multi-round-trip operation
	Cancelled      // cancelled before it was answered
	Unauthorized   // HTTP 401: a token is asked for, which is no failure
	RefusedProbe   // a legacy server refused server/discover, and its client fell back to initialize: no failure
	NumOutcomes
)

var outcomeNames = [...]string{"open", "ok", "tool error", "protocol error", "transport error", "hidden error", "input required", "cancelled", "unauthorized", "refused probe"}

func (o Outcome) String() string { return nameOf(outcomeNames[:], int(o)) }

// Failed reports an outcome that counts as a failure, wherever failures are counted,
// listed or looked for.
func (o Outcome) Failed() bool {
	switch o {
	case ToolError, ProtocolError, TransportError, HiddenError:
		return true
	}
	return false
}

// nameOf names a value of an enumeration, whatever it is.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "?"
}

// outcome sets a call's outcome from its response.
func (s *Session) outcome(c uint32, p *peek, r *result) {
	e := s.calls.at(int(c))
	if e.bits&callCancelled != 0 && e.bits&callListen == 0 {
		return
	}
	if p.kind == kindError {
		e.outcome, e.code = ProtocolError, int32(min(max(p.code(), math.MinInt32), math.MaxInt32))
		return
	}
	e.outcome = s.resultOutcome(e, p, r)
	if kind, _ := plain(p.body, r.kind); string(kind) == "task" || r.task.there() && e.bits&callTask != 0 {
		e.bits |= callAsTask
	}
}

func (s *Session) resultOutcome(e *call, p *peek, r *result) Outcome {
	switch {
	case isTrue(p.body, r.isError):
		return ToolError
	case is(p.body, r.kind, "input_required"):
		return InputRequired
	case e.dir != tap.C2S || s.methods.name(e.method) != "tools/call":
		return OK
	}
	if e.hidden = s.suspect(e.name, p.body, r); e.hidden.level >= LevelLikely {
		return HiddenError
	}
	return OK
}

// judge completes the outcome of a call with what the whole session tells.
func (s *Session) judge(e *call, c *Call) {
	c.Outcome = e.outcome
	switch {
	case e.hidden.level != 0:
		s.judgeHidden(e, c)
	case e.outcome == Cancelled && e.response == 0:
		c.Why = s.whyCancelled(e)
	case e.outcome == Cancelled:
		c.Why = "cancelled; the answer came after that"
	case e.outcome == TransportError:
		c.Why = s.whyEnded(s.exchangeOf(e))
	case e.outcome == Unauthorized:
		c.Why = "HTTP 401: a token is asked for"
	case e.outcome == Open:
		s.judgeOpen(e, c)
	}
	if c.Index == int(s.era.probe)-1 {
		s.judgeProbe(c)
	}
}

// judgeProbe takes it as no failure when a legacy server refuses a probe, or keeps silent,
// and its client goes on with initialize: that is how eras are found out (basic/lifecycle).
// A client may go on in another session: a server that refuses what is nothing but a probe
// has not failed either, unless its error says that it is modern.
func (s *Session) judgeProbe(c *Call) {
	refused := c.Outcome == ProtocolError || c.Outcome == TransportError && c.Code >= 400 // an HTTP status
	switch {
	case refused && s.fellBack(), refused && s.onlyProbe() && c.Code < 500 && !isModernCode(c.Code):
		c.Outcome = RefusedProbe
	case c.Outcome == TransportError && s.fellBack():
		c.Outcome, c.Why = Open, "the server did not answer, and the client went on with initialize"
	}
}

// isModernCode reports a code that only servers of the modern era use.
func isModernCode(code int64) bool { return -32022 <= code && code <= -32020 }

// HasError reports a call that was answered with a JSON-RPC error, whether that is a
// failure or how a probe is refused.
func (c *Call) HasError() bool {
	return c.Outcome == ProtocolError || c.Outcome == RefusedProbe && c.Response >= 0
}

// judgeOpen tells a request that can still be answered from one that can't. A
// listen stream has no answer as a rule: it ends with the connection.
func (s *Session) judgeOpen(e *call, c *Call) {
	over, why := s.life.over(c)
	ended, gone := s.streamOver(e)
	switch {
	case gone && c.Listen:
		c.Why = ended
	case gone:
		over, c.Outcome, c.Why = true, TransportError, ended+" before the answer"
	case c.Listen && over:
		c.Why = "the stream ended with the connection"
	case over:
		c.Outcome, c.Why = TransportError, why
		if x := s.exchangeOf(e); e.dir == tap.C2S && x != nil && x.end != never && x.bits&exOldPost == 0 { // nobody went on with its stream
			c.Why, c.Code = s.whyEnded(x), int64(x.status)
		}
	}
	if over && s.life.lost > 0 {
		c.Why += fmt.Sprintf(" (%d frames were not recorded: the answer may be among them)", s.life.lost)
	}
}

// whyCancelled tells the two ways of cancelling.
func (s *Session) whyCancelled(e *call) string {
	for i := e.notes; i != 0; i = s.notes.at(int(i)).prev {
		if s.notes.at(int(i)).kind == NoteCancel {
			return "cancelled, and no answer came"
		}
	}
	return "the client closed the connection, which cancels it"
}

// over reports whether the answer to c can't come any more, and why.
func (l *life) over(c *Call) (over bool, why string) {
	switch {
	case c.Dir == tap.C2S && l.stdoutEnd != never && l.end == nil:
		return true, "the server closed its output"
	case l.end == nil:
		return false, ""
	case l.header != nil && l.header.Transport == "http":
		return true, "the tap ended before an answer came"
	case l.end.Signal != "":
		return true, "the server was ended by " + l.end.Signal + l.afterInput()
	}
	return true, fmt.Sprintf("the server ended (exit status %d)%s", l.end.Exit, l.afterInput())
}

func (l *life) afterInput() string {
	if l.stdinEnd == never || l.stdoutEnd != never && l.stdoutEnd < l.stdinEnd {
		return ""
	}
	return " after the client closed its side"
}
