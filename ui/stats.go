package ui

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

// statsPage shows the operations of each method and tool: how many, how they ended,
// how long they took; and of the whole session what its bytes are spent on.
type statsPage struct {
	env    *env
	groups []*report.Group
	totals *decode.Totals
	order  int
}

func (p *statsPage) load(r *review) {
	p.groups, p.totals = slices.Clone(r.groups), r.totals
}

// statOrders are the orders of the table.
var statOrders = []struct {
	name string
	by   func(a, b *report.Group) int
}{
	{"as they came", nil},
	{"count", func(a, b *report.Group) int { return cmp.Compare(b.Count, a.Count) }},
	{"failures", func(a, b *report.Group) int { return cmp.Compare(failures(b), failures(a)) }},
	{"p95", func(a, b *report.Group) int { return cmp.Compare(b.P95, a.P95) }},
	{"bytes", func(a, b *report.Group) int { return cmp.Compare(b.C2S+b.S2C, a.C2S+a.S2C) }},
}

func (p *statsPage) reorder() {
	p.order = (p.order + 1) % len(statOrders)
	if by := statOrders[p.order].by; by != nil {
		slices.SortStableFunc(p.groups, by)
	}
}

func failures(g *report.Group) (n int) {
	for _, s := range outcomeSigns {
		if s.outcome >= decode.ToolError && s.outcome <= decode.HiddenError {
			n += g.Outcomes[s.outcome.String()]
		}
	}
	return n
}

func (p *statsPage) len() int      { return len(p.groups) }
func (p *statsPage) frame(int) int { return -1 }

// statColumns are the widths of the numbers at the right, by the screen's width.
func statColumns(w int) []int {
	switch {
	case w >= 96:
		return []int{7, 7, 9, 9, 9, 10, 10}
	case w >= 60:
		return []int{6, 6, 8, 8, 0, 8, 8}
	}
	return []int{5, 5, 0, 8, 0, 0, 0}
}

var statNames = []string{"count", "failed", "p50 ms", "p95 ms", "max ms", "→ bytes", "← bytes"}

func (p *statsPage) line(w int, base draw.Style, name, detail string, cells []string, styles []draw.Style) string {
	columns := statColumns(w)
	tail := 1
	for _, c := range columns {
		tail += c
	}
	l := draw.NewLine(w, base).Gap(1)
	l.Within(styles[0], name, max(0, w-tail-2)).Gap(1)
	if detail != "" {
		l.Within("", detail, max(0, w-tail-1-l.Used()))
	}
	l.Pin(w - tail)
	for i, c := range columns {
		l.Raw(styles[1+min(i, len(styles)-2)], draw.Cell(cells[i], c, true))
	}
	return l.String()
}

func (p *statsPage) head(w int) []string {
	th := p.env.th
	return []string{
		draw.NewLine(w, "").Gap(1).Raw(th.Dim, "order: "+statOrders[p.order].name).String(),
		p.line(w, "", "method, tool", "", statNames, []draw.Style{th.Dim, th.Dim}),
	}
}

func (p *statsPage) row(i, w int, base draw.Style) string {
	th := p.env.th
	g := p.groups[i]
	ms := func(v float64) string {
		if len(g.Times) == 0 {
			return ""
		}
		return millis(time.Duration(v * float64(time.Millisecond)))
	}
	failed, style := "", th.Dim
	if n := failures(g); n > 0 {
		failed, style = strconv.Itoa(n), th.Bad
	}
	method := th.Strong
	name := g.Method
	if g.Name != "" {
		method = th.Dim
		if w < 60 {
			name = ""
		}
	}
	return p.line(w, base, name, g.Name, []string{strconv.Itoa(g.Count), failed, ms(g.P50), ms(g.P95), ms(g.Max), size(g.C2S), size(g.S2C)},
		[]draw.Style{method, "", style, "", "", "", th.Dim, th.Dim})
}

