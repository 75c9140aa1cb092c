package rules

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// A pass is one run of all rules over a session.
type pass struct {
	*decode.Session
	cat   *decode.Catalogue // see catalogue
	eras  decode.Eras
	body  Body
	found map[foundKey]*Finding
	kinds map[string]int // by rule: findings told apart so far

	visits visits
	facts  facts
	last   [2]decode.Frame // see frame
}

// foundKey is what makes two findings one.
type foundKey struct {
	rule     string
	side     Side
	severity Severity
	about    string
}

func newPass(s *decode.Session, body Body) *pass {
	return &pass{Session: s, eras: s.Eras(), body: body, found: map[foundKey]*Finding{}, kinds: map[string]int{}, last: [2]decode.Frame{{Index: -1}, {Index: -1}}}
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
	if f.Exchange >= 0 {
		return p.hops()[f.Exchange].rev
	}
	return p.eras.Revision
}

// frames visits every frame whose revision the rule holds for.
func (p *pass) frames(r *Rule, visit func(*decode.Frame)) {
	for i := range p.Len() {
		f := p.Frame(i)
		if !f.Replay && r.Span.Has(p.revision(&f)) {
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

// report adds a finding at a frame. Findings of one rule and side that say
// the same are one, with a count.
func (p *pass) report(r *Rule, frame, call int, args ...string) *Finding {
	for i, a := range args {
		args[i] = short(a)
	}
	f := Finding{Rule: r, Severity: r.Severity, Side: r.Side, Frame: frame, Call: call, Count: 1, Args: args}
	if frame >= 0 {
		at := p.frame(frame)
		f.N, f.Revision = at.N, p.revision(&at)
		if r.Side == Either {
			f.Side = senderOf(at.Dir)
		}
	}
	if r.Whole && p.partial() && f.Severity < Info {
		f.Severity++
	}
	key := foundKey{rule: r.ID, side: f.Side, severity: f.Severity, about: strings.Join(args, "\x00")}
	if p.found[key] == nil && len(args) > 0 {
		// One finding for each thing that is wrong; where there is no end to
		// them, one for each subject.
		if p.kinds[r.ID]++; p.kinds[r.ID] > maxKinds {
			key.about = args[0]
		}
	}
	if old := p.found[key]; old != nil {
		old.Count++
		return old
	}
	p.found[key] = &f
	return &f
}

// maxKinds is how many findings of one rule are told apart by all that they say.
const maxKinds = 20

// partial reports a capture that does not show the whole traffic.
func (p *pass) partial() bool {
	g := p.Gaps()
	return g.Lost > 0 || g.Missing > 0 || p.eras.NoOpening
}

// reportAs is report with a severity of its own, for what weighs less, or more,
// than the rule does as a rule.
func (p *pass) reportAs(r *Rule, as Severity, frame, call int, args ...string) {
	other := *r
	other.Severity = as
	p.report(&other, frame, call, args...).Rule = r
}

// visits are what the rules want to look at once all of them are set up: so a body
// is read once or twice, and not once a rule.
type visits struct {
	messages []func(*message)
	calls    []func(*exchange)
	done     []func() // after them
}

// facts are worked out once, when a rule first asks for them.
type facts struct {
	spread     map[int]int // see pass.spread
	handshakes map[decode.Scope]*handshake
	rounds     *rounds
	batches    [2]*batch
	hops       []hop
	tokens     map[string]int         // progress token -> call that came over HTTP
	headers    map[int][]disagreement // by call
}

// A message is one message on its way through the visits: a frame, or a member of
// a batch.
type message struct {
	frame decode.Frame
	decode.BatchMember
	rev string

	p    *pass
	at   int // in the batch, -1 if it is the frame itself
	text lazy
}

// lazy is a message's JSON, parsed when it is first asked for.
type lazy struct {
	gjson.Result
	done bool
}

// body gives the message as JSON; it does not exist if it is not at hand.
func (m *message) body() gjson.Result {
	if !m.text.done {
		m.text.done = true
		if m.at >= 0 {
			m.text.Result = m.p.batch(m.frame.Index).member(m.at)
		} else {
			m.text.Result = m.p.json(m.frame.Index)
		}
	}
	return m.text.Result
}

func (m *message) params() gjson.Result { return m.body().Get("params") }

// An exchange is a call on its way through the visits, with its bodies.
type exchange struct {
	decode.Call
	rev string

	p             *pass
	asked, answer lazy
}

// request and response give the bodies; they do not exist if they are not at hand.
func (x *exchange) request() gjson.Result {
	if !x.asked.done {
		x.asked = lazy{x.p.part(x.Request, string(x.ID), true), true}
	}
	return x.asked.Result
}

func (x *exchange) response() gjson.Result {
	if !x.answer.done {
		x.answer = lazy{x.p.part(x.Response, string(x.ID), false), true}
	}
	return x.answer.Result
}

func (x *exchange) params() gjson.Result { return x.request().Get("params") }
func (x *exchange) result() gjson.Result { return x.response().Get("result") }

// succeeded reports whether there is a result, and its body at hand.
func (x *exchange) succeeded() bool { return x.Response >= 0 && x.result().Exists() }

// part parses the message of a frame. Of a batch it takes the member with the id.
func (p *pass) part(frame int, id string, request bool) gjson.Result {
	if frame < 0 || p.frame(frame).Kind != decode.Batch {
		return p.json(frame)
	}
	b := p.batch(frame)
	return b.member(b.at[memberKey{id, request}] - 1)
}

// frame is Frame for those who ask for one frame many times over: a batch is taken
// apart each time.
func (p *pass) frame(i int) decode.Frame {
	if p.last[0].Index != i {
		p.last[0], p.last[1] = p.last[1], p.last[0]
	}
	if p.last[0].Index != i {
		p.last[0] = p.Frame(i)
	}
	return p.last[0]
}

// A batch is an array of messages, parsed once for all of its members.
type batch struct {
	frame   int
	members []gjson.Result
	at      map[memberKey]int // index + 1
}

type memberKey struct {
	id      string
	request bool
}

// batch keeps the two newest: calls in a batch are answered in a batch.
func (p *pass) batch(frame int) *batch {
	for _, b := range p.facts.batches {
		if b != nil && b.frame == frame {
			return b
		}
	}
	b := &batch{frame: frame, members: p.json(frame).Array(), at: map[memberKey]int{}}
	for i, m := range b.members {
		key := memberKey{m.Get("id").Raw, m.Get("method").Exists()}
		if b.at[key] == 0 {
			b.at[key] = i + 1
		}
	}
	p.facts.batches = [2]*batch{b, p.facts.batches[0]}
	return b
}

func (b *batch) member(i int) gjson.Result {
	if i < 0 || i >= len(b.members) {
		return gjson.Result{}
	}
	return b.members[i]
}

// eachMessage visits every message whose revision the rule holds for, in order.
func (p *pass) eachMessage(r *Rule, visit func(*message)) {
	p.visits.messages = append(p.visits.messages, func(m *message) {
		if r.Span.Has(m.rev) {
			visit(m)
		}
	})
}

// eachCall visits every call whose revision the rule holds for, in order.
func (p *pass) eachCall(r *Rule, visit func(*exchange)) {
	p.visits.calls = append(p.visits.calls, func(x *exchange) {
		if r.Span.Has(x.rev) {
			visit(x)
		}
	})
}

func (p *pass) visit() {
	for i := range p.Len() {
		f := p.Frame(i)
		if f.Kind != decode.Log && !f.Replay {
			p.visitFrame(&f)
		}
	}
	for i := range p.Calls() {
		c := p.Call(i)
		x := exchange{Call: c, rev: p.judged(&c), p: p}
		for _, visit := range p.visits.calls {
			visit(&x)
		}
	}
	for _, finish := range p.visits.done {
		finish()
	}
}

func (p *pass) visitFrame(f *decode.Frame) {
	if f.Kind != decode.Batch {
		p.visitMessage(f, -1, decode.BatchMember{Kind: f.Kind, Method: f.Method, Call: f.Call, Faults: f.Faults,
			Orphan: f.Orphan, WrongID: f.WrongID, Second: f.Second, Unjoined: f.Unjoined})
		return
	}
	for i, m := range f.Batch {
		p.visitMessage(f, i, m)
	}
}

func (p *pass) visitMessage(f *decode.Frame, at int, m decode.BatchMember) {
	rev := p.eras.Revision
	if m.Call >= 0 {
		c := p.Call(m.Call)
		rev = p.judged(&c)
	} else if f.Exchange >= 0 {
		rev = p.hops()[f.Exchange].rev
	}
	v := message{frame: *f, BatchMember: m, rev: rev, p: p, at: at}
	for _, visit := range p.visits.messages {
		visit(&v)
	}
}

// judged is the revision that a call is judged by. Modern requests that lack it
// are the ones that rules are for, as are a server's requests in a session that had
// no handshake.
func (p *pass) judged(c *decode.Call) string {
	switch {
	case c.Revision != "":
		return c.Revision
	case c.Method == "initialize": // that failed
		return Legacy.To
	case c.Era == decode.Modern, c.Dir == tap.S2C && p.servesModern() && !p.eras.InitOK:
		return max(p.eras.Revision, Modern.From)
	}
	return p.eras.Revision
}

// stdio reports whether the session is that of a process. Where one process is
// one client's, what it said before still holds.
func (p *pass) stdio() bool {
	t := p.Opening().Header.Transport
	return t == "" || t == "stdio"
}

// short cuts text from the outside to what a finding shows.
func short(s string) string {
	const most = 120
	if len(s) <= most {
		return strings.ToValidUTF8(s, "?")
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
