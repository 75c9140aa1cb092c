package filter

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestParse has filters and their plain form.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":       "",
		"  \t ":  "",
		"foo":    "text:foo",
		"foo*":   `text:"foo*"`,
		"foo ba": "text:foo and text:ba",
		"tool:add_* and status:tool-error or ms>100": "tool:add_* and status:tool-error or ms>100",
		"tool:a (b or c)":                    "tool:a and (text:b or text:c)",
		"tool:a and (b and c)":               "tool:a and text:b and text:c",
		"not not a":                          "not not text:a", //nolint:dupword // a double negation is a filter, and this is its test
		"not (a b)":                          "not (text:a and text:b)",
		"not(a or b)":                        "not (text:a or text:b)",
		"NOT a OR B":                         "not text:a or text:B",
		"Tool:x":                             "tool:x",
		"tool!=x":                            "not tool:x",
		"tool==x":                            "tool:x",
		"ms>=1.5s bytes<4KiB n=3 turn:2 t>2": "ms>=1.5s and bytes<4KiB and n:3 and turn:2 and t>2",
		`status:"tool error"`:                "status:tool-error",
		"status:*-error":                     "status:*-error",
		"status:/^o/":                        "status:/^o/",
		`text:"and"`:                         "text:and",
		`"say \"hi\" \\ \n"`:                 `text:"say \"hi\" \\ \\n"`,
		`'it "is"'`:                          `text:"it \"is\""`,
		`tool:"a*"`:                          `tool:"a*"`,
		`/a\/b\\/i`:                          `text:/a\/b\\/i`,
		"/ü+/":                               "text:/ü+/",
		"method:tools/call":                  "method:tools/call",
		"path:params.name=foo":               "path:params.name=foo",
		`path:result.content.#(type=="a b").text="x y" z`: `path:result.content.#(type=="a b").text="x y" and text:z`,
		`path:a.#(b=="(")`:           `path:a.#(b=="(")`,
		`(path:params.name)`:         `path:params.name`,
		`path:'a b'=/c/`:             `path:"a b"=/c/`,
		`path:x=""`:                  `path:x=""`,
		`id:'"7"'`:                   `id:"\"7\""`,
		"a or b and c or d":          "text:a or text:b and text:c or text:d",
		"(a or b) and (c or d)":      "(text:a or text:b) and (text:c or text:d)",
		"not status:ok and mark:yes": "not status:ok and mark:yes",
		strings.Repeat("(", 60) + "a" + strings.Repeat(")", 60): "text:a",
		"näher":                 `text:"näher"`,
		"code:-32602 or ms>2us": "code:-32602 or ms>2us",
		"&&":                    `text:"&&"`,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := f.String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if again, err := Parse(f.String()); err != nil || again.String() != want {
			t.Errorf("%s: parsed again: %v, %v", text, again, err)
		}
	}
}

// TestErrors has what is wrong, the column, and whether typing on may mend it (…).
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"tol:x":                     `1: there is no field "tol"; did you mean tool?`,
		"a zzz:x":                   `3: there is no field "zzz"; the fields are tool, name,`,
		"https://x":                 `1: there is no field "https"; `,
		"tool:":                     "1…: the value after tool is missing",
		"tool: x":                   "1: the value after tool is missing",
		"status:tol-error":          `8: nothing has status "tol-error"; did you mean tool-error?`,
		"status:to":                 `8…: nothing has status "to"; status can be ok, tool-error,`,
		"ms>":                       "1…: the value after ms is missing; write a number with us",
		"ms>x":                      `4: ms is compared with a number, and "x" is none; write a number with us, ms, s or m`,
		"bytes>4q":                  `7: bytes is compared with a number, and "4q" is none`,
		"tool>a":                    "1: tool has no order to compare by; write tool:VALUE",
		"a and":                     "6…: a term is missing; go on with one",
		"a or ":                     "6…: a term is missing",
		"not":                       "4…: a term is missing",
		"and a":                     "1: a term is missing before this word",
		"a and or b":                "7: a term is missing before this word",
		"(a":                        "1…: this bracket is not closed",
		"(":                         "2…: a term is missing",
		"a)":                        "2: this bracket closes nothing",
		"()":                        "2: a term is missing before this bracket",
		`"a`:                        "1…: this quotation mark is not closed",
		`tool:"a"b`:                 "9: the value has ended before this",
		"/a":                        "1…: this regular expression is not closed",
		"/a/b":                      "4: the value has ended before this",
		"ü /(/":                     "3: this is no regular expression: missing closing )",
		"path:=x":                   "6: the path is empty",
		"path:x=":                   "6…: the value after = is missing",
		"path:x.#(y":                "6…: a bracket of this path is not closed",
		"a\xff":                     "2: it is not UTF-8",
		strings.Repeat("a", 20_000): "16385: it is too long",
		strings.Repeat("(", 100):    "65: brackets and nots are nested too deep",
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
			continue
		}
		more := ""
		if e.Unfinished {
			more = "…"
		}
		got := strings.TrimPrefix(e.Error(), "the filter is wrong at character ")
		column, rest, _ := strings.Cut(got, ":")
		if got = column + more + ":" + rest; !strings.HasPrefix(got, want) {
			t.Errorf("%.40s: %s\nwant %s", text, got, want)
		}
	}
}