// below shows the times of the group with the cursor, and the bytes of the session.
func (p *statsPage) below(i, w, h int) []string {
	if h < 4 {
		return nil
	}
	th := p.env.th
	g := p.groups[i]
	name := g.Method
	if g.Name != "" {
		name = g.Name
	}
	left := w
	if w >= 90 {
		left = w / 2
	}
	lines := append([]string{rule(th, left, th.Dim, "times of "+draw.Safe(name, left/2), "")}, histogram(th, g.Times, left, h-1)...)
	bytes := append([]string{rule(th, w-left, th.Dim, "bytes of the session", "")}, p.parts(w-left, h-1)...)
	if left == w {
		bytes = append([]string{rule(th, w, th.Dim, "bytes of the session", "")}, p.parts(w, h-1)...)
		if room := h - len(lines); room >= 3 {
			return append(lines, bytes[:min(len(bytes), room)]...)
		}
		return lines[:min(len(lines), h)]
	}
	n := min(h, max(len(lines), len(bytes)))
	lines, bytes = draw.Fill(lines, left, n), draw.Fill(bytes, w-left, n)
	for i := range lines {
		lines[i] += bytes[i]
	}
	return lines
}

// histogram counts times in steps that each are about three times the one before, from
// a tenth of a millisecond on.
func histogram(th *theme.Theme, times []time.Duration, w, h int) []string {
	if len(times) == 0 {
		return []string{draw.NewLine(w, "").Gap(1).Raw(th.Dim, "none has ended").String()}
	}
	counts, first, last := bins(times)
	for last-first >= h {
		last-- // the longest are counted with the step before
		counts[last] += counts[last+1]
	}
	peak := 0
	for _, n := range counts[first : last+1] {
		peak = max(peak, n)
	}
	var lines []string
	for b := first; b <= last; b++ {
		l := draw.NewLine(w, "").Gap(1).Raw(th.Dim, draw.Cell(binName(b), 12, true)).Gap(1)
		room := max(1, min(40, w-24))
		l.Raw(th.Accent, bar(counts[b], peak, room)).Gap(1).Raw("", strconv.Itoa(counts[b]))
		lines = append(lines, l.String())
	}
	return lines
}

const maxBins = 24

func binLimit(b int) float64 { // in milliseconds
	return []float64{1, 3}[b%2] * math.Pow(10, float64(b/2-1))
}

func binName(b int) string {
	limit := time.Duration(binLimit(b) * float64(time.Millisecond))
	return "< " + strings.TrimSuffix(limit.String(), "0s")
}

func bins(times []time.Duration) (counts [maxBins]int, first, last int) {
	first = maxBins - 1
	for _, t := range times {
		ms := float64(t) / float64(time.Millisecond)
		b := 0
		for b < maxBins-1 && ms >= binLimit(b) {
			b++
		}
		counts[b]++
		first, last = min(first, b), max(last, b)
	}
	return counts, first, last
}

// bar is n of peak, in room cells, to an eighth of a cell.
func bar(n, peak, room int) string {
	if peak == 0 || n == 0 {
		return ""
	}
	eighths := max(1, n*room*8/peak)
	s := strings.Repeat("█", eighths/8)
	if r := eighths % 8; r > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[r])
	}
	return s
}

// parts accounts for the session's bytes.
func (p *statsPage) parts(w, h int) []string {
	th := p.env.th
	both := p.totals.Dirs[tap.C2S]
	both.Add(&p.totals.Dirs[tap.S2C])
	total := both.Total()
	if total == 0 {
		return []string{draw.NewLine(w, "").Gap(1).Raw(th.Dim, "none").String()}
	}
	var lines []string
	for _, part := range byShare(&both) {
		l := draw.NewLine(w, "").Gap(1).Raw("", draw.Cell(part.String(), 22, false)).Raw(th.Dim, draw.Cell(size(both[part]), 7, true))
		l.Raw(th.Dim, draw.Cell(strconv.FormatFloat(100*float64(both[part])/float64(total), 'f', 1, 64)+"%", 7, true)).Gap(1)
		l.Raw(th.Parts[int(part)%len(th.Parts)], bar(int(both[part]*1000/total), 1000, max(1, min(30, l.Left()-1))))
		lines = append(lines, l.String())
	}
	return lines[:min(len(lines), h)]
}
