package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
)

// showCalls prints a session's operations, and the frames that belong to none.
func (a *app) showCalls(name string, f *filter.Filter, asJSON, follow bool) error {
	return a.withSession(name, decode.Options{}, func(s *sessions.Session, l *sessions.Loaded) error {
		sel, err := a.choose(f, l)
		if err != nil {
			return err
		}
		p := a.callPrinter(sel, asJSON)
		p.web.off = f.String() != "" // a filter selects calls and frames
		if !follow {
			p.print(true)
			return p.out.flush()
		}
		return a.followLoaded(s, l, func(last bool) error {
			p.print(last)
			return p.out.flush()
		})
	})
}

// callPrinter prints each operation once it is complete, and each frame that
// belongs to none.
type callPrinter struct {
	l       *sessions.Loaded
	sel     *selection
	out     rowPrinter
	calls   int   // calls below this have been looked at
	frames  int   // frames below this have been looked at
	waiting []int // calls that lead an operation which is not complete
	web     webRows
}

// rowPrinter prints the two kinds of rows.
type rowPrinter interface {
	operation(*decode.Operation)
	frame(*decode.Frame)
	exchange(*decode.Exchange)
	flush() error
}

func (a *app) callPrinter(sel *selection, asJSON bool) *callPrinter {
	l := sel.l
	if asJSON {
		return &callPrinter{l: l, sel: sel, out: &callJSON{newJSONPrinter(a.Stdout), l, sel}}
	}
	t := a.table(
		column{name: "#", width: 5, right: true},
		column{name: "seconds", width: 8, right: true, drop: 3},
		column{name: "dir", width: 3, drop: 1},
		column{name: "operation", width: 26, min: 12},
		column{name: "name", width: 24, min: 12},
		column{name: "ms", width: 8, min: 6, right: true, drop: 2},
		column{name: "bytes", width: 8, min: 6, right: true, drop: 4},
		column{name: "outcome", width: 15},
		column{name: "about"},
	)
	t.note(summary(l))
	if id, reason := a.sibling(l); id != "" {
		what := "its server was probed in session "
		if l.Opening().OnlyProbe {
			what = "this is the probe for session "
		}
		t.note(what + id + " (" + reason + ")")
	}
	return &callPrinter{l: l, sel: sel, out: &callTable{l: l, sel: sel, table: t}}
}

// print prints what is complete; at the last call also what never will be.
func (p *callPrinter) print(last bool) {
	var open []int
	next := func(c int) {
		if !p.l.Leads(c) {
			return
		}
		o := p.l.Operation(c)
		if !last && o.End == 0 {
			open = append(open, c)
			return
		}
		if !p.sel.row(c) {
			return
		}
		p.out.operation(&o)
	}
	for _, c := range p.waiting {
		next(c)
	}
	p.ended(last)
	for p.calls < p.l.Calls() || p.frames < p.l.Len() {
		if p.frames < p.l.Len() {
			p.before(p.l.Frame(p.frames).N, last)
		}
		if p.calls < p.l.Calls() && (p.frames >= p.l.Len() || p.l.Call(p.calls).Request <= p.frames) {
			next(p.calls)
			p.calls++
			continue
		}
		if f := p.l.Frame(p.frames); filter.StandsAlone(&f) && f.Dir != tap.Stderr && !p.toldElsewhere(&f) && p.sel.match.Frame(p.frames) {
			p.out.frame(&f)
		}
		p.frames++
	}
	p.before(math.MaxUint64, last)
	p.waiting = open
}

