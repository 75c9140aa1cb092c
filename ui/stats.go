package ui

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

// statsReview is what the statistics are drawn from.
type statsReview struct {
	groups  []*report.Group
	totals  *decode.Totals
	columns []column // as wide as what is in them
	longest int      // cells of the longest name
}

// statsOf works the statistics out.
func statsOf(l *sessions.Loaded) *statsReview {
	v := &statsReview{groups: report.Groups(l.Session, func(int) bool { return true }), totals: l.Totals(), columns: slices.Clone(statColumns)}
	for i := range v.columns {
		v.columns[i].width = draw.Width(v.columns[i].name) + 1 // for the mark of the order
	}
	for _, g := range v.groups {
		for i, cell := range statCells(g) {
			v.columns[i].width = max(v.columns[i].width, draw.Width(cell))
		}
		v.longest = max(v.longest, draw.Width(draw.Safe(g.Method+" "+g.Name, maxTable)))
	}
	return v
}

// statColumns are the numbers of a row. Neither how many, nor how many failed, nor how
// long they took as a rule is ever left out.
var statColumns = []column{
	{name: "count"}, {name: "failed"}, {name: "p50 ms"}, {name: "p95 ms", drop: 1}, {name: "max ms", drop: 4}, {name: "→ bytes", drop: 3}, {name: "← bytes", drop: 2},
}

const (
	statCount = iota
	statFailed
	statP50
	statP95
	statMax
	statC2S
	statS2C
)

// fewTimes is up to how many times no percentile means anything but those times.
const fewTimes = 2

func statCells(g *report.Group) []string {
	cells := []string{strconv.Itoa(g.Count), "", "", "", "", size(g.C2S), size(g.S2C)}
	if n := failures(g); n > 0 {
		cells[statFailed] = strconv.Itoa(n)
	}
	for i, v := range []float64{g.P50, g.P95, g.Max} {
		if len(g.Times) > 0 {
			cells[statP50+i] = millis(time.Duration(v * float64(time.Millisecond)))
		}
	}
	if len(g.Times) <= fewTimes {
		cells[statP95] = ""
	}
	return cells
}

// statsPage shows the operations of each method and tool: how many, how they ended,
// how long they took; and of the whole session what its bytes are spent on.
type statsPage struct {
	env    *env
	v      *statsReview
	groups []*report.Group // in the order shown
	order  int
}

func (p *statsPage) load(r *review) {
	p.v = r.stats
	p.arrange()
}

// statOrders are the orders of the table, and the columns that they go by.
var statOrders = []struct {
	name string
	by   func(a, b *report.Group) int
	mark []int
}{
	{"as they came", nil, nil},
	{"count", func(a, b *report.Group) int { return cmp.Compare(b.Count, a.Count) }, []int{statCount}},
	{"failures", func(a, b *report.Group) int { return cmp.Compare(failures(b), failures(a)) }, []int{statFailed}},
	{"p95", func(a, b *report.Group) int { return cmp.Compare(b.P95, a.P95) }, []int{statP95}},
	{"bytes", func(a, b *report.Group) int { return cmp.Compare(b.C2S+b.S2C, a.C2S+a.S2C) }, []int{statC2S, statS2C}},
}

func (p *statsPage) reorder() {
	p.order = (p.order + 1) % len(statOrders)
	p.arrange()
}

