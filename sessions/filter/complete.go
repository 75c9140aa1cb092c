package filter

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcptap/mcptap/decode"
)

// A Completion is one way to go on: Text in place of the bytes From to To.
type Completion struct {
	Text     string
	From, To int
	About    string // what it is, or how often it occurs
}

// maxCompletions is how many are offered.
const maxCompletions = 50

// Complete says how a filter may go on at a place in it, a byte offset: with fields,
// with the values that occur, or with the words that join terms. v may be nil.
func Complete(text string, cursor int, v *Vocabulary) []Completion {
	if len(text) > maxText {
		return nil
	}
	cursor = min(max(cursor, 0), len(text))
	from := termStart(text[:cursor])
	typed := text[from:cursor]
	if name, sign := fieldAt(typed, 0); sign != "" {
		f := lookUp(name)
		if f == nil || f.Numeric() {
			return nil
		}
		at := from + len(name) + len(sign)
		return v.complete(f, text[at:cursor], at, cursor)
	}
	var out []Completion
	for _, f := range fields {
		if hasPrefix(f.Name, typed) {
			sign := ":"
			if f.Numeric() && f.kind != numbers {
				sign = ">"
			}
			out = append(out, Completion{f.Name + sign, from, cursor, f.About})
		}
	}
	return append(out, keywordsAfter(text[:from], typed, from, cursor)...)
}

// keywordsAfter offers the words that join terms where a term stands before, and
// "not" everywhere.
func keywordsAfter(before, typed string, from, to int) (out []Completion) {
	words := []string{"not"}
	if root, err := parse(openBrackets(before)); err == nil && root != nil {
		words = []string{"and", "or", "not"}
	}
	for _, w := range words {
		if typed != "" && hasPrefix(w, typed) {
			out = append(out, Completion{w + " ", from, to, ""})
		}
	}
	return out
}

// openBrackets gives what stands in the innermost bracket that is not closed.
func openBrackets(s string) string {
	closed := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == ')':
			closed++
		case s[i] == '(' && closed == 0:
			return s[i+1:]
		case s[i] == '(':
			closed--
		}
	}
	return s
}

// termStart is where the term begins that s ends in.
func termStart(s string) int {
	start, open := 0, byte(0)
	for i := pathEnd(s, 0); i < len(s); {
		c, w := s[i], 1
		switch {
		case open != 0:
			if c == '\\' && open != '\'' {
				w = 2
			} else if c == open {
				open = 0
			}
		case opensValue(s, start, i):
			open = c
		case delimits(s, i):
			_, w = utf8.DecodeRuneInString(s[i:])
			start = i + w
			i = pathEnd(s, start)
			continue
		}
		i += w
	}
	return min(start, len(s))
}

// pathEnd is where the path ends of the term that begins at start, or start if it
// has none that is not quoted: brackets and spaces may be part of one.
func pathEnd(s string, start int) int {
	name, sign := fieldAt(s, start)
	at := start + len(name) + len(sign)
	if sign == "" || !strings.EqualFold(name, "path") || at < len(s) && strings.IndexByte(`"'`, s[at]) >= 0 {
		return start
	}
	_, end, _ := barePath(s, at)
	return end
}

// opensValue reports a quotation mark or slash at the beginning of a value.
func opensValue(s string, start, i int) bool {
	if c := s[i]; c != '"' && c != '\'' && c != '/' {
		return false
	}
	if i == start {
		return true
	}
	name, sign := fieldAt(s, start)
	return sign != "" && i == start+len(name)+len(sign)
}

func hasPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// A Vocabulary is the values that occur in a session, for completion.
type Vocabulary struct {
	calls  int
	tools  map[string]int
	names  map[string]int
	method map[string]int
	server map[string]int
}

// maxVocabulary is how many values are kept of one field: names can be made up.
const maxVocabulary = 2000

// Grow takes what a session has more since the last time, up to limit calls: the
// caller can spread the work. It reports whether there is more.
func (v *Vocabulary) Grow(s *decode.Session, label string, limit int) (more bool) {
	v.init()
	for ; v.calls < s.Calls() && limit > 0; limit-- {
		c := s.Call(v.calls)
		v.calls++
		count(v.method, c.Method)
		count(v.names, c.Name)
		if c.Method == "tools/call" {
			count(v.tools, c.Name)
		}
	}
	clear(v.server)
	count(v.server, label)
	for _, p := range s.Servers() {
		count(v.server, p.Name)
	}
	return v.calls < s.Calls()
}

func (v *Vocabulary) init() {
	if v.tools == nil {
		*v = Vocabulary{tools: map[string]int{}, names: map[string]int{}, method: map[string]int{}, server: map[string]int{}}
	}
}

// Merge takes the values of another session as well. What was merged must not grow.
func (v *Vocabulary) Merge(other *Vocabulary) {
	v.init()
	for _, f := range []struct{ to, from map[string]int }{{v.tools, other.tools}, {v.names, other.names}, {v.method, other.method}, {v.server, other.server}} {
		for value, n := range f.from {
			countTimes(f.to, value, n)
		}
	}
}

func count(in map[string]int, value string) { countTimes(in, value, 1) }

func countTimes(in map[string]int, value string, n int) {
	if _, known := in[value]; value != "" && (known || len(in) < maxVocabulary) {
		in[value] += n
	}
}

// gjson paths that are asked for most.
var commonPaths = []string{"params.name", "params.arguments", "params.uri", "params._meta", "result.content", "result.isError", "result.structuredContent",
	"result.content.#.text", "error.code", "error.message"}

// complete gives the values of a field that begin with what was typed, the most
// frequent first.
func (v *Vocabulary) complete(f *Field, typed string, from, to int) (out []Completion) {
	typed = strings.TrimLeft(typed, `"'`)
	for _, w := range f.Words {
		if hasPrefix(w, typed) {
			out = append(out, Completion{Text: w, From: from, To: to})
		}
	}
	if f.kind == gjsonish {
		for _, p := range commonPaths {
			if hasPrefix(p, typed) {
				out = append(out, Completion{Text: p, From: from, To: to})
			}
		}
	}
	values := v.of(f)
	found := make([]string, 0, len(values))
	for s := range values {
		if hasPrefix(s, typed) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b)) })
	for _, s := range found[:min(len(found), maxCompletions)] {
		out = append(out, Completion{quote(s), from, to, howOften(values[s])})
	}
	return out
}

func (v *Vocabulary) of(f *Field) map[string]int {
	if v == nil {
		return nil
	}
	switch f.Name {
	case "tool":
		return v.tools
	case "name":
		return v.names
	case "method":
		return v.method
	case "server":
		return v.server
	}
	return nil
}

func howOften(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
