package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/replay/bill"
	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/ui/draw"
)

// rentPage shows what the definitions cost, tool by tool; what all costs, with and
// without a cache; and what there is to say about it.
type rentPage struct {
	env   *env
	v     *rentReview
	order int

	dearest int // tokens of the largest definition
}

func (p *rentPage) load(r *review) {
	p.v, p.dearest = r.rent, 1
	for i := range p.v.tools {
		p.dearest = max(p.dearest, bill.Middle(p.v.tools[i].each))
	}
	p.arrange()
}

func (p *rentPage) len() int { return len(p.v.tools) + len(p.v.lines) }

func (p *rentPage) key(i int) rowKey {
	if i < len(p.v.tools) {
		t := &p.v.tools[i]
		return rowKey{kind: "tool", a: t.server, b: t.name, n: t.frame}
	}
	switch l := &p.v.lines[i-len(p.v.tools)]; {
	case l.carried != nil:
		return rowKey{kind: l.carried.what, a: l.carried.name, b: l.carried.where}
	case l.left != nil:
		return rowKey{kind: "left", a: l.left.server, b: l.left.name}
	case l.names:
		return rowKey{kind: "names"}
	default:
		return l.key()
	}
}

// rentOrders are the orders of the tools.
var rentOrders = []struct {
	name string
	by   func(a, b *rentTool) int
}{
	{"tokens", func(a, b *rentTool) int { return cmp.Compare(bill.Middle(b.each), bill.Middle(a.each)) }},
	{"in all", func(a, b *rentTool) int { return cmp.Compare(bill.Middle(b.all), bill.Middle(a.all)) }},
	{"calls", func(a, b *rentTool) int { return cmp.Compare(b.calls, a.calls) }},
	{"tool", func(a, b *rentTool) int { return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.name, b.name)) }},
}

func (p *rentPage) reorder() {
	p.order = (p.order + 1) % len(rentOrders)
	p.arrange()
}

func (p *rentPage) arrange() {
	by := rentOrders[p.order].by
	slices.SortStableFunc(p.v.tools, func(a, b rentTool) int { return by(&a, &b) })
}

func (p *rentPage) frame(i int) int {
	if i < len(p.v.tools) {
		return p.v.tools[i].frame
	}
	return p.v.lines[i-len(p.v.tools)].frame
}

func (p *rentPage) head(w, _ int) []string {
	th, v := p.env.th, p.v
	l := draw.NewLine(w, "").Gap(1)
	if len(v.tools) == 0 {
		words := "no list of tools crossed: what definitions take is not known"
		if v.left > 0 {
			words = "all tools that were listed are left out of the requests"
		}
		return []string{l.Raw(th.Warn, words).String()}
	}
	inAll := ""
	if v.turns > 1 {
		inAll = v.sent.Session.Short() + " in all " + itoa(v.turns) + " requests"
	}
	cached := ""
	_, plain, _, _ := v.sent.Costs[cost.Uncached].Bounds()
	if _, kept, _, _ := v.sent.Costs[cost.FiveMinutes].Bounds(); kept > plain {
		cached = " (hardly read)"
	}
	pieces(l, "  ", styled{v.sent.LastTurn.Short() + " tokens of tools in a request", th.Strong}, styled{inAll, ""},
		styled{v.sent.Costs[cost.Uncached].Short() + " not cached, " + v.sent.Costs[cost.FiveMinutes].Short() + " cached" + cached, th.Dim})
	together, order := "", ""
	if v.sessions > 1 {
		together = plural(v.sessions, "session") + " together"
	}
	if p.hidden(w) {
		order = "ordered by " + rentOrders[p.order].name
	}
	about := draw.NewLine(w, "").Gap(1)
	pieces(about, ", ", styled{order, th.Accent}, styled{plural(v.offered, "tool"), th.Dim}, styled{together, th.Dim}, styled{"as " + v.host + " sends them (" + v.confidence + " confidence)", th.Dim},
		styled{"~ is estimated", th.Dim}, styled{"prices of " + v.asOf, th.Dim}, styled{"o: another order", th.Faint})
	return []string{l.String(), about.String(), p.names(w)}
}

