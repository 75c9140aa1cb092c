package diff

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// source is one session, read for comparing.
type source struct {
	Side
	eras    decode.Eras
	charged []bool // frames that a row has claimed
	calls   []bool // calls that a row has claimed
	// exchanged are the HTTP exchanges that a row has claimed.
	exchanged []bool
	units     []unit
}

// unit is one operation to align.
type unit struct {
	op    decode.Operation
	key   string // what makes two of them the same work
	kind  string // the same without arguments
	exact bool   // key says all that is asked for: nothing in it varies by itself
	// arguments are hashes of the arguments one by one, sorted.
	arguments []uint64
}

func newSource(s Side) *source {
	return &source{
		Side: s, eras: s.Session.Eras(),
		charged: make([]bool, s.Session.Len()), calls: make([]bool, s.Session.Calls()), exchanged: make([]bool, s.Session.Exchanges()),
	}
}

// claim takes a call and all that belongs to its operation for a row.
func (s *source) claim(o *decode.Operation) {
	for _, leg := range o.Legs {
		s.calls[leg.Call] = true
	}
}

// readUnits takes the operations that no row has claimed.
func (s *source) readUnits() {
	n := 0
	for c := range s.calls {
		if !s.calls[c] && s.Session.Leads(c) {
			n++
		}
	}
	s.units = make([]unit, 0, n) // units are large: growing would copy them often
	for c := range s.Session.Calls() {
		if s.calls[c] || !s.Session.Leads(c) {
			continue
		}
		o := s.Session.Operation(c)
		s.claim(&o)
		s.units = append(s.units, s.unitOf(o))
	}
}

// notTheWork are params that say how a request is made, not what it asks for.
var notTheWork = []string{"_meta", "inputResponses", "requestState", "cursor", "task", "taskId"}

func (s *source) unitOf(o decode.Operation) unit {
	params, ok := s.params(o.Legs[0].Call)
	if (o.Name == "" || decode.Shortened(o.Name)) && ok { // a long name stands in the body only
		o.Name = nameIn(params)
	}
	u := unit{op: o, kind: o.Dir.String() + " " + o.Method + " " + o.Name}
	u.key, u.exact = u.kind, true
	if work := asked(params); len(work) > 0 {
		said, varies := masked(work)
		u.key, u.exact = u.key+" "+canonical(said), !varies
		u.arguments = hashes(work["arguments"])
	}
	return u
}

// maxArguments is how many arguments of one call are looked at one by one.
const maxArguments = 64

var argumentSeed = maphash.MakeSeed()

func hashes(arguments any) (out []uint64) {
	m, _ := arguments.(map[string]any)
	for _, k := range sortedKeys(m)[:min(len(m), maxArguments)] {
		out = append(out, maphash.String(argumentSeed, k+" "+canonical(m[k])))
	}
	slices.Sort(out)
	return out
}

// params gives the params of a call's request.
func (s *source) params(call int) (map[string]any, bool) {
	body, _ := parse(s.Body(s.Session.Call(call).Request))
	params, ok := s.messageOf(body, call, false)["params"].(map[string]any)
	return params, ok
}

// messageOf finds a call's request or response in a body: that is the body itself,
// but for a batch. It gives nil if there is none.
func (s *source) messageOf(body any, call int, response bool) map[string]any {
	if m, ok := body.(map[string]any); ok {
		return m
	}
	all, _ := body.([]any)
	c := s.Session.Call(call)
	frame := c.Request
	if response {
		frame = c.Response
	}
	for i, member := range s.Session.Frame(frame).Batch {
		isAnswer := member.Kind == decode.Result || member.Kind == decode.Error
		if member.Call == call && isAnswer == response && i < len(all) {
			m, _ := all[i].(map[string]any)
			return m
		}
	}
	return nil
}

func nameIn(params map[string]any) string {
	for _, k := range []string{"name", "uri"} {
		if s, ok := params[k].(string); ok {
			return cut(s)
		}
	}
	return ""
}

// asked gives the params that say what is asked for.
func asked(params map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range params {
		if m, ok := v.(map[string]any); k == "arguments" && ok && len(m) == 0 {
			continue // the same as none
		}
		if !slices.Contains(notTheWork, k) {
			out[k] = v
		}
	}
	return out
}

// part describes one side of a row, and charges its frames to it.
func (s *source) part(o *decode.Operation) *Part {
	p := &Part{Call: o.Legs[0].Call, Count: len(o.Legs), Outcome: o.Outcome, Took: -1}
	last := s.Session.Call(o.Legs[len(o.Legs)-1].Call)
	if o.Outcome == decode.ProtocolError || o.Outcome == decode.RefusedProbe {
		p.Code = last.Code
	}
	if o.End > 0 && o.Kind != decode.OpListen {
		p.Took = o.Server
	}
	var frames []int
	for _, leg := range o.Legs {
		frames = append(frames, leg.Frames...)
	}
	slices.Sort(frames)
	s.pay(p, slices.Compact(frames)...)
	p.N = s.Session.Frame(p.Frames[0]).N
	return p
}

// work is a comparison on its way.
type work struct {
	d       *Diff
	a, b    *source
	options Options
	clocks  clocks
	order   []place           // of rows, for sorting
	handles map[[2]string]int // values that differ between the results of one row -> changes
	lists   []listPair
	vary    map[volatileKey]*Volatile
	keys    []volatileKey // of vary, in order
}

