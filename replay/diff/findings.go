package diff

import (
	"regexp"
	"slices"

	"github.com/mcptap/mcptap/decode/rules"
)

// A Finding is something that breaks the specification on one side only.
type Finding struct {
	OnB   bool // it is in B; else in A
	Rule  *rules.Rule
	Side  rules.Side
	Words string
	Count int
	N     uint64 // frame that shows it first, 0 if none does
	// Reason says why the other side can't have it: its revision has no such rule.
	Reason string
}

// findings compares what the rules find. A finding is the same if it says the same
// but for numbers, since ids and frames differ by themselves.
func (w *work) findings() {
	a, b := w.a.check(), w.b.check()
	inA, inB := keysOf(a), keysOf(b)
	w.only(a, inB, false, w.b.revision())
	w.only(b, inA, true, w.a.revision())
}

func (s *source) check() []rules.Finding {
	if s.Findings != nil {
		return s.Findings()
	}
	return rules.Check(s.Session, s.Body)
}

func keysOf(all []rules.Finding) map[string]bool {
	keys := map[string]bool{}
	for i := range all {
		keys[findingKey(&all[i])] = true
	}
	return keys
}

var digits = regexp.MustCompile(`\d+`)

func findingKey(f *rules.Finding) string {
	said, _ := mask(f.Words(), true)
	return f.Rule.ID + " " + f.Side.String() + " " + digits.ReplaceAllString(said, "#")
}

func (w *work) only(all []rules.Finding, other map[string]bool, onB bool, revision string) {
	var told []string
	for i := range all {
		f := &all[i]
		k := findingKey(f)
		if other[k] || slices.Contains(told, k) {
			continue
		}
		told = append(told, k)
		out := Finding{OnB: onB, Rule: f.Rule, Side: f.Side, Words: f.Words(), Count: f.Count}
		if f.Frame >= 0 {
			out.N = f.N
		}
		if revision != "" && !f.Rule.Span.Has(revision) {
			out.Reason = "no such rule in " + revision
		}
		w.d.Findings = append(w.d.Findings, out)
	}
}
