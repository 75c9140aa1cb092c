package ui

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/bill"
	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
)

// otherSession is a session that one can be compared with.
type otherSession struct {
	info sessions.Info
	sum  sessions.Summary
	same bool // it has the same label or server
}

// reviewOthers lists the sessions of the store but one: those of the same label
// first, then those of the same server.
func reviewOthers(e *env, path, label string) (*review, error) {
	infos, err := e.Store.List()
	if err != nil {
		return nil, err
	}
	sums := e.Store.Summaries(infos)
	server := ""
	for i := range infos {
		if infos[i].Path == path {
			server = sums[infos[i].ID].Server
		}
	}
	var near [3][]otherSession // of the same label, of the same server, others
	for i := range infos {
		if infos[i].Path == path {
			continue
		}
		sum, at := sums[infos[i].ID], 2
		switch {
		case infos[i].Label() == label:
			at = 0
		case server != "" && sum.Server == server:
			at = 1
		}
		near[at] = append(near[at], otherSession{infos[i], sum, at < 2})
	}
	return &review{others: slices.Concat(near[0], near[1], near[2])}, nil
}

// choicePage lets the user choose the session to compare with.
type choicePage struct {
	env  *env
	rows []otherSession
}

func (p *choicePage) load(r *review)                    { p.rows = r.others }
func (p *choicePage) len() int                          { return len(p.rows) }
func (p *choicePage) key(i int) rowKey                  { return rowKey{a: p.rows[i].info.Path} }
func (p *choicePage) below(_, _, _ int) (none []string) { return nil }
func (p *choicePage) reorder()                          {}
func (p *choicePage) frame(int) int                     { return -1 }

// tell has the whole name of a recording.
func (p *choicePage) tell(i, w int) []string {
	th, o := p.env.th, &p.rows[i]
	lines := append([]string{rule(th, w, th.Dim, "recording", "")}, paragraph(w, 0, th.Strong, o.info.Label())...)
	return append(lines, paragraph(w, 0, th.Dim, o.info.ID+"  "+o.sum.Server)...)
}

func (p *choicePage) open(r *reportScreen, i int) tea.Cmd {
	o := &p.rows[i]
	with := &reportScreen{env: p.env, of: r.of, at: inDiff, title: "compare", page: &diffPage{env: p.env, path: o.info.Path}, w: r.w, h: r.h}
	r.env.root.replace(with)
	e, a, b := p.env, r.of.path, o.info.Path
	with.work = func() (*review, error) { return reviewDiff(e, a, b) }
	return with.start()
}

const choiceLabel = 24

func (p *choicePage) head(w, _ int) []string {
	th := p.env.th
	if len(p.rows) == 0 {
		return []string{draw.NewLine(w, "").Gap(1).Raw("", "there is no other recording to compare with").String()}
	}
	names := draw.NewLine(w, "").Gap(1).Raw(th.Faint, draw.Cell("recording", choiceLabel, false)+"  "+draw.Cell("when", 12, false)+"  calls  failures, era, server")
	return []string{draw.NewLine(w, "").Gap(1).Raw("", "with which? enter compares").String(), names.String()}
}

func (p *choicePage) row(i, w int, base draw.Style) string {
	th, o := p.env.th, &p.rows[i]
	l := draw.NewLine(w, base).Gap(1)
	name := th.Dim
	if o.same {
		name = th.Strong
	}
	l.Within(name, middle(o.info.Label(), choiceLabel), choiceLabel).Pin(choiceLabel + 1).Gap(2)
	l.Raw(th.Dim, draw.Cell(ago(p.env.Now(), o.info.Start, p.env.Zone), 12, false)).Gap(2)
	l.Raw("", draw.Cell(itoa(o.sum.Requests), 5, true)).Gap(2)
	for _, kind := range failureKinds(th, &o.sum, func(o *outcomeSign) string { return o.row }) {
		l.Text(kind.style, kind.text).Gap(1)
	}
	return l.Gap(1).Text(th.Dim, strings.TrimSpace(eraWords(&o.sum)+"  "+o.sum.Server)).String()
}

// diffReview is a comparison with what there is to say of it.
type diffReview struct {
	*diff.Diff
	answers [3]answerLine
	lines   []sentence
	labels  [2]string // what to call the sides: by when they began, if they have the same name
}

