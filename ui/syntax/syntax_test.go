package syntax

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
)

// marked writes the tokens of a text that have a look: heads of their kinds, and text.
func marked(of Language, text string) string {
	var b strings.Builder
	spans := New(of, []byte(text)).Spans(0, len(text))
	for i, s := range spans {
		end := len(text)
		if i+1 < len(spans) {
			end = spans[i+1].From
		}
		word := text[s.From:end]
		if mark := marks[s.Kind]; mark != "" {
			word = mark + "<" + word + ">"
		}
		b.WriteString(word)
	}
	return b.String()
}

var marks = map[chroma.TokenType]string{
	chroma.NameTag: "n", chroma.LiteralString: "s", chroma.LiteralStringBacktick: "s", chroma.LiteralNumber: "0", chroma.Keyword: "k",
	chroma.KeywordConstant: "c", chroma.Comment: "#", chroma.GenericHeading: "h", chroma.GenericStrong: "b",
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		of         Language
		text, want string
	}{
		{JSON, "{\"a\": [1.5, true],\n \"b\": \"x\\\"y\"}", "{n<\"a\">: [0<1.5>, c<true>],\n n<\"b\">: s<\"x\\\"y\">}"},
		{JSON, "{\"open", "{s<\"open>"},
		{YAML, "# head\nname: demo\nlist:\n  - 3\nn: 4 \nok: true\n", "#<# head>\nn<name>: s<demo>\nn<list>:\n  - 3\nn<n>: 0<4> \nn<ok>: c<true>\n"},
		{XML, "<a x=\"1\">t &amp; <!-- c --></a>", "<n<a> n<x>=s<\"1\">>t c<&amp;> #<<!-- c -->></n<a>>"},
		{Markdown, "# Top\n- **b** and `c` at https://a.b/c\n```go\nx := 1\n```\nend", "h<# Top>\n- b<**b**> and s<`c`> at n<https://a.b/c>\n```gos<\nx := 1\n>```\nend"},
		{Code, "// c\nfunc f(a int) { return \"s\" + 0x1f } /* x */", "#<// c>\nk<func> f(a int) { k<return> s<\"s\"> + 0<0x1f> } #</* x */>"},
		{"", "func", ""},
	} {
		if got := marked(c.of, c.text); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.of, got, c.want)
		}
	}
}

func TestGuess(t *testing.T) {
	for text, want := range map[string]Language{
		"": "", " \n": "", "one line\nand another\n": "", "Dear all,\nplease note: this is text.\nYours": "",
		"{\"a\":1}\n{\"a\":2}": JSON, "<?xml version=\"1.0\"?>\n<a/>": XML, "<p>hello</p>\n": XML, "< 3 items\nleft": "",
		"# Title\n\n## Part\n\n- a\n- b": Markdown, "see\n```\nx\n```": Markdown, "#!/bin/sh\nls": Code,
		"package a\n\nfunc f() {\n}\n": Code, "def f(x):\n    return x\n\nclass A:\n    pass\n": Code,
		"SELECT a\nFROM b;\nINSERT INTO c;": Code, "name: x\nversion: 3\nlist:\n  - a\n  - b": YAML,
	} {
		if got := Guess([]byte(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestFar: what is past the part with colours has none, and a look at a place first
// gives the same as a look in order.
func TestFar(t *testing.T) {
	text := bytes.Repeat([]byte("x = \"é\" // c\n"), 8<<10)
	line := len("x = \"é\" // c\n")
	if got := New(Code, text).Spans(len(text)-line, len(text)); len(got) != 0 {
		t.Errorf("the last line has %v", got)
	}
	late, early := New(Code, text), New(Code, text)
	for i := range 1000 {
		early.Spans(i*line, (i+1)*line)
	}
	a, b := late.Spans(999*line, 1000*line), early.Spans(999*line, 1000*line)
	if len(a) < 5 || len(a) != len(b) || a[len(a)-1] != b[len(b)-1] {
		t.Errorf("%v, in order %v", a, b)
	}
}

// TestMany: a text of nothing but tokens is read to a limit.
func TestMany(t *testing.T) {
	text := bytes.Repeat([]byte("a "), maxText)
	got := New(Code, text)
	if spans := got.Spans(0, len(text)); len(spans) != maxTokens || got.upto != maxTokens {
		t.Errorf("%d tokens in %d bytes", len(spans), got.upto)
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{"# a\n**b** `c", "{\"a\":\"\\", "<a b='", "a: |\n  b\n- c: \"", "\"\"\" /* ' \\", "é\u0301\xff", "func \u202e(\u200d) {"} {
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		if len(text) > 4<<10 {
			return
		}
		Guess(text)
		for _, of := range []Language{Code, JSON, Markdown, XML, YAML} {
			last := -1
			for i, s := range New(of, text).Spans(0, len(text)) {
				if s.From <= last || i == 0 && s.From != 0 || s.From >= len(text) || text[s.From] >= 0x80 && s.From > 0 {
					t.Fatalf("%s: token %d of %q begins at %d, after %d", of, i, text, s.From, last)
				}
				last = s.From
			}
			at = max(0, min(at, len(text)))
			if spans := New(of, text).Spans(at, len(text)); len(spans) > 0 && spans[0].From > at {
				t.Fatalf("%s: from %d of %q the first token begins at %d", of, at, text, spans[0].From)
			}
		}
	})
}

// BenchmarkWhole reads as much of a text as ever gets colours.
func BenchmarkWhole(b *testing.B) {
	for of, line := range map[Language]string{
		Code: "\tif err := f(x, \"text\"); err != nil { // so it is\n", JSON: "  \"key\": [1, 2.5, \"text\", true],\n",
		Markdown: "- a point with **weight** and `code`, and so on\n", XML: "<item id=\"3\">some text &amp; more</item>\n", YAML: "  name: some text, and 3\n",
	} {
		text := bytes.Repeat([]byte(line), maxText/len(line))
		b.Run(string(of), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				New(of, text).Spans(len(text)-1, len(text))
			}
		})
	}
}