func TestTyping(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "0 ",
		"tool:a":                "2 tool:a",
		"tool:a a":              "2 tool:a and text:a",
		"tool:a and":            "1 tool:a",
		"tool:a and (b or":      "1 tool:a",
		"tool:a status:to":      "1 tool:a",
		"tool:a status:zz":      "3 tool:a",
		"tool:a or b and ms>":   "1 tool:a or text:b",
		"zzz:a b":               "3 ",
		"tool:a) b":             "3 tool:a",
		"a /(":                  "1 text:a",
		strings.Repeat("( ", 9): "1 ",
	} {
		got := Typing(text)
		if s := string('0'+byte(got.State)) + " " + got.Filter.String(); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
		if (got.Err != nil) != (got.State == Partial || got.State == Invalid) {
			t.Errorf("%q: %v", text, got.Err)
		}
		if f, err := Parse(text[:got.Until]); err != nil || f.String() != got.Filter.String() {
			t.Errorf("%q until %d: %v, %v", text, got.Until, f, err)
		}
	}
}

// anyText are texts with all that the language has a meaning for.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-z_*?/"'\\() =:<>iü]{0,6}`), rapid.SampledFrom([]string{"and", "or", "not", "tools/call", "add_*", `a"b`, `\`, "#(x==1)"}))
}

// anyPattern is a pattern as the parser makes them.
func anyPattern(t *rapid.T, f *Field) pattern {
	text := anyText().Draw(t, "text")
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 0:
		if f.kind != prose && plainWord(strings.NewReplacer("*", "a", "?", "a").Replace(text)) {
			return pattern{form: word, text: text}
		}
	case 1:
		v := pattern{form: regex, text: text, fold: rapid.Bool().Draw(t, "fold")}
		if _, err := v.compile(); err == nil && text != "" && !strings.Contains(text, `\/`) { // the parser takes that backslash away
			return v
		}
	}
	return pattern{form: quoted, text: text}
}

func anyNode(t *rapid.T, depth int) node {
	kind := rapid.IntRange(0, 5).Draw(t, "node")
	if depth == 0 || kind < 3 {
		return anyTerm(t)
	}
	if kind == 3 {
		return &negation{anyNode(t, depth-1)}
	}
	parts := make([]node, rapid.IntRange(2, 3).Draw(t, "parts"))
	for i := range parts {
		parts[i] = anyNode(t, depth-1)
	}
	return joined(kind == 4, parts)
}

func anyTerm(t *rapid.T) node {
	f := rapid.SampledFrom(fields).Draw(t, "field")
	n := &term{field: f}
	switch {
	case f.Numeric():
		n.compare = compare(rapid.IntRange(0, 4).Draw(t, "compare"))
		n.value.text = rapid.SampledFrom([]string{"0", "1", "2", "10", "100", "-3", "1.5"}).Draw(t, "number")
		n.number, _ = readNumber(f, n.value.text)
	case f.kind == fixed:
		n.value.text = rapid.SampledFrom(append(f.Words, "*")).Draw(t, "word")
	case f.kind == gjsonish:
		n.path = rapid.SampledFrom([]string{"params.name", "result.isError", "a b", "x=y", "(", "a.#(b==\"c d\").e", `"`, "id"}).Draw(t, "path")
		if n.hasValue = rapid.Bool().Draw(t, "hasValue"); n.hasValue {
			n.value = anyPattern(t, f)
		}
	default:
		n.value = anyPattern(t, f)
	}
	return n
}