// hidden reports that the column that is the order has no room.
func (p *rentPage) hidden(w int) bool {
	for _, c := range rentColumns {
		if c.name == rentOrders[p.order].name {
			return w < c.from
		}
	}
	return false
}

// pieces puts those pieces on a line that have room as a whole.
func pieces(l *draw.Line, between string, all ...styled) {
	first := true
	for _, p := range all {
		text := draw.Safe(p.text, 200)
		if text == "" || draw.Width(between)+draw.Width(text) > l.Left() {
			continue
		}
		if !first {
			l.Raw(p.style, between)
		}
		l.Raw(p.style, text)
		first = false
	}
}

// rentColumn is a column of numbers at the right.
type rentColumn struct {
	name  string
	width int
	from  int // width of the screen that it needs
	of    func(t *rentTool) string
}

var rentColumns = []rentColumn{
	{"calls", 7, 0, nil},
	{"tokens", 8, 0, func(t *rentTool) string { return t.each.Short() }},
	{"name", 7, 100, func(t *rentTool) string { return t.label.Short() }},
	{"text", 8, 86, func(t *rentTool) string { return t.words.Short() }},
	{"schema", 8, 86, func(t *rentTool) string { return t.schema.Short() }},
	{"around", 8, 100, func(t *rentTool) string { return t.rest.Short() }},
	{"requests", 11, 72, func(t *rentTool) string {
		if t.deferred && t.turns == 0 {
			return "held back"
		}
		return "× " + itoa(t.turns)
	}},
	{"in all", 9, 54, func(t *rentTool) string { return t.all.Short() }},
}

const (
	rentBarFrom = 72 // width of a screen with bars
	rentBar     = 16
)

// tail is what the columns and the bar take.
func (p *rentPage) tail(w int) (n int) {
	for _, c := range rentColumns {
		if w >= c.from {
			n += c.width
		}
	}
	if w >= rentBarFrom {
		n += rentBar + 2
	}
	return n + 1
}

// table is how wide both tables are: their right ends stand in a line.
func (p *rentPage) table(w int) int {
	_, tail := fitColumns(p.v.columns, w, min(30, w/3))
	return max(tableWidth(w, p.v.longest, p.tail(w)), tableWidth(w, p.v.longestCarried, tail))
}

func (p *rentPage) names(w int) string {
	th := p.env.th
	l := draw.NewLine(w, "").Gap(1)
	put := func(name, mark string, width int) {
		style := th.Faint
		if name == rentOrders[p.order].name { // the sign says it without colours
			style, name = th.Accent, name+mark
		}
		if width > 0 {
			name = draw.Cell(name, width, true)
		}
		l.Raw(style, name)
	}
	put("tool", "▴", 0)
	l.Pin(p.table(w) - p.tail(w))
	for _, c := range rentColumns {
		if w >= c.from {
			put(c.name, "▾", c.width)
		}
	}
	return l.String()
}

func (p *rentPage) row(i, w int, base draw.Style) string {
	if i < len(p.v.tools) {
		return p.tool(&p.v.tools[i], w, base)
	}
	switch l := &p.v.lines[i-len(p.v.tools)]; {
	case l.names:
		return p.carried(w, base, carriedNames, "tool or server", p.env.th.Faint)
	case l.carried != nil:
		return p.carried(w, base, carriedCells(l.carried), l.carried.name, "")
	case l.left != nil:
		return p.leftOut(l.left, w, base)
	default:
		return l.draw(p.env.th, w, base)
	}
}

// carriedColumns stand beside the name of what is carried along: before it, and behind.
var (
	carriedNames   = []string{"in all", "what", "bytes", "each time", "from-to", "read", "frame"}
	carriedColumns = []column{{}, {left: true, drop: 1}, {drop: 3}, {drop: 2}, {drop: 4}, {}, {}}
)

const carriedBefore = 2 // columns before the name

