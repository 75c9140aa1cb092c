package diff

import (
	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// Bytes are bytes on the wire by what they were spent on.
type Bytes struct {
	Parts     decode.Account
	Heads     Heads // of HTTP requests and answers
	Framing   int64 // of server-sent events: fields, comments, blank lines, events without a message
	NotAtHand int64 // frames whose body is not at hand, line ends included
}

// Total is the sum of all.
func (b *Bytes) Total() int64 { return b.Parts.Total() + b.Heads.Total() + b.Framing + b.NotAtHand }

// Frames is what the frames themselves take, line ends included: what 'show --raw'
// gives back.
func (b *Bytes) Frames() int64 { return b.Parts.Total() + b.NotAtHand }

func (b *Bytes) add(o *Bytes) {
	b.Parts.Add(&o.Parts)
	b.Heads.add(o.Heads)
	b.Framing += o.Framing
	b.NotAtHand += o.NotAtHand
}

// A Cost is the bytes of both directions.
type Cost struct{ C2S, S2C Bytes }

// Both is the two directions together.
func (c *Cost) Both() Bytes {
	b := c.C2S
	b.add(&c.S2C)
	return b
}

// Total is every byte of both directions.
func (c *Cost) Total() int64 { return c.C2S.Total() + c.S2C.Total() }

// Add adds another cost.
func (c *Cost) Add(o *Cost) {
	c.C2S.add(&o.C2S)
	c.S2C.add(&o.S2C)
}

// pay charges frames to a part, and what HTTP carried them in: heads go with what the
// client sent. Every frame and every exchange is charged once, to the row that claims
// it first: a batch has members in several.
func (s *source) pay(p *Part, frames ...int) {
	for _, i := range frames {
		p.Frames = append(p.Frames, i)
		f := s.Session.Frame(i)
		if s.charged[i] || f.Dir != tap.C2S && f.Dir != tap.S2C {
			continue
		}
		s.charge(&p.Bytes, &f)
		if f.Dir == tap.C2S && f.Exchange >= 0 {
			s.payExchange(p, f.Exchange)
		}
	}
}

// charge adds one frame to a cost.
func (s *source) charge(to *Cost, f *decode.Frame) {
	s.charged[f.Index] = true
	b := &to.C2S
	if f.Dir == tap.S2C {
		b = &to.S2C
	}
	b.Framing += f.Framing
	body := s.Body(f.Index)
	if body == nil && f.Size > 0 && f.Digest {
		b.NotAtHand += f.Size
		return
	}
	lineEnd := len(f.EOL.String())
	var a decode.Account
	if f.Kind == decode.Stray || f.Kind == decode.Body {
		a[decode.PartStray], a[decode.PartLineEnd] = int64(len(body)), int64(lineEnd)
	} else {
		a = decode.AccountOf(body, lineEnd)
	}
	b.Parts.Add(&a)
}

// payExchange charges what an exchange takes besides its messages: the heads, events
// without a message, bodies that are none, and errors that answer no message.
func (s *source) payExchange(p *Part, i int) {
	if s.exchanged[i] {
		return
	}
	s.exchanged[i] = true
	p.Exchanges = append(p.Exchanges, i)
	x := s.Session.Exchange(i)
	p.Bytes.C2S.Heads.add(headsOf(x.HeadUp, x.SecretUp, requestHeads(&x)))
	p.Bytes.S2C.Heads.add(headsOf(x.HeadDown, x.SecretDown, answerHeads(&x)))
	p.Bytes.S2C.Framing += x.Framing
	for _, frame := range s.Session.ExchangeFrames(i) {
		f := s.Session.Frame(frame)
		p.Bytes.S2C.Framing -= f.Framing // counted with the frame
		if s.ofExchange(&f) && !s.charged[frame] {
			p.Frames = append(p.Frames, frame)
			s.charge(&p.Bytes, &f)
		}
	}
}

// ofExchange reports a frame that goes with its exchange, since it belongs to no
// message.
func (s *source) ofExchange(f *decode.Frame) bool {
	return f.Exchange >= 0 && (f.Kind == decode.Body || f.Orphan && !s.Session.Exchange(f.Exchange).Stream)
}

// A Bill is what the work cost on both sides.
type Bill struct {
	A, B    Cost // all that crossed
	Opening Sum  // handshake or discovery
	Web     Sum  // HTTP requests that carry no message: streams, ends of sessions, look-ups; on one side or both
	// Subscriptions is what it took to hear of changes, where both did or an era's way
	// of it is the reason that only one had to ask.
	Subscriptions Sum
	Lists         Sum // what both listed
	Calls         Sum // calls of tools, prompts and resources that both made with the same arguments
	Only          Sum // what only one side has, openings and requests without a message apart
	Other         Sum // all else that both have
}

// A Sum is what some rows cost together.
type Sum struct {
	Count int // rows
	A, B  Cost
}

func (s *Sum) add(r *Row) {
	s.Count++
	if r.A != nil {
		s.A.Add(&r.A.Bytes)
	}
	if r.B != nil {
		s.B.Add(&r.B.Bytes)
	}
}

// Difference is what B costs more than A, in bytes.
func (s *Sum) Difference() int64 { return s.B.Total() - s.A.Total() }

func (w *work) bill() {
	b := &w.d.Bill
	defer func() {
		w.d.A.NotAtHand, w.d.B.NotAtHand = notAtHand(&b.A), notAtHand(&b.B)
	}()
	for i := range w.d.Rows {
		r := &w.d.Rows[i]
		switch {
		case r.Kind == RowOpening:
			b.Opening.add(r)
		case r.Kind == RowExchanges:
			b.Web.add(r)
		case (r.Kind == RowSubscriptions || followsChanges(r.Method)) && (!r.OneSided() || r.Reason != ""):
			b.Subscriptions.add(r)
		case r.OneSided():
			b.Only.add(r)
		case r.Kind == RowOperation && isList(r.Method):
			b.Lists.add(r)
		case r.Kind == RowOperation && isCall(r.Method) && r.SameWork():
			b.Calls.add(r)
		default:
			b.Other.add(r)
		}
		if r.A != nil {
			b.A.Add(&r.A.Bytes)
		}
		if r.B != nil {
			b.B.Add(&r.B.Bytes)
		}
	}
}

func notAtHand(c *Cost) int64 { return c.C2S.NotAtHand + c.S2C.NotAtHand }

func isCall(method string) bool {
	return method == "tools/call" || method == "resources/read" || method == "prompts/get"
}

// A BreakEven tells from how many calls on one way of speaking costs more than the
// other: opening, HTTP requests without a message, subscriptions, one walk over each list
// that both walked, then calls like those that both made.
type BreakEven struct {
	Fixed   int64   // what B costs more once a session, without calls; negative: less
	PerCall float64 // what B costs more with each call, on average
	// Calls is after how many calls the other side is the dearer one; -1 if that
	// never happens.
	Calls int64
	// Unknown says why that can't be said; empty if it can. Then Fixed is 0, and
	// PerCall if it is calls that are missing.
	Unknown string
}

// BreakEven works out the break-even.
func (d *Diff) BreakEven() BreakEven {
	b := &d.Bill
	e := BreakEven{Fixed: b.Opening.Difference() + b.Web.Difference() + b.Subscriptions.Difference() + b.Lists.Difference(), Calls: -1}
	if b.Calls.Count == 0 {
		return BreakEven{Unknown: "no call is on both sides"}
	}
	e.PerCall = float64(b.Calls.Difference()) / float64(b.Calls.Count)
	switch {
	case !d.A.Opening && !d.B.Opening:
		e.Fixed, e.Unknown = 0, "neither opening is in the captures"
		return e
	case !d.A.Opening || !d.B.Opening:
		e.Fixed, e.Unknown = 0, "one opening is not in the captures"
		return e
	}
	if e.Fixed != 0 && e.PerCall != 0 && (e.Fixed > 0) != (e.PerCall > 0) {
		e.Calls = int64(float64(-e.Fixed)/e.PerCall) + 1
	}
	return e
}
