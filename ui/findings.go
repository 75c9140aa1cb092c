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
	rows   []rules.Finding
	byTime bool
}

func (p *findingsPage) load(r *review) {
	p.rows = slices.Clone(r.findings)
	p.arrange()
}

func (p *findingsPage) reorder() {
	p.byTime = !p.byTime
	p.arrange()
}

func (p *findingsPage) arrange() {
	slices.SortStableFunc(p.rows, func(a, b rules.Finding) int {
		if p.byTime {
			return cmp.Compare(a.Frame, b.Frame)
		}
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.Frame, b.Frame))
	})
}

func (p *findingsPage) len() int        { return len(p.rows) }
func (p *findingsPage) frame(i int) int { return p.rows[i].Frame }

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

func (p *findingsPage) head(w int) []string {
	th := p.env.th
	count := map[rules.Severity]int{}
	for i := range p.rows {
		count[p.rows[i].Severity]++
	}
	l := draw.NewLine(w, "").Gap(1)
	if len(p.rows) == 0 {
		l.Raw(th.Good, "✓ ").Raw("", "nothing found that breaks the specification")
	}
	for s := rules.Error; s <= rules.Info; s++ {
		if count[s] > 0 {
			l.Raw(p.style(s), severitySigns[s]+" "+severityCount(count[s], s)).Gap(2)
		}
	}
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
	f := &p.rows[i]
	l := draw.NewLine(w, base).Gap(1).Raw(p.style(f.Severity), severitySigns[f.Severity]).Gap(1)
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

func (p *findingsPage) below(i, w, h int) []string {
	th := p.env.th
	f := &p.rows[i]
	if h < 3 {
		return nil
	}
	lines := []string{rule(th, w, th.Dim, f.Rule.ID, f.Side.String())}
	for _, s := range wrapText(f.Words(), w-2) {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text(p.style(f.Severity), s).String())
	}
	for _, s := range wrapText("should be: "+f.Rule.Title, w-2) {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text("", s).String())
	}
	if f.Rule.Page != "" {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text(th.Dim, "specification "+f.Revision+", "+f.Rule.Page).String())
	}
	return lines[:min(len(lines), h)]
}
