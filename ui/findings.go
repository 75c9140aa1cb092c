package ui

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/ui/draw"
)

// findingsPage lists what breaks the specification, the gravest first, or in the order
// of the session.
type findingsPage struct {
	env    *env
	all    []rules.Finding
	rows   []findingRow
	byTime bool
}

// findingRow is a finding, or the heading of some.
type findingRow struct {
	head string
	*rules.Finding
}

func (p *findingsPage) load(r *review) {
	p.all = slices.Clone(r.findings)
	p.arrange()
}

func (p *findingsPage) reorder() {
	p.byTime = !p.byTime
	p.arrange()
}

// severityHeads stand above the findings of a severity.
var severityHeads = map[rules.Severity]string{
	rules.Error: "errors: what the specification forbids", rules.Warning: "warnings: what it advises against, or what is likely to go wrong", rules.Info: "worth knowing",
}

func (p *findingsPage) arrange() {
	slices.SortStableFunc(p.all, func(a, b rules.Finding) int {
		if p.byTime {
			return cmp.Compare(a.Frame, b.Frame)
		}
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.Frame, b.Frame))
	})
	p.rows = p.rows[:0]
	for i := range p.all {
		f := &p.all[i]
		if !p.byTime && (i == 0 || f.Severity != p.all[i-1].Severity) {
			p.rows = append(p.rows, findingRow{head: severityHeads[f.Severity]})
		}
		p.rows = append(p.rows, findingRow{"", f})
	}
}

func (p *findingsPage) len() int { return len(p.rows) }

func (p *findingsPage) frame(i int) int {
	if f := p.rows[i].Finding; f != nil {
		return f.Frame
	}
	return -1
}

func (p *findingsPage) key(i int) rowKey {
	f := p.rows[i].Finding
	if f == nil {
		return rowKey{kind: "head", a: p.rows[i].head}
	}
	k := rowKey{a: f.Rule.ID, n: f.Frame, m: int(f.Side)}
	if len(f.Args) > 0 {
		k.b = f.Args[0]
	}
	return k
}

var severitySigns = map[rules.Severity]string{rules.Error: "✗", rules.Warning: "!", rules.Info: "i"}

func (p *findingsPage) style(s rules.Severity) draw.Style {
	switch s {
	case rules.Error:
		return p.env.th.Bad
	case rules.Warning:
		return p.env.th.Warn
	}
	return p.env.th.Dim
}

func (p *findingsPage) head(w, _ int) []string {
	th := p.env.th
	count := map[rules.Severity]int{}
	for i := range p.all {
		count[p.all[i].Severity]++
	}
	l := draw.NewLine(w, "").Gap(1)
	if len(p.all) == 0 {
		return []string{l.Raw(th.Good, "✓ ").Raw("", "nothing found that breaks the specification").String()}
	}
	for s := rules.Error; s <= rules.Info; s++ {
		if count[s] > 0 {
			l.Raw(p.style(s), severitySigns[s]+" "+severityCount(count[s], s)).Gap(2)
		}
	}
	order := "the gravest first, o: by time"
	if p.byTime {
		order = "by time, o: the gravest first"
	}
	pieces(l, "", styled{order, th.Faint})
	return []string{l.String(), draw.Blank(w)}
}

func severityCount(n int, s rules.Severity) string {
	if s == rules.Info {
		return strconv.Itoa(n) + " worth knowing"
	}
	return plural(n, s.String())
}

func (p *findingsPage) row(i, w int, base draw.Style) string {
	th := p.env.th
	f := p.rows[i].Finding
	l := draw.NewLine(w, base).Gap(1)
	if f == nil {
		return l.Raw(th.Strong, p.rows[i].head).String()
	}
	l.Raw(p.style(f.Severity), severitySigns[f.Severity]).Gap(1)
	l.Raw(th.Dim, draw.Cell(f.Rule.ID, 8, false)).Gap(1)
	if w >= 60 {
		l.Raw(th.Dim, draw.Cell(f.Side.String(), 6, false)).Gap(1)
	}
	where, times := "", ""
	if f.Frame >= 0 {
		where = "#" + strconv.FormatUint(f.N, 10)
	}
	if f.Count > 1 {
		times = "×" + strconv.Itoa(f.Count)
	}
	tail := draw.Cell(times, 6, true) + draw.Cell(where, 8, true) + " "
	l.Within("", f.Words(), l.Left()-draw.Width(tail))
	return l.Pin(w-draw.Width(tail)).Raw(th.Dim, tail).String()
}

// findingBelow is how many lines the finding with the cursor has, whichever it is.
const findingBelow = 8

func (p *findingsPage) below(i, w, h int) []string {
	if h < 3 {
		return nil
	}
	return clip(p.env.th, p.tell(i, w), w, min(h, findingBelow))
}

func (p *findingsPage) tell(i, w int) []string {
	th, f := p.env.th, p.rows[i].Finding
	if f == nil {
		return []string{rule(th, w, th.Dim, draw.Cut(p.rows[i].head, max(0, w-5)), "")}
	}
	lines := []string{rule(th, w, th.Dim, f.Rule.ID+", "+f.Side.String(), "")}
	lines = append(lines, paragraph(w, 0, p.style(f.Severity), f.Words())...)
	lines = append(lines, paragraph(w, 2, "", "should be: "+f.Rule.Title)...)
	where := ""
	switch {
	case f.Frame >= 0 && f.Count > 1:
		where = "found " + plural(f.Count, "time") + ", first in frame " + strconv.FormatUint(f.N, 10)
	case f.Frame >= 0:
		where = "found in frame " + strconv.FormatUint(f.N, 10)
	}
	if where != "" {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Raw(th.Dim, where+"; enter goes there, esc comes back").String())
	}
	if f.Rule.Page != "" {
		lines = append(lines, paragraph(w, 2, th.Dim, "specification "+f.Revision+", "+f.Rule.Page)...)
	}
	return lines
}
