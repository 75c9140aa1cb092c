package cli

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"

	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/ui/safetext"
)

// How many rows of each kind the page shows; the rest is summed up in a line.
const (
	shownTools   = 25
	shownCarried = 8
	shownMisses  = 5
)

// rentPage prints rent for people, what matters first.
type rentPage struct {
	*table
	a *app
	v *rented
}

func (a *app) rentPage(v *rented) *rentPage {
	return &rentPage{table: a.table(column{width: 0}), a: a, v: v}
}

func (p *rentPage) print() error {
	p.header()
	p.ways()
	p.tools()
	p.unused()
	p.carried()
	p.cache()
	p.slim()
	p.doubts()
	return p.flush()
}

// say prints a paragraph, made safe and broken where the terminal ends.
func (p *rentPage) say(s style, indent int, text string) {
	for _, l := range wrap(text, p.width-indent) {
		p.write(strings.Repeat(" ", indent) + p.paint(s, l) + "\n")
	}
}

var ranges = regexp.MustCompile(`(^|[\s(]|\d)-(\$?\d)`)

// wrap makes a text safe and breaks it into lines, but no range of numbers, nor a negative
// one.
func wrap(text string, width int) []string {
	const unbroken = "\u2011"
	text = ansi.Wrap(ranges.ReplaceAllString(safetext.Line(text), "$1"+unbroken+"$2"), max(width, 20), "")
	return strings.Split(strings.ReplaceAll(text, unbroken, "-"), "\n")
}

// title begins a part of the page.
func (p *rentPage) title(text string) {
	p.write("\n")
	p.say(bold, 0, text)
}

// rows is a table within the page.
func (p *rentPage) rows(columns ...column) *table {
	t := *p.table
	t.columns, t.shown, t.widths, t.started = columns, nil, nil, false
	t.layout()
	return &t
}

func (p *rentPage) header() {
	v := p.v
	host, reason := v.book.Profile()
	servers := len(v.Report.Sent.Servers)
	p.say(normal, 0, fmt.Sprintf("%s of %s in %s to the model, for %s", plural(len(v.Newest()), "tool"), plural(servers, "server"), plural(v.Report.Turns, "request"), turnWords(len(v.line.Turns))))
	p.say(dim, 0, fmt.Sprintf("host %s: %s (confidence %s, %s)", host.ID, reason, host.Confidence, host.Date))
	p.say(dim, 0, estimateWords(v.meter, v.table.Tolerance)+"; prices of "+string(v.Report.AsOf))
	if v.factor.Samples > 0 {
		p.say(dim, 0, "tools were counted by Anthropic; all else is corrected by that: "+v.factor.String())
	}
}

func turnWords(n int) string {
	if n == 0 {
		return "no call"
	}
	return plural(n, "turn") + " of calls"
}

// ways compares the ways of loading definitions.
func (p *rentPage) ways() {
	r := p.v.Report
	sent := &r.Sent
	other, name := p.v.Other()
	p.write("\n")
	rows := p.wayRows(sent, other)
	wide := p.width >= 116
	columns := []column{{name: "tokens and USD", width: 14}}
	if width := figureWidth(rows, wide); len(r.Upfront.Tools) > 0 {
		columns = append(columns, column{name: "tools, as sent now", width: width}, column{name: name, width: width, drop: 2}, column{name: "calls and answers", width: width, drop: 1})
	} else {
		columns = append(columns, column{name: "calls and answers", width: width})
	}
	t := wayTable{p.rows(columns...), wide}
	for _, row := range rows {
		t.figures(row.what, row.cells...)
	}
	p.sayMissing(t.table)
	if len(r.Upfront.Tools) == 0 {
		p.say(yellow, 0, "no tool of a list that the host would send crossed: what definitions take is not known")
		return
	}
	p.say(dim, 0, p.v.DeferringWords())
}

// A wayRow is a line of the ways of loading.
type wayRow struct {
	what  string
	cells []figure
}

func (p *rentPage) wayRows(sent, other *rent.Rent) []wayRow {
	r := p.v.Report
	row := func(what string, a, b, carried figure) wayRow {
		if len(r.Upfront.Tools) == 0 {
			return wayRow{what, []figure{carried}}
		}
		return wayRow{what, []figure{a, b, carried}}
	}
	rows := []wayRow{row("a request", sent.LastTurn, other.LastTurn, p.v.CarriedNow())}
	if r.Turns > 1 {
		rows = append(rows, row("all "+plural(r.Turns, "request"), sent.Session, other.Session, sent.CarriedSession))
	}
	for i, mode := range []string{"not cached", "5 min cache", "1 h cache"} {
		rows = append(rows, row(mode, sent.Costs[i], other.Costs[i], sent.CarriedCosts[i]))
	}
	return rows
}

