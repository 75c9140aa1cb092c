package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/toolsearch"
)

// searchOptions are the flags of search.
type searchOptions struct {
	bookOptions
	engine    string
	limit     int
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
these sessions, by the names that the host gives them ('mcptap help hosts') and
in the order in which it would send them: with the regular expressions of the
Claude API (which gives the first tools of the list that match), with its BM25,
or with Claude Code's ToolSearch, for whose unpublished ranking BM25 stands in.

What is not known is shown: a range of ranks says how the tool's place changes
with parameters and readings that the documentation leaves open. Tools beyond
--limit are cut, and the model never hears of them.

With --from-calls there is no QUERY: for each tool that was called, obvious
queries are tried (words of its name, its title and its description, the names
of its arguments), so that a tool that can't be found stands out.

` + sessionNames,
		Example: `  mcptap search last 'create.*issue'
  mcptap search last 'create an issue' --engine bm25
  mcptap search github slack --from-calls --host claude-code`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) < 2 && !o.fromCalls {
				return usagef("%s takes at least one SESSION, and a QUERY unless there is --from-calls; '%s --help' has examples", c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return a.runSearch(args, &o) },
		ValidArgsFunction: a.completeSession,
	}
	engines := []string{}
	for _, e := range toolsearch.Engines() {
		engines = append(engines, string(e))
	}
	o.add(c)
	c.Flags().StringVar(&o.engine, "engine", "", "how to search: "+strings.Join(engines, ", ")+" (default: as the host does, if that is known, else "+engines[0]+")")
	c.Flags().IntVar(&o.limit, "limit", 0, "how many tools the model is given (0: as many as the engine gives by itself)")
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
	leftOut  []string // tools that the host does not offer, and why
}

// calledTool is a tool that was called, by its index.
type calledTool struct{ tool, calls int }

func (a *app) runSearch(args []string, o *searchOptions) error {
	if o.engine != "" && !slices.Contains(toolsearch.Engines(), toolsearch.Engine(o.engine)) {
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
	rd, err := a.reading(args, &o.bookOptions)
	if err != nil {
		return err
	}
	defer rd.close()
	s, err := catalogueOf(rd, o.plurals)
	if err != nil {
		return err
	}
	host, reason := rd.book.Profile()
	a.say("names as host %s gives them (%s)", host.ID, reason)
	how := toolsearch.Options{Engine: engineOf(o.engine, host), Limit: o.limit, Now: a.Now}
	if o.engine == "" && !isTerminal(a.Stdout) {
		a.say("searched with engine %s; --engine takes another", how.Engine)
	}
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

// engineOf is the engine that the user means: without a word that of the host, if it
// has one of its own, else the API's first.
func engineOf(name string, host *claude.Profile) toolsearch.Engine {
	all := toolsearch.Engines()
	for _, e := range all {
		if name == string(e) || name == "" && host.ID == string(e) {
			return e
		}
	}
	return all[0]
}

// catalogueOf takes what the sessions offered last, in the order in which it is sent.
func catalogueOf(rd *reading, plurals bool) (*searched, error) {
	s := &searched{}
	var tools []toolsearch.Tool
	at := map[string]int{}
	all, leftOut := ledger.Catalogue(rd.book)
	for _, d := range all {
		at[d.Name] = len(tools)
		tools = append(tools, toolsearch.Tool{Name: d.Name, Bare: d.Bare, Title: d.Title, Description: d.Description, Schema: d.Schema})
		s.bare, s.sessions = append(s.bare, d.Bare), append(s.sessions, rd.line.Sessions[d.Session].Name)
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("search %s: no tools were listed that could be offered, so there is nothing to search", strings.Join(sessionTitles(rd), ", "))
	}
	for _, b := range leftOut {
		s.leftOut = append(s.leftOut, leftWords(b))
	}
	s.addCalls(rd, at)
	s.index = toolsearch.New(tools, plurals)
	return s, nil
}

func sessionTitles(rd *reading) (out []string) {
	for _, s := range rd.line.Sessions {
		out = append(out, s.Name)
	}
	return out
}

// addCalls counts the calls that the model made of the tools.
func (s *searched) addCalls(rd *reading, at map[string]int) {
	for i := range rd.line.Calls {
		tool, ok := at[rd.book.NameOf(i).Sent]
		if name := rd.line.Calls[i].Tool; !ok {
			if !slices.Contains(s.unlisted, name) {
				s.unlisted = append(s.unlisted, name)
			}
			continue
		}
		k := slices.IndexFunc(s.called, func(t calledTool) bool { return t.tool == tool })
		if k < 0 {
			k = len(s.called)
			s.called = append(s.called, calledTool{tool: tool})
		}
		s.called[k].calls++
	}
}

// sayResult says what a table has no place for.
func (a *app) sayResult(s *searched, r *toolsearch.Result) {
	if r.StandIn {
		a.say("Claude Code's ranking is not published; BM25 stands in for it")
	}
	for _, why := range s.leftOut {
		a.say("not offered, so no search finds it: %s", why)
	}
	for _, name := range r.Missing {
		a.say("there is no tool %q", name)
	}
	if len(r.All) == 0 {
		a.say("none of %s matches", plural(s.index.Len(), "tool"))
	}
}

var fateStyles = map[toolsearch.Fate]style{toolsearch.Cut: yellow, toolsearch.Maybe: dim}

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
		column{name: "tool", width: 48, min: 20, tail: true},
		column{name: "session", width: 16, min: 8, drop: 1},
		column{name: "about"},
	)
	t.note(fmt.Sprintf("%s, %s of %s; facts of %s", r.Engine, matches(len(r.All)), plural(s.index.Len(), "tool"), toolsearch.Date()))
	for i := range r.All {
		m := &r.All[i]
		f := m.Fate(r.Limit)
		t.styled(fateStyles[f], rankOf(m), rankRange(m), string(f), s.index.Name(m.Tool), s.sessions[m.Tool], m.Doubt)
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
		Best: m.Best, Worst: m.Worst, Missed: m.Missed, Ways: ways, Fate: string(m.Fate(limit)), About: m.Doubt}
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
		column{name: "tool", width: 40, min: 20, tail: true},
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
	return string(p.Match.Fate(limit))
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
