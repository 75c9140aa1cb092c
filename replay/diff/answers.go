package diff

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Answers are the three things that a reader of a comparison wants to know first:
// whether it is the same work, what costs what, and what behaves differently.
type Answers struct {
	Work      WorkAnswer
	Cost      CostAnswer
	Behaviour BehaviourAnswer
}

// Answers works them out.
func (d *Diff) Answers() Answers {
	return Answers{d.workAnswer(), d.costAnswer(), d.behaviourAnswer()}
}

// WorkAnswer says whether both sides did the same work: how many rows there are of
// each sort.
type WorkAnswer struct {
	Same        bool
	Both        int      // operations that both have, asked for in the same way
	Otherwise   int      // with other arguments
	OnlyA       int      // without a reason
	OnlyB       int      // the same
	Moved       int      // in another place
	Excused     int      // on one side, for a reason that the row names
	Requests    int      // HTTP requests without a message on one side, without a reason: no work
	Differences []string // why it is not the same, in words
}

func (d *Diff) workAnswer() (n WorkAnswer) {
	for i := range d.Rows {
		r := &d.Rows[i]
		switch {
		case r.OneSided() && r.Reason != "":
			n.Excused++
		case r.OneSided() && r.unasked(): // behaviour
		case r.OneSided() && r.Kind == RowExchanges:
			n.Requests++
		case r.B == nil:
			n.OnlyA++
		case r.A == nil:
			n.OnlyB++
		case !r.SameWork():
			n.Otherwise++
		case r.Kind == RowOperation:
			n.Both++
		}
		if r.Moved {
			n.Moved++
		}
	}
	n.Differences = d.workWords()
	n.Same = len(n.Differences) == 0
	return n
}

func (n *WorkAnswer) String() string {
	s := "no: "
	if n.Same {
		s = "yes: "
	}
	s += plural(n.Both, "operation") + " on both sides"
	say := func(count int, words string) {
		if count > 0 {
			s += ", " + strconv.Itoa(count) + words
		}
	}
	say(n.Otherwise, " with other arguments")
	say(n.OnlyA, " only in A")
	say(n.OnlyB, " only in B")
	say(n.Moved, " in another place")
	say(n.Excused, " on one side for a reason that is named")
	say(n.Requests, " without a message on one side (HTTP)")
	return s
}

// CostAnswer says what all of it cost in bytes, and from how many calls on which side
// is the dearer one.
type CostAnswer struct {
	A, B int64
	// Opening, Web, Subscriptions and Lists are what B spends more on each, negative for
	// less: together they are Even.Fixed.
	Opening, Web, Subscriptions, Lists int64
	Even                               BreakEven
	// Ways says that the two speak in different ways, in another era or over another
	// transport: only then a break-even is of interest.
	Ways bool
}

func (d *Diff) costAnswer() CostAnswer {
	b := &d.Bill
	return CostAnswer{
		A: b.A.Total(), B: b.B.Total(), Opening: b.Opening.Difference(), Web: b.Web.Difference(),
		Subscriptions: b.Subscriptions.Difference(), Lists: b.Lists.Difference(),
		Even: d.BreakEven(),
		Ways: d.A.Era != d.B.Era || d.A.Transport != d.B.Transport,
	}
}

func (c *CostAnswer) String() string {
	s := fmt.Sprintf("A %d bytes, B %d (%+d, %s)", c.A, c.B, c.B-c.A, percent(c.B-c.A, c.A))
	var parts []string
	if c.Even.Unknown == "" {
		parts = append(parts, "once a session "+c.fixed())
	}
	if c.Even.Unknown == "" || c.Even.PerCall != 0 {
		parts = append(parts, "each call "+perCall(c.Even.PerCall))
	}
	if len(parts) > 0 {
		s += "; " + strings.Join(parts, ", ")
	}
	if c.Ways {
		s += "; " + c.Even.String()
	}
	return s
}

