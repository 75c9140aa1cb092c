package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/decode"
)

// Severity is how much a finding matters.
type Severity uint8

// The severities, the gravest first.
const (
	Error   Severity = iota + 1 // breaks a must
	Warning                     // breaks a should, or is known to hurt
	Info                        // worth knowing
)

var severityNames = [...]string{"", "error", "warning", "info"}

func (s Severity) String() string { return severityNames[s] }

// Side is who is at fault.
type Side uint8

// The sides. Either is for rules that bind both: a finding then has the one that
// sent the frame.
const (
	Client Side = iota + 1
	Server
	Either
)

var sideNames = [...]string{"", "client", "server", "either"}

func (s Side) String() string { return sideNames[s] }

// Span is the revisions that a rule holds for, both ends included; an empty end
// is open.
type Span struct{ From, To string }

// The spans that rules use.
var (
	All     = Span{}
	Legacy  = Span{To: "2025-11-25"}
	From25a = Span{From: "2025-03-26"}
	From25b = Span{From: "2025-06-18"}
	From25c = Span{From: "2025-11-25"}
	Modern  = Span{From: "2026-07-28"}
)

// Has reports whether a revision lies in the span. An unknown revision ("")
// lies in All only.
func (s Span) Has(revision string) bool {
	if revision == "" {
		return s == All
	}
	return revision >= s.From && (s.To == "" || revision <= s.To)
}

// A Rule is one thing that the specification, or experience, asks for.
type Rule struct {
	ID       string
	Severity Severity
	Side     Side
	Span     Span
	Page     string // below docs/specification/<revision>/; "" for experience
	// Title says what should be, in words that stand alone.
	Title string
	// Words says what was found. $1, $2, ... stand for the finding's arguments.
	Words string
	// Whole marks a rule that depends on the whole traffic of a session: it
	// counts one step less when the capture is partial.
	Whole bool

	check func(*pass, *Rule)
}

// A Finding is a rule that was broken.
type Finding struct {
	Rule     *Rule
	Severity Severity
	Side     Side
	Revision string // that it was judged by; "" if unknown
	Frame    int    // the first frame that shows it, -1 if none does
	N        uint64 // that frame's number in the journal
	Call     int    // the call it belongs to, -1 if none
	Count    int    // how often it was found
	Args     []string
}

// Words says what was found.
func (f *Finding) Words() string {
	pairs := make([]string, 0, 2*len(f.Args))
	for i := len(f.Args); i > 0; i-- { // $12 before $1
		pairs = append(pairs, "$"+strconv.Itoa(i), f.Args[i-1])
	}
	return strings.NewReplacer(pairs...).Replace(f.Rule.Words)
}

// tables are the rules, a table a file.
var tables [][]Rule

// Rules gives every rule, in the order of their ids' groups.
func Rules() []*Rule {
	var all []*Rule
	for i := range tables {
		for j := range tables[i] {
			all = append(all, &tables[i][j])
		}
	}
	return all
}

// Body gives the bytes of a frame by its index; nil if they are not at hand.
type Body func(frame int) []byte

// Check judges a session as it stands now. The findings come in the order of
// their first frames.
func Check(s *decode.Session, body Body) []Finding {
	p := newPass(s, body)
	for _, r := range Rules() {
		if r.check != nil {
			r.check(p, r)
		}
	}
	p.visit()
	return p.findings()
}

// findings are what was reported, in the order of the first frames.
func (p *pass) findings() []Finding {
	out := make([]Finding, 0, len(p.found))
	for _, f := range p.found {
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Rule.ID, b.Rule.ID), slices.Compare(a.Args, b.Args))
	})
	return out
}
