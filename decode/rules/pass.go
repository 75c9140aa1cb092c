package rules

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// A pass is one run of all rules over a session.
type pass struct {
	*decode.Session
	eras  decode.Eras
	body  Body
	found map[foundKey]*Finding
	cat   *decode.Catalogue
}

// foundKey is what makes two findings one.
type foundKey struct {
	rule     string
	side     Side
	severity Severity
	about    string
}

func newPass(s *decode.Session, body Body) *pass {
	return &pass{Session: s, eras: s.Eras(), body: body, found: map[foundKey]*Finding{}}
}

// json parses the body of a frame; it does not exist if the body is not at hand.
func (p *pass) json(frame int) gjson.Result {
	if frame < 0 {
		return gjson.Result{}
	}
	return gjson.ParseBytes(p.body(frame))
}

// params and result are the parts of a call that most rules look at.
func (p *pass) params(c *decode.Call) gjson.Result { return p.json(c.Request).Get("params") }
func (p *pass) result(c *decode.Call) gjson.Result { return p.json(c.Response).Get("result") }

// calls visits every call whose revision the rule holds for.
func (p *pass) calls(r *Rule, visit func(*decode.Call)) {
	for i := range p.Calls() {
		c := p.Call(i)
		if r.Span.Has(c.Revision) {
			visit(&c)
		}
	}
}

// revision is what a frame is to be judged by: its call's, else the session's.
func (p *pass) revision(f *decode.Frame) string {
	if f.Call >= 0 {
		if rev := p.Call(f.Call).Revision; rev != "" {
			return rev
		}
	}
	return p.eras.Revision
}

// frames visits every frame whose revision the rule holds for.
func (p *pass) frames(r *Rule, visit func(*decode.Frame)) {
	for i := range p.Len() {
		f := p.Frame(i)
		if r.Span.Has(p.revision(&f)) {
			visit(&f)
		}
	}
}

// senderOf is the side that sent a frame.
func senderOf(d tap.Dir) Side {
	if d == tap.C2S {
		return Client
	}
	return Server
}

// report adds a finding at a frame. Findings of one rule, side and first
// argument are one, with a count.
func (p *pass) report(r *Rule, frame, call int, args ...string) *Finding {
	f := Finding{Rule: r, Severity: r.Severity, Side: r.Side, Frame: frame, Call: call, Count: 1, Args: args}
	if frame >= 0 {
		at := p.Frame(frame)
		f.N, f.Revision = at.N, p.revision(&at)
		if r.Side == Either {
			f.Side = senderOf(at.Dir)
		}
	}
	if r.Whole && p.partial() && f.Severity < Info {
		f.Severity++
	}
	key := foundKey{rule: r.ID, side: f.Side, severity: f.Severity}
	if len(args) > 0 {
		key.about = args[0]
	}
	if old := p.found[key]; old != nil {
		old.Count++
		return old
	}
	p.found[key] = &f
	return &f
}

// partial reports a capture that does not show the whole traffic.
func (p *pass) partial() bool {
	g := p.Gaps()
	return g.Lost > 0 || g.Missing > 0 || p.eras.NoOpening
}

// reportAs is report with a severity of its own, for what weighs less, or more,
// than the rule does as a rule.
func (p *pass) reportAs(r *Rule, as Severity, frame, call int, args ...string) *Finding {
	other := *r
	other.Severity = as
	f := p.report(&other, frame, call, args...)
	f.Rule = r
	return f
}

// catalogue is the session's, put together once.
func (p *pass) catalogue() *decode.Catalogue {
	if p.cat == nil {
		p.cat = p.Catalogue()
	}
	return p.cat
}

// results visits the client's calls of some methods that were answered with a
// result that is at hand.
func (p *pass) results(r *Rule, visit func(*decode.Call, gjson.Result), methods ...string) {
	p.calls(r, func(c *decode.Call) {
		if c.Dir != tap.C2S || c.Response < 0 || c.Outcome == decode.ProtocolError || !slices.Contains(methods, c.Method) {
			return
		}
		if result := p.result(c); result.IsObject() {
			visit(c, result)
		}
	})
}

// refusals visits the calls that were answered with a protocol error.
func (p *pass) refusals(r *Rule, visit func(*decode.Call)) {
	p.calls(r, func(c *decode.Call) {
		if c.Response >= 0 && c.Outcome == decode.ProtocolError {
			visit(c)
		}
	})
}

// offers gives what the server declared it can do, by the revision that a message
// is judged by: it does not exist where the capture does not show it.
func (p *pass) offers() func(revision string) gjson.Result {
	of := func(call int) gjson.Result {
		if call < 0 {
			return gjson.Result{}
		}
		c := p.Call(call)
		return p.result(&c).Get("capabilities")
	}
	legacy, modern := of(p.eras.InitCall), of(p.eras.ProbeCall)
	return func(revision string) gjson.Result {
		if revision >= Modern.From {
			return modern
		}
		return legacy
	}
}

// subject is what a call is about, for the words of a finding.
func subject(c *decode.Call) string {
	if c.Name != "" {
		return brief(c.Name)
	}
	return brief(c.Method)
}

// maxBrief is how much text from the outside a finding repeats.
const maxBrief = 80

// brief cuts text from the outside for a finding.
func brief(s string) string {
	if len(s) <= maxBrief {
		return s
	}
	at := maxBrief
	for at > 0 && s[at]&0xC0 == 0x80 {
		at--
	}
	return s[:at] + "…"
}

// notifications visits the notifications of one method that the rule holds for, with
// their params.
func (p *pass) notifications(r *Rule, method string, visit func(*decode.Frame, gjson.Result)) {
	p.frames(r, func(f *decode.Frame) {
		if f.Kind != decode.Notification || f.Method != method {
			return
		}
		if body := p.json(f.Index); body.Exists() {
			visit(f, body.Get("params"))
		}
	})
}

// only25c is the revision with tasks of its own.
var only25c = Span{From: "2025-11-25", To: "2025-11-25"}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// unless gives the fault, or nothing if all is well.
func unless(ok bool, fault string) string {
	if ok {
		return ""
	}
	return fault
}