// figureWidth is what the widest figure needs: a number is never cut.
func figureWidth(rows []wayRow, wide bool) int {
	width := 19
	if wide {
		width = 32
	}
	for _, row := range rows {
		for _, c := range row.cells {
			if wide {
				width = max(width, ansi.StringWidth(c.String()))
			} else {
				width = max(width, ansi.StringWidth(c.Short()), ansi.StringWidth(c.Range()))
			}
		}
	}
	return width
}

// A wayTable has a column for each way of loading.
type wayTable struct {
	*table
	wide bool // there is room for the ranges beside their estimates
}

// figures prints a row, with the ranges beside or below.
func (t wayTable) figures(what string, cells ...figure) {
	line, ranges := []string{what}, []string{""}
	for _, c := range cells {
		if t.wide {
			line = append(line, c.String())
			continue
		}
		line, ranges = append(line, c.Short()), append(ranges, c.Range())
	}
	t.row(line...)
	if strings.Join(ranges, "") != "" {
		t.styled(dim, ranges...)
	}
}

// A figure is a number that says where it comes from.
type figure interface {
	String() string
	Short() string
	Range() string
}

// bar draws a share, in eighths of a cell.
func bar(share float64, width int) string {
	eighths := int(math.Round(min(max(share, 0), 1) * float64(width) * 8))
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string('█' + rune(8-rest))
	}
	return s
}

const barWidth = 14

// callsColumn is where the number of calls stands in the table of tools.
const callsColumn = 1

func callWords(n int) string {
	if n == 0 {
		return neverCalled
	}
	return itoa(n)
}

const neverCalled = "never called"

func (p *rentPage) tools() {
	v, sent, up := p.v, &p.v.Report.Sent, &p.v.Report.Upfront
	if len(up.Tools) == 0 {
		return
	}
	p.title("tools, the dearest first: tokens in each request that holds one, and in all requests")
	p.servers()
	order := v.Dearest()
	top := middle(up.Tools[order[0]].PerTurn)
	var rows [][]string
	for _, i := range order[:min(len(order), shownTools)] {
		r, u := &sent.Tools[i], &up.Tools[i]
		rows = append(rows, []string{v.ToolName(i), callWords(r.Calls), bytesWords(r.WireBytes), u.PerTurn.Short(), u.Parts.Name.Short(), u.Parts.Description.Short(), u.Parts.Schema.Short(),
			u.Parts.Wrapper.Short(), held(r.Turns), r.Session.Short(), bar(float64(middle(u.PerTurn))/float64(max(top, 1)), barWidth)})
	}
	t := p.rows(fit([]column{
		{name: "tool", width: 34, min: 14},
		{name: "calls", width: 5, right: true},
		{name: "wire", width: 7, right: true, drop: 3},
		{name: "tokens", width: 7, right: true},
		{name: "name", width: 6, right: true, drop: 7},
		{name: "text", width: 7, right: true, drop: 6},
		{name: "schema", width: 7, right: true, drop: 5},
		{name: "around", width: 6, right: true, drop: 8},
		{name: "held", width: 6, right: true, drop: 4},
		{name: "in all", width: 9, right: true, drop: 2},
		{name: "", width: barWidth, drop: 9},
	}, rows)...)
	for k, i := range order[:len(rows)] {
		on := noAccent
		if sent.Tools[i].Calls == 0 { // what could be saved
			on = accent{callsColumn, yellow}
		}
		t.accented(on, rows[k]...)
	}
	p.sayMissing(t)
	if !slices.Contains(t.missing(), "around") {
		p.say(dim, 0, "around: the tags, names and punctuation that stand around the parts of a definition")
	}
	if more := order[min(len(order), shownTools):]; len(more) > 0 {
		var sum tokens.Count
		for _, i := range more {
			sum = sum.Plus(up.Tools[i].PerTurn)
		}
		p.say(dim, 0, fmt.Sprintf("and %d more, together %s a request; piped, all are printed", len(more), sum))
	}
	if sent.Preamble.IsZero() {
		return
	}
	p.say(dim, 0, fmt.Sprintf("and once a request, for having tools at all: %s", sent.Preamble))
}

// sayMissing says which columns of a table had no room.
func (p *rentPage) sayMissing(t *table) {
	if names := t.missing(); len(names) > 0 {
		p.say(dim, 0, "no room here for: "+strings.Join(names, ", "))
	}
}

func held(n int) string {
	if n == 0 {
		return "never"
	}
	return "× " + itoa(n)
}

