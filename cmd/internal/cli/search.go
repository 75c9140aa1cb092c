package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/toolsearch"
	"github.com/mcptap/mcptap/sessions"
)

// searchOptions are the flags of search.
type searchOptions struct {
	engine    string
	limit     int
	prefix    string
	plurals   bool
	fromCalls bool
	json      bool
}

func (a *app) search() *cobra.Command {
	var o searchOptions
	c := &cobra.Command{
		Use:   "search SESSION... QUERY",
		Short: "would the model find the tool? what a tool search gives it",
		Long: `search answers offline what the model is given when it searches the tools of
these sessions, in the order in which they were listed: with the regular
expressions of the Claude API (which gives the first tools of the list that
match), with its BM25, or with Claude Code's ToolSearch, for whose unpublished
ranking BM25 stands in.

What is not known is shown: a range of ranks says how the tool's place changes
with parameters and readings that the documentation leaves open. Tools beyond
--limit are cut, and the model never hears of them.

With --from-calls there is no QUERY: for each tool that was called, obvious
queries are tried (words of its name, its title and its description, the names
of its arguments), so that a tool that can't be found stands out.

` + sessionNames,
		Example: `  mcptap search last 'create.*issue'
  mcptap search last 'create an issue' --engine bm25
  mcptap search github slack --from-calls --prefix 'mcp__{server}__'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) < 2 && !o.fromCalls {
				return usagef("%s takes at least one SESSION, and a QUERY unless there is --from-calls; '%s --help' has examples", c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return a.runSearch(args, o) },
		ValidArgsFunction: a.completeSession,
	}
	engines := []string{}
	for _, e := range toolsearch.Engines() {
		engines = append(engines, string(e))
	}
	c.Flags().StringVar(&o.engine, "engine", engines[0], "how to search: "+strings.Join(engines, ", "))
	c.Flags().IntVar(&o.limit, "limit", 0, "how many tools the model is given (0: as many as the engine gives by itself)")
	c.Flags().StringVar(&o.prefix, "prefix", "", "what the host puts before each name; {server} stands for the session's label")
	c.Flags().BoolVar(&o.plurals, "fold-plurals", false, "take issues and issue for one word (bm25, claude-code)")
	c.Flags().BoolVar(&o.fromCalls, "from-calls", false, "try obvious queries for each tool that was called")
	c.Flags().BoolVar(&o.json, "json", false, "one JSON object a tool ('mcptap help json')")
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// A searched catalogue is the tools of several sessions with what is known of each.
type searched struct {
	index    *toolsearch.Index
	bare     []string // by tool
	sessions []string // by tool
	called   []calledTool
	unlisted []string // tools that were called, and are in no list
}

// calledTool is a tool that was called, by its index.
type calledTool struct{ tool, calls int }

func (a *app) runSearch(args []string, o searchOptions) error {
	if !slices.Contains(toolsearch.Engines(), toolsearch.Engine(o.engine)) {
		return usagef("--engine takes one of regex, bm25 and claude-code, not %q", o.engine)
	}
	o.limit = cmp.Or(o.limit, toolsearch.DefaultLimit())
	if o.limit < 1 || o.limit > toolsearch.MaxLimit() {
		return usagef("--limit is from 1 to %d, not %d", toolsearch.MaxLimit(), o.limit)
	}
	query := ""
	if !o.fromCalls {
		query, args = args[len(args)-1], args[:len(args)-1]
	}
	s, err := a.catalogueOf(args, o)
	if err != nil {
		return err
	}
	how := toolsearch.Options{Engine: toolsearch.Engine(o.engine), Limit: o.limit, Now: a.Now}
	if o.fromCalls {
		return a.showProbes(s, how, o.json)
	}
	r, err := s.index.Search(query, how)
	if err != nil {
		return fmt.Errorf("search %d tools for %q: %w", s.index.Len(), query, err)
	}
	a.sayResult(s, r)
	if o.json {
		return a.matchesJSON(s, r)
	}
	return a.matchesTable(s, r)
}

// catalogueOf joins what the sessions' servers offered, in the order of the
// sessions.
func (a *app) catalogueOf(names []string, o searchOptions) (*searched, error) {
	s := &searched{}
	var tools []toolsearch.Tool
	for _, name := range names {
		err := a.withSession(name, decode.Options{}, func(_ *sessions.Session, l *sessions.Loaded) error {
			list := offered(l)
			if list == nil {
				return fmt.Errorf("search %s: its tools were never listed, so there is nothing to search", l.Name())
			}
			first := len(tools)
			prefix := strings.ReplaceAll(o.prefix, "{server}", serverName(l))
			for _, it := range list.Items {
				title, description, schema := definitionParts(it.Definition)
				tools = append(tools, toolsearch.Tool{Name: prefix + it.Name, Bare: it.Name, Title: title, Description: description, Schema: schema})
				s.bare, s.sessions = append(s.bare, it.Name), append(s.sessions, l.Name())
			}
			s.addCalls(l, first)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	s.index = toolsearch.New(tools, o.plurals)
	return s, nil
}

// addCalls counts the calls of a session's tools, which begin at first.
func (s *searched) addCalls(l *sessions.Loaded, first int) {
	for i := range l.Calls() {
		c := l.Call(i)
		if c.Method != "tools/call" || c.Retry || c.Name == "" {
			continue
		}
		at := slices.Index(s.bare[first:], c.Name)
		if at < 0 {
			if !slices.Contains(s.unlisted, c.Name) {
				s.unlisted = append(s.unlisted, c.Name)
			}
			continue
		}
		k := slices.IndexFunc(s.called, func(t calledTool) bool { return t.tool == first+at })
		if k < 0 {
			k = len(s.called)
			s.called = append(s.called, calledTool{tool: first + at})
		}
		s.called[k].calls++
	}
}

// sayResult says what a table has no place for.
func (a *app) sayResult(s *searched, r *toolsearch.Result) {
	if r.StandIn {
		a.say("Claude Code's ranking is not published; BM25 stands in for it")
	}
	for _, name := range r.Missing {
		a.say("there is no tool %q", name)
	}
	if len(r.All) == 0 {
		a.say("none of %s matches", plural(s.index.Len(), "tool"))
	}
}

// fate is what becomes of a match, in a word.
func fate(m *toolsearch.Match, limit int) string {
	switch {
	case m.Rank == 0:
		return "maybe"
	case m.Given(limit):
		return "given"
	}
	return "cut"
}

var fateStyles = map[string]style{"cut": yellow, "maybe": dim}

// rankRange is empty where all ways of searching agree.
func rankRange(m *toolsearch.Match) string {
	if m.Best == m.Worst {
		return ""
	}
	return fmt.Sprintf("%d-%d", m.Best, m.Worst)
}

func rankOf(m *toolsearch.Match) string {
	if m.Rank == 0 {
		return ""
	}
	return strconv.Itoa(m.Rank)
}

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return strconv.Itoa(n) + " matches"
}

func (a *app) matchesTable(s *searched, r *toolsearch.Result) error {
	t := a.table(
		column{name: "rank", width: 4, right: true},
		column{name: "range", width: 7, right: true, drop: 2},
		column{name: "fate", width: 5},
		column{name: "tool", width: 40, min: 12},
		column{name: "session", width: 16, min: 8, drop: 1},
		column{name: "about"},
	)
	t.note(fmt.Sprintf("%s, %s of %s; facts of %s", r.Engine, matches(len(r.All)), plural(s.index.Len(), "tool"), toolsearch.Date()))
	for i := range r.All {
		m := &r.All[i]
		f := fate(m, r.Limit)
		t.styled(fateStyles[f], rankOf(m), rankRange(m), f, s.index.Name(m.Tool), s.sessions[m.Tool], m.Doubt)
	}
	return t.flush()
}

// matchObject is a tool in search --json.
type matchObject struct {
	Session string `json:"session"`
	Tool    string `json:"tool"`
	Name    string `json:"name"` // as the server calls it
	Rank    *int   `json:"rank"`
	Best    int    `json:"best"`
	Worst   int    `json:"worst"`
	Missed  int    `json:"missed"`
	Ways    int    `json:"ways"`
	Fate    string `json:"fate"`
	About   string `json:"about,omitempty"`
}

func (s *searched) object(m *toolsearch.Match, limit, ways int) matchObject {
	j := matchObject{Session: s.sessions[m.Tool], Tool: s.index.Name(m.Tool), Name: s.bare[m.Tool],
		Best: m.Best, Worst: m.Worst, Missed: m.Missed, Ways: ways, Fate: fate(m, limit), About: m.Doubt}
	if m.Rank > 0 {
		j.Rank = &m.Rank
	}
	return j
}

func (a *app) matchesJSON(s *searched, r *toolsearch.Result) error {
	p := newJSONPrinter(a.Stdout)
	for i := range r.All {
		p.encode(s.object(&r.All[i], r.Limit, r.Ways))
	}
	return p.flush()
}

// showProbes prints for each tool that was called what its obvious queries find.
func (a *app) showProbes(s *searched, how toolsearch.Options, asJSON bool) error {
	if len(s.called) == 0 {
		a.say("no listed tool was called")
	}
	if how.Engine == toolsearch.ClaudeCode {
		a.say("Claude Code's ranking is not published; BM25 stands in for it")
	}
	for _, name := range s.unlisted {
		a.say("%q was called, and is not in the list", name)
	}
	show, flush := a.probeTable(s, how)
	if asJSON {
		show, flush = a.probeJSON(s)
	}
	var lost []string
	for _, c := range s.called {
		probes, findable := s.index.Probe(c.tool, how)
		if !findable {
			lost = append(lost, s.index.Name(c.tool))
		}
		show(c, probes, findable)
	}
	if len(lost) > 0 {
		a.say("%d of %s called can't be found among the first %d by any obvious query: %s", len(lost), plural(len(s.called), "tool"), how.Limit, strings.Join(lost, ", "))
	}
	return flush()
}

type showProbe func(calledTool, []toolsearch.Probe, bool)

func (a *app) probeTable(s *searched, how toolsearch.Options) (showProbe, func() error) {
	t := a.table(
		column{name: "tool", width: 32, min: 12},
		column{name: "calls", width: 5, right: true, drop: 2},
		column{name: "from", width: 11, drop: 1},
		column{name: "rank", width: 4, right: true},
		column{name: "range", width: 7, right: true, drop: 4},
		column{name: "of", width: 4, right: true, drop: 3},
		column{name: "fate", width: 5},
		column{name: "query"},
	)
	return func(c calledTool, probes []toolsearch.Probe, findable bool) {
		look := normal
		if !findable {
			look = red
		}
		for i := range probes {
			p := &probes[i]
			t.styled(look, s.index.Name(c.tool), strconv.Itoa(c.calls), p.From, rankOf(&p.Match), rankRange(&p.Match), strconv.Itoa(p.Of), probeFate(p, how.Limit), p.Text)
		}
	}, t.flush
}

func probeFate(p *toolsearch.Probe, limit int) string {
	switch {
	case p.Problem != nil:
		return "error"
	case p.Match.Best == 0:
		return "none"
	}
	return fate(&p.Match, limit)
}

// probeObject is a tool in search --from-calls --json.
type probeObject struct {
	Session  string        `json:"session"`
	Tool     string        `json:"tool"`
	Name     string        `json:"name"`
	Calls    int           `json:"calls"`
	Findable bool          `json:"findable"`
	Queries  []probeAnswer `json:"queries"`
}

type probeAnswer struct {
	From  string `json:"from"`
	Query string `json:"query"`
	Rank  *int   `json:"rank"`
	Best  int    `json:"best"`
	Worst int    `json:"worst"`
	Of    int    `json:"of"`
	Given bool   `json:"given"`
	Error string `json:"error,omitempty"`
}

func (a *app) probeJSON(s *searched) (showProbe, func() error) {
	out := newJSONPrinter(a.Stdout)
	return func(c calledTool, probes []toolsearch.Probe, findable bool) {
		o := probeObject{Session: s.sessions[c.tool], Tool: s.index.Name(c.tool), Name: s.bare[c.tool], Calls: c.calls, Findable: findable, Queries: []probeAnswer{}}
		for i := range probes {
			p := &probes[i]
			answer := probeAnswer{From: p.From, Query: p.Text, Best: p.Match.Best, Worst: p.Match.Worst, Of: p.Of, Given: p.Given}
			if p.Match.Rank > 0 {
				answer.Rank = &p.Match.Rank
			}
			if p.Problem != nil {
				answer.Error = p.Problem.Error()
			}
			o.Queries = append(o.Queries, answer)
		}
		out.encode(o)
	}, out.flush
}
