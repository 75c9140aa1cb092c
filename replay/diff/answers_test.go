package diff

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/decode/rules"
)

// TestAnswers: the answers say what the rows do, as values and in words.
func TestAnswers(t *testing.T) {
	legacy, modern := drive(3)
	d := Compare(legacy.web("a", true, 36), modern.web("b", false, 0), Options{})
	got := d.Answers()
	if !got.Work.Same || got.Work.Both != 3 || got.Cost.A != d.Bill.A.Total() || !got.Cost.Ways || got.Cost.Even != d.BreakEven() {
		t.Errorf("%+v", got)
	}
	if c := got.Cost; c.Opening+c.Web+c.Subscriptions+c.Lists != c.Even.Fixed {
		t.Errorf("parts of what a session takes once do not add up: %+v", c)
	}
	build := slices.Clone(legacy)
	build[4] = `< {"jsonrpc":"2.0","id":100,"result":{"content":[],"isError":true}}`
	build = build[:len(build)-2]
	d = Compare(legacy.side("a"), build.side("b"), Options{})
	got = d.Answers()
	words := []string{got.Work.String(), got.Cost.String(), got.Behaviour.String()}
	want := []string{
		"no: 2 operations on both sides, 1 only in A",
		"A 1189 bytes, B 1060 (-129, -10.8%); once a session +0, each call +7.5",
		"1 outcome, 1 place in what came back, 1 finding on one side only",
	}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
	if first := got.Behaviour.First(1); got.Behaviour.Count() != 3 || len(first) != 1 || first[0] != "tools/call t: ok → tool error" {
		t.Errorf("%d, first %q", got.Behaviour.Count(), first)
	}
	if diff := cmp.Diff([]string{"only in A: tools/call t"}, got.Work.Differences); diff != "" {
		t.Error(diff)
	}
}

// TestEndsOtherwise: that an operation fails on one side is told, also where it was asked
// for with other arguments; it is no difference of outcomes then. Errors are compared.
func TestEndsOtherwise(t *testing.T) {
	session := func(arguments, answer, message string) script {
		return script{
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":` + arguments + `}}`,
			`< {"jsonrpc":"2.0","id":1,` + answer + `}`,
			`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"gone","arguments":{}}}`,
			`< {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"` + message + `"}}`,
		}
	}
	a := session(`{"n":"1"}`, `"result":{"content":[{"type":"text","text":"no"}],"isError":true}`, "no such tool").side("a")
	b := session(`{"n":1}`, `"result":{"content":[]}`, "unknown tool").side("b")
	d := Compare(a, b, Options{})
	got := d.Answers().Behaviour
	if want := "1 operation ends otherwise, with other arguments, 1 place in what came back"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
	want := []string{"tools/call add: tool error → ok, with other arguments", `tools/call gone: error.message: "no such tool" → "unknown tool"`}
	if diff := cmp.Diff(want, got.First(5)); diff != "" {
		t.Error(diff)
	}
	if words := d.differences(KindOutcome); len(words) != 0 {
		t.Errorf("outcomes: %q", words)
	}
}

// TestFindingsAreCounted: the answer counts every finding that is listed.
func TestFindingsAreCounted(t *testing.T) {
	rule := &rules.Rule{ID: "X-01"}
	d := &Diff{Findings: []Finding{{Rule: rule}, {Rule: rule, OnB: true}, {Rule: rule, Reason: "no such rule in 2025-11-25"}}}
	a := d.behaviourAnswer()
	if want := "2 findings on one side only; 1 finding more for a reason that is named"; a.String() != want {
		t.Errorf("%q, want %q", a.String(), want)
	}
	d.Findings = d.Findings[2:]
	a = d.behaviourAnswer()
	if want := "nothing; 1 finding more for a reason that is named"; a.String() != want {
		t.Errorf("%q, want %q", a.String(), want)
	}
}

// TestUnasked: what a server says unasked is its behaviour, and no other work; how a
// listen stream ends is neither.
func TestUnasked(t *testing.T) {
	_, modern := drive(1)
	listen := `> {"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	a := append(slices.Clone(modern), listen)
	b := append(slices.Clone(a), `< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
	d := Compare(a.side("a"), b.side("b"), Options{})
	got := d.Answers()
	if !got.Work.Same || got.Work.OnlyB != 0 {
		t.Errorf("%+v", got.Work)
	}
	var words []string
	for _, v := range got.Behaviour.Verdicts {
		if v.What != KindFindings {
			words = append(words, v.Differences...)
		}
	}
	if diff := cmp.Diff([]string{"only in B: notifications/tools/list_changed (messages)"}, words); diff != "" {
		t.Errorf("%s\n%s", diff, describe(d))
	}
}

// TestAnswersOfAll: whatever is compared, accounts add up and words are there.
func TestAnswersOfAll(t *testing.T) {
	names := all(t)
	for i, name := range names {
		d := Compare(recorded(t, name), recorded(t, names[(i+1)%len(names)]), Options{})
		total := d.Bill.Total()
		if got := summed(d.Bill.Groups()); got != total {
			t.Errorf("%s: groups are %+v, not %+v", name, got, total)
		}
		if got := summed(Lines(&d.Bill.A, &d.Bill.B)); got != total {
			t.Errorf("%s: lines are %+v, not %+v", name, got, total)
		}
		for i := range d.Rows {
			r := &d.Rows[i]
			if l := summed(r.Lines()); l.A()-l.B() != r.difference() || r.Title() == "" || (r.String() == "") != (!r.OneSided() && !r.Moved && len(r.Changes) == 0) {
				t.Errorf("%s: %s: %q, %+v", name, r.Title(), r.String(), l)
			}
			for _, p := range []*Part{r.A, r.B} {
				if p != nil && p.Bytes.Total() > 0 && len(p.Frames)+len(p.Exchanges) == 0 {
					t.Errorf("%s: %s has bytes, and nothing to jump to", name, r.Title())
				}
			}
		}
		a := d.Answers()
		if a.Work.Same != (len(a.Work.Differences) == 0) || len(a.Behaviour.First(3)) != min(3, a.Behaviour.Count()) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// difference is what A took more than B.
func (r *Row) difference() (n int64) {
	if r.A != nil {
		n += r.A.Bytes.Total()
	}
	if r.B != nil {
		n -= r.B.Bytes.Total()
	}
	return n
}

// summed adds lines up, those that are parts of others apart.
func summed(lines []Line) Line {
	sum := Line{Name: "total"}
	for _, l := range lines {
		if !l.Part {
			sum.UpA, sum.UpB, sum.DownA, sum.DownB = sum.UpA+l.UpA, sum.UpB+l.UpB, sum.DownA+l.DownA, sum.DownB+l.DownB
		}
	}
	return sum
}