// TestPrintParse: a filter that is printed and parsed again is the same filter.
func TestPrintParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &Filter{anyNode(t, 3)}
		text := f.String()
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !same(f.root, again.root) || again.String() != text {
			t.Fatalf("%s\nparsed again is\n%s", text, again)
		}
	})
}

// same compares filters by what they mean, member by member.
func same(a, b node) bool {
	switch a := a.(type) {
	case *join:
		b, ok := b.(*join)
		if !ok || a.or != b.or || len(a.parts) != len(b.parts) {
			return false
		}
		for i := range a.parts {
			if !same(a.parts[i], b.parts[i]) {
				return false
			}
		}
		return true
	case *negation:
		b, ok := b.(*negation)
		return ok && same(a.of, b.of)
	}
	x, y := a.(*term), b.(*term)
	if y == nil || x.field != y.field || x.path != y.path || x.hasValue != y.hasValue || x.compare != y.compare || x.number != y.number {
		return false
	}
	v, w := x.value, y.value
	if v.form != regex && !v.isGlob() && w.form != regex && !w.isGlob() { // quotation marks that are not needed go
		v.form, w.form = quoted, quoted
	}
	return v == w
}

func TestComplete(t *testing.T) {
	v := &Vocabulary{tools: map[string]int{"add_ticket": 2, "add ü": 7, "search": 1}, method: map[string]int{"tools/call": 3}}
	for _, c := range []struct{ text, want string }{
		{"too|", "tool:"},
		{"a and m|", "method: ms> mark:"},
		{"a |", "tool: name: method: status: dir: kind: id: server: turn: ms> t> bytes> n: code: mark: note: text: path:"},
		{"tool:a|", `"add ü" add_ticket`},
		{`(tool:"a|`, `"add ü" add_ticket`},
		{"tool:a| or x", `"add ü" add_ticket`},
		{"status:t|", "tool-error transport-error"},
		{"method:t|", "tools/call"},
		{"path:params.n|", "params.name"},
		{"ms>1|", ""},
		{"zzz:1|", ""},
		{"tool:x a|", "and "},
		{"(a or b) o|", "or "},
		{"(tool:x a|", "and "},
		{"o|", ""},
		{"n|", "name: n: note: not "},
		{`"a b sta|`, ""},
		{`path:a.#(b=="c d").sta|`, ""},
	} {
		cursor := strings.IndexByte(c.text, '|')
		text := strings.Replace(c.text, "|", "", 1)
		var got []string
		for _, o := range Complete(text, cursor, v) {
			got = append(got, o.Text)
			if o.From > o.To || o.To != cursor {
				t.Errorf("%s: %+v", c.text, o)
			}
			if strings.HasSuffix(o.Text, ":") || strings.HasSuffix(o.Text, ">") || strings.HasSuffix(o.Text, " ") {
				continue
			}
			done := strings.Repeat(")", strings.Count(text[:o.From], "("))
			if _, err := Parse(text[:o.From] + o.Text + text[o.To:] + done); err != nil {
				t.Errorf("%s: %q makes it wrong: %v", c.text, o.Text, err)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s\nwant %s", c.text, s, c.want)
		}
	}
}

// FuzzParse: no text makes the parser, the completion or what is typed panic, errors
// point into the text, and what was parsed prints as what it is.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`path:""`, "tool:add_* and status:tool-error or ms>100", `not (path:a.#(b=="c").d="x y")`, `"\"" /a\/b/i`, "(((", "n:1 n>", "bytes>=4KiB t<1h", "ü \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typed := Typing(text)
		for i := range min(len(text), 40) + 1 {
			for _, c := range Complete(text, i, nil) {
				if c.From < 0 || c.From > c.To || c.To > len(text) {
					t.Fatalf("%+v", c)
				}
			}
		}
		filter, err := Parse(text)
		var e *Error
		if errors.As(err, &e) {
			if e.From < 0 || e.From > e.To || e.To > len(text) || e.Column() < 1 || typed.Until > len(text) {
				t.Fatalf("%+v", e)
			}
			return
		}
		again, err := Parse(filter.String())
		if err != nil || again.String() != filter.String() {
			t.Fatalf("%q is printed as %q, and that is %v, %v", text, filter, again, err)
		}
	})
}