func (p *statsPage) arrange() {
	p.groups = slices.Clone(p.v.groups)
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
func (p *statsPage) key(i int) rowKey {
	return rowKey{a: p.groups[i].Method, b: p.groups[i].Name}
}

// fit tells which columns there are on a screen of a width, and where they begin.
func (p *statsPage) fit(w int) (shown []bool, at int) {
	shown, tail := fitColumns(p.v.columns, w, min(24, w/3))
	return shown, tableWidth(w, p.v.longest, tail) - tail
}

func (p *statsPage) head(w, _ int) []string {
	th := p.env.th
	if len(p.groups) == 0 {
		return []string{draw.NewLine(w, "").Gap(1).Raw("", "no request has crossed yet: there is nothing to count").String()}
	}
	shown, at := p.fit(w)
	o := &statOrders[p.order]
	names := make([]string, len(p.v.columns))
	for i := range names {
		names[i] = p.v.columns[i].name
		if slices.Contains(o.mark, i) {
			names[i] += "▾"
		}
	}
	order := draw.NewLine(w, "").Gap(1)
	pieces(order, "", styled{"order: " + o.name, th.Dim}, styled{", o changes it", th.Faint}, styled{"; p50: half took no longer, p95: all but one in 20", th.Faint})
	l := draw.NewLine(w, "").Gap(1).Raw(th.Dim, draw.Cut("method, tool", at-1)).To(at)
	putColumns(l, p.v.columns, shown, names, func(i int) draw.Style {
		if slices.Contains(o.mark, i) {
			return th.Accent
		}
		return th.Dim
	})
	return []string{order.String(), l.String()}
}

func (p *statsPage) row(i, w int, base draw.Style) string {
	th := p.env.th
	g := p.groups[i]
	shown, at := p.fit(w)
	l := draw.NewLine(w, base).Gap(1)
	room := at - 1
	method, name := g.Method, g.Name
	if name != "" && method == "tools/call" && len(method)+1+draw.Width(draw.Safe(name, w)) > room {
		method = ""
	}
	style := th.Strong
	if name != "" {
		style = th.Dim
	}
	if method != "" {
		l.Within(style, middle(method, room), room).Gap(min(1, max(0, at-l.Used())))
	}
	if room = at - l.Used(); name != "" && room > 0 {
		l.Within("", middle(name, room), room)
	}
	l.Pin(at)
	putColumns(l, p.v.columns, shown, statCells(g), func(i int) draw.Style {
		switch {
		case i == statFailed:
			return th.Bad
		case i >= statC2S, i == statP95 && len(g.Times) <= fewTimes:
			return th.Dim
		}
		return ""
	})
	return l.String()
}

func groupName(g *report.Group) string {
	if g.Name != "" {
		return g.Name
	}
	return g.Method
}

// tell has the whole name of a group and all of its times and bytes.
func (p *statsPage) tell(i, w int) []string {
	th, g := p.env.th, p.groups[i]
	lines := append([]string{rule(th, w, th.Dim, "operations", "")}, paragraph(w, 2, th.Strong, strings.TrimSpace(g.Method+" "+g.Name))...)
	for _, s := range outcomeSigns {
		if n := g.Outcomes[s.outcome.String()]; n > 0 {
			lines = append(lines, draw.NewLine(w, "").Gap(1).Raw(outcomeStyle(th, s.outcome), s.sign+" "+strconv.Itoa(n)+" "+s.word).String())
		}
	}
	lines = append(lines, paragraph(w, 2, "", plural(int(g.C2S), "byte")+" to the server, "+plural(int(g.S2C), "byte")+" from it")...)
	lines = append(append(lines, draw.Blank(w)), p.times(g, w, maxBins+1)...)
	return append(lines, p.bytes(w, int(decode.NumParts)+1)...)
}

// below shows the times of the group with the cursor, and the bytes of the session.
func (p *statsPage) below(i, w, h int) []string {
	if h < 4 {
		return nil
	}
	g := p.groups[i]
	if w < statBeside {
		lines := p.times(g, w, h)
		if room := h - len(lines); room >= 3 {
			lines = append(lines, p.bytes(w, room)...)
		}
		return draw.Fill(lines, w, min(h, int(decode.NumParts)+4)) // the rows above keep their places
	}
	h = min(h, int(decode.NumParts)+2)
	lines, bytes := draw.Fill(p.times(g, w/2, h), w/2, h), draw.Fill(p.bytes(w-w/2, h), w-w/2, h)
	for i := range lines {
		lines[i] += bytes[i]
	}
	return lines
}

const statBeside = 90 // width of a screen with times and bytes beside each other

func (p *statsPage) times(g *report.Group, w, h int) []string {
	th, about := p.env.th, ""
	if n := len(g.Times); n > 0 && n <= fewTimes {
		about = ", n=" + strconv.Itoa(n) + ": too few"
	}
	title := "times of " + middle(groupName(g), max(8, w-8-len("times of ")-len(about))) + about
	return append([]string{rule(th, w, th.Dim, draw.Cut(title, max(0, w-5)), "")}, histogram(th, g.Times, w, h-1)...)
}

func (p *statsPage) bytes(w, h int) []string {
	th := p.env.th
	return append([]string{rule(th, w, th.Dim, "bytes of the session", "")}, p.parts(w, h-1)...)
}

// histogram counts times in steps that each are about three times the one before, from
// a tenth of a millisecond on.
func histogram(th *theme.Theme, times []time.Duration, w, h int) []string {
	if len(times) == 0 {
		return []string{draw.NewLine(w, "").Gap(1).Raw(th.Dim, "none has ended").String()}
	}
	counts, first, last := bins(times)
	merged := false
	for last-first >= h {
		last-- // the longest are counted with the step before
		counts[last] += counts[last+1]
		merged = true
	}
	peak := 0
	for _, n := range counts[first : last+1] {
		peak = max(peak, n)
	}
	var lines []string
	for b := first; b <= last; b++ {
		l := draw.NewLine(w, "").Gap(1).Raw(th.Dim, draw.Cell(binName(b, merged && b == last), binCells, true)).Gap(1)
		room := max(1, min(40, w-binCells-12))
		l.Raw(th.Accent, bar(counts[b], peak, room)).Gap(1).Raw("", strconv.Itoa(counts[b]))
		lines = append(lines, l.String())
	}
	return lines
}

const binCells = 14

const maxBins = 24

func binLimit(b int) float64 { // in milliseconds
	return []float64{1, 3}[b%2] * math.Pow(10, float64(b/2-1))
}

// binName says from when to when a step goes; an open one has no end.
func binName(b int, open bool) string {
	edge := func(b int) string {
		s := time.Duration(binLimit(b) * float64(time.Millisecond)).String()
		return strings.TrimSuffix(strings.TrimSuffix(s, "0s"), "0m")
	}
	switch {
	case b == 0:
		return "< " + edge(0)
	case open || b == maxBins-1:
		return "≥ " + edge(b-1)
	}
	return edge(b-1) + " - " + edge(b)
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
	both := p.v.totals.Dirs[tap.C2S]
	both.Add(&p.v.totals.Dirs[tap.S2C])
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
