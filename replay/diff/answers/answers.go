// Package answers says in words what a comparison of two sessions found: three answers
// first, then what is different, a sentence each.
//
// It promises to be pure, and that the commands and the screens say the same. What it
// says may hold text from the outside: whoever prints it makes it safe.
//
// It must not compare anything, nor decide what is a failure.
package answers

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/diff"
)

// Kinds are the kinds of differences, in the order of a report.
var Kinds = []string{"work", "bytes", "outcome", "result", "server", "tools", "findings", "latency"}

// Differences gives the differences of a kind, a sentence each.
func Differences(d *diff.Diff, what string) (words []string) {
	switch what {
	case "work":
		return workWords(d)
	case "bytes":
		if a, b := d.Bill.A.Total(), d.Bill.B.Total(); a != b {
			words = append(words, fmt.Sprintf("%d bytes in A, %d in B (%s)", a, b, percentOf(b-a, a)))
		}
	case "outcome", "result":
		return changeWords(d, what)
	case "server":
		for _, c := range d.Server {
			words = append(words, c.Path+": "+FromTo(&c))
		}
	case "tools":
		for i := range d.Definitions {
			words = append(words, Definition(&d.Definitions[i]))
		}
	case "findings":
		for i := range d.Findings {
			if f := &d.Findings[i]; f.Reason == "" {
				words = append(words, Finding(f))
			}
		}
	case "latency":
		for i := range d.Times {
			if t := &d.Times[i]; t.Changed && !t.All() {
				words = append(words, Latency(t))
			}
		}
	}
	return words
}

// workWords tells what is not the same work: what only one side has without a
// reason, what changed places, and what was asked for otherwise.
func workWords(d *diff.Diff) (words []string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		switch {
		case r.OneSided() && r.Reason == "":
			words = append(words, "only in "+Side(r.A != nil)+": "+Name(r))
		case r.Moved:
			words = append(words, "in another place: "+Name(r))
		}
		for j := range r.Changes {
			if c := &r.Changes[j]; c.What == diff.WhatArguments {
				words = append(words, "other arguments: "+Name(r)+": "+Change(c))
			}
		}
		for _, in := range r.Details {
			if !r.OneSided() && (in.A == 0) != (in.B == 0) && in.Reason == "" {
				words = append(words, "only in "+Side(in.A > 0)+": "+in.What+" of "+Name(r))
			}
		}
	}
	return words
}

func changeWords(d *diff.Diff, what string) (words []string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		for j := range r.Changes {
			c := &r.Changes[j]
			if c.What != diff.WhatArguments && (c.What == diff.WhatOutcome) == (what == "outcome") {
				words = append(words, Name(r)+": "+Change(c))
			}
		}
	}
	return words
}

// Side names a side.
func Side(isA bool) string {
	if isA {
		return "A"
	}
	return "B"
}

// Name is what a row is about.
func Name(r *diff.Row) string { return strings.TrimSpace(r.Method + " " + r.Name) }

// Change says what one change is.
func Change(c *diff.Difference) string {
	if c.Path == "" {
		return FromTo(c)
	}
	return c.Path + ": " + FromTo(c)
}

// FromTo says what was there and what is.
func FromTo(c *diff.Difference) string {
	switch {
	case c.A == "":
		return "only in B: " + c.B
	case c.B == "":
		return "only in A: " + c.A
	}
	return c.A + " → " + c.B
}

var listNouns = map[decode.ListKind]string{decode.Tools: "tool", decode.Prompts: "prompt", decode.Resources: "resource", decode.Templates: "resource template"}

// Noun is what one thing of a list is called.
func Noun(k decode.ListKind) string { return listNouns[k] }

// Definition says what changed of something that a server offers.
func Definition(f *diff.Definition) string {
	noun := listNouns[f.Kind]
	switch f.What {
	case decode.Reordered:
		return noun + "s are in another order"
	case decode.Changed:
		parts := make([]string, 0, len(f.Changes))
		for i := range f.Changes {
			c := &f.Changes[i]
			switch {
			case c.A == "":
				parts = append(parts, c.Path+" added")
			case c.B == "":
				parts = append(parts, c.Path+" removed")
			default:
				parts = append(parts, c.Path+" changed")
			}
		}
		return noun + " " + f.Name + ": " + strings.Join(parts, ", ")
	}
	return noun + " " + f.Name + " " + string(f.What)
}

