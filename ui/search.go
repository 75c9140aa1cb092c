package ui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/toolsearch"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/lineedit"
	"github.com/mcptap/mcptap/ui/safetext"
)

// searchReview is what a session offered last, made ready for searching. Its texts are
// from the outside.
type searchReview struct {
	index  *toolsearch.Index
	host   string
	defers bool // the host holds definitions back until a search finds them
	tools  []searchTool
	left   []leftTool
}

// searchTool is a tool of the index.
type searchTool struct {
	server, description string
	deferred            bool
	frame               int
	pointer             string // of its definition in the frame
}

// leftTool is a tool that was listed and that the host leaves out of its requests.
type leftTool struct {
	server, name, why string
	frame             int // where it was listed; -1 if that is in another session
	n                 uint64
	pointer           string
}

func leftTools(blocks []*claude.Block) (out []leftTool) {
	for _, b := range blocks {
		t := leftTool{server: b.Name.Server, name: b.Name.Tool, frame: -1}
		if b.Kind == claude.Toolset {
			t.name = "all tools of " + b.Name.Server
		}
		if t.name == "" {
			t.name = "(no name)"
		}
		for _, n := range b.Notes {
			if n.Kind == claude.NoteLeftOut {
				t.why = n.Words
			}
		}
		if links := b.Links(); len(links) > 0 {
			t.frame, t.n, t.pointer = hereOnly(links[0].Session, links[0].Frame), links[0].N, links[0].Path
		}
		out = append(out, t)
	}
	return out
}

func reviewSearch(e *env, path string, others bool) (*review, error) {
	r, err := readBook(e, path, others)
	if err != nil {
		return nil, err
	}
	defer r.close()
	host, _ := r.book.Profile()
	v := &searchReview{host: host.ID, defers: r.book.Loading() != claude.LoadUpfront}
	var tools []toolsearch.Tool
	all, left := ledger.Catalogue(r.book)
	for _, d := range all {
		tools = append(tools, toolsearch.Tool{Name: d.Name, Bare: d.Bare, Title: d.Title, Description: d.Description, Schema: d.Schema})
		v.tools = append(v.tools, searchTool{d.Server, d.Description, d.Deferred, hereOnly(d.From.Session, d.From.Frame), d.From.Path})
	}
	v.index, v.left = toolsearch.New(tools, false), leftTools(left)
	return &review{search: v, frames: r.loaded[0].Len()}, nil
}

// searchRow is a tool, one that was left out, or the heading of some.
type searchRow struct {
	head  string
	match int // index in the result; -1 if the query does not find it, or there is none
	tool  int // index; -1 of others
	left  int // index; -1 of others
}

// searchPage answers what a model is given that searches for a tool.
type searchPage struct {
	env    *env
	newest *searchReview
	v      *searchReview // that the result is of
	rows   []searchRow
	line   lineedit.Line
	engine int
	id     int // of the last query
	asked  string
	result *toolsearch.Result // nil: all tools, as they are listed
	err    error

	wanted, told explainMsg // the tool whose matches were asked for last, and are known
}

// load takes the tools. If there is a query, its answer of before stays until there is a
// new one.
func (p *searchPage) load(r *review) {
	p.newest = r.search
	if p.asked == "" || p.v == nil {
		p.v = r.search
		p.arrange()
	}
}

func (p *searchPage) reorder() {}
func (p *searchPage) len() int { return len(p.rows) }

// arrange puts those first that the query finds, then the others, then those that no
// search can find.
func (p *searchPage) arrange() {
	p.rows = p.rows[:0]
	section := func(head string) {
		if len(p.rows) > 0 {
			p.rows = append(p.rows, searchRow{"", -1, -1, -1})
		}
		p.rows = append(p.rows, searchRow{head, -1, -1, -1})
	}
	found := map[int]bool{}
	if p.result != nil {
		for i := range p.result.All {
			found[p.result.All[i].Tool] = true
			p.rows = append(p.rows, searchRow{"", i, p.result.All[i].Tool, -1})
		}
		if len(found) < len(p.v.tools) {
			section("not found by this query")
		}
	}
	for i := range p.v.tools {
		if !found[i] {
			p.rows = append(p.rows, searchRow{"", -1, i, -1})
		}
	}
	if len(p.v.left) > 0 {
		section("no search finds these: the host leaves them out")
	}
	for i := range p.v.left {
		p.rows = append(p.rows, searchRow{"", -1, -1, i})
	}
}

