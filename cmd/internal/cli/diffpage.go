package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/ui/safetext"
)

// diffPage prints a comparison for people: three answers, then tables.
type diffPage struct {
	app  *app
	n    int
	err  error
	sums bool // the rows have no directions
}

// directionsFrom is the width of a terminal that has room for both directions.
const directionsFrom = 110

func (p *diffPage) flush() error { return p.err }

func (p *diffPage) unmatched(name string, onB, _ bool) {
	t := p.app.table(column{name: "what", width: 14}, column{name: "session"})
	t.row("only in "+sideOf(!onB), name)
	p.done(t)
}

func (p *diffPage) done(t *table) {
	if err := t.flush(); p.err == nil {
		p.err = err
	}
}

func (p *diffPage) compared(d *diff.Diff, _ []verdict) {
	p.answers(d)
	p.rows(d)
	p.bytes(d)
	p.further(d)
}

// answers are the three lines that a reader came for.
func (p *diffPage) answers(d *diff.Diff) {
	said := d.Answers()
	t := p.app.table(column{name: "", width: questionWidth}, column{name: ""})
	t.started = true // it needs no heading
	if p.n++; p.n > 1 {
		t.write("\n")
	}
	answer(t, "same work?", said.Work.String())
	examples(t, said.Work.Differences, len(said.Work.Differences))
	answer(t, "what costs what?", said.Cost.String())
	answer(t, "what behaves differently?", said.Behaviour.String())
	examples(t, said.Behaviour.First(maxExamples), said.Behaviour.Count())
	t.write("\n")
	answer(t, "A", d.A.String())
	answer(t, "B", d.B.String())
	t.write("\n")
	p.done(t)
}

const questionWidth = 25

// answer prints an answer whole: a terminal gets more lines if it is long.
func answer(t *table, question, words string) {
	if !t.terminal {
		t.row(question, words)
		return
	}
	indent, room := questionWidth+2, t.width-questionWidth-2
	if room < narrowAnswer { // the answer stands below its question
		t.write(question + "\n")
		question, indent, room = "", 2, t.width-2
	}
	for _, line := range wrapped(safetext.Line(words), room) {
		t.write(pad(question, indent, false) + line + "\n")
		question = ""
	}
}

// wrapped breaks a text at its spaces only: a sign belongs to its number.
func wrapped(words string, room int) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(words, " ") {
		if line != "" && ansi.StringWidth(line+" "+word) > room {
			lines, line = append(lines, line), ""
		} else if line != "" {
			line += " "
		}
		line += word
	}
	lines = append(lines, line)
	for i := range lines { // a word that is too long for a line
		lines[i] = ansi.Truncate(strings.TrimRight(lines[i], " "), room, "…")
	}
	return lines
}

// maxExamples is how many differences are told with the answers: the tables have all.
const maxExamples = 5

// examples prints the first of so many differences below an answer, a line each.
func examples(t *table, words []string, of int) {
	words = words[:min(len(words), maxExamples)]
	if more := of - len(words); more > 0 && len(words) > 0 {
		words = append(slices.Clone(words), "and "+strconv.Itoa(more)+" more, see below")
	}
	for _, w := range words {
		if !t.terminal {
			t.row("", "  "+w)
			continue
		}
		indent := questionWidth + 4
		if t.width < directionsFrom {
			indent = 4
		}
		t.write(strings.Repeat(" ", indent) + t.paint(yellow, ansi.Truncate(safetext.Line(w), t.width-indent, "…")) + "\n")
	}
}

// narrowAnswer is the least room that an answer beside its question needs.
const narrowAnswer = 40

