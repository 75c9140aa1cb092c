package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/lineedit"
	"github.com/mcptap/mcptap/ui/safetext"
	"github.com/mcptap/mcptap/ui/theme"
)

// overlay puts a box over lines, in the middle of their upper part. Around it a cell is
// left free, so that what it half covers does not seem to be part of it; the last line,
// which has the keys, is no such margin.
func overlay(lines, box []string, w int) {
	if len(box) == 0 {
		return
	}
	width := draw.Width(box[0])
	x, y := corner(box, w, len(lines))
	from, to := max(0, x-1), min(w, x+width+1)
	if from < leastScrap {
		from = 0
	}
	if w-to < leastScrap {
		to = w
	}
	for i := max(0, y-1); i < min(y+len(box)+1, len(lines)); i++ {
		in := draw.Blank(to - from)
		switch at := i - y; {
		case at >= 0 && at < len(box):
			in = draw.Blank(x-from) + box[at] + draw.Blank(to-x-width)
		case i == len(lines)-1:
			continue
		}
		under := draw.Unpin(lines[i])
		left, right := ansi.Cut(under, 0, from), ansi.Cut(under, to, w)
		lines[i] = left + "\x1b[m" + draw.Blank(from-draw.Width(left)) + in + draw.Blank(w-to-draw.Width(right)) + right
	}
}

// leastScrap is how many cells of a line beside a box are worth seeing.
const leastScrap = 4

// corner is where the upper left corner of a box stands.
func corner(box []string, w, h int) (x, y int) {
	return max(0, (w-draw.Width(box[0]))/2), max(0, (h-len(box))/3)
}

// boxed draws a frame around lines of w cells.
func boxed(th *theme.Theme, title string, lines []string, w int) []string {
	w = max(0, w)
	head := draw.NewLine(w+2, "").Raw(th.Line, "╭─ ").Raw(th.Title, title).Gap(1)
	head.Raw(th.Line, strings.Repeat("─", max(0, head.Left()-1))+"╮")
	out := []string{head.String()}
	for _, l := range lines {
		out = append(out, th.Line.Paint("│")+l+th.Line.Paint("│"))
	}
	return append(out, th.Line.Paint("╰"+strings.Repeat("─", w)+"╯"))
}

// A prompt is a line that the user writes on.
type prompt struct {
	label  string
	line   *lineedit.Line
	change func(text string) tea.Cmd // after each key; may be nil
	accept func(text string) tea.Cmd
	cancel func() tea.Cmd

	judge    func(text string) styled   // what to say of the text; may be nil
	refuse   func(text string) string   // why it can't be accepted; may be nil, and so may the reason be
	complete func(text string) string   // what the tab key makes of it; may be nil
	ways     func(text string) []string // what it may become; the tab key goes through them. May be nil
	where    func(text string) int      // byte at which it is wrong; -1 if it is right. May be nil
	said     styled                     // by judge
	tabs     []string                   // the ways that the tab key goes through
	tab      int
}

// look judges the text as it stands.
func (p *prompt) look() {
	if p.judge != nil {
		p.said = p.judge(p.line.String())
	}
}

// view draws what there is to say of the text in up to so many lines, and below it the
// line itself. Where the text is wrong, a sign above it points there.
func (p *prompt) view(th *theme.Theme, w, most int) (lines []string) {
	label := " " + th.Title.Paint(p.label) + " "
	at := draw.Width(label)
	line := label + p.line.View(w-at, "", th.Match)
	if p.said.text == "" {
		return []string{line}
	}
	text := p.said.text
	if wrong := p.wrong(); wrong >= 0 {
		at += wrong
		if lead := max(0, min(at, w-draw.Width(text)-4)); at < w-1 && lead == at {
			return []string{draw.NewLine(w, "").Gap(at).Raw(th.Bad, "▾ ").Text(p.said.style, text).String(), line}
		}
		if at < w-1 {
			lines = []string{draw.NewLine(w, "").Gap(at).Raw(th.Bad, "▾").String()}
		}
	}
	return append(append(noteLines(p.said.style, text, w, max(1, min(most-len(lines), 3))), lines...), line)
}