// summary is one line on a session as a whole.
func summary(l *sessions.Loaded) string {
	sum := sessions.Summarize(l.Session)
	parts := []string{l.Name()}
	if l.Header != nil && l.Header.Transport != "" {
		parts = append(parts, l.Header.Transport)
	}
	parts = append(parts, strings.TrimSpace(sum.Revision+" "+sum.Era))
	parts = append(parts, cmp.Or(sum.Client, "client")+" → "+cmp.Or(sum.Server, "server"), sum.CallWords())
	for o := decode.ToolError; o < decode.NumOutcomes; o++ {
		if n := sum.Outcomes[o.String()]; n > 0 {
			parts = append(parts, plural(n, o.String()))
		}
	}
	return strings.Join(parts, "  ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// callTable prints operations as rows, with their further legs below them.
type callTable struct {
	*table
	l   *sessions.Loaded
	sel *selection
}

var callStyles = map[decode.Outcome]style{decode.ToolError: red, decode.ProtocolError: red, decode.TransportError: red, decode.HiddenError: yellow, decode.Open: dim, decode.Cancelled: dim, decode.Unauthorized: dim, decode.RefusedProbe: dim}

func (t *callTable) operation(o *decode.Operation) {
	first := t.l.Call(o.Legs[0].Call)
	c2s, s2c := report.Bytes(t.l.Session, o)
	took := ""
	if o.End > 0 && !first.Listen {
		took = millis(o.End - o.Start)
	}
	words := report.Why(t.l, o)
	if o.Doubt != "" {
		words = strings.TrimSpace(words + " [" + o.Doubt + "]")
	}
	words = withNote(t.sel.notesOn(o), words)
	more := ""
	if o.Outcome.Failed() && t.cuts(words) { // why it failed is what people come for
		words, more = "", words
	}
	t.styled(callStyles[o.Outcome], t.number(first.Request), seconds(o.Start), t.arrow(o.Dir), o.Method, o.Name, took, strconv.FormatInt(c2s+s2c, 10), o.Outcome.String(), words)
	if more != "" {
		t.under(callStyles[o.Outcome], more)
	}
	for i := range o.Legs {
		t.leg(&o.Legs[i], i)
	}
}

// leg prints the legs after the first, and what the server asked while one ran.
func (t *callTable) leg(leg *decode.Leg, i int) {
	c := t.l.Call(leg.Call)
	if i > 0 {
		t.below(&c, leg.Role+" "+c.Method)
	}
	for _, n := range t.l.Notes(leg.Call) {
		if n.Kind == decode.NoteNested && n.Call >= 0 {
			nested := t.l.Call(n.Call)
			t.below(&nested, nested.Method)
		}
	}
}

func (t *callTable) below(c *decode.Call, what string) {
	took := ""
	if c.End > 0 {
		took = millis(c.End - c.Start)
	}
	t.styled(dim, t.number(c.Request), seconds(c.Start), t.arrow(c.Dir), "  ↳ "+what, c.Name, took, "", c.Outcome.String(), reasonOf(t.l, c))
}

// reasonOf is why for a single call.
func reasonOf(l *sessions.Loaded, c *decode.Call) string {
	o := report.OperationOf(l.Session, c.Index)
	o.Legs, o.Outcome = []decode.Leg{{Call: c.Index}}, c.Outcome
	return report.Why(l, &o)
}

func (t *callTable) frame(f *decode.Frame) {
	about := ""
	if r := t.l.TapFrame(f.Index); r != nil {
		about = aboutFrame(r)
	}
	if f.Orphan {
		about = strings.TrimSpace(orphanWords(t.l, f) + " " + about)
	} else if f.Dir == tap.C2S {
		about = strings.TrimSpace(about + fateOf(t.l, f))
	}
	about = withNote(t.sel.noteOn(f.N), about)
	what := f.Method
	if what == "" {
		what = string(f.Kind)
	}
	t.styled(styles[f.Kind], strconv.FormatUint(f.N, 10), seconds(f.Time), t.arrow(f.Dir), what, "", "", strconv.FormatInt(f.Size, 10), strayWords(f), about)
}

func strayWords(f *decode.Frame) string {
	switch {
	case f.Kind == decode.Stray:
		return string(f.Stray)
	case f.Method != "" && f.Kind != decode.Notification:
		return string(f.Kind)
	}
	return ""
}

func (t *callTable) number(frame int) string { return strconv.FormatUint(t.l.Frame(frame).N, 10) }

func (t *callTable) arrow(d tap.Dir) string {
	if t.terminal {
		return " " + arrows[d]
	}
	return d.String()
}

// millis is a duration in milliseconds. Of a recording whose clock jumped back there is no
// telling.
func millis(d time.Duration) string {
	if d < 0 {
		return "<0"
	}
	return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond))
}

// callJSON prints operations as objects. Their shape is described in 'mcptap
// help json' and only ever grows.
type callJSON struct {
	*jsonPrinter
	l   *sessions.Loaded
	sel *selection
}