// rows prints what crossed, side by side: bytes by direction, or in sum where there
// is no room for that.
func (p *diffPage) rows(d *diff.Diff) {
	columns := []column{
		{name: "#A", width: 5, right: true, drop: 4},
		{name: "#B", width: 5, right: true, drop: 3},
		{name: "operation", width: 26, min: 14},
		{name: "name", width: 24, min: 10},
		{name: "A →", width: 7, min: 6, right: true},
		{name: "B →", width: 7, min: 6, right: true},
		{name: "A ←", width: 7, min: 6, right: true},
		{name: "B ←", width: 7, min: 6, right: true},
		{name: "±", width: 7, min: 6, right: true},
		{name: "ms A", width: 7, min: 6, right: true, drop: 6},
		{name: "ms B", width: 7, min: 6, right: true, drop: 5},
		{name: "what differs"},
	}
	t := p.app.table(columns...)
	p.sums = t.terminal && t.width < directionsFrom
	if p.sums {
		columns = slices.Delete(columns, 4, 8)
		t = p.app.table(slices.Insert(columns, 4, column{name: "A", width: 7, right: true, drop: 2}, column{name: "B", width: 7, right: true, drop: 1})...)
	}
	for i := range d.Rows {
		p.row(t, &d.Rows[i])
	}
	p.done(t)
}

func (p *diffPage) row(t *table, r *diff.Row) {
	operation := r.Method
	switch r.Kind {
	case diff.RowMessages:
		operation = r.Title()
	case diff.RowExchanges:
		operation = "HTTP " + r.Method
	}
	cells := append([]string{firstFrame(r.A), firstFrame(r.B), operation, r.Name}, p.bytesOf(r)...)
	t.styled(rowStyle(r), append(cells, signed(costOf(r.B)-costOf(r.A)), took(r.A), took(r.B), rowWords(r, t.terminal))...)
	if t.terminal && r.Reason != "" {
		p.below(t, dim, r.Reason, "")
	}
	for _, in := range r.Details {
		if in.A != in.B {
			p.below(t, dim, in.What, in.String())
		}
	}
	for i := range r.Changes {
		if i == maxChanges {
			p.below(t, dim, "and "+strconv.Itoa(len(r.Changes)-maxChanges+r.More)+" more", "")
			break
		}
		c := &r.Changes[i]
		if t.terminal {
			change(t, rowStyle(r), 14, c)
		} else {
			p.below(t, rowStyle(r), string(c.What), c.String())
		}
	}
}

// below prints a line that belongs to the row above it.
func (p *diffPage) below(t *table, s style, what, words string) {
	if t.terminal {
		line := strings.TrimRight(strings.Repeat(" ", 14)+"↳ "+what+": "+words, ": ")
		t.write(t.paint(s, ansi.Truncate(safetext.Line(line), t.width, "…")) + "\n")
		return
	}
	t.styled(s, "", "", "  ↳ "+what, "", "", "", "", "", "", "", "", words)
}

// change prints a difference below what it belongs to: on a terminal that is too narrow
// for a line in three, with the place where the values begin to differ in sight.
func change(t *table, s style, indent int, c *diff.Difference) {
	line := func(indent int, words string) {
		t.write(t.paint(s, ansi.Truncate(strings.Repeat(" ", indent)+safetext.Line(words), t.width, "…")) + "\n")
	}
	if c.A == "" || c.B == "" || indent+ansi.StringWidth(safetext.Line("↳ "+c.String())) <= t.width {
		line(indent, "↳ "+c.String())
		return
	}
	line(indent, "↳ "+c.Path)
	a, b := diff.Excerpts(c.A, c.B, t.width-indent-4)
	line(indent+2, "A "+a)
	line(indent+2, "B "+b)
}

// maxChanges is how many changes of one operation a page shows.
const maxChanges = 8

func rowStyle(r *diff.Row) style {
	switch {
	case r.OneSided() && r.Reason == "", r.Moved:
		return yellow
	case r.OneSided():
		return dim
	case len(r.Changes) > 0 && r.Changes[0].What == diff.WhatOutcome:
		return red
	case len(r.Changes) > 0:
		return yellow
	}
	return normal
}

// rowWords says in a few words what differs. A terminal has the reason below.
func rowWords(r *diff.Row, short bool) string {
	if r.Reason != "" && !short {
		return r.String() + " (" + r.Reason + ")"
	}
	return r.String()
}

func firstFrame(p *diff.Part) string {
	if p == nil || p.N == 0 {
		return ""
	}
	return strconv.FormatUint(p.N, 10)
}