// wrong is the cell of the text at which it is wrong; -1 if it is right, or if that is not
// in view.
func (p *prompt) wrong() int {
	if p.where == nil {
		return -1
	}
	text := p.line.String()
	at := p.where(text)
	if at < 0 || at > len(text) {
		return -1
	}
	return draw.Width(draw.Safe(text[:at], 10000))
}

func (a *app) promptKey(k tea.KeyMsg) tea.Cmd {
	p := a.prompt
	switch k.String() {
	case "enter":
		if p.refuse != nil {
			if why := p.refuse(p.line.String()); why != "" {
				p.said = styled{why, a.env.th.Bad}
				return nil
			}
		}
		a.prompt = nil
		p.line.Keep()
		return p.accept(p.line.String())
	case "esc":
		a.prompt = nil
		return p.cancel()
	case "f1":
		if p.where != nil && a.env.Filters != "" {
			return a.lookUp()
		}
	}
	switch name := k.String(); {
	case (name == "tab" || name == "shift+tab") && p.ways != nil:
		p.goOn(map[string]int{"tab": 1, "shift+tab": -1}[name])
	case name == "tab" && p.complete != nil:
		p.line.Set(p.complete(p.line.String()))
	default:
		p.tabs = nil
		p.line.Key(k)
	}
	p.look()
	if p.change == nil {
		return nil
	}
	return p.change(p.line.String())
}

// goOn makes of the text what it may become: the next way with each tab, and after the
// last the text as it was typed.
func (p *prompt) goOn(by int) {
	if p.tabs == nil || p.tabs[p.tab] != p.line.String() {
		p.tabs, p.tab = append([]string{p.line.String()}, p.ways(p.line.String())...), 0
	}
	p.tab = (p.tab + by + len(p.tabs)) % len(p.tabs)
	p.line.Set(p.tabs[p.tab])
}

// A dialog asks before something that can't be undone, or says something that has to be
// read.
type dialog struct {
	title string
	lines []string // text from the outside is allowed
	yes   string   // what y does; "" if there is nothing to decide
	do    tea.Cmd
	page  pager // on the lines, as they were broken
}

func (a *app) dialogKey(k tea.KeyMsg) tea.Cmd {
	d := a.dialog
	switch k.String() {
	case "y", "Y":
		if d.yes != "" {
			a.dialog = nil
			return d.do
		}
	case "n", "N", "esc", "q", "enter":
		a.dialog = nil
	default:
		if act := actionFor(k, inHelp); act != nil { // it is read as help is
			d.page.do(act.ID)
		}
	}
	return nil
}

// view draws the dialog. Where there is little room, the answers are seen before the
// question is.
func (d *dialog) view(th *theme.Theme, w, h int) []string {
	width := min(64, w-4)
	var lines []string
	for _, s := range d.lines {
		for part := range strings.SplitSeq(ansi.Wrap(safetext.Line(s), width-4, "/"), "\n") { // a path is broken too
			lines = append(lines, draw.NewLine(width, "").Gap(2).Text("", part).String())
		}
	}
	keys := draw.NewLine(width, "").Gap(2)
	if d.yes == "" {
		keys.Raw(th.Accent, "enter").Gap(1).Raw(th.Dim, "go on")
	} else {
		keys.Raw(th.Accent, "y").Gap(1).Raw(th.Bad, d.yes).Gap(3).Raw(th.Accent, "enter").Gap(1).Raw(th.Dim, "leave it")
	}
	title := d.title
	if blank := draw.Blank(width); len(lines)+6 <= h {
		lines = append(append([]string{blank}, lines...), blank, keys.String(), blank)
	} else {
		d.page.fit(len(lines), h-3)
		if words := d.page.words(); words != "" {
			title += ", " + words
		}
		lines = append(lines[d.page.top:d.page.to():d.page.to()], keys.String())
	}
	return boxed(th, title, lines, width)
}

