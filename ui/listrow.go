package ui

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

// listDrawer draws the rows of the list of sessions. Columns that do not fit are left
// out, the least important first; what failed stays.
type listDrawer struct {
	s      *sessionList
	w      int
	widths [colCount]int
}

const (
	colWhen = iota
	colLabel
	colServer
	colHost
	colEra
	colTransport
	colLength
	colSize
	colCalls
	colFailed
	colCount
)

// listColumns are the columns, each with its width. The label takes what is left.
var listColumns = [colCount]struct {
	name  string
	width int
	right bool
}{
	colWhen:      {"started", 10, false},
	colLabel:     {"label", leastLabel, false},
	colServer:    {"server", 22, false},
	colHost:      {"host", 14, false},
	colEra:       {"revision", 17, false},
	colTransport: {"wire", 6, false},
	colLength:    {"length", 8, true},
	colSize:      {"size", 7, true},
	colCalls:     {"calls", 6, true},
	colFailed:    {"failed", 23, false},
}

const (
	listMargin = 5 // cells before the columns: state, bracket, mark
	leastLabel = 14
	mostLabel  = 32
	shortFail  = 7
)

// byImportance are the columns that get a place as long as there is one.
var byImportance = []int{colWhen, colSize, colEra, colServer, colTransport, colLength, colHost}

func (d *listDrawer) layout() {
	free := d.w - listMargin - 1 - leastLabel - 1
	take := func(column, width int) {
		if need := width + gapAfter(column); need <= free {
			d.widths[column] = width
			free -= need
		}
	}
	take(colCalls, listColumns[colCalls].width)
	fail := listColumns[colFailed].width
	switch {
	case d.w < 70:
		fail = shortFail
	case d.w >= 110:
		fail = min(max(shortFail, d.s.widest[colFailed]), 2*fail)
	}
	take(colFailed, fail)
	for _, c := range byImportance {
		width := listColumns[c].width
		if n := d.s.widest[c]; n > 0 {
			width = min(width, max(n, len(listColumns[c].name)))
		}
		take(c, width)
	}
	d.widths[colLabel] = min(leastLabel+max(0, free), mostLabel, max(leastLabel, d.s.widest[colLabel]))
}

// measure finds how wide what is in columns gets that differ much from store to store.
func (s *sessionList) measure() {
	s.widest = [colCount]int{}
	widen := func(column int, text string) {
		s.widest[column] = max(s.widest[column], draw.Width(draw.Safe(text, listColumns[column].width)))
	}
	for i := range s.rows {
		info := s.rows[i].info
		sum := s.sums[info.ID]
		s.widest[colLabel] = max(s.widest[colLabel], draw.Width(draw.Safe(cmp.Or(info.Label(), info.ID), mostLabel)))
		widen(colServer, sum.Server)
		widen(colHost, hostOf(info))
		widen(colEra, eraWords(&sum))
		s.widest[colFailed] = max(s.widest[colFailed], widthOf(failureKinds(s.env.th, &sum, func(o *outcomeSign) string { return o.row })))
	}
}

func (d *listDrawer) heading() string {
	th := d.s.env.th
	l := draw.NewLine(d.w, "").Gap(listMargin)
	order := &sessionOrders[d.s.order]
	for i, c := range listColumns {
		if d.widths[i] == 0 {
			continue
		}
		style, name := th.Dim, c.name
		if i == order.column { // the sign says it without colours
			style, name = th.Accent, name+order.sign
		}
		l.Raw(style, draw.Cell(name, d.widths[i], c.right)).Gap(gapAfter(i))
	}
	return l.String()
}

// columnAt is the column at a cell of the heading; -1 if none is there.
func (d *listDrawer) columnAt(x int) int {
	at := listMargin
	for i, w := range d.widths {
		if w == 0 {
			continue
		}
		if at += w + gapAfter(i); x < at {
			return i
		}
	}
	return -1
}

// clickHead orders the list by the column at a cell of its heading.
func (s *sessionList) clickHead(x int) {
	d := listDrawer{s: s, w: s.w}
	d.layout()
	column := d.columnAt(x)
	for i := range sessionOrders {
		if sessionOrders[i].column == column && i != s.order {
			s.order = i
			s.arrange()
		}
	}
}

// gapAfter keeps the moment and the numbers apart from the words that follow them.
func gapAfter(column int) int {
	if column == colCalls || column == colWhen {
		return 2
	}
	return 1
}

