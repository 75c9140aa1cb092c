package cli

import (
	"io"

	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/replay/diff/answers"
	"github.com/mcptap/mcptap/ui/safetext"
)

// diffJUnit writes the XML that CI systems read as test results: a suite a
// comparison, a case a kind of difference.
type diffJUnit struct {
	out    io.Writer
	suites []junitSuite
}

func (r *diffJUnit) compared(d *diff.Diff, verdicts []verdict) {
	s := junitSuite{Name: safetext.Line(d.A.Name + " and " + d.B.Name), Tests: len(verdicts)}
	for _, v := range verdicts {
		one := junitCase{Class: "diff", Name: v.what}
		said := ""
		for _, w := range v.words {
			said += safetext.Line(w) + "\n"
		}
		if v.failed {
			s.Failures++
			one.Failure = &junitFailure{Type: "difference", Message: plural(len(v.words), "difference"), Text: said}
		} else {
			one.Output = said
		}
		s.Cases = append(s.Cases, one)
	}
	r.suites = append(r.suites, s)
}

func (r *diffJUnit) unmatched(name string, onB, failed bool) {
	one := junitCase{Class: "diff", Name: "only in " + answers.Side(!onB)}
	s := junitSuite{Name: safetext.Line(name), Tests: 1}
	if failed {
		s.Failures, one.Failure = 1, &junitFailure{Type: "difference", Message: "the other folder has no such session"}
	}
	s.Cases = []junitCase{one}
	r.suites = append(r.suites, s)
}

func (r *diffJUnit) flush() error { return writeJUnit(r.out, r.suites) }
