package toolsearch

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// marked shows a field with its marks in brackets.
func marked(f *Field) string {
	var b strings.Builder
	at := 0
	for _, s := range f.Marks {
		b.WriteString(f.Text[at:s.From] + "[" + f.Text[s.From:s.To] + "]")
		at = s.To
	}
	return b.String() + f.Text[at:]
}

// TestExplain: each engine marks what it goes by, in every field that is searched.
func TestExplain(t *testing.T) {
	x := New([]Tool{{Name: "mcp__desk__addComment", Description: "Add a Comment to a ticket, é comment.", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string","description":"the comment"}}}`)}}, false)
	for _, c := range []struct {
		engine Engine
		query  string
		want   []string
	}{
		{Regex, "com+ent", []string{"mcp__desk__add[Comment]", "Add a [Comment] to a ticket, é [comment].", "text", "the [comment]"}},
		{Regex, "x*", []string{"mcp__desk__addComment", "Add a Comment to a ticket, é comment.", "te[x]t", "the comment"}},
		{Regex, "(", []string{"mcp__desk__addComment", "Add a Comment to a ticket, é comment.", "text", "the comment"}},
		{BM25, "comments comment TEXT", []string{"mcp__desk__add[Comment]", "Add a [Comment] to a ticket, é [comment].", "[text]", "the [comment]"}},
		{ClaudeCode, "+desk add", []string{"mcp__[desk]__[add]Comment", "[Add] a Comment to a ticket, é comment.", "text", "the comment"}},
		{ClaudeCode, "select:other, mcp__desk__addComment", []string{"[mcp__desk__addComment]", "Add a Comment to a ticket, é comment.", "text", "the comment"}},
		{BM25, "", []string{"mcp__desk__addComment", "Add a Comment to a ticket, é comment.", "text", "the comment"}},
	} {
		var got []string
		for _, f := range x.Explain(0, c.query, Options{Engine: c.engine}) {
			got = append(got, marked(&f))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s %q:\n%s\nwant:\n%s", c.engine, c.query, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestExplainAnything: marks are parts of the text, in order, whatever is searched.
func TestExplainAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := New([]Tool{{Name: rapid.String().Draw(t, "name"), Description: string(rapid.SliceOf(rapid.Byte()).Draw(t, "description"))}}, true)
		for _, e := range Engines() {
			for _, f := range x.Explain(0, rapid.String().Draw(t, "query"), Options{Engine: e}) {
				at := 0
				for _, s := range f.Marks {
					if s.From < at || s.To <= s.From || s.To > len(f.Text) {
						t.Fatalf("%v in %q", f.Marks, f.Text)
					}
					at = s.To
				}
			}
		}
	})
}