func (d *listDrawer) row(r *listRow, base draw.Style) string {
	th, i := d.s.env.th, r.info
	sum := d.s.sums[i.ID]
	l := draw.NewLine(d.w, base).Gap(1)
	sign, style := stateSign(th, i)
	l.Raw(style, sign).Raw(th.Dim, draw.Cell(r.bracket, 1, false))
	mark := " "
	if i.Kept {
		mark = "★"
	}
	l.Raw(th.Warn, mark).Gap(1)
	transport := ""
	if i.Header != nil {
		transport = i.Header.Transport
	}
	d.cell(l, colWhen, th.Dim, ago(d.s.env.Now(), i.Start, d.s.env.Zone))
	if i.Problem != "" && !i.Starting(d.s.env.Now()) {
		l.Cell(th.Dim, cmp.Or(i.Label(), i.ID), d.widths[colLabel], false)
		return l.Gap(1).Text(th.Warn, "not a recording: "+i.Problem).String()
	}
	d.cell(l, colLabel, th.Strong, cmp.Or(i.Label(), i.ID))
	d.cell(l, colServer, "", sum.Server)
	d.cell(l, colHost, th.Dim, hostOf(i))
	d.cell(l, colEra, th.Dim, eraWords(&sum))
	d.cell(l, colTransport, th.Dim, transport)
	d.cell(l, colLength, th.Dim, length(i.Length))
	d.cell(l, colSize, th.Dim, size(i.Size))
	d.cell(l, colCalls, "", strconv.Itoa(sum.Requests))
	d.failures(l, &sum)
	return l.String()
}

func (d *listDrawer) cell(l *draw.Line, column int, style draw.Style, text string) {
	if w := d.widths[column]; w > 0 {
		l.Cell(style, text, w, listColumns[column].right)
		l.Pin(l.Used() + gapAfter(column))
	}
}

// failures tells them by kind, in words or in short, where there is room; else their
// number.
func (d *listDrawer) failures(l *draw.Line, sum *sessions.Summary) {
	th := d.s.env.th
	if sum.Failures == 0 {
		return
	}
	for _, name := range []func(*outcomeSign) string{
		func(o *outcomeSign) string { return o.row },
		func(o *outcomeSign) string { return o.short },
	} {
		kinds := failureKinds(th, sum, name)
		if wide := widthOf(kinds); wide <= l.Left()-1 {
			for _, k := range kinds {
				l.Raw(k.style, k.text).Gap(1)
			}
			return
		}
	}
	l.Raw(th.Bad, "✗ "+strconv.Itoa(sum.Failures))
}

// widthOf is how wide words are with a blank between them.
func widthOf(words []styled) (w int) {
	for _, k := range words {
		w += draw.Width(k.text) + 1
	}
	return w - 1
}

// eraWords are a session's revision and era; nothing if both are unknown.
func eraWords(sum *sessions.Summary) string {
	if sum.Revision == "" && sum.Era == decode.EraUnknown.String() {
		return ""
	}
	return strings.TrimSpace(sum.Revision + " " + sum.Era)
}

// failureKinds are the failures of a session by kind.
func failureKinds(th *theme.Theme, sum *sessions.Summary, name func(*outcomeSign) string) (kinds []styled) {
	for i := range outcomeSigns {
		s := &outcomeSigns[i]
		n := sum.Outcomes[s.outcome.String()]
		if n > 0 && s.outcome >= decode.ToolError && s.outcome <= decode.HiddenError {
			kinds = append(kinds, styled{strconv.Itoa(n) + " " + name(s), outcomeStyle(th, s.outcome)})
		}
	}
	return kinds
}

func stateSign(th *theme.Theme, i *sessions.Info) (string, draw.Style) {
	switch i.State {
	case sessions.Live:
		return "●", th.Good
	case sessions.Crashed:
		if i.Header != nil || i.Problem != "" {
			return "!", th.Warn
		}
	}
	return " ", ""
}

// ago is how long ago something was, and from a week on the day.
func ago(now, t time.Time, zone *time.Location) string {
	d := now.Sub(t)
	switch {
	case d < 0 || d >= 7*24*time.Hour:
		return t.In(zone).Format("2006-01-02")
	case d < 2*time.Second:
		return "now"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	}
	return t.In(zone).Format("Mon 15:04")
}

func length(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s"
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