func (c *CostAnswer) fixed() string {
	var parts []string
	for _, p := range []struct {
		name string
		n    int64
	}{{"opening", c.Opening}, {"requests without a message", c.Web}, {"subscriptions", c.Subscriptions}, {"lists", c.Lists}} {
		if p.n != 0 {
			parts = append(parts, fmt.Sprintf("%s %+d", p.name, p.n))
		}
	}
	s := fmt.Sprintf("%+d", c.Even.Fixed)
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	return s
}

// perCall is an average with its sign, to a tenth of a byte.
func perCall(n float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%+.1f", n+0), ".0") // + 0 makes -0 a zero
}

// String says from how many calls on which side is the dearer one.
func (e *BreakEven) String() string {
	dearer, cheaper := "B", "A"
	if e.PerCall < 0 {
		dearer, cheaper = cheaper, dearer
	}
	switch {
	case e.Unknown != "":
		return "which side becomes the cheaper one with more calls is not known: " + e.Unknown
	case e.Calls >= 0:
		return fmt.Sprintf("%s costs more from %s on, %s before", dearer, plural(int(e.Calls), "call"), cheaper)
	case e.Fixed == 0 && e.PerCall == 0:
		return "no difference at any number of calls"
	case e.PerCall == 0 && e.Fixed < 0:
		return "A costs more at any number of calls"
	}
	return dearer + " costs more at any number of calls"
}

// BehaviourAnswer says what behaves differently: the verdicts with differences, those
// first that an author looks at first.
type BehaviourAnswer struct {
	Verdicts []Verdict
	Volatile int // places that vary by themselves, and were taken as equal
	Excused  int // findings on one side only for a reason that is named: no difference
}

// behaviour are the kinds of differences that are no matter of work or cost.
var behaviour = []Kind{KindOutcome, kindOtherwise, KindResult, KindTools, KindServer, KindFindings, KindLatency}

func (d *Diff) behaviourAnswer() BehaviourAnswer {
	a := BehaviourAnswer{Volatile: len(d.Volatile)}
	for i := range d.Findings {
		if d.Findings[i].Reason != "" {
			a.Excused++
		}
	}
	for _, k := range behaviour {
		if words := d.differences(k); len(words) > 0 {
			a.Verdicts = append(a.Verdicts, Verdict{k, words})
		}
	}
	return a
}

// nouns name differences of a kind, one and several.
var nouns = map[Kind][2]string{
	KindOutcome: {"outcome", "outcomes"}, KindResult: {"place in what came back", "places in what came back"}, KindTools: {"definition", "definitions"},
	kindOtherwise: {"operation ends otherwise, with other arguments", "operations end otherwise, with other arguments"},
	KindServer:    {"difference in what client and server say of themselves", "differences in what client and server say of themselves"},
	KindFindings:  {"finding on one side only", "findings on one side only"}, KindLatency: {"latency", "latencies"},
}

func (a *BehaviourAnswer) String() string {
	var parts []string
	for _, v := range a.Verdicts {
		n := len(v.Differences)
		parts = append(parts, strconv.Itoa(n)+" "+nouns[v.What][min(n, 2)-1])
	}
	s := cmp.Or(strings.Join(parts, ", "), "nothing")
	if a.Excused > 0 { // they are listed with the others
		s += "; " + plural(a.Excused, "finding") + " more for a reason that is named"
	}
	switch {
	case a.Volatile == 1:
		s += " (1 place that varies by itself was taken as equal)"
	case a.Volatile > 1:
		s += fmt.Sprintf(" (%d places that vary by themselves were taken as equal)", a.Volatile)
	}
	return s
}

// Count is how many differences there are.
func (a *BehaviourAnswer) Count() (n int) {
	for _, v := range a.Verdicts {
		n += len(v.Differences)
	}
	return n
}

// First gives the differences that are told first, n of them at most: one of each
// kind, then the others.
func (a *BehaviourAnswer) First(n int) (words []string) {
	for at := 0; ; at++ {
		more := false
		for _, v := range a.Verdicts {
			if at < len(v.Differences) {
				more = true
				words = append(words, v.Differences[at])
			}
		}
		if !more || len(words) >= n {
			return words[:min(n, len(words))]
		}
	}
}