func bytesWords(n int) string { return strings.ReplaceAll(humanize.Bytes(uint64(max(0, n))), " ", "") }

// servers sums tools up where there are several servers, and sets the wire beside it.
func (p *rentPage) servers() {
	up := &p.v.Report.Upfront
	for i := range up.Servers {
		s := &up.Servers[i]
		p.say(normal, 0, fmt.Sprintf("%s: %s, %s on the wire, of which the model reads %s tokens a request", claude.Shown(s.Name), plural(s.Tools, "definition"), bytesWords(s.WireBytes), s.PerTurn))
	}
}

// unused says what was never called.
func (p *rentPage) unused() {
	r := p.v.Report
	if len(r.Unused) == 0 || len(p.v.line.Calls) == 0 {
		return
	}
	var names []string
	var sum tokens.Count
	for _, i := range r.Unused {
		names = append(names, p.v.ToolName(i))
		sum = sum.Plus(r.Upfront.Tools[i].PerTurn)
	}
	p.write("\n")
	p.say(yellow, 0, fmt.Sprintf("%s: %d of %s, %s tokens in each request that holds them", neverCalled, len(names), plural(len(r.Upfront.Tools), "tool"), sum))
	p.say(normal, 2, some(names, 12))
}

// some lists the first of many.
func some(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
}

// carried shows the answers that are read again and again.
func (p *rentPage) carried() {
	sent := &p.v.Report.Sent
	order := p.v.Heaviest()
	if len(order) == 0 {
		return
	}
	p.title("carried along, the heaviest first")
	var calls tokens.Count
	shown, more, ofCalls := 0, 0, 0
	for _, i := range order {
		c := &sent.Carried[i]
		switch {
		case c.Kind == rent.Arguments:
			calls, ofCalls = calls.Plus(c.Session), ofCalls+1
		case shown == shownCarried:
			more++
		default:
			shown++
			p.say(normal, 2, p.v.CarriedWords(i))
		}
	}
	if more > 0 {
		p.say(dim, 2, fmt.Sprintf("and %d more; --json has all", more))
	}
	if ofCalls > 0 {
		p.say(dim, 2, fmt.Sprintf("the arguments of %s: %s tokens in all", plural(ofCalls, "call"), calls))
	}
	p.say(dim, 2, "sizes are those on the wire; a host that drops old answers reads them less often")
}

// cache says which requests had to pay again.
func (p *rentPage) cache() {
	if p.v.Report.Turns < 2 {
		return
	}
	p.title("cache")
	sent := &p.v.Report.Sent
	for _, mode := range []cost.Mode{cost.FiveMinutes, cost.OneHour} {
		misses := sent.Misses[mode]
		if len(misses) == 0 {
			p.say(normal, 2, mode.String()+": nothing that was cached had to be paid again")
			continue
		}
		for i := range misses[:min(len(misses), shownMisses)] {
			p.say(yellow, 2, mode.String()+": "+p.v.MissWords(&misses[i]))
		}
		if more := len(misses) - shownMisses; more > 0 {
			p.say(dim, 2, fmt.Sprintf("and %d more; --json has all", more))
		}
	}
	if up := p.v.Report.Upfront.Misses[cost.FiveMinutes]; len(up) > 0 && len(sent.Misses[cost.FiveMinutes]) == 0 {
		p.say(yellow, 2, "a host that loads all up front: "+p.v.MissWords(&up[0]))
	}
	p.say(dim, 2, "as one host with one breakpoint at the end would have it; the times of requests are "+p.v.TimesWords())
}

// slim lists what definitions and answers could do without.
func (p *rentPage) slim() {
	if len(p.v.Savings) == 0 {
		return
	}
	p.title("slimmer, per request that has it")
	tidied := false
	for i := range p.v.Savings {
		s := &p.v.Savings[i]
		p.say(normal, 2, fmt.Sprintf("%s  %s: %s, in %s", s.Saves, s.Words, plural(s.Places, "place"), some(s.Tools, 3)))
		tidied = tidied || s.Done
	}
	if tidied {
		p.say(dim, 2, "--tidy shows the definitions next to what they could be")
	}
}

func (p *rentPage) doubts() {
	all := slices.Clone(p.v.Ledger.Doubts)
	if words := fetchedWords(p.v.Book); words != "" {
		all = append(all, words)
	}
	for _, b := range p.v.Ledger.LeftOut {
		all = append(all, "not sent: "+leftWords(b))
	}
	all = append(all, p.v.Report.Doubts...)
	if len(all) == 0 {
		return
	}
	p.title("what these figures rest on")
	for _, d := range all {
		p.say(dim, 2, d)
	}
}
