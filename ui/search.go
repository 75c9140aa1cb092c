package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/toolsearch"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/lineedit"
)

// searchReview is what a session offered last, made ready for searching. Its texts are
// from the outside.
type searchReview struct {
	index *toolsearch.Index
	host  string
	tools []searchTool
}

// searchTool is a tool of the index.
type searchTool struct {
	server, description string
	frame               int
}

func reviewSearch(e *env, path string, others bool) (*review, error) {
	r, err := readBook(e, path, others)
	if err != nil {
		return nil, err
	}
	defer r.close()
	host, _ := r.book.Profile()
	v := &searchReview{host: host.ID}
	var tools []toolsearch.Tool
	all, _ := ledger.Catalogue(r.book)
	for _, d := range all {
		tools = append(tools, toolsearch.Tool{Name: d.Name, Bare: d.Bare, Title: d.Title, Description: d.Description, Schema: d.Schema})
		v.tools = append(v.tools, searchTool{d.Server, d.Description, hereOnly(d.From.Session, d.From.Frame)})
	}
	v.index = toolsearch.New(tools, false)
	return &review{search: v}, nil
}

// searchMsg is what a query found.
type searchMsg struct {
	page   *searchPage
	id     int
	result *toolsearch.Result
	err    error
}

// searchPage answers what a model is given that searches for a tool.
type searchPage struct {
	env    *env
	v      *searchReview
	line   lineedit.Line
	engine int
	id     int // of the last query
	asked  string
	result *toolsearch.Result // nil: all tools, as they are listed
	err    error
}

func (p *searchPage) load(r *review) { p.v = r.search }
func (p *searchPage) reorder()       {}

func (p *searchPage) len() int {
	switch {
	case p.err != nil:
		return 0
	case p.result == nil:
		return len(p.v.tools)
	}
	return len(p.result.All)
}

// tool is the tool of a row.
func (p *searchPage) tool(i int) int {
	if p.result == nil {
		return i
	}
	return p.result.All[i].Tool
}

func (p *searchPage) frame(i int) int { return p.v.tools[p.tool(i)].frame }

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

// ask runs a query in a command; the result of an older one is dropped.
func (p *searchPage) ask(text string) tea.Cmd {
	p.id++
	p.asked = text
	if p.v == nil {
		return nil
	}
	id, index, o := p.id, p.v.index, toolsearch.Options{Engine: toolsearch.Engines()[p.engine], Now: p.env.Now}
	return func() tea.Msg {
		m := searchMsg{page: p, id: id}
		if text != "" {
			m.result, m.err = index.Search(text, o)
		}
		return m
	}
}

func (p *searchPage) take(r *reportScreen, msg tea.Msg) tea.Cmd {
	if _, loaded := msg.(reportMsg); loaded && p.asked != "" { // it was typed before the tools were there
		return p.ask(p.asked)
	}
	m, ok := msg.(searchMsg)
	if !ok || m.page != p || m.id != p.id {
		return nil
	}
	p.result, p.err = m.result, m.err
	r.changed()
	r.list.Go(0)
	return nil
}

func (p *searchPage) head(w int) []string {
	th := p.env.th
	engines := draw.NewLine(w, "").Gap(1).Raw(th.Dim, "engine ")
	for i, e := range toolsearch.Engines() {
		if i == p.engine {
			engines.Raw(th.Title, "["+string(e)+"]").Gap(1)
		} else {
			engines.Raw(th.Dim, " "+string(e)+" ").Gap(1)
		}
	}
	engines.Text(th.Faint, "names as "+p.v.host+" gives them, facts of "+toolsearch.Date())
	return []string{p.answer(w), engines.String(), p.names(w)}
}

// answer says what comes of the query.
func (p *searchPage) answer(w int) string {
	th := p.env.th
	l := draw.NewLine(w, "").Gap(1)
	switch {
	case len(p.v.tools) == 0:
		l.Raw(th.Warn, "no tools were listed that could be offered, so there is nothing to search")
	case p.err != nil:
		l.Raw(th.Bad, "✗ ").Text(th.Bad, p.err.Error())
	case p.result == nil:
		l.Raw("", plural(len(p.v.tools), "tool")).Raw(th.Dim, ", as they are sent; / asks for one as the model would")
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
		l.Raw(th.Warn, ", cuts "+itoa(cut)).Raw(th.Dim, " (it stops at "+itoa(p.result.Limit)+")")
	}
	if p.result.StandIn {
		l.Text(th.Dim, "; BM25 stands in for its ranking")
	}
}

const (
	rankCells  = 5
	rangeCells = 8
	fateCells  = 8
	rangeFrom  = 56 // width of a screen that has the range of ranks
)

func (p *searchPage) names(w int) string {
	l := draw.NewLine(w, "").Gap(1)
	s := p.env.th.Faint
	l.Raw(s, draw.Cell("rank", rankCells, true))
	if w >= rangeFrom {
		l.Raw(s, draw.Cell("range", rangeCells, true))
	}
	return l.Gap(2).Raw(s, draw.Cell("fate", fateCells, false)).Raw(s, "tool").String()
}

// fates are how the model comes to a tool, or not, in signs and words.
var fateSigns = map[toolsearch.Fate]string{toolsearch.Given: "✓ ", toolsearch.Cut: "✗ ", toolsearch.Maybe: "? "}

func (p *searchPage) row(i, w int, base draw.Style) string {
	th := p.env.th
	t := p.tool(i)
	rank, spread, fate, doubt := "", "", "", ""
	style, name := th.Dim, draw.Style("")
	if p.result != nil {
		m := &p.result.All[i]
		f := m.Fate(p.result.Limit)
		fate, doubt = fateSigns[f]+string(f), m.Doubt
		switch f {
		case toolsearch.Given:
			style, name = th.Good, th.Strong
		case toolsearch.Cut:
			style = th.Warn
		default:
			name = th.Dim
		}
		if m.Rank > 0 {
			rank = itoa(m.Rank)
		}
		if m.Best != m.Worst {
			spread = strconv.Itoa(m.Best) + "-" + strconv.Itoa(m.Worst)
		}
	}
	l := draw.NewLine(w, base).Gap(1).Raw(name, draw.Cell(rank, rankCells, true))
	if w >= rangeFrom {
		l.Raw(th.Dim, draw.Cell(spread, rangeCells, true))
	}
	l.Gap(2).Raw(style, draw.Cell(fate, fateCells, false))
	l.Raw(name, draw.SafeEnd(p.v.index.Name(t), max(0, min(l.Left(), max(20, l.Left()*2/3))))).Gap(2)
	if doubt == "" {
		doubt = p.v.tools[t].description
	}
	return l.Text(th.Faint, doubt).String()
}

// below is the tool under the cursor, as the search sees it.
func (p *searchPage) below(i, w, h int) []string {
	if h < 3 {
		return nil
	}
	th := p.env.th
	t := p.tool(i)
	lines := []string{rule(th, w, th.Dim, draw.Safe(p.v.index.Name(t), max(0, w-6)), "")}
	if p.result != nil && p.result.All[i].Doubt != "" {
		for _, s := range wrapText("in doubt: "+p.result.All[i].Doubt, w-2) {
			lines = append(lines, draw.NewLine(w, "").Gap(1).Text(th.Warn, s).String())
		}
	}
	for _, s := range wrapText(cutBytes(p.v.tools[t].description, 2000), w-2) {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text("", s).String())
	}
	return slices.Clip(draw.Fill(lines[:min(len(lines), h)], w, min(h, searchBelow)))
}

// searchBelow is how many lines the tool under the cursor has, whichever it is.
const searchBelow = 6