func (p *searchPage) key(i int) rowKey {
	r := &p.rows[i]
	switch {
	case r.tool >= 0:
		return rowKey{kind: "tool", a: p.v.tools[r.tool].server, b: p.v.index.Name(r.tool)}
	case r.left >= 0:
		return rowKey{kind: "left", a: p.v.left[r.left].server, b: p.v.left[r.left].name}
	}
	return rowKey{kind: "head", a: r.head}
}

func (p *searchPage) frame(i int) int {
	switch r := &p.rows[i]; {
	case r.tool >= 0:
		return p.v.tools[r.tool].frame
	case r.left >= 0:
		return p.v.left[r.left].frame
	}
	return -1
}

func (p *searchPage) do(r *reportScreen, id string) (tea.Cmd, bool) {
	switch id {
	case "query":
		p.prompt(r)
		return nil, true
	case "engine":
		return p.nextEngine(), true
	}
	return nil, false
}

// prompt lets the user type a query, which is run at every key.
func (p *searchPage) prompt(r *reportScreen) {
	before := p.asked
	ask := func(text string) tea.Cmd { return p.ask(text) }
	r.env.root.prompt = &prompt{label: "search for", line: &p.line, change: ask, accept: ask, cancel: func() tea.Cmd {
		p.line.Set(before)
		return p.ask(before)
	}, judge: func(string) styled {
		return styled{"tab changes the engine", r.env.th.Faint}
	}, complete: func(text string) string {
		p.engine = (p.engine + 1) % len(toolsearch.Engines())
		return text
	}}
}

func (p *searchPage) nextEngine() tea.Cmd {
	p.engine = (p.engine + 1) % len(toolsearch.Engines())
	return p.ask(p.asked)
}

func (p *searchPage) options() toolsearch.Options {
	return toolsearch.Options{Engine: toolsearch.Engines()[p.engine], Now: p.env.Now}
}

// ask runs a query in a command; the result of an older one is dropped.
func (p *searchPage) ask(text string) tea.Cmd {
	again := p.asked == text && p.v != p.newest
	p.id++
	p.asked = text
	if p.newest == nil {
		return nil
	}
	id, in, o := p.id, p.newest, p.options()
	return func() tea.Msg {
		m := searchMsg{page: p, id: id, in: in, again: again}
		if text != "" {
			m.result, m.err = in.index.Search(text, o)
		}
		return m
	}
}

func (p *searchPage) take(r *reportScreen, msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case reportMsg:
		if p.asked != "" && p.newest != nil { // it was typed before these tools were there
			return p.ask(p.asked)
		}
	case searchMsg:
		if m.page != p || m.id != p.id {
			return nil
		}
		change := func() {
			p.v, p.result, p.err = m.in, m.result, m.err
			p.arrange()
		}
		if m.again {
			r.keepRow(change)
			return nil
		}
		change()
		r.changed()
		r.list.Go(0)
	case explainMsg:
		if m.page == p && m.id == p.id {
			p.told = m
		}
	}
	return nil
}

// need asks where the query matches the tool with the cursor.
func (p *searchPage) need(i int) tea.Cmd {
	t := p.rows[i].tool
	if t < 0 || p.result == nil || p.wanted.id == p.id && p.wanted.tool == t {
		return nil
	}
	p.wanted = explainMsg{page: p, id: p.id, tool: t}
	m, index, query, o := p.wanted, p.v.index, p.asked, p.options()
	return func() tea.Msg {
		m.fields = index.Explain(m.tool, query, o)
		return m
	}
}

func (p *searchPage) head(w, _ int) []string {
	th := p.env.th
	engines := draw.NewLine(w, "").Gap(1).Raw(th.Dim, "engine ")
	for i, e := range toolsearch.Engines() {
		if i == p.engine {
			engines.Raw(th.Title, "["+string(e)+"]").Gap(1)
		} else {
			engines.Raw(th.Dim, " "+string(e)+" ").Gap(1)
		}
	}
	how := "this host loads all tools at once; what if it searched?"
	if p.v.defers {
		how = "this host searches"
	}
	pieces(engines, "; ", styled{"names as " + p.v.host + " gives them", th.Faint}, styled{how, th.Faint}, styled{"facts of " + toolsearch.Date(), th.Faint})
	lines := []string{p.answer(w), engines.String()}
	if len(p.rows) > 0 {
		lines = append(lines, p.names(w))
	}
	return lines
}

