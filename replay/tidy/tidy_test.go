package tidy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/replay/internal/recorded"
)

var update = flag.Bool("update", false, "write the golden files anew")

// half is an estimate that is easy to check: two bytes a token.
var half = Options{Estimate: func(s string) int { return len(s) / 2 }}

func TestTool(t *testing.T) {
	for name, c := range map[string]struct{ in, want, advice string }{
		"what pydantic writes": {
			`{"name":"search_tickets","description":"Search tickets.\n\n    Args:\n        query: what to look for\n    ","inputSchema":{"properties":{"query":{"title":"Query","type":"string"},"max_results":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"default":null,"title":"Max Results"},"kind":{"anyOf":[{"enum":["a","b"],"type":"string"},{"type":"null"}],"title":"What it is"}},"required":["query"],"title":"search_ticketsArguments","type":"object"}}`,
			`{"name":"search_tickets","description":"Search tickets.\n\nArgs:\n    query: what to look for","inputSchema":{"properties":{"query":{"type":"string"},"max_results":{"type":["integer","null"],"minimum":1},"kind":{"enum":["a","b",null],"type":["string","null"],"title":"What it is"}},"required":["query"],"type":"object"}}`,
			"indentation 1 at /description, titles 3 at /inputSchema/title, null default 1 at /inputSchema/properties/max_results/default, null branch 2 at /inputSchema/properties/max_results/anyOf, (optional 2 at /inputSchema/properties/max_results)",
		},
		"what zod writes": {
			`{ "name": "x", "inputSchema": { "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {}, "required": [], "additionalProperties": true } }`,
			`{"name":"x","inputSchema":{"type":"object","properties":{}}}`,
			"empty 2 at /inputSchema/required, dialect 1 at /inputSchema/$schema",
		},
		"a dialect that matters": {
			`{"name":"x","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/a","minimum":1}},"definitions":{"a":{}}}}`,
			"", "",
		},
		"a place that something refers to": {
			`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"$ref":"#/properties/a/anyOf/0"}},"required":["a"]}}`,
			"", "",
		},
		"members that would meet": {
			`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"description":"out","anyOf":[{"type":"string","description":"in"},{"type":"null"}]},"b":{"anyOf":[{"const":1,"type":"integer"},{"type":"null"}]},"c":{"properties":{"d":{}},"anyOf":[{"type":"object","additionalProperties":false},{"type":"null"}]}},"required":["a","b","c"]}}`,
			"", "",
		},
		"properties that are called like keywords": {
			`{"name":"x","inputSchema":{"type":"object","properties":{"title":{"type":"string"},"default":{"type":"null"},"description":{"type":"string","title":"Said before"}},"required":["default","description","title"]}}`,
			"", "",
		},
		"other members stay as they were": {
			`{"name":"x","title":"X","annotations":{"a":1.0,"b":"\u0041"},"inputSchema":{"type":"object"},"outputSchema":{"title":"xOutput","type":"object"},"_meta":{"q":[]}}`,
			"", "",
		},
	} {
		d, err := Tool([]byte(c.in), half)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			c.want = c.in
		}
		if diff := cmp.Diff(c.want, string(d.Tidied)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var said []string
		for _, a := range d.Advice {
			text := fmt.Sprintf("%s %d at %s", a.Kind, a.Places, a.Path)
			if !a.Done {
				text = "(" + text + ")"
			}
			said = append(said, text)
		}
		if got := strings.Join(said, ", "); got != c.advice {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestSavings(t *testing.T) {
	d, err := Tool([]byte(`{"name":"f","description":"Does it.","inputSchema":{"type":"object","properties":{"a":{"type":"string","title":"A"}},"title":"fArguments"}}`), half)
	if err != nil {
		t.Fatal(err)
	}
	const before = len(`{"name":"f","description":"Does it.","input_schema":{"type":"object","properties":{"a":{"type":"string","title":"A"}},"title":"fArguments"}}`)
	const saved = len(`,"title":"A"`) + len(`,"title":"fArguments"`)
	want := []Advice{{Kind: Titles, Tool: "f", Path: "/inputSchema/title", Places: 2, Bytes: saved, Tokens: before/2 - (before-saved)/2, Done: true}}
	if diff := cmp.Diff(want, d.Advice); diff != "" || d.Before != before || d.After != before-saved {
		t.Errorf("%d to %d bytes: %s", d.Before, d.After, diff)
	}
}

func TestDedent(t *testing.T) {
	for in, want := range map[string]string{
		"One line.":                            "One line.",
		"\n    First.\n        Second.\n    ":  "First.\n    Second.",
		"First.\n\n    Args:\n      x: y\n":    "First.\n\nArgs:\n  x: y",
		"First.\r\n\r\n    Second.":            "First.\n\nSecond.",
		"Args:\n    x: y":                      "Args:\n    x: y", // it may have been cleaned
		"List:\n- a\n  - b":                    "List:\n- a\n  - b",
		"First.\n\n\tTab.\n    Spaces.":        "First.\n\n\tTab.\n    Spaces.",
		"First.\n   \nSecond.  \nThird.":       "First.\n\nSecond.  \nThird.", // a line break of Markdown
		"":                                     "",
		"\n \n":                                "",
		"Code:\n\n```\nif x:\n    y()\n```":    "Code:\n\n```\nif x:\n    y()\n```",
		"Raw.\n\n    Code:\n        y()\n    ": "Raw.\n\nCode:\n    y()",
	} {
		if got := dedent(in); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

// TestDedentKeepsWords: nothing but white space at the ends of lines goes.
func TestDedentKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b c", " ", "    ", "\n", "\t", "\r\n", "é"})).Draw(t, "text"), "")
		out := dedent(in)
		if got, want := strings.Fields(out), strings.Fields(in); !slices.Equal(got, want) {
			t.Fatalf("%q became %q", in, out)
		}
		if dedent(out) != out {
			t.Fatalf("%q becomes %q, then %q", in, out, dedent(out))
		}
	})
}

func TestResult(t *testing.T) {
	frame := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\n  \"a\": 1,\n  \"b\": [1, 2]\n}"},{"type":"text","text":"no { JSON }"},{"type":"image","data":""}],"structuredContent":{"a": 1,"b":[1,2]}}}`
	const text, compact = "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}", `{"a":1,"b":[1,2]}`
	want := []Advice{
		{Kind: PrettyJSON, Path: "/result/content/0/text", Places: 1, Bytes: len(text) - len(compact), Tokens: len(text)/2 - len(compact)/2},
		{Kind: SaidTwice, Path: "/result/structuredContent", Places: 1, Bytes: len(compact), Tokens: len(compact) / 2},
	}
	if diff := cmp.Diff(want, Result([]byte(frame), half)); diff != "" {
		t.Error(diff)
	}
	for _, nothing := range []string{"", "{", `{"result":{"content":[{"text":"{\"a\":1}"}]}}`, `{"result":{"content":{}}}`, `{"error":{}}`, `{"result":{"content":[{"text":"{ \"a\":"}]}}`} {
		if got := Result([]byte(nothing), half); got != nil {
			t.Errorf("%s: %+v", nothing, got)
		}
	}
}

// schemaOf makes schemas with everything that tidying looks at.
func schemaOf(t *rapid.T, depth int) any {
	kinds := []string{"string", "integer", "bool", "free", "enum", "nullable", "optional", "optional", "ref"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "array", "anyOf", "not")
	}
	s := map[string]any{}
	add := func(key string, values ...any) {
		if rapid.IntRange(0, 3).Draw(t, key) == 0 {
			s[key] = rapid.SampledFrom(values).Draw(t, key+" value")
		}
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "string":
		s["type"] = "string"
		add("minLength", 0, 2)
		add("pattern", "^a")
		add("format", "date", "uri")
	case "integer":
		s["type"] = "integer"
		add("minimum", 1)
		add("exclusiveMaximum", 3)
	case "bool":
		return rapid.Bool().Draw(t, "schema")
	case "enum":
		s["enum"] = rapid.SampledFrom([]any{[]any{"a", "b"}, []any{1, nil}, []any{nil}}).Draw(t, "enum")
		add("type", "string", "integer", "null")
	case "nullable":
		s["anyOf"] = []any{schemaOf(t, depth-1), map[string]any{"type": "null"}}
	case "optional":
		branch := rapid.SampledFrom([]map[string]any{
			{"type": "string", "enum": []any{"a", "b"}}, {"type": "object", "additionalProperties": false}, {"type": "string", "minLength": 2},
			{"type": "object", "properties": map[string]any{"a": schemaOf(t, depth-1)}}, {"type": "array", "items": false},
		}).Draw(t, "branch")
		s["anyOf"] = []any{branch, map[string]any{"type": "null"}}
		add("properties", map[string]any{"z": true})
		add("additionalProperties", false, map[string]any{"type": "null"})
		add("prefixItems", []any{true})
	case "ref":
		s["$ref"] = rapid.SampledFrom([]string{"#/$defs/d", "#", "#/properties/a", "#/properties/a/anyOf/0", "#/properties/a/anyOf/0"}).Draw(t, "to")
	case "array":
		s["type"] = "array"
		s["items"] = schemaOf(t, depth-1)
		add("minItems", 0, 1)
		add("uniqueItems", true, false)
	case "anyOf":
		s["anyOf"] = []any{schemaOf(t, depth-1), schemaOf(t, depth-1)}
	case "not":
		s["not"] = schemaOf(t, depth-1)
	case "object":
		s["type"] = "object"
		props := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "title", "default"}), 0, 3, rapid.ID).Draw(t, "properties") {
			props[key] = schemaOf(t, depth-1)
		}
		s["properties"] = props
		add("required", []any{}, []any{"a"}, []any{"b"})
		add("additionalProperties", true, false)
	}
	if rapid.IntRange(0, 9).Draw(t, "unevaluated") == 0 { // it keeps much from being tidied
		s["unevaluatedProperties"] = false
	}
	add("title", "A", "B", "Title", "Something else", "")
	add("default", nil, nil, 1)
	add("description", "Words.\n\n    More.", "")
	add("const", nil, "a")
	return s
}

func valueOf(t *rapid.T, depth int) any {
	n := rapid.IntRange(0, 9).Draw(t, "value")
	switch {
	case n > 7:
		return nil
	case n == 6 && depth > 0:
		var list []any
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			list = append(list, valueOf(t, depth-1))
		}
		return append([]any{}, list...)
	case n == 7 && depth > 0:
		m := map[string]any{}
		for _, key := range []string{"a", "b", "title", "z"} {
			if rapid.Bool().Draw(t, key) {
				m[key] = valueOf(t, depth-1)
			}
		}
		return m
	}
	return rapid.SampledFrom([]any{nil, "a", "abc", "", 1, 2.5, true, map[string]any{}}).Draw(t, "scalar")
}

func compile(t rapid.TB, schema []byte) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("mcp:schema", doc); err != nil {
		return nil
	}
	compiled, err := c.Compile("mcp:schema")
	if err != nil {
		return nil // a reference that leads nowhere, or in a circle
	}
	return compiled
}

func accepts(t rapid.TB, s *jsonschema.Schema, value any) (ok bool) {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%v", err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s.Validate(v) == nil
}

// TestAcceptsTheSame: what a schema takes and refuses, the tidied one does too, and
// tidying it again changes nothing.
func TestAcceptsTheSame(t *testing.T) {
	changed, compared := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		root := map[string]any{"type": "object", "properties": map[string]any{"a": schemaOf(t, 3), "b": schemaOf(t, 2)}, "$defs": map[string]any{"d": schemaOf(t, 1)}}
		if dialect := rapid.SampledFrom([]string{"", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"}).Draw(t, "dialect"); dialect != "" {
			root["$schema"] = dialect
		}
		if rapid.Bool().Draw(t, "strict") {
			root["additionalProperties"] = rapid.Bool().Draw(t, "additional")
		}
		definition, err := json.Marshal(map[string]any{"name": "a", "inputSchema": root})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Tool(definition, Options{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Tool(d.Tidied, Options{})
		if err != nil || !bytes.Equal(again.Tidied, d.Tidied) {
			t.Fatalf("%s\nbecomes %s\nthen %s", definition, d.Tidied, again.Tidied)
		}
		before, after := compile(t, schemaIn(definition)), compile(t, schemaIn(d.Tidied))
		if before == nil || after == nil {
			if (before == nil) != (after == nil) {
				t.Fatalf("one of them can't be used:\n%s\n%s", definition, d.Tidied)
			}
			return
		}
		if d.After < d.Before {
			changed++
		}
		for range 12 {
			value := map[string]any{"a": valueOf(t, 3)}
			if rapid.Bool().Draw(t, "b too") {
				value["b"] = valueOf(t, 2)
			}
			compared++
			if was, is := accepts(t, before, value), accepts(t, after, value); was != is {
				t.Fatalf("%v: %v before, %v after\n%s\n%s", value, was, is, definition, d.Tidied)
			}
		}
	})
	if changed == 0 || compared == 0 {
		t.Errorf("%d schemas changed, %d values compared: the test tests nothing", changed, compared)
	}
}

// TestRecordedAcceptTheSame goes through the tools of recorded sessions with each
// argument alone, and all of them together, in every type.
func TestRecordedAcceptTheSame(t *testing.T) {
	compared := 0
	for _, file := range recorded.Files(t) {
		for _, it := range recorded.Tools(recorded.Load(t, file)) {
			d, err := Tool(it.Definition, Options{})
			if err != nil {
				continue
			}
			before, after := compile(t, schemaIn(it.Definition)), compile(t, schemaIn(d.Tidied))
			if before == nil {
				continue
			}
			for _, value := range argumentsFor(schemaIn(it.Definition)) {
				compared++
				if was, is := accepts(t, before, value), accepts(t, after, value); was != is {
					t.Errorf("%s %s: %v: %v before, %v after", file, it.Name, value, was, is)
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d values were compared", compared)
	}
}

func argumentsFor(schema []byte) (values []any) {
	values = append(values, nil, map[string]any{})
	var names []string
	gjson.GetBytes(schema, "properties").ForEach(func(key, _ gjson.Result) bool {
		names = append(names, key.String())
		return true
	})
	for _, v := range []any{nil, "", "text", 1, 1.5, true, []any{}, []any{"a", nil}, map[string]any{"a": 1}} {
		all := map[string]any{}
		for _, name := range names {
			all[name] = v
			values = append(values, map[string]any{name: v})
		}
		values = append(values, all)
	}
	return values
}

func schemaIn(definition []byte) []byte {
	return []byte(gjson.GetBytes(definition, "inputSchema").Raw)
}

// TestCorpus says what there is to advise on the tools and results of recorded
// sessions.
func TestCorpus(t *testing.T) {
	var b strings.Builder
	for _, file := range recorded.Files(t) {
		l := recorded.Load(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		say := func(a Advice) {
			line := fmt.Sprintf("%s %s: %s, %d places from %s: %d bytes, done %v\n", name, a.Tool, a.Kind, a.Places, a.Path, a.Bytes, a.Done)
			if filepath.IsAbs(file) {
				t.Log(line)
				return
			}
			b.WriteString(line)
		}
		for _, it := range recorded.Tools(l) {
			d, err := Tool(it.Definition, Options{})
			if err != nil {
				t.Logf("%s %s: %v", name, it.Name, err)
				continue
			}
			for _, a := range d.Advice {
				say(a)
			}
		}
		for i := range l.Calls() {
			if c := l.Call(i); c.Method == "tools/call" && c.Response >= 0 {
				for _, a := range Result(l.Body(c.Response), Options{}) {
					a.Tool = c.Name
					say(a)
				}
			}
		}
	}
	const golden = "testdata/corpus.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

func FuzzTool(f *testing.F) {
	f.Add([]byte(`{"name":"a","description":"\n  x","inputSchema":{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"A"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}}`))
	f.Add([]byte(`{"inputSchema":{"anyOf":[{"type":"null"},{"type":"null"}],"enum":null}}`))
	f.Add([]byte(`{"inputSchema":` + strings.Repeat(`{"items":`, 98) + `1` + strings.Repeat("}", 98) + `}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Tool(in, half)
		if err != nil {
			return
		}
		if !json.Valid(d.Tidied) && json.Valid(in) {
			t.Errorf("%q became %q", in, d.Tidied)
		}
		if d.After > d.Before {
			t.Errorf("%q grew to %q", in, d.Tidied)
		}
		Result(in, half)
	})
}

func BenchmarkTool500(b *testing.B) {
	definition := []byte(`{"name":"search_tickets","description":"Search tickets.\n\n    Args:\n        query: what to look for\n    ","inputSchema":{"properties":{"query":{"title":"Query","type":"string"},"max_results":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"default":null,"title":"Max Results"}},"required":["query"],"title":"search_ticketsArguments","type":"object"}}`)
	b.ReportAllocs()
	for b.Loop() {
		for range 500 {
			if _, err := Tool(definition, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