func carriedCells(c *carriedText) []string {
	frame := ""
	if c.n > 0 {
		frame = strconv.FormatUint(c.n, 10)
	}
	return []string{c.total.Short(), c.what, size(int64(c.bytes)), c.each.Short(), c.each.Range(), "× " + itoa(c.reads), frame}
}

// carriedWidths measures what is in the columns.
func carriedWidths(lines []rentLine) []column {
	all := slices.Clone(carriedColumns)
	measure := func(cells []string) {
		for i, c := range cells {
			all[i].width = max(all[i].width, draw.Width(c))
		}
	}
	measure(carriedNames)
	for i := range lines {
		if c := lines[i].carried; c != nil {
			measure(carriedCells(c))
		}
	}
	return all
}

// carried draws a row of what is carried along.
func (p *rentPage) carried(w int, base draw.Style, cells []string, name string, style draw.Style) string {
	th, all := p.env.th, p.v.columns
	shown, _ := fitColumns(all, w, min(30, w/3))
	of := func(i int) draw.Style {
		switch {
		case style != "":
			return style
		case i == 0:
			return th.Strong
		}
		return th.Dim
	}
	l := draw.NewLine(w, base)
	putColumns(l, all[:carriedBefore], shown[:carriedBefore], cells[:carriedBefore], of)
	tail := 1
	for i := carriedBefore; i < len(all); i++ {
		if shown[i] {
			tail += all[i].width + 1
		}
	}
	l.Gap(1)
	end := p.table(w) - tail
	room := max(0, end-l.Used())
	l.Within(style, middle(name, room), room).Pin(end)
	putColumns(l, all[carriedBefore:], shown[carriedBefore:], cells[carriedBefore:], func(i int) draw.Style { return of(i + carriedBefore) })
	return l.String()
}

// leftOut draws a tool that the model does not get, and why.
func (p *rentPage) leftOut(t *leftTool, w int, base draw.Style) string {
	th := p.env.th
	l := draw.NewLine(w, base).Gap(1).Raw(th.Warn, "✗ ")
	room := max(8, min(40, w/3))
	return l.Within("", middle(t.name, room), room).Gap(2).Text(th.Dim, t.why).String()
}

func (p *rentPage) tool(t *rentTool, w int, base draw.Style) string {
	th := p.env.th
	calls, style := itoa(t.calls), th.Dim
	if t.calls == 0 && p.v.calls > 0 {
		calls, style = "never", th.Warn
	}
	l := draw.NewLine(w, base).Gap(1)
	end := p.table(w) - p.tail(w)
	if t.server != "" {
		l.Within(th.Dim, middle(t.server, min(16, end/3)), min(16, end/3)).Gap(1)
	}
	room := max(0, end-l.Used())
	l.Within("", middle(t.name, room), room).Pin(end)
	for _, c := range rentColumns {
		switch {
		case w < c.from:
		case c.of == nil:
			l.Raw(style, draw.Cell(calls, c.width, true))
		case c.name == "tokens":
			l.Raw(th.Strong, draw.Cell(c.of(t), c.width, true))
		default:
			l.Raw(th.Dim, draw.Cell(c.of(t), c.width, true))
		}
	}
	if w >= rentBarFrom {
		l.Gap(2).Raw(th.Parts[1], slimBar(bill.Middle(t.each), p.dearest, rentBar))
	}
	return l.String()
}

// slimBar is n of peak, in room cells, to half a cell: rows of it stay apart.
func slimBar(n, peak, room int) string {
	halves := max(1, n*room*2/max(1, peak))
	return strings.Repeat("▄", halves/2) + strings.Repeat("▖", halves%2)
}

// below shows what all costs, and how requests grow; of a row that is no tool, all of it.
func (p *rentPage) below(i, w, h int) []string {
	if h < costLeast || len(p.v.tools) == 0 && p.v.sent.CarriedSession.IsZero() {
		return nil
	}
	lines := p.figures(w, h)
	if i < len(p.v.tools) {
		return lines
	}
	if told := p.tell(i, w); len(told) > 0 {
		return clip(p.env.th, told, w, len(lines)) // the rows above keep their places
	}
	return lines
}