// A palette finds actions by their names.
type palette struct {
	line   lineedit.Line
	at     place
	found  []*Action
	cursor int
}

func newPalette(at place) *palette {
	p := &palette{at: at}
	p.find()
	return p
}

// find keeps the actions that have every word of the line.
func (p *palette) find() {
	p.found = p.found[:0]
	words := strings.Fields(strings.ToLower(p.line.String()))
	for _, a := range actionsAt(p.at) {
		if hasAll(strings.ToLower(a.Name+" "+a.Help), words) {
			p.found = append(p.found, a)
		}
	}
	slices.SortStableFunc(p.found, func(a, b *Action) int { // by name before by help
		return strings.Compare(rank(a, words), rank(b, words))
	})
	p.cursor = max(0, min(p.cursor, len(p.found)-1))
}

func rank(a *Action, words []string) string {
	if hasAll(strings.ToLower(a.Name), words) {
		return "0"
	}
	return "1"
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (a *app) paletteKey(k tea.KeyMsg) tea.Cmd {
	p := a.palette
	switch k.String() {
	case "esc":
		a.palette = nil
	case "enter":
		return a.paletteDo(p.cursor)
	case "up", "ctrl+p", "shift+tab":
		p.cursor = max(0, p.cursor-1)
	case "down", "ctrl+n", "tab":
		p.cursor = min(len(p.found)-1, p.cursor+1)
	default:
		p.line.Key(k)
		p.find()
	}
	return nil
}

func (a *app) paletteDo(i int) tea.Cmd {
	p := a.palette
	if i < 0 || i >= len(p.found) {
		return nil
	}
	a.palette = nil
	return a.do(p.found[i].ID)
}

func (a *app) paletteClick(m tea.MouseMsg) tea.Cmd {
	p := a.palette
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		p.cursor = max(0, p.cursor-1)
	case m.Button == tea.MouseButtonWheelDown:
		p.cursor = min(len(p.found)-1, p.cursor+1)
	case m.Action == tea.MouseActionPress && m.Button == tea.MouseButtonLeft:
		box := p.view(a.env.th, a.w, a.h)
		_, y := corner(box, a.w, a.h)
		line := m.Y - y - 2
		if first := p.first(p.rows(a.h)); line >= 0 && line < p.rows(a.h) {
			return a.paletteDo(first + line)
		}
		a.palette = nil
	}
	return nil
}

// rows is how many actions are in view; first is the first of them.
func (p *palette) rows(h int) int { return max(1, min(12, h-6)) }

func (p *palette) first(rows int) int { return max(0, min(p.cursor-rows/2, len(p.found)-rows)) }

func (p *palette) view(th *theme.Theme, w, h int) []string {
	width := min(66, w-4)
	lines := []string{" " + p.line.View(width-1, "", th.Match)}
	rows := p.rows(h)
	first := p.first(rows)
	if len(p.found) == 0 {
		lines = append(lines, draw.NewLine(width, "").Gap(1).Raw(th.Dim, "no action has this in its name").String())
		first, rows = 1, rows-1
	}
	for i := first; i < first+rows; i++ {
		if i >= len(p.found) {
			lines = append(lines, draw.Blank(width))
			continue
		}
		base := draw.Style("")
		if i == p.cursor {
			base = th.Selected
		}
		a := p.found[i]
		shown := KeyName(a.Keys[0])
		l := draw.NewLine(width, base).Gap(1).Raw("", draw.Cell(a.Name, min(20, width/3), false)).Gap(1)
		l.Raw(th.Dim, draw.Cell(a.Help, max(0, l.Left()-draw.Width(shown)-2), false)).Gap(1).Raw(th.Accent, shown)
		lines = append(lines, l.String())
	}
	return boxed(th, "commands", lines, width)
}
