package toolsearch

import (
	"slices"
	"strings"
)

// A Query is what somebody would type who looks for a tool, made from the tool's
// own words.
type Query struct {
	From string // "name", "title", "description" or "arguments"
	Text string
}

// Obvious makes the queries that ought to find a tool, in the way that the engine
// takes them. A tool that none of them finds can't be found.
func (x *Index) Obvious(tool int, e Engine) (queries []Query) {
	d := &x.docs[tool]
	add := func(from string, words []string) {
		text := phrase(words, e, from == "arguments")
		if text != "" && !slices.ContainsFunc(queries, func(q Query) bool { return q.Text == text }) {
			queries = append(queries, Query{from, text})
		}
	}
	add("name", telling(Words(d.bare), len(d.bare)))
	add("title", telling(Words(d.title), len(d.title)))
	add("description", telling(Words(firstSentence(d.description)), known().Obvious.Words))
	add("arguments", arguable(d.args))
	return queries
}

// phrase writes words as a query: for the regex engine as a pattern, words in
// their order with anything between, or any of them.
func phrase(words []string, e Engine, either bool) string {
	if e != Regex && e != "" {
		return strings.Join(words, " ")
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteMeta(w)
	}
	between := ".*"
	if either {
		between = "|"
	}
	text := strings.Join(quoted, between)
	for len([]rune(text)) > known().Regex.MaxPattern && len(quoted) > 1 {
		quoted = quoted[:len(quoted)-1]
		text = strings.Join(quoted, between)
	}
	return text
}

// quoteMeta is for the words of Words and the names of arguments.
func quoteMeta(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// telling takes the words that tell something, the first few of them.
func telling(words []string, most int) (out []string) {
	for _, w := range words {
		if !stops()[w] && !slices.Contains(out, w) && len(out) < most {
			out = append(out, w)
		}
	}
	return out
}

func arguable(args []string) (out []string) {
	for _, a := range args {
		if !slices.Contains(out, a) && len(out) < known().Obvious.Words {
			out = append(out, a)
		}
	}
	return out
}

func firstSentence(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, ".\n"); i > 0 {
		return s[:i]
	}
	return s
}

// A Probe is an obvious query with what it found.
type Probe struct {
	Query
	Match   Match // of the tool; its Best is 0 if it was not found at all
	Of      int   // tools that match
	Given   bool  // the model would be given the tool
	Problem error // the engine refused the query
}

// Probe runs the obvious queries of a tool. findable reports whether one of them
// gives the tool to the model.
func (x *Index) Probe(tool int, o Options) (probes []Probe, findable bool) {
	for _, q := range x.Obvious(tool, o.Engine) {
		p := Probe{Query: q}
		r, err := x.Search(q.Text, o)
		if err != nil {
			p.Problem = err
			probes = append(probes, p)
			continue
		}
		p.Of = len(r.All)
		if i := slices.IndexFunc(r.All, func(m Match) bool { return m.Tool == tool }); i >= 0 {
			p.Match = r.All[i]
			p.Given = p.Match.Given(r.Limit)
		}
		findable = findable || p.Given
		probes = append(probes, p)
	}
	return probes, findable
}
