package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/replay/diff/answers"
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
	t.row("only in "+answers.Side(!onB), name)
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
	t := p.app.table(column{name: "", width: questionWidth}, column{name: ""})
	t.started = true // it needs no heading
	if p.n++; p.n > 1 {
		t.write("\n")
	}
	answer(t, "same work?", answers.Work(d))
	answer(t, "what costs what?", answers.Cost(d))
	answer(t, "what behaves differently?", answers.Behaviour(d))
	t.write("\n")
	answer(t, "A", answers.About(&d.A))
	answer(t, "B", answers.About(&d.B))
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
	for line := range strings.SplitSeq(ansi.Wordwrap(safetext.Line(words), room, ""), "\n") {
		t.write(pad(question, indent, false) + line + "\n")
		question = ""
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
	if r.Kind == diff.RowMessages {
		operation = r.Method + " (messages)"
	}
	cells := append([]string{firstFrame(r.A), firstFrame(r.B), operation, r.Name}, p.bytesOf(r)...)
	t.styled(rowStyle(r), append(cells, answers.Signed(answers.Bytes(r.B)-answers.Bytes(r.A)), took(r.A), took(r.B), answers.Row(r, t.terminal))...)
	if t.terminal && r.Reason != "" {
		p.below(t, dim, r.Reason, "")
	}
	for _, in := range r.Details {
		if in.A != in.B {
			p.below(t, dim, in.What, answers.Detail(&in))
		}
	}
	for i := range r.Changes {
		if i == maxChanges {
			p.below(t, dim, "and "+strconv.Itoa(len(r.Changes)-maxChanges+r.More)+" more", "")
			break
		}
		c := &r.Changes[i]
		p.below(t, rowStyle(r), string(c.What), answers.Change(c))
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

func took(p *diff.Part) string {
	if p == nil || p.Took < 0 {
		return ""
	}
	return millis(p.Took)
}

// bytes prints the bill: by what they were spent on, and by the part of the session.
func (p *diffPage) bytes(d *diff.Diff) {
	t := p.app.table(
		column{name: "bytes", width: 34, min: 20},
		column{name: "A →", width: 9, right: true, drop: 1},
		column{name: "B →", width: 9, right: true, drop: 1},
		column{name: "A ←", width: 9, right: true, drop: 1},
		column{name: "B ←", width: 9, right: true, drop: 1},
		column{name: "A", width: 10, right: true},
		column{name: "B", width: 10, right: true},
		column{name: "±", width: 9, right: true},
	)
	t.write("\n")
	line := func(name string, a, b diff.Cost, of func(*diff.Bytes) int64) {
		if cells := [4]int64{of(&a.C2S), of(&b.C2S), of(&a.S2C), of(&b.S2C)}; cells != [4]int64{} {
			t.row("bytes: "+name, num(cells[0]), num(cells[1]), num(cells[2]), num(cells[3]), num(cells[0]+cells[2]), num(cells[1]+cells[3]), answers.Signed(cells[1]+cells[3]-cells[0]-cells[2]))
		}
	}
	all := func(b *diff.Bytes) int64 { return b.Total() }
	b := &d.Bill
	for _, s := range []struct {
		name string
		sum  *diff.Sum
	}{{"opening", &b.Opening}, {"lists on both sides", &b.Lists}, {"calls on both sides", &b.Calls}, {"other things on both sides", &b.Other}, {"on one side only", &b.Only}} {
		line(s.name, s.sum.A, s.sum.B, all)
	}
	for part := range decode.NumParts {
		line(part.String(), b.A, b.B, func(x *diff.Bytes) int64 { return x.Parts[part] })
	}
	line("not in the recording", b.A, b.B, func(x *diff.Bytes) int64 { return x.NotAtHand })
	line("HTTP headers", b.A, b.B, func(x *diff.Bytes) int64 { return x.Headers })
	line("event framing", b.A, b.B, func(x *diff.Bytes) int64 { return x.Framing })
	line("total", b.A, b.B, all)
	p.done(t)
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

// further prints what is not about one operation.
func (p *diffPage) further(d *diff.Diff) {
	t := p.app.table(column{name: "further", width: 12}, column{name: "what differs"})
	t.write("\n")
	for i := range d.Server {
		c := &d.Server[i]
		t.styled(yellow, string(c.What), c.Path+": "+answers.FromTo(c))
	}
	for i := range d.Definitions {
		p.definition(t, &d.Definitions[i])
	}
	for i := range d.Findings {
		t.row("finding", answers.Finding(&d.Findings[i]))
	}
	for i := range d.Times {
		if d.Times[i].Changed {
			t.row("latency", answers.Latency(&d.Times[i]))
		}
	}
	if d.Model.Known {
		t.row("model", answers.Model(&d.Model))
	}
	for i := range d.Volatile {
		v := &d.Volatile[i]
		t.styled(dim, "varies", fmt.Sprintf("%s %s (%s, %d times): %s → %s", strings.TrimSpace(v.Method+" "+v.Name), v.Path, v.Kind, v.Count, v.A, v.B))
	}
	p.done(t)
}

func (p *diffPage) definition(t *table, f *diff.Definition) {
	words := answers.Definition(f)
	if !f.Model {
		words += " (a model does not read it)"
	}
	t.styled(yellow, "definition", words)
	for i := range f.Changes {
		if i == maxChanges {
			t.styled(dim, "", "  ↳ and "+strconv.Itoa(len(f.Changes)-maxChanges+f.More)+" more")
			break
		}
		t.styled(dim, "", "  ↳ "+answers.Change(&f.Changes[i]))
	}
}