// answer says what comes of the query.
func (p *searchPage) answer(w int) string {
	th := p.env.th
	l := draw.NewLine(w, "").Gap(1)
	switch {
	case len(p.v.tools) == 0:
		l.Raw(th.Warn, "no tool was offered, so there is nothing to search")
	case p.err != nil:
		l.Raw(th.Bad, "✗ ").Text(th.Bad, p.err.Error())
	case p.result == nil:
		pieces(l, "", styled{plural(len(p.v.tools), "tool"), ""}, styled{"; / asks for one as the model would", th.Dim})
	default:
		given, cut := 0, 0
		for i := range p.result.All {
			switch p.result.All[i].Fate(p.result.Limit) {
			case toolsearch.Given:
				given++
			case toolsearch.Cut:
				cut++
			}
		}
		p.counts(l, given, cut)
	}
	return l.String()
}

func (p *searchPage) counts(l *draw.Line, given, cut int) {
	th := p.env.th
	l.Raw(th.Strong, "“"+draw.Safe(p.asked, 30)+"”").Gap(1)
	if given == 0 {
		l.Raw(th.Warn, "gives the model no tool")
	} else {
		l.Raw(th.Good, "gives the model "+plural(given, "tool"))
	}
	l.Raw(th.Dim, " of "+itoa(len(p.v.tools)))
	if cut > 0 {
		l.Raw(th.Warn, ", not "+itoa(cut)+" more").Raw(th.Dim, " (it stops at "+itoa(p.result.Limit)+")")
	}
	if p.result.StandIn {
		pieces(l, "", styled{"; BM25 stands in for its ranking", th.Dim})
	}
}

const (
	gotCells   = 8
	placeCells = 11
	placeFrom  = 56 // width of a screen that has the places among those that match
)

func (p *searchPage) names(w int) string {
	l := draw.NewLine(w, "").Gap(1)
	s := p.env.th.Faint
	l.Raw(s, draw.Cell("gets it?", gotCells, false)).Gap(1)
	if w >= placeFrom {
		l.Raw(s, draw.Cell("place", placeCells, true)).Gap(1)
	}
	l.Gap(1).Raw(s, "tool")
	if w >= placeFrom {
		words := "  would the model get it? at which place of what is found, (from-to) if not sure"
		if draw.Width(words) > l.Left() {
			words = "  would the model get it? at which place?"
		}
		pieces(l, "", styled{words, s})
	}
	return l.String()
}

// verdict says whether the model gets a tool: a sign with a word, a style for it and one
// for the name.
func (p *searchPage) verdict(r *searchRow) (sign string, style, name draw.Style) {
	th := p.env.th
	switch {
	case r.left >= 0:
		return "✗ never", th.Warn, th.Dim
	case p.v.defers && !p.v.tools[r.tool].deferred:
		return "✓ has it", th.Good, ""
	case p.result == nil:
		return "", th.Dim, ""
	case r.match < 0:
		return "✗ no", th.Dim, th.Dim
	}
	switch p.result.All[r.match].Fate(p.result.Limit) {
	case toolsearch.Given:
		return "✓ yes", th.Good, th.Strong
	case toolsearch.Cut:
		return "✗ no", th.Warn, ""
	}
	return "? maybe", th.Dim, th.Dim
}

// placeOf is the place of a match, and from where to where it may be.
func placeOf(m *toolsearch.Match) string {
	s := ""
	if m.Rank > 0 {
		s = itoa(m.Rank)
	}
	if m.Best != m.Worst {
		s += " (" + strconv.Itoa(m.Best) + "-" + strconv.Itoa(m.Worst) + ")"
	}
	return strings.TrimSpace(s)
}

// remark is what stands after a name: why it is not found, or what the tool does.
func (p *searchPage) remark(r *searchRow) string {
	switch {
	case r.left >= 0:
		return p.v.left[r.left].why
	case r.match >= 0 && p.result.All[r.match].Doubt != "":
		return p.result.All[r.match].Doubt
	case r.match >= 0 && p.result.All[r.match].Fate(p.result.Limit) == toolsearch.Cut:
		return "found, but only the first " + itoa(p.result.Limit) + " are given"
	}
	return p.v.tools[r.tool].description
}

func (p *searchPage) row(i, w int, base draw.Style) string {
	th, r := p.env.th, &p.rows[i]
	l := draw.NewLine(w, base).Gap(1)
	if r.tool < 0 && r.left < 0 {
		return l.Raw(th.Strong, r.head).String()
	}
	sign, style, name := p.verdict(r)
	l.Raw(style, draw.Cell(sign, gotCells, false)).Gap(1)
	if w >= placeFrom {
		at := ""
		if r.match >= 0 {
			at = placeOf(&p.result.All[r.match])
		}
		l.Raw(th.Dim, draw.Cell(at, placeCells, true)).Gap(1)
	}
	room := max(0, min(l.Left()-1, max(20, l.Left()*2/3)))
	l.Gap(1).Within(name, middle(p.name(r), room), room).Gap(2)
	return l.Text(th.Faint, p.remark(r)).String()
}

