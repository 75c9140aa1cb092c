package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/diff"
)

// A verdict is what a comparison says on one kind of difference.
type verdict struct {
	what   string
	words  []string // the differences, one each
	failed bool
}

// judge gathers the differences of each kind, and holds them against the limits.
func judge(d *diff.Diff, limits []limit) (verdicts []verdict) {
	for _, what := range limitWords {
		v := verdict{what: what, words: differences(d, what)}
		for _, l := range limits {
			if l.what == what {
				v.failed = v.failed || over(d, l, len(v.words))
			}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

func over(d *diff.Diff, l limit, found int) bool {
	a, b := d.Bill.A.Total(), d.Bill.B.Total()
	switch {
	case l.what == "findings":
		return newFindings(d) > 0
	case l.what == "latency":
		return tested(d)
	case l.what != "bytes":
		return found > 0
	case l.percent < 0:
		return a != b
	}
	return float64(b) > float64(a)*(1+l.percent/100)
}

// tested reports a latency that changed by a test: what was measured once or twice is
// told, but fails nothing.
func tested(d *diff.Diff) bool {
	return slices.ContainsFunc(d.Times, func(t diff.Times) bool { return t.Changed && !t.All() && t.P < 1 })
}

func newFindings(d *diff.Diff) (n int) {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.OnB && f.Reason == "" {
			n++
		}
	}
	return n
}

func differences(d *diff.Diff, what string) (words []string) {
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
			words = append(words, c.Path+": "+fromTo(&c))
		}
	case "tools":
		for i := range d.Definitions {
			words = append(words, definitionWords(&d.Definitions[i]))
		}
	case "findings":
		for i := range d.Findings {
			if f := &d.Findings[i]; f.Reason == "" {
				words = append(words, findingWords(f))
			}
		}
	case "latency":
		for i := range d.Times {
			if t := &d.Times[i]; t.Changed && !t.All() {
				words = append(words, timeWords(t))
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
			words = append(words, "only in "+sideOf(r.A != nil)+": "+rowName(r))
		case r.Moved:
			words = append(words, "in another place: "+rowName(r))
		}
		for j := range r.Changes {
			if c := &r.Changes[j]; c.What == diff.WhatArguments {
				words = append(words, "other arguments: "+rowName(r)+": "+changeLine(c))
			}
		}
		for _, in := range r.Details {
			if !r.OneSided() && (in.A == 0) != (in.B == 0) && in.Reason == "" {
				words = append(words, "only in "+sideOf(in.A > 0)+": "+in.What+" of "+rowName(r))
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
				words = append(words, rowName(r)+": "+changeLine(c))
			}
		}
	}
	return words
}

func sideOf(isA bool) string {
	if isA {
		return "A"
	}
	return "B"
}

func rowName(r *diff.Row) string { return strings.TrimSpace(r.Method + " " + r.Name) }

// changeLine says what one change is.
func changeLine(c *diff.Difference) string {
	if c.Path == "" {
		return fromTo(c)
	}
	return c.Path + ": " + fromTo(c)
}

func fromTo(c *diff.Difference) string {
	switch {
	case c.A == "":
		return "only in B: " + c.B
	case c.B == "":
		return "only in A: " + c.A
	}
	return c.A + " → " + c.B
}

var listNouns = map[decode.ListKind]string{decode.Tools: "tool", decode.Prompts: "prompt", decode.Resources: "resource", decode.Templates: "resource template"}

func definitionWords(f *diff.Definition) string {
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

func findingWords(f *diff.Finding) string {
	s := "only in " + sideOf(!f.OnB) + ": " + f.Rule.ID + " " + f.Rule.Severity.String() + ": " + f.Words
	if f.Reason != "" {
		s += " (" + f.Reason + ")"
	}
	return s
}

func timeWords(t *diff.Times) string {
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