// answerLine is a question and its answer.
type answerLine struct {
	question, short string
	words           string
	good            bool
}

// reviewDiff compares two sessions of the store.
func reviewDiff(e *env, a, b string) (*review, error) {
	one, err := e.side(a)
	if err != nil {
		return nil, err
	}
	defer one.close()
	other, err := e.side(b)
	if err != nil {
		return nil, err
	}
	defer other.close()
	model, err := tokens.Default().Model("")
	if err != nil {
		return nil, err
	}
	estimator := tokens.Default().Estimator(model)
	d := diff.Compare(one.side, other.side, diff.Options{Tokens: func(text []byte) (low, mid, high int) {
		n := estimator.Bytes(text)
		l, _, h := n.Bounds()
		return int(l + .5), bill.Middle(n), int(h + .5)
	}})
	v := &diffReview{d, answersOf(d.Answers()), diffLines(d), [2]string{d.A.Name, d.B.Name}}
	if d.A.Name == d.B.Name {
		v.labels = e.moments(one, other)
	}
	return &review{diff: v, frames: one.Len(), otherLive: other.file.Running()}, nil
}

// moments names two sessions of the same name by when they began.
func (e *env) moments(one, other *openSide) (labels [2]string) {
	format := "15:04:05 "
	if one.Header != nil && other.Header != nil && one.Header.Start.In(e.Zone).YearDay() != other.Header.Start.In(e.Zone).YearDay() {
		format = "Jan 2 15:04 "
	}
	for i, o := range []*openSide{one, other} {
		labels[i] = o.side.Name
		if o.Header != nil {
			labels[i] = o.Header.Start.In(e.Zone).Format(format) + labels[i]
		}
	}
	return labels
}

// openSide is a session to compare. It stays open until what was compared is closed.
type openSide struct {
	*sessions.Loaded
	side diff.Side
	file *sessions.Session
}

func (o *openSide) close() { _ = o.file.Close() }

func (e *env) side(path string) (*openSide, error) {
	s, err := sessions.Open(path)
	if err != nil {
		return nil, err
	}
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	side := diff.Side{Name: l.Name(), Session: l.Session, Body: l.Body}
	if e.Side != nil {
		side = e.Side(s, l)
	}
	return &openSide{l, side, s}, nil
}

func answersOf(a diff.Answers) [3]answerLine {
	return [3]answerLine{
		{"same work?", "work", a.Work.String(), len(a.Work.Differences) == 0},
		{"what costs what?", "cost", a.Cost.String(), true},
		{"what behaves differently?", "behaviour", a.Behaviour.String(), a.Behaviour.Count() == 0},
	}
}

// diffLines are the sentences below the rows.
func diffLines(d *diff.Diff) (out []sentence) {
	section := func(name string, words []string, warn bool) {
		if len(words) == 0 {
			return
		}
		out = append(append(out, sentence{frame: -1}), sentence{head: true, text: name, frame: -1})
		for _, w := range words {
			out = append(out, sentence{text: w, warn: warn, frame: -1, section: name})
		}
	}
	section("bytes by part", append([]string{draw.Cell("", 20, false) + draw.Cell("A", 9, true) + draw.Cell("B", 9, true) + draw.Cell("B − A", 9, true)}, billLines(d)...), false)
	for i := range out {
		out[i].cells = !out[i].head
	}
	section("what client and server say of themselves", sayings(d.Server), true)
	section("what is offered", sayings(d.Definitions), true)
	section("what breaks the specification", sayings(d.Findings), true)
	var slower []string
	for i := range d.Times {
		if d.Times[i].Changed {
			slower = append(slower, d.Times[i].String())
		}
	}
	section("latencies", slower, true)
	if d.Model.Known {
		section("what the model reads", []string{d.Model.String()}, false)
	}
	section("varies by itself, taken as equal", sayings(d.Volatile), false)
	said := d.Answers()
	section("in full", []string{"A: " + d.A.String(), "B: " + d.B.String(), "work: " + said.Work.String(), "cost: " + said.Cost.String(), "behaviour: " + said.Behaviour.String()}, false)
	return out
}

// sayings are the words of what can be said in a line.
func sayings[T any, P interface {
	*T
	String() string
}](of []T) (words []string) {
	for i := range of {
		words = append(words, P(&of[i]).String())
	}
	return words
}

