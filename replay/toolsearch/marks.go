package toolsearch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dlclark/regexp2/v2"
)

// A Field is a text of a tool that is searched, with the places in it that a query
// matches. It may hold text from the outside.
type Field struct {
	Kind  FieldKind
	Text  string
	Marks []Span // in order, none in another
}

// A Span is a part of a text, in bytes, its end excluded.
type Span struct{ From, To int }

// FieldKind is what a field is.
type FieldKind string

// The kinds of fields.
const (
	FieldName        FieldKind = "name"
	FieldDescription FieldKind = "description"
	FieldArgument    FieldKind = "argument"
	FieldArgumentOf  FieldKind = "description of an argument"
)

// maxMarks bounds the places that are told of one field.
const maxMarks = 200

// Explain shows where in a tool's fields a query matches; an empty one matches nowhere. A
// match that only joined fields have has no place in any of them.
func (x *Index) Explain(tool int, query string, o Options) []Field {
	d := &x.docs[tool]
	fields := []Field{{Kind: FieldName, Text: d.name}, {Kind: FieldDescription, Text: d.description}}
	for _, a := range d.args {
		fields = append(fields, Field{Kind: FieldArgument, Text: a})
	}
	for _, a := range d.argdesc {
		fields = append(fields, Field{Kind: FieldArgumentOf, Text: a})
	}
	if query == "" {
		return fields
	}
	spans := x.spans(query, o)
	for i := range fields {
		fields[i].Marks = spans(&fields[i])
	}
	return fields
}

// spans gives what finds the places of a query in a field.
func (x *Index) spans(query string, o Options) func(*Field) []Span {
	none := func(*Field) []Span { return nil }
	switch cmp.Or(o.Engine, Regex) {
	case Regex:
		expr, err := translate(query)
		if err != nil {
			return none
		}
		re, err := compile(expr, true)
		if err != nil {
			return none
		}
		m := newMatcher(o)
		return func(f *Field) []Span { return m.spans(re, f.Text) }
	case ClaudeCode:
		if names, ok := strings.CutPrefix(query, "select:"); ok {
			wanted := strings.Split(names, ",")
			return func(f *Field) []Span {
				if f.Kind == FieldName && slices.ContainsFunc(wanted, func(n string) bool { return strings.TrimSpace(n) == f.Text }) {
					return []Span{{0, len(f.Text)}}
				}
				return nil
			}
		}
		return x.claudeSpans(query)
	}
	return x.wordSpans(Words(query))
}

// claudeSpans finds words, and +words anywhere in the name.
func (x *Index) claudeSpans(query string) func(*Field) []Span {
	var rest, must []string
	for w := range strings.FieldsSeq(query) {
		if needed, ok := strings.CutPrefix(w, "+"); ok && needed != "" {
			must = append(must, strings.ToLower(needed))
		} else {
			rest = append(rest, Words(w)...)
		}
	}
	words := x.wordSpans(rest)
	return func(f *Field) []Span {
		found := words(f)
		lower := strings.ToLower(f.Text)
		if f.Kind != FieldName || len(lower) != len(f.Text) { // of letters whose cases differ in length no place is told
			return found
		}
		for _, w := range must {
			if at := strings.Index(lower, w); at >= 0 {
				found = append(found, Span{at, at + len(w)})
			}
		}
		return merge(found)
	}
}

func (x *Index) wordSpans(query []string) func(*Field) []Span {
	wanted := map[string]bool{}
	for _, w := range query {
		wanted[x.fold(w)] = true
	}
	return func(f *Field) (found []Span) {
		runes := []rune(f.Text)
		at := offsets(f.Text)
		eachWord(runes, func(from, to int) {
			if len(found) < maxMarks && wanted[x.fold(strings.ToLower(string(runes[from:to])))] {
				found = append(found, Span{at[from], at[to]})
			}
		})
		return found
	}
}

// spans finds a pattern in a text, as often as the budget lasts.
func (m *matcher) spans(re *regexp2.Regexp, text string) (found []Span) {
	defer func() {
		if recover() != nil { // the library's own business: then nothing is marked
			found = nil
		}
	}()
	if re.MatchTimeout = m.end.Sub(m.now()); re.MatchTimeout <= 0 {
		return nil
	}
	match, err := re.FindStringMatch(text)
	for err == nil && match != nil && len(found) < maxMarks {
		if from, n := match.ByteRange(); n > 0 {
			found = append(found, Span{from, from + n})
		}
		if re.MatchTimeout = m.end.Sub(m.now()); re.MatchTimeout <= 0 {
			return found
		}
		match, err = re.FindNextMatch(match)
	}
	return merge(found)
}

// offsets are where the characters of a text begin, and where it ends.
func offsets(text string) []int {
	at := make([]int, 0, len(text)+1)
	for i := range text {
		at = append(at, i)
	}
	return append(at, len(text))
}

// merge puts spans in order and makes one of those that touch.
func merge(all []Span) (out []Span) {
	slices.SortFunc(all, func(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for _, s := range all {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}