func (p *searchPage) name(r *searchRow) string {
	if r.left >= 0 {
		return p.v.left[r.left].name
	}
	return p.v.index.Name(r.tool)
}

// searchBelow is how many lines the tool under the cursor has, whichever it is.
const searchBelow = 8

// below is the tool under the cursor, as the search sees it.
func (p *searchPage) below(i, w, h int) []string {
	if h < 3 {
		return nil
	}
	return clip(p.env.th, p.tell(i, w), w, min(h, searchBelow))
}

func (p *searchPage) tell(i, w int) []string {
	th, r := p.env.th, &p.rows[i]
	if r.tool < 0 && r.left < 0 {
		return nil
	}
	lines := []string{rule(th, w, th.Dim, middle(p.name(r), max(0, w-6)), "")}
	_, style, _ := p.verdict(r)
	if words := p.words(r); words != "" {
		lines = append(lines, paragraph(w, 2, style, words)...)
	}
	if r.left >= 0 {
		return append(lines, paragraph(w, 2, th.Dim, "of "+p.v.left[r.left].server)...)
	}
	return append(lines, p.fields(r, w)...)
}

// words say in a sentence whether the model would get a tool.
func (p *searchPage) words(r *searchRow) string {
	switch {
	case r.left >= 0:
		return "never: " + p.v.left[r.left].why
	case p.v.defers && !p.v.tools[r.tool].deferred:
		return "the host does not hold it back: the model has it without a search"
	case p.result == nil:
		return ""
	case r.match < 0:
		return "no: nothing in its name, description or arguments matches"
	}
	m := &p.result.All[r.match]
	limit := ", and the first " + itoa(p.result.Limit) + " are given"
	among := ""
	if m.Best != m.Worst {
		among = "; how it ranks is not published: place " + itoa(m.Best) + " to " + itoa(m.Worst) + " by what is likely"
	}
	switch m.Fate(p.result.Limit) {
	case toolsearch.Given:
		return "yes: place " + itoa(m.Rank) + " of " + itoa(len(p.result.All)) + limit + among
	case toolsearch.Cut:
		return "no: it matches, at place " + itoa(m.Rank) + limit + among
	}
	return "maybe: " + m.Doubt
}

// maxTold bounds the texts of a tool that are drawn, in bytes each.
const maxTold = 8000

// fields are the texts that are searched, with the places that match.
func (p *searchPage) fields(r *searchRow, w int) (lines []string) {
	fields := p.told.fields
	if p.result == nil || p.told.id != p.id || p.told.tool != r.tool {
		fields = p.v.index.Explain(r.tool, "", toolsearch.Options{})
	}
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Kind == toolsearch.FieldDescription:
			if f.Text != "" {
				lines = append(lines, p.marked("", f, w)...)
			}
		case len(f.Marks) > 0:
			lines = append(lines, p.marked(string(f.Kind)+": ", f, w)...)
		}
	}
	return lines
}

// Signs that begin and end a mark while a text is wrapped; they take no room.
const markOn, markOff = "\x02", "\x03"

var breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// plainLine is text from the outside that is to be wrapped: where its lines end does not
// matter.
func plainLine(s string) string { return safetext.Line(breaks.Replace(s)) }

// marked draws a text with what matches standing out, where there is no other way in
// brackets.
func (p *searchPage) marked(label string, f *toolsearch.Field, w int) (lines []string) {
	th := p.env.th
	on, off := markOn, markOff
	if th.Match == "" {
		on, off = "[", "]"
	}
	var b strings.Builder
	b.WriteString(label)
	at := 0
	text := f.Text[:min(len(f.Text), maxTold)]
	for _, s := range f.Marks {
		if s.To > len(text) {
			break
		}
		b.WriteString(plainLine(text[at:s.From]) + on + plainLine(text[s.From:s.To]) + off)
		at = s.To
	}
	b.WriteString(plainLine(strings.ToValidUTF8(text[at:], "")))
	lit := false
	for _, line := range wrapSafe(b.String(), max(1, w-2)) {
		l := draw.NewLine(w, "").Gap(1)
		for line != "" {
			next := strings.IndexAny(line, markOn+markOff)
			piece := line
			if next >= 0 {
				piece = line[:next]
			}
			if lit {
				l.Raw(th.Match, piece)
			} else {
				l.Raw("", piece)
			}
			if next < 0 {
				break
			}
			lit, line = line[next:next+1] == markOn, line[next+1:]
		}
		lines = append(lines, l.String())
	}
	return lines
}