// billLines is what the bytes of both sessions were spent on.
func billLines(d *diff.Diff) (out []string) {
	for _, l := range append(diff.Lines(&d.Bill.A, &d.Bill.B), d.Bill.Total()) {
		out = append(out, lineCells(&l, 9))
	}
	return out
}

// lineCells lays out one line of an account.
func lineCells(l *diff.Line, width int) string {
	name := l.Name
	if l.Part {
		name = "  " + name
	}
	return draw.Cell(name, 20, false) + draw.Cell(size(l.A()), width, true) + draw.Cell(size(l.B()), width, true) + draw.Cell(signed(l.B()-l.A()), 9, true)
}

func signed(n int64) string {
	if n > 0 {
		return "+" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// bytesOf is all that a side of a row took.
func bytesOf(p *diff.Part) int64 {
	if p == nil {
		return 0
	}
	return p.Bytes.Total()
}

// diffPage shows two sessions side by side.
type diffPage struct {
	env  *env
	path string // of the other session
	d    *diffReview
	rows []int // of the comparison, in the order shown
	only bool  // rows that differ
}

func (p *diffPage) load(r *review) {
	p.d = r.diff
	p.arrange()
}

func (p *diffPage) arrange() {
	p.rows = p.rows[:0]
	for i := range p.d.Rows {
		if !p.only || p.differs(&p.d.Rows[i]) {
			p.rows = append(p.rows, i)
		}
	}
}

func (p *diffPage) differs(r *diff.Row) bool { return r.OneSided() || r.Moved || len(r.Changes) > 0 }

func (p *diffPage) reorder() {}

func (p *diffPage) do(r *reportScreen, id string) (tea.Cmd, bool) {
	switch id {
	case "differing":
		if p.d != nil {
			p.only = !p.only
			p.arrange()
			r.changed()
		}
		return nil, true
	case "open-other":
		return p.openOther(r), true
	}
	return nil, false
}

func (p *diffPage) at(i int) *diff.Row {
	if i >= len(p.rows) {
		return nil
	}
	return &p.d.Rows[p.rows[i]]
}

func (p *diffPage) len() int {
	return len(p.rows) + len(p.d.lines)
}

// key is where a row stands on both sides; a sentence is known by its section.
func (p *diffPage) key(i int) rowKey {
	if r := p.at(i); r != nil {
		return rowKey{kind: r.Method, a: r.Name, n: firstFrame(r.A), m: firstFrame(r.B)}
	}
	return p.d.lines[i-len(p.rows)].key()
}

// frame is where a row is in the session that was on the screen.
func (p *diffPage) frame(i int) int {
	if r := p.at(i); r != nil {
		return firstFrame(r.A)
	}
	return -1
}

func firstFrame(p *diff.Part) int {
	if p == nil || len(p.Frames) == 0 {
		return -1
	}
	return slices.Min(p.Frames)
}

// openOther opens the other session, at the frame of the row.
func (p *diffPage) openOther(r *reportScreen) tea.Cmd {
	if p.d == nil || r.list.Len() == 0 {
		return nil
	}
	goal := -1
	i := r.list.Cursor()
	if row := p.at(i); row != nil {
		if goal = firstFrame(row.B); goal < 0 {
			return send(noteMsg{"only in this session: the other one has no such frame", false})
		}
	}
	return p.env.openSpot(p.path, goal, p.spot(i))
}

func (p *diffPage) head(w, h int) []string {
	th := p.env.th
	lines := make([]string, 0, 8)
	room := 1 // lines of an answer; what has no room stands in full below the rows
	switch {
	case h >= tallDiff:
		room = 4
	case h >= midDiff:
		room = 3
	}
	for _, a := range p.d.answers {
		question, width := a.question, 27
		if w < 90 {
			question, width = a.short, 11
		}
		style := map[bool]draw.Style{true: th.Good, false: th.Warn}[a.good]
		if a.short == "cost" {
			style = ""
		}
		text := wrapText(a.words, max(1, w-width-2))
		for i, s := range text[:min(room, len(text))] {
			if i == room-1 && len(text) > room {
				s = draw.Cut(strings.Join(text[i:], " "), w-width-2)
			}
			lines = append(lines, draw.NewLine(w, "").Gap(1).Raw(th.Dim, draw.Cell(question, width, false)).Text(style, s).String())
			question = ""
		}
	}
	return append(lines, p.names(w)...)
}

// Heights of a screen from which on answers have up to three and four lines.
const (
	midDiff  = 20
	tallDiff = 32
)

// diffColumns are the widths of the numbers at the right: of both sides number of the
// frame, bytes, milliseconds; and the difference in bytes.
func diffColumns(w int) (number, bytes, ms int) {
	switch {
	case w >= 110:
		return 6, 8, 9
	case w >= 72:
		return 5, 9, 0
	}
	return 0, 7, 0
}

const diffCells = 8 // of the difference in bytes

// diffEnd is where the names end and the numbers begin.
func diffEnd(w int) int {
	number, bytes, ms := diffColumns(w)
	return min(w, maxTable) - 2*(number+bytes+ms) - diffCells - 5 // a line before each side, and spaces
}

// names are the names of the columns, below those of the sides.
func (p *diffPage) names(w int) []string {
	th := p.env.th
	number, bytes, ms := diffColumns(w)
	l := draw.NewLine(w, "").Gap(3)
	if p.only {
		l.Raw(th.Accent, draw.Cut("operations that differ: "+itoa(len(p.rows)), max(0, diffEnd(w)-l.Used())))
	} else {
		l.Raw(th.Faint, "operation")
	}
	l.Pin(diffEnd(w))
	for _, side := range []string{"A", "B"} {
		l.Raw(th.Line, "│").Raw(th.Faint, draw.Cell(map[bool]string{true: "frame"}[number > 0], number, true)+draw.Cell(map[bool]string{true: "bytes", false: side + " bytes"}[number > 0], bytes, true)+draw.Cell(map[bool]string{true: "ms"}[ms > 0], ms, true)).Gap(1)
	}
	lines := []string{l.Raw(th.Faint, draw.Cell("B − A", diffCells, true)).String()}
	if number == 0 {
		return lines
	}
	sides := draw.NewLine(w, "").To(diffEnd(w))
	for i, side := range []string{" A ", " B "} {
		cells := number + bytes + ms + 1 - len(side)
		sides.Raw(th.Line, "│").Raw(th.Strong, side).Cell(th.Dim, p.label(i, cells-1), cells, false)
	}
	return append([]string{sides.String()}, lines...)
}

// label names a side in so many cells.
func (p *diffPage) label(i, cells int) string {
	if p.d.A.Name == p.d.B.Name { // the moment before it tells them apart
		return draw.Safe(p.d.labels[i], cells)
	}
	return middle(p.d.labels[i], cells)
}

// signs of a row, and its style.
func (p *diffPage) sign(r *diff.Row) (sign string, style draw.Style) {
	th := p.env.th
	switch {
	case r.OneSided() && r.Reason != "":
		return map[bool]string{true: "−", false: "+"}[r.B == nil], th.Dim
	case r.B == nil:
		return "−", th.Warn
	case r.A == nil:
		return "+", th.Warn
	case len(r.Changes) > 0 && r.Changes[0].What == diff.WhatOutcome:
		return "✗", th.Bad
	case len(r.Changes) > 0:
		return "≠", th.Warn
	case r.Moved:
		return "↕", th.Warn
	}
	return "=", th.Faint
}

func (p *diffPage) row(i, w int, base draw.Style) string {
	th, r := p.env.th, p.at(i)
	if r == nil {
		return p.d.lines[i-len(p.rows)].draw(th, w, base)
	}
	sign, style := p.sign(r)
	end := diffEnd(w)
	l := draw.NewLine(w, base).Gap(1).Raw(style, sign).Gap(1)
	name := draw.Style("")
	if r.Name != "" {
		name = th.Dim
	}
	if r.Name == "" || r.Method != "tools/call" || w >= 96 {
		l.Within(name, r.Method, max(0, end-l.Used())).Gap(min(1, max(0, end-l.Used())))
	}
	words := r.String()
	if room := max(0, end-l.Used()); r.Name != "" && room > 0 { // what differs is told beside it, a little of it at least
		room -= min(draw.Width(words)+1, room/3)
		l.Within(th.Strong, middle(r.Name, room), room).Gap(min(1, max(0, end-l.Used())))
	}
	if style == "" || sign == "=" {
		style = th.Dim
	}
	l.Within(style, words, max(0, end-l.Used())).Pin(end)
	p.part(l, r.A, w)
	p.part(l, r.B, w)
	by := bytesOf(r.B) - bytesOf(r.A)
	return l.Raw(th.Dim, draw.Cell(signed(by), diffCells, true)).String()
}

func (p *diffPage) part(l *draw.Line, side *diff.Part, w int) {
	th := p.env.th
	number, bytes, ms := diffColumns(w)
	n, took, b := "", "", ""
	if side != nil {
		b = size(side.Bytes.Total())
		if side.N > 0 {
			n = strconv.FormatUint(side.N, 10)
		}
		if side.Took >= 0 {
			took = millis(side.Took.Truncate(time.Microsecond))
		}
	}
	l.Raw(th.Line, "│").Raw(th.Faint, draw.Cell(n, number, true)).Raw("", draw.Cell(b, bytes, true)).Raw(th.Dim, draw.Cell(took, ms, true)).Gap(1)
}

// below says what differs in the row with the cursor, and what its bytes were spent on.
func (p *diffPage) below(i, w, h int) []string {
	if h < 3 {
		return nil
	}
	th := p.env.th
	h = min(h, diffBelow)
	r := p.at(i)
	if r == nil {
		return p.d.lines[i-len(p.rows)].whole(th, w, h)
	}
	if w < partsBeside {
		return clip(th, p.changes(r, w), w, h)
	}
	left, right := clip(th, p.changes(r, w-partsWidth), w-partsWidth, h), draw.Fill(p.parts(r, partsWidth), partsWidth, h)
	for k := range left {
		left[k] += right[k]
	}
	return left
}

const (
	diffBelow   = 10
	partsBeside = 100
	partsWidth  = 48
)

func (p *diffPage) tell(i, w int) []string {
	r := p.at(i)
	if r == nil {
		return p.d.lines[i-len(p.rows)].tell(p.env.th, w)
	}
	return append(append(p.changes(r, w), draw.Blank(w)), p.parts(r, w)...)
}

// changes says what differs in a row, in as many lines as that needs.
func (p *diffPage) changes(r *diff.Row, w int) []string {
	th := p.env.th
	const title = "what differs: "
	lines := []string{rule(th, w, th.Dim, title+middle(r.Title(), max(8, w-len(title)-6)), "")}
	say := func(style draw.Style, label, words string) {
		for k, s := range wrapText(words, max(1, w-draw.Width(label)-2)) {
			if k > 0 {
				label = draw.Blank(draw.Width(label))
			}
			lines = append(lines, draw.NewLine(w, "").Gap(1).Raw(th.Dim, label).Text(style, s).String())
		}
	}
	if r.Reason != "" {
		say(th.Dim, "", r.Reason)
	}
	for k := range r.Changes {
		c := &r.Changes[k]
		say(th.Warn, "", strings.TrimSpace(string(c.What)+" "+c.Path))
		say(th.Bad, "  − A  ", c.A)
		say(th.Good, "  + B  ", c.B)
	}
	if r.More > 0 {
		say(th.Dim, "", "and "+itoa(r.More)+" more")
	}
	for k := range r.Details {
		if in := &r.Details[k]; in.A != in.B {
			say("", in.What+"  ", in.String())
		}
	}
	if len(r.Changes) > 0 {
		say(th.Faint, "", "enter opens the frame here, O in the other session")
	}
	if len(lines) > 1 {
		return lines
	}
	if by := bytesOf(r.B) - bytesOf(r.A); by != 0 && !r.OneSided() {
		say("", "", "the same, in other bytes: "+signed(by))
	} else if words := r.String(); words != "" {
		say("", "", words)
	} else {
		say(th.Good, "", "nothing")
	}
	return lines
}

// parts accounts for the bytes of a row on both sides.
func (p *diffPage) parts(r *diff.Row, w int) []string {
	th := p.env.th
	head := draw.NewLine(w, "").Raw(th.Line, "─ ").Raw(th.Dim, "bytes of this row").Gap(1)
	for i, n := range []string{"A", "B", "B − A"} {
		head.Raw(th.Line, strings.Repeat("─", max(0, []int{29, 37, 46}[i]-draw.Width(n)-1-head.Used()))).Gap(1).Raw(th.Dim, n).Gap(1)
	}
	lines := []string{head.Raw(th.Line, strings.Repeat("─", head.Left())).String()}
	for _, part := range r.Lines() {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Raw("", lineCells(&part, 8)).String())
	}
	return lines
}