// bytesOf gives the cells with the bytes of both sides.
func (p *diffPage) bytesOf(r *diff.Row) []string {
	var cells []string
	for _, of := range []func(*diff.Cost) int64{
		func(c *diff.Cost) int64 { return c.C2S.Total() }, func(c *diff.Cost) int64 { return c.S2C.Total() }, (*diff.Cost).Total,
	} {
		for _, part := range []*diff.Part{r.A, r.B} {
			cell := ""
			if part != nil {
				cell = num(of(&part.Bytes))
			}
			cells = append(cells, cell)
		}
	}
	if p.sums {
		return cells[4:]
	}
	return cells[:4]
}

func costOf(p *diff.Part) int64 {
	if p == nil {
		return 0
	}
	return p.Bytes.Total()
}

func signed(n int64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%+d", n)
}

func took(p *diff.Part) string {
	if p == nil || p.Took < 0 {
		return ""
	}
	return millis(p.Took)
}

// bytes prints the bill: by what they were spent on, and by the part of the session.
func (p *diffPage) bytes(d *diff.Diff) {
	columns := []column{{name: "bytes", width: 34, min: 20}}
	if !p.sums {
		columns = append(columns, column{name: "A →", width: 9, right: true}, column{name: "B →", width: 9, right: true},
			column{name: "A ←", width: 9, right: true}, column{name: "B ←", width: 9, right: true})
	}
	t := p.app.table(append(columns, column{name: "A", width: 10, min: 7, right: true}, column{name: "B", width: 10, min: 7, right: true}, column{name: "±", width: 9, min: 7, right: true})...)
	t.write("\n")
	line := func(name string, l *diff.Line) {
		if !t.terminal { // it has no heading to say so
			name = "bytes: " + name
		}
		cells := []string{name}
		if !p.sums {
			cells = append(cells, num(l.UpA), num(l.UpB), num(l.DownA), num(l.DownB))
		}
		t.row(append(cells, num(l.A()), num(l.B()), signed(l.B()-l.A()))...)
	}
	for _, l := range d.Bill.Groups() {
		line(l.Name, &l)
	}
	for _, l := range diff.Lines(&d.Bill.A, &d.Bill.B) {
		if l.Part {
			l.Name = "  " + l.Name
		}
		line(l.Name, &l)
	}
	total := d.Bill.Total()
	line("total", &total)
	p.done(t)
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

// further prints what is not about one operation.
func (p *diffPage) further(d *diff.Diff) {
	t := p.app.table(column{name: "further", width: furtherWidth}, column{name: "what differs"})
	t.write("\n")
	for i := range d.Server {
		aside(t, yellow, string(d.Server[i].What), d.Server[i].String())
	}
	for i := range d.Definitions {
		p.definition(t, &d.Definitions[i])
	}
	for i := range d.Findings {
		aside(t, normal, "finding", d.Findings[i].String())
	}
	for i := range d.Times {
		if d.Times[i].Changed {
			aside(t, normal, "latency", d.Times[i].String())
		}
	}
	if d.Model.Known {
		aside(t, normal, "model", d.Model.String())
	}
	for i := range d.Volatile {
		t.styled(dim, "varies", d.Volatile[i].String())
	}
	p.done(t)
}

const furtherWidth = 12

// maxAside is how many lines of a terminal one difference takes.
const maxAside = 4

// aside prints a difference whole, on a terminal in several lines if it is long.
func aside(t *table, s style, what, words string) {
	room := t.width - furtherWidth - 2
	if !t.terminal || room < narrowAnswer {
		t.styled(s, what, words)
		return
	}
	lines := wrapped(safetext.Line(words), room)
	for i, line := range lines[:min(len(lines), maxAside)] {
		if i == maxAside-1 && len(lines) > maxAside {
			line = ansi.Truncate(line+" "+lines[i+1], room, "…")
		}
		t.styled(s, what, line)
		what = ""
	}
}

func (p *diffPage) definition(t *table, f *diff.Definition) {
	words := f.String()
	if !f.Model {
		words += " (a model does not read it)"
	}
	aside(t, yellow, "definition", words)
	for i := range f.Changes {
		if i == maxChanges {
			t.styled(dim, "", "  ↳ and "+strconv.Itoa(len(f.Changes)-maxChanges+f.More)+" more")
			break
		}
		if t.terminal {
			change(t, dim, furtherWidth+4, &f.Changes[i])
		} else {
			t.styled(dim, "", "  ↳ "+f.Changes[i].String())
		}
	}
}