// tell has all there is to say of a row.
func (p *rentPage) tell(i, w int) []string {
	th := p.env.th
	if i < len(p.v.tools) {
		return p.tellTool(&p.v.tools[i], w)
	}
	l := &p.v.lines[i-len(p.v.tools)]
	switch {
	case l.left != nil: // the reason first: a name may be long
		lines := append([]string{rule(th, w, th.Dim, "left out", "")}, paragraph(w, 2, th.Warn, l.left.why)...)
		return append(lines, paragraph(w, 2, "", l.left.name)...)
	case l.carried == nil:
		return l.tell(th, w)
	}
	c := l.carried
	lines := append([]string{rule(th, w, th.Dim, "carried along", "")}, paragraph(w, 2, th.Strong, c.what+": "+c.name)...)
	often := "once"
	if c.reads != 1 {
		often = plural(c.reads, "time")
	}
	lines = append(lines, paragraph(w, 2, "", size(int64(c.bytes))+" bytes on the wire; read "+often+", "+c.each.String()+" tokens each time, "+c.total.Short()+" in all")...)
	if c.where != "" {
		lines = append(lines, paragraph(w, 2, th.Dim, c.where+"; enter goes there, esc comes back")...)
	}
	return lines
}

func (p *rentPage) tellTool(t *rentTool, w int) []string {
	th := p.env.th
	lines := append([]string{rule(th, w, th.Dim, "tool", "")}, paragraph(w, 2, th.Strong, t.name)...)
	if t.server != "" {
		lines = append(lines, paragraph(w, 2, th.Dim, "of "+t.server)...)
	}
	words := t.each.String() + " tokens in a request that has it: name " + t.label.Short() + ", description " + t.words.Short() + ", schema " + t.schema.Short() +
		"; in " + plural(t.turns, "request") + ", " + t.all.Short() + " in all; " + plural(t.calls, "call")
	if t.deferred {
		words += "; held back until a search finds it"
	}
	return append(append(lines, paragraph(w, 2, "", words)...), append([]string{draw.Blank(w)}, p.figures(w, costLines+chartTall)...)...)
}

func (p *rentPage) figures(w, h int) []string {
	if w >= chartBeside {
		left := costWidth + 2
		h = min(h, chartTall)
		money, chart := draw.Fill(p.money(left, h), left, h), draw.Fill(p.chart(w-left, h), w-left, h)
		for i := range money {
			money[i] += chart[i]
		}
		return money
	}
	lines := p.money(w, h)
	if room := min(h-len(lines), chartTall); room >= chartLow {
		lines = append(lines, p.chart(w, room)...)
	}
	return lines
}

const (
	costLeast   = 4 // lines of the table of costs
	costLines   = 6 // that the whole of it needs
	costWidth   = 56
	chartBeside = 100 // width of a screen that has the chart beside the costs
	chartTall   = 8
	chartLow    = 4
)

// money compares the ways of loading, without a cache and with it.
func (p *rentPage) money(w, h int) []string {
	th, v := p.env.th, p.v
	const label = 13
	column := min(15, (w-label-1)/3)
	head := draw.NewLine(w, "").Raw(th.Line, "─ ").Raw(th.Dim, "costs").Gap(1)
	for i, n := range []string{"as sent", v.otherName, "answers"} {
		n = draw.Safe(n, column-2)
		head.Raw(th.Line, strings.Repeat("─", max(0, label+(i+1)*column-draw.Width(n)-1-head.Used()))).Gap(1).Raw(th.Faint, n).Gap(1)
	}
	lines := []string{head.Raw(th.Line, strings.Repeat("─", head.Left())).String()}
	row := func(name string, style draw.Style, cells ...string) {
		l := draw.NewLine(w, "").Gap(1).Raw(th.Dim, draw.Cell(name, label-1, false))
		for i, c := range cells {
			if i > 0 {
				style = th.Dim
			}
			l.Raw(style, draw.Cell(c, column, true))
		}
		lines = append(lines, l.String())
	}
	row("a request", th.Strong, v.sent.LastTurn.Short(), v.other.LastTurn.Short(), v.carried.Short())
	if h >= costLines && v.turns > 1 {
		row("all "+itoa(v.turns), "", v.sent.Session.Short(), v.other.Session.Short(), v.sent.CarriedSession.Short())
	}
	for i, name := range []string{"not cached", "5 min cache", "1 h cache"} {
		if h >= costLines || i < int(cost.OneHour) {
			row(name, "", v.sent.Costs[i].Short(), v.other.Costs[i].Short(), v.sent.CarriedCosts[i].Short())
		}
	}
	return lines
}

