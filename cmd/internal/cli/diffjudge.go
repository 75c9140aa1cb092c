package cli

import (
	"slices"

	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/replay/diff/answers"
)

// A verdict is what a comparison says on one kind of difference.
type verdict struct {
	what   string
	words  []string // the differences, one each
	failed bool
}

// judge gathers the differences of each kind, and holds them against the limits.
func judge(d *diff.Diff, limits []limit) (verdicts []verdict) {
	for _, what := range answers.Kinds {
		v := verdict{what: what, words: answers.Differences(d, what)}
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
