package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/replay/diff"
)

// A verdict is what a comparison says on one kind of difference, and whether that is
// over a limit.
type verdict struct {
	diff.Verdict
	failed bool
}

// limit is one thing that makes a comparison fail.
type limit struct {
	what    diff.Kind
	percent float64 // of bytes: how much more is allowed; negative for no difference at all
}

func parseLimits(s string) (limits []limit, err error) {
	if s == "" || s == "none" {
		return nil, nil
	}
	for one := range strings.SplitSeq(s, ",") {
		what, percent, more := strings.Cut(strings.TrimSpace(one), ">")
		l := limit{what: diff.Kind(what), percent: -1}
		if more {
			l.percent, err = strconv.ParseFloat(strings.TrimSuffix(percent, "%"), 64)
		}
		if err != nil || more && (l.what != diff.KindBytes || !(l.percent >= 0)) || !slices.Contains(diff.Kinds, l.what) {
			return nil, usagef("--fail-on takes none or a list of %s (bytes>5%% as well), not %q", kindNames(), one)
		}
		limits = append(limits, l)
	}
	return limits, nil
}

func kindNames() string {
	names := make([]string, len(diff.Kinds))
	for i, k := range diff.Kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// judge holds the differences of each kind against the limits.
func judge(d *diff.Diff, limits []limit) (verdicts []verdict) {
	for _, v := range d.Verdicts() {
		failed := slices.ContainsFunc(limits, func(l limit) bool { return l.what == v.What && l.broken(d, len(v.Differences)) })
		verdicts = append(verdicts, verdict{v, failed})
	}
	return verdicts
}

// broken reports a comparison that is over the limit; found is how many differences of
// the kind there are.
func (l limit) broken(d *diff.Diff, found int) bool {
	switch {
	case l.what == diff.KindFindings:
		return slices.ContainsFunc(d.Findings, func(f diff.Finding) bool { return f.OnB && f.Reason == "" })
	case l.what == diff.KindLatency:
		return tested(d)
	case l.what == diff.KindBytes && l.percent >= 0:
		return float64(d.Bill.B.Total()) > float64(d.Bill.A.Total())*(1+l.percent/100)
	}
	return found > 0
}

// tested reports a latency that changed by a test: what was measured once or twice is
// told, but fails nothing.
func tested(d *diff.Diff) bool {
	return slices.ContainsFunc(d.Times, func(t diff.Times) bool { return t.Changed && !t.All() && t.P < 1 })
}

func sideOf(isA bool) string {
	if isA {
		return "A"
	}
	return "B"
}