type operationObject struct {
	Kind     string       `json:"kind"` // "operation"
	N        uint64       `json:"n"`
	T        int64        `json:"t"`
	Dir      string       `json:"dir"`
	Type     string       `json:"type"`
	Method   string       `json:"method"`
	Name     string       `json:"name,omitempty"`
	Outcome  string       `json:"outcome"`
	Why      string       `json:"why,omitempty"`
	Code     *int64       `json:"code,omitempty"`
	Hidden   string       `json:"hidden,omitempty"`
	Doubt    string       `json:"doubt,omitempty"`
	Era      string       `json:"era"`
	Revision string       `json:"revision,omitempty"`
	End      *int64       `json:"end,omitempty"`
	Server   int64        `json:"server_ns"`
	Client   int64        `json:"client_ns"`
	C2S      int64        `json:"bytes_c2s"`
	S2C      int64        `json:"bytes_s2c"`
	Legs     []legObject  `json:"legs"`
	Marks    []marks.Mark `json:"marks,omitempty"`
}

type legObject struct {
	Role     string          `json:"role"`
	ID       json.RawMessage `json:"id"`
	Outcome  string          `json:"outcome"`
	Request  uint64          `json:"request"`
	Response *uint64         `json:"response,omitempty"`
	Frames   []uint64        `json:"frames"`
	Exchange uint32          `json:"exchange,omitempty"` // over HTTP, and its status
	Status   int             `json:"status,omitempty"`
	Asked    []askedObject   `json:"asked,omitempty"`
}

// askedObject is what the server asked while it worked on a leg.
type askedObject struct {
	Method  string          `json:"method"`
	ID      json.RawMessage `json:"id"`
	Outcome string          `json:"outcome"`
	Why     string          `json:"why,omitempty"`
	Request uint64          `json:"request"`
	Guessed bool            `json:"guessed"`
}

func (p *callJSON) operation(o *decode.Operation) {
	first, last := p.l.Call(o.Legs[0].Call), p.l.Call(o.Legs[len(o.Legs)-1].Call)
	c2s, s2c := report.Bytes(p.l.Session, o)
	j := operationObject{
		Kind: "operation", N: p.l.Frame(first.Request).N, T: int64(o.Start), Dir: o.Dir.String(), Type: o.Kind.String(), Method: o.Method, Name: o.Name,
		Outcome: o.Outcome.String(), Why: report.Why(p.l, o), Doubt: o.Doubt, Era: first.Era.String(), Revision: first.Revision,
		Server: int64(o.Server), Client: int64(o.Client), C2S: c2s, S2C: s2c, Marks: p.sel.marksOf(o),
	}
	if o.End > 0 {
		end := int64(o.End)
		j.End = &end
	}
	if o.Outcome == decode.ProtocolError || o.Outcome == decode.RefusedProbe && last.HasError() {
		j.Code = &last.Code
	}
	if last.Hidden != nil {
		j.Hidden = last.Hidden.Level.String()
	}
	for i := range o.Legs {
		j.Legs = append(j.Legs, p.leg(&o.Legs[i]))
	}
	p.encode(j)
}

func (p *callJSON) leg(leg *decode.Leg) legObject {
	c := p.l.Call(leg.Call)
	j := legObject{Role: leg.Role, ID: idJSON(string(c.ID)), Outcome: c.Outcome.String(), Request: p.l.Frame(c.Request).N}
	if c.Response >= 0 {
		n := p.l.Frame(c.Response).N
		j.Response = &n
	}
	if c.Exchange >= 0 {
		x := p.l.Exchange(c.Exchange)
		j.Exchange, j.Status = x.Number, x.Status
	}
	for _, f := range leg.Frames {
		j.Frames = append(j.Frames, p.l.Frame(f).N)
	}
	for _, n := range p.l.Notes(leg.Call) {
		if n.Kind == decode.NoteNested && n.Call >= 0 {
			c := p.l.Call(n.Call)
			j.Asked = append(j.Asked, askedObject{Method: c.Method, ID: idJSON(string(c.ID)), Outcome: c.Outcome.String(), Why: reasonOf(p.l, &c), Request: p.l.Frame(c.Request).N, Guessed: c.Guessed})
		}
	}
	return j
}

func (p *callJSON) frame(f *decode.Frame) {
	if r := p.l.TapFrame(f.Index); r != nil {
		p.encode(markedFrame(r, p.sel))
	}
}
