package rules

import (
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