// place is where a row stands among the others: by the first call of A, else by that
// of B after the nearest of A.
type place struct{ a, b, own int }

type volatileKey struct{ kind, method, name, path string }

// listPair is a pair of operations that walked the same list.
type listPair struct {
	kind decode.ListKind
	a, b *decode.Operation
}

func newWork(a, b Side, o Options) *work {
	w := &work{d: &Diff{}, a: newSource(a), b: newSource(b), options: o, handles: map[[2]string]int{}, vary: map[volatileKey]*Volatile{}}
	w.d.A, w.d.B = w.a.about(), w.b.about()
	w.clocks = clocks{a.Session.Opening().Header.Start, b.Session.Opening().Header.Start}
	return w
}

func (s *source) about() About {
	return About{
		Name: s.Name, Transport: s.Session.Opening().Header.Transport, Era: s.eras.Era, Revision: s.revision(),
		Client: peer(s.Session.Clients()), Server: peer(s.Session.Servers()),
		Opening: s.eras.InitCall >= 0 || s.eras.ProbeCall >= 0 || s.Probe != nil,
	}
}

func (s *source) revision() string {
	if s.eras.Revision == "" && s.Probe != nil {
		o := s.Probe.Session.Opening()
		return o.Revision()
	}
	return s.eras.Revision
}

func peer(peers []decode.Peer) string {
	if len(peers) == 0 {
		return ""
	}
	return strings.TrimSpace(peers[0].Name + " " + peers[0].Version)
}

// row adds a row. a and b are where it stands on either side, -1 where it does not.
func (w *work) row(r Row, at place) {
	at.own = len(w.d.Rows)
	w.d.Rows = append(w.d.Rows, r)
	w.order = append(w.order, at)
}

// sortRows puts the rows in an order that keeps that of both sides where they agree.
func (w *work) sortRows() {
	slices.SortStableFunc(w.order, comparePlaces)
	rows := make([]Row, len(w.order))
	for i, p := range w.order {
		rows[i] = w.d.Rows[p.own]
	}
	w.d.Rows = rows
}

func comparePlaces(x, y place) int {
	if x.a != y.a {
		return x.a - y.a
	}
	if x.b != y.b {
		return x.b - y.b
	}
	return x.own - y.own
}

// messages compares what belongs to no call: notifications, strays, malformed
// messages, by kind. Those of the same kind that were joined to a call count as
// well, since which of them can be joined differs by transport.
func (w *work) messages() {
	a, b := w.a.loose(), w.b.loose()
	for _, k := range looseKinds(a, b) {
		la, lb := a.of(k), b.of(k)
		if len(la.frames)+len(lb.frames) == 0 {
			continue
		}
		r := Row{Kind: RowMessages, Dir: k.dir, Method: k.what, A: w.a.loosePart(la), B: w.b.loosePart(lb)}
		if r.OneSided() {
			r.Reason = w.methodReason(k.what, r.A == nil)
		} else {
			w.countChanges(&r)
		}
		w.row(r, place{endOfRows, endOfRows, 0})
	}
}

// endOfRows is a place after every operation.
const endOfRows = 1 << 40

// looseKind is what messages that belong to no call have in common.
type looseKind struct {
	dir  tap.Dir
	what string // method, or kind
}

type looseMessages struct {
	frames []int // that belong to no call
	joined int   // how many more belong to one
}

// looseSet keeps the kinds in order of appearance.
type looseSet struct {
	order []looseKind
	by    map[looseKind]*looseMessages
}

func (l *looseSet) of(k looseKind) *looseMessages {
	m := l.by[k]
	if m == nil {
		m = &looseMessages{}
		l.by[k] = m
		l.order = append(l.order, k)
	}
	return m
}

func looseKinds(a, b *looseSet) []looseKind {
	kinds := slices.Clone(a.order)
	for _, k := range b.order {
		if a.by[k] == nil {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// loose sorts the frames that no row has claimed.
func (s *source) loose() *looseSet {
	l := &looseSet{by: map[looseKind]*looseMessages{}}
	for i := range s.Session.Len() {
		f := s.Session.Frame(i)
		if f.Dir != tap.C2S && f.Dir != tap.S2C || s.ofExchange(&f) {
			continue
		}
		k := looseKind{f.Dir, f.Method}
		if f.Method == "" {
			k.what = string(f.Kind)
		}
		switch {
		case !s.charged[i]:
			m := l.of(k)
			m.frames = append(m.frames, i)
		case f.Kind == decode.Notification:
			l.of(k).joined++
		}
	}
	return l
}

func (s *source) loosePart(l *looseMessages) *Part {
	if len(l.frames)+l.joined == 0 {
		return nil
	}
	p := &Part{Call: -1, Count: len(l.frames) + l.joined, Took: -1}
	s.pay(p, l.frames...)
	if len(l.frames) > 0 {
		p.N = s.Session.Frame(l.frames[0]).N
	}
	return p
}

// countChanges tells how often a kind of message came, where that differs. It is no
// change of behaviour by itself: progress and logs come as they come.
func (w *work) countChanges(r *Row) {
	if r.A.Count != r.B.Count {
		r.Details = append(r.Details, Inner{What: "times", A: r.A.Count, B: r.B.Count})
	}
}