// Finding says what breaks the specification on one side.
func Finding(f *diff.Finding) string {
	s := "only in " + Side(!f.OnB) + ": " + f.Rule.ID + " " + f.Rule.Severity.String() + ": " + f.Words
	if f.Reason != "" {
		s += " (" + f.Reason + ")"
	}
	return s
}

// Latency says how a time changed, and what that rests on.
func Latency(t *diff.Times) string {
	name := strings.TrimSpace(t.Method + " " + t.Name)
	if name == "" {
		name = "all operations"
	}
	s := fmt.Sprintf("%s: %s → %s ms (%s, %s", name, millis(t.A), millis(t.B), times(t.Ratio()), t.How)
	if t.P < 1 {
		s += ", p " + strconv.FormatFloat(t.P, 'g', 2, 64)
	}
	if t.All() {
		s += "; load moves all at once, and so does a server"
	}
	return s + ")"
}

func times(ratio float64) string { return strconv.FormatFloat(ratio, 'f', 1, 64) + "×" }

// percentOf is a share with its sign.
func percentOf(n, of int64) string {
	if of == 0 {
		return "no share of 0"
	}
	return fmt.Sprintf("%+.1f%%", 100*float64(n)/float64(of))
}

// About says what a session is.
func About(s *diff.About) string {
	parts := []string{s.Name}
	if s.Transport != "" {
		parts = append(parts, s.Transport)
	}
	parts = append(parts, strings.TrimSpace(s.Revision+" "+s.Era.String()), cmp.Or(s.Client, "client")+" → "+cmp.Or(s.Server, "server"), plural(s.Operations, "operation"))
	if s.NotAtHand > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes are not in the recording and not compared", s.NotAtHand))
	}
	return strings.Join(parts, "  ")
}

// tally counts operations by where they are.
type tally struct {
	both, otherwise, onlyA, onlyB, excused, moved int
}

func tallyOf(d *diff.Diff) (n tally) {
	for i := range d.Rows {
		r := &d.Rows[i]
		switch {
		case r.OneSided() && r.Reason != "":
			n.excused++
		case r.B == nil:
			n.onlyA++
		case r.A == nil:
			n.onlyB++
		case !r.SameWork():
			n.otherwise++
		case r.Kind == diff.RowOperation:
			n.both++
		}
		if r.Moved {
			n.moved++
		}
	}
	return n
}

// Work answers whether it is the same work.
func Work(d *diff.Diff) string {
	n := tallyOf(d)
	parts := []string{"yes: " + plural(n.both, "operation") + " on both sides"}
	if len(workWords(d)) > 0 {
		parts[0] = "no: " + plural(n.both, "operation") + " on both sides"
	}
	say := func(count int, words string) {
		if count > 0 {
			parts = append(parts, strconv.Itoa(count)+words)
		}
	}
	say(n.otherwise, " with other arguments")
	say(n.onlyA, " only in A")
	say(n.onlyB, " only in B")
	say(n.moved, " in another place")
	say(n.excused, " on one side for a reason that is named")
	return strings.Join(parts, ", ")
}

// Cost answers what costs what.
func Cost(d *diff.Diff) string {
	a, b := d.Bill.A.Total(), d.Bill.B.Total()
	s := fmt.Sprintf("A %d bytes, B %d (%+d, %s)", a, b, b-a, percentOf(b-a, a))
	if d.Bill.Opening.Count > 0 && d.A.Opening && d.B.Opening {
		s += fmt.Sprintf("; opening %+d", d.Bill.Opening.Difference())
	}
	if n := d.Bill.Calls.Count; n > 0 {
		s += "; a call " + perCall(float64(d.Bill.Calls.Difference())/float64(n))
	}
	return s + "; " + breakEvenWords(d)
}

