package toolsearch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// Engine is how a catalogue is searched.
type Engine string

// The engines.
const (
	Regex      Engine = "regex"       // tool_search_tool_regex_20251119
	BM25       Engine = "bm25"        // tool_search_tool_bm25_20251119
	ClaudeCode Engine = "claude-code" // the ToolSearch tool of Claude Code
)

// Engines gives the engines by name.
func Engines() []Engine { return []Engine{Regex, BM25, ClaudeCode} }

// Options are how to search. The zero value is the API's regex engine with its
// own limits.
type Options struct {
	Engine Engine        // Regex if empty
	Limit  int           // how many tools the model is given; 0: the engine's default
	Budget time.Duration // for all of a regex search; 0: the engine's
	Now    func() time.Time
}

// A Match is a tool that a query finds under one way of searching at least.
type Match struct {
	Tool int // index in the catalogue
	// Rank is the place among all that match, from 1, under the usual way; 0 if
	// the tool does not match under it.
	Rank int
	// Best and Worst are the ranks under all ways under which it matches.
	Best, Worst int
	Missed      int    // ways under which it does not match
	Doubt       string // what Missed comes from, in words; empty if it is 0
}

// Fate is what becomes of a match.
type Fate string

// The fates.
const (
	Given Fate = "given" // the model gets the tool
	Cut   Fate = "cut"   // it matches, and the model never hears of it
	Maybe Fate = "maybe" // it matches under some ways of searching only
)

// Fate says what becomes of a match under the usual way.
func (m *Match) Fate(limit int) Fate {
	switch {
	case m.Rank == 0:
		return Maybe
	case m.Given(limit):
		return Given
	}
	return Cut
}

// Given reports whether the model is given the tool under the usual way.
func (m *Match) Given(limit int) bool { return m.Rank > 0 && m.Rank <= limit }

// A Result is what a query finds.
type Result struct {
	Engine Engine
	Query  string
	Limit  int     // matches whose rank is above are cut, and the model never hears of them
	Ways   int     // ways of searching that were tried
	All    []Match // by rank; those without one last
	// StandIn marks an engine whose own ranking is not published.
	StandIn bool
	Missing []string // names that a select: query asked for, and the catalogue has not
}

// A QueryError is a query that the engine answers with an error.
type QueryError struct {
	Code string // the API's error code; empty if the query only can't be simulated
	Text string
}

func (p *QueryError) Error() string {
	if p.Code == "" {
		return p.Text
	}
	return p.Code + ": " + p.Text
}

// The API's error codes.
const (
	codeInvalid = "invalid_tool_input"
	codeTime    = "execution_time_exceeded"
)

// Search runs one query. An error is a *QueryError.
func (x *Index) Search(query string, o Options) (*Result, error) {
	r := &Result{Engine: o.Engine, Query: query, Limit: o.Limit}
	r.Engine = cmp.Or(r.Engine, Regex)
	r.Limit = cmp.Or(r.Limit, known().DefaultLimit)
	if r.Limit < 1 || r.Limit > known().MaxLimit {
		return nil, &QueryError{codeInvalid, fmt.Sprintf("limit is from 1 to %d, not %d", known().MaxLimit, r.Limit)}
	}
	if len(x.docs) > known().MaxTools {
		return nil, &QueryError{codeInvalid, fmt.Sprintf("%d tools can be deferred, not %d", known().MaxTools, len(x.docs))}
	}
	switch r.Engine {
	case Regex:
		return r, x.regex(r, o)
	case BM25:
		return r, x.bm25(r)
	case ClaudeCode:
		return r, x.claudeCode(r)
	}
	return nil, &QueryError{"", fmt.Sprintf("there is no engine %q", r.Engine)}
}

func tooLong(what, query string, limit int) error {
	if n := utf8.RuneCountInString(query); n > limit {
		return &QueryError{codeInvalid, fmt.Sprintf("a %s has at most %d characters, this one has %d", what, limit, n)}
	}
	return nil
}

// combine joins the lists that the ways of searching gave, the usual one first.
func (r *Result) combine(lists [][]int) {
	r.Ways = len(lists)
	at := map[int]int{} // tool -> index in r.All
	for way, list := range lists {
		for i, tool := range list {
			k, ok := at[tool]
			if !ok {
				k = len(r.All)
				at[tool] = k
				r.All = append(r.All, Match{Tool: tool, Best: math.MaxInt, Missed: len(lists)})
			}
			m := &r.All[k]
			m.Best, m.Worst, m.Missed = min(m.Best, i+1), max(m.Worst, i+1), m.Missed-1
			if way == 0 {
				m.Rank = i + 1
			}
		}
	}
	slices.SortStableFunc(r.All, func(a, b Match) int {
		return cmp.Or(cmp.Compare(unranked(a.Rank), unranked(b.Rank)), cmp.Compare(a.Best, b.Best), cmp.Compare(a.Tool, b.Tool))
	})
}

func unranked(rank int) int {
	if rank == 0 {
		return math.MaxInt
	}
	return rank
}