// chart draws the tokens of each request: what definitions take below, all else above. Its
// axes are named, and its parts differ without colours.
func (p *rentPage) chart(w, h int) []string {
	th, all := p.env.th, p.v.weights
	peak := 1
	for i := range all {
		peak = max(peak, bill.Middle(all[i].total))
	}
	lines := []string{p.legend(w)}
	const axis = 9
	room := max(1, w-axis-1)
	each := max(1, min(5, room/max(1, len(all))))
	shown := min(len(all), room/each)
	pick := func(i int) *requestWeight { return &all[i*(len(all)-1)/max(1, shown-1)] }
	rows := h - 2
	for y := rows; y > 0; y-- {
		label := ""
		switch y {
		case rows:
			if label = peakOf(all).Short(); draw.Width(label) > axis-2 {
				label = "~" + size(int64(peak))
			}
		case 1:
			label = "0"
		}
		l := draw.NewLine(w, "").Raw(th.Dim, draw.Cell(label, axis-2, true)).Gap(2)
		for i := range shown {
			l.Raw(p.level(pick(i), y, rows, peak, each))
		}
		lines = append(lines, l.String())
	}
	foot := draw.NewLine(w, "").Gap(axis)
	if p.v.turns == 1 {
		pieces(foot, "", styled{"→ one request", th.Dim})
	} else {
		pieces(foot, "", styled{"→ requests 0 to " + itoa(p.v.turns-1), th.Dim}, styled{"; n follows turn n", th.Faint})
	}
	return append(lines, foot.String())
}

// legend is the line above the chart: what stands upwards, and which part is what.
func (p *rentPage) legend(w int) string {
	th := p.env.th
	l := draw.NewLine(w, "").Raw(th.Line, "─ ").Raw(th.Dim, draw.Cut("↑ tokens of each request", max(0, w-4))).Gap(1)
	if l.Left() > 24 {
		rest := "█"
		if th.Fills != nil {
			rest = "▒"
		}
		l.Raw(th.Parts[1], "█").Raw(th.Dim, " tools").Gap(2).Raw(th.Parts[3], rest).Raw(th.Dim, " all else").Gap(1)
	}
	return l.Raw(th.Line, strings.Repeat("─", l.Left())).String()
}

func peakOf(all []requestWeight) (peak tokens.Count) {
	for i := range all {
		if bill.Middle(all[i].total) >= bill.Middle(peak) {
			peak = all[i].total
		}
	}
	return peak
}

// level is the piece of a request's bar that stands at line y of rows, counted from
// below. With colours its top is drawn to an eighth of a line; without them the parts
// differ by their shade.
func (p *rentPage) level(r *requestWeight, y, rows, peak, width int) (draw.Style, string) {
	th := p.env.th
	bar := max(1, width-1)
	fill := func(glyph string) string { return strings.Repeat(glyph, bar) + strings.Repeat(" ", width-bar) }
	eighths := func(n int) int { return (n*rows*8 + peak/2) / peak }
	tools, all := (eighths(r.tools)+4)/8, eighths(bill.Middle(r.total))
	switch left := all - (y-1)*8; {
	case y <= tools:
		return th.Parts[1], fill("█")
	case th.Fills != nil && left >= 4:
		return th.Parts[3], fill("▒")
	case th.Fills == nil && left > 0:
		return th.Parts[3], fill(eighthBlocks[min(left, 8)])
	}
	return "", strings.Repeat(" ", width)
}

// eighthBlocks are blocks by their height, in eighths of a line.
var eighthBlocks = [...]string{"", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
