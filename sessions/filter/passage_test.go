package filter_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/sessions/filter"
)

func parsed(t *testing.T, text string) *filter.Filter {
	t.Helper()
	f, err := filter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPassage(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct {
		filter, in           string
		before, match, after string
		none                 bool
	}{
		{filter: "t-102", in: `{"text":"No ticket T-102 here"}`, before: `{"text":"No ticket `, match: "T-102", after: ` here"}`},
		{filter: "für", in: `{\"a\":\"f\\u00fcr alle\"}`, before: `{"a":"`, match: "für", after: ` alle"}`},
		{filter: "/T-[0-9]+/", in: `a T-7 b`, before: "a ", match: "T-7", after: " b"},
		{filter: "/gr.ße/", in: `"gr\u00fc\u00dfe"`, before: `"`, match: "grüße", after: `"`},
		{filter: "a or b", in: `x b y`, before: "x ", match: "b", after: " y"},
		{filter: "a and b", in: `x b y a`, before: "x b y ", match: "a"},
		{filter: "status:failed and x", in: `x`, match: "x"},
		{filter: "not a", in: `a`, none: true},
		{filter: "a", in: `b`, none: true},
		{filter: "status:failed", in: `failed`, none: true},
		{filter: "", in: `a`, none: true},
		{filter: "x", in: long + "x", before: strings.TrimPrefix(long[300:], "word"), match: "x"},
	} {
		p, ok := parsed(t, c.filter).Texts().Passage([]byte(c.in))
		if want := (filter.Passage{Before: c.before, Match: c.match, After: c.after}); ok == c.none || p != want {
			t.Errorf("%s in %.40s: %+v %v, want %+v", c.filter, c.in, p, ok, want)
		}
	}
	var none *filter.Filter
	if _, ok := none.Texts().Passage([]byte("a")); ok {
		t.Error("no filter looks for a text")
	}
}

// TestPassageEnds: what is cut off is neither half an escape nor half a character.
func TestPassageEnds(t *testing.T) {
	for pad := range 12 {
		for _, unit := range []string{`\u00fc`, `\\u00fc`, "ü", "漢", "😀"} {
			b := []byte(strings.Repeat(unit, 100) + "needle" + strings.Repeat("x", pad) + strings.Repeat(unit, 200))
			p, _ := parsed(t, "needle").Texts().Passage(b)
			if strings.ContainsAny(p.After, "\ufffd\\") || strings.ToValidUTF8(p.After, "") != p.After || len(p.After) < 100 {
				t.Errorf("%s after %d: %q", unit, pad, p.After)
			}
			if strings.ToValidUTF8(p.Before, "") != p.Before || p.Match != "needle" {
				t.Errorf("%s: %+v", unit, p)
			}
		}
	}
}

// TestNeeds: a file is passed over only if it has nothing that the filter selects.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		filter, in string
		may        bool
	}{
		{"a", "x", false},
		{"a", "xA", true},
		{"ü", `\\u00fc`, true},
		{"a and b", "b", false}, // one of them will do, a long one rather than a short
		{"a and long", "a", false},
		{"a and long", "long", true},
		{"long and (a or b)", "a", false},
		{"a and b", "a", true},
		{"status:failed and a", "x", false},
		{"status:failed or a", "x", true},
		{"a or b", "x", false},
		{"a or b", "b", true},
		{"(a or b) and not c", "c", false},
		{"not a", "x", true},
		{"/a/", "x", true},
		{`"\\"`, "x", true},
		{"note:a", "x", true},
		{"path:a", "x", true},
		{"", "x", true},
	} {
		needs := parsed(t, c.filter).Needs()
		if got := needs == nil || needs([]byte(c.in)); got != c.may {
			t.Errorf("%s: %q may have something: %v", c.filter, c.in, got)
		}
	}
	var none *filter.Filter
	if none.Needs() != nil {
		t.Error("no filter needs a text")
	}
}

// TestPassagesAreWhereTextIs: in real frames each text that the filter finds has its
// passage, and what was not found has none.
func TestPassagesAreWhereTextIs(t *testing.T) {
	files, err := filepath.Glob(corpus + "*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		l := load(t, file)
		for _, text := range []string{"ticket", "jsonrpc", `"ü"`, "/\"id\":\\s*[0-9]/", "error or tool", "{"} {
			f := parsed(t, text)
			src := source(l)
			src.Body = l.Body
			m, err := f.On(src)
			if err != nil {
				t.Fatal(err)
			}
			texts := f.Texts()
			for i := range l.Len() {
				p, ok := texts.Passage(l.Body(i))
				if ok != m.Frame(i) || ok && p.Match == "" {
					t.Fatalf("%s: frame %d is selected by %s: %v, and has the passage %+v", file, i, text, m.Frame(i), p)
				}
			}
		}
	}
}