// perCall is an average with its sign, to a tenth of a byte.
func perCall(n float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%+.1f", n+0), ".0") // + 0 makes -0 a zero
}

// breakEvenWords says from how many calls on which side is the dearer one.
func breakEvenWords(d *diff.Diff) string {
	e := d.BreakEven()
	dearer, cheaper := "B", "A"
	if e.PerCall < 0 {
		dearer, cheaper = cheaper, dearer
	}
	switch {
	case e.Unknown != "":
		return "no break-even: " + e.Unknown
	case e.Calls >= 0:
		return fmt.Sprintf("%s costs more from %s on, %s before", dearer, plural(int(e.Calls), "call"), cheaper)
	case e.Fixed == 0 && e.PerCall == 0:
		return "no difference at any number of calls"
	case e.PerCall == 0 && e.Fixed < 0:
		return "A costs more at any number of calls"
	}
	return dearer + " costs more at any number of calls"
}

// nouns names differences of a kind, for counting.
var nouns = map[string]string{"outcome": "outcome", "result": "place in results", "server": "thing that an end says of itself", "tools": "definition", "findings": "finding on one side only", "latency": "latency"}

var nounPlurals = map[string]string{"place in results": "places in results", "thing that an end says of itself": "things that the ends say of themselves", "finding on one side only": "findings on one side only", "latency": "latencies"}

// Behaviour answers what behaves differently.
func Behaviour(d *diff.Diff) string {
	var parts []string
	for _, kind := range Kinds {
		noun, ok := nouns[kind]
		if n := len(Differences(d, kind)); ok && n == 1 {
			parts = append(parts, "1 "+noun)
		} else if ok && n > 1 {
			parts = append(parts, strconv.Itoa(n)+" "+cmp.Or(nounPlurals[noun], noun+"s"))
		}
	}
	s := "nothing"
	if len(parts) > 0 {
		s = strings.Join(parts, ", ")
	}
	switch n := len(d.Volatile); {
	case n == 1:
		s += " (1 place that varies by itself was taken as equal)"
	case n > 1:
		s += fmt.Sprintf(" (%d places that vary by themselves were taken as equal)", n)
	}
	return s
}

// Row says in a few words what differs; short leaves reasons out.
func Row(r *diff.Row, short bool) string {
	var parts []string
	if r.OneSided() {
		parts = append(parts, "only in "+Side(r.A != nil))
		if r.Reason != "" && !short {
			parts[0] += " (" + r.Reason + ")"
		}
	}
	if r.Moved {
		parts = append(parts, "in another place")
	}
	seen := map[diff.What]bool{}
	for i := range r.Changes {
		if w := r.Changes[i].What; !seen[w] {
			seen[w] = true
			parts = append(parts, string(w))
		}
	}
	return strings.Join(parts, ", ")
}

// Detail says how often something that belongs to a row is there.
func Detail(in *diff.Inner) string {
	s := fmt.Sprintf("%d in A, %d in B", in.A, in.B)
	if in.Reason != "" {
		s += " (" + in.Reason + ")"
	}
	return s
}

// Model says what the tools cost a model on both sides, and whether its cache holds.
func Model(m *diff.Model) string {
	s := fmt.Sprintf("%s in A, %d in B; %d and %d bytes of definitions a turn", plural(m.A.Count, "tool"), m.B.Count, m.A.Bytes, m.B.Bytes)
	if m.A.Mid > 0 || m.B.Mid > 0 {
		s += fmt.Sprintf(", ~%d tokens (%d to %d) and ~%d (%d to %d)", m.A.Mid, m.A.Low, m.A.High, m.B.Mid, m.B.Low, m.B.High)
	}
	if m.Same {
		return s + "; the model's prompt cache holds"
	}
	return s + fmt.Sprintf("; the model's prompt cache breaks at tool %d, %s", m.At+1, m.Broken)
}

// Bytes are those of one side of a row; 0 if it has none.
func Bytes(p *diff.Part) int64 {
	if p == nil {
		return 0
	}
	return p.Bytes.Total()
}

// Signed is a number with its sign.
func Signed(n int64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%+d", n)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
