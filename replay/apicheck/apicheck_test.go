package apicheck

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/replay/internal/recorded"
)

var update = flag.Bool("update", false, "write the golden files anew")

func toolOf(server string, definition []byte) Tool {
	d := gjson.ParseBytes(definition)
	t := Tool{Server: server, Name: d.Get("name").String(), Description: d.Get("description").String()}
	if s := d.Get("inputSchema"); s.Exists() {
		t.Schema = []byte(s.Raw)
	}
	if s := d.Get("outputSchema"); s.Exists() {
		t.Output = []byte(s.Raw)
	}
	return t
}

func profile(t testing.TB, name string) *Profile {
	t.Helper()
	p, ok := Named(name)
	if !ok {
		t.Fatalf("no profile %s", name)
	}
	return p
}

// TestFacts keeps hosts.json whole: every fact is used, belongs to a rule, and says
// what it rests on.
func TestFacts(t *testing.T) {
	used := map[string]bool{}
	for _, p := range Profiles() {
		if p.Title == "" || len(p.Facts) == 0 {
			t.Errorf("profile %s is not whole", p.Name)
		}
		for _, key := range p.Facts {
			used[key] = true
			if known().Facts[key] == nil {
				t.Errorf("profile %s: no fact %s", p.Name, key)
			}
		}
	}
	ids := map[string]bool{}
	for i, r := range Rules() {
		ids[r.ID] = true
		if want := fmt.Sprintf("API-%02d", i+1); r.ID != want {
			t.Errorf("rule %s stands where %s belongs", r.ID, want)
		}
	}
	for key, f := range known().Facts {
		if !used[key] || !ids[f.Rule] || f.Who == "" || f.Does == "" || f.From > f.To {
			t.Errorf("fact %s is not whole, or nobody's", key)
		}
		if len(f.Evidence) == 0 && !f.Inferred {
			t.Errorf("fact %s rests on nothing", key)
		}
		if f.Severity().String() != f.Grade {
			t.Errorf("fact %s has the severity %s", key, f.Grade)
		}
	}
}

func TestProfileOf(t *testing.T) {
	for client, want := range map[string]string{"claude-code": "claude-code", "Claude-AI": "claude-desktop", "Visual Studio Code": "vscode", "": "api", "mcp-go": "api"} {
		if got := ProfileOf(client).Name; got != want {
			t.Errorf("%q: got %s", client, got)
		}
	}
}

// cases are what hosts and the API have been seen to refuse, with near misses.
var cases = []struct {
	name    string
	profile string
	tools   []string // definitions
	want    []string // rule, severity and place; with the tool's index
}{
	{"names as they ought to be", "api", []string{`{"name":"a_B-9","inputSchema":{"type":"object"}}`}, nil},
	{"a slash, a space, a dot, none", "api", []string{`{"name":"malloy/run","inputSchema":{"type":"object"}}`, `{"name":"a b","inputSchema":{"type":"object"}}`, `{"name":"a.b","inputSchema":{"type":"object"}}`, `{"inputSchema":{"type":"object"}}`},
		[]string{"0 API-01 error /name", "1 API-01 error /name", "2 API-01 error /name", "3 API-01 error /name"}},
	{"a dot in hosts that replace it, and that take it", "claude-code", []string{`{"name":"a.b","inputSchema":{"type":"object"}}`}, []string{"0 API-01 info /name"}},
	{"a dot in VS Code", "vscode", []string{`{"name":"a.b","inputSchema":{"type":"object"}}`}, nil},
	{"129, 128, 65 and 64 characters", "api", []string{named(129), named(128), named(65), named(64)},
		[]string{"0 API-02 error /name", "1 API-02 warning /name", "2 API-02 warning /name"}},
	{"with the prefix", "claude-code", []string{named(115), named(114), named(51), named(50)}, // mcp__server1__
		[]string{"0 API-02 error /name", "1 API-02 warning /name", "2 API-02 warning /name"}},
	{"60 with server", "cursor", []string{named(54), named(53)}, []string{"0 API-02 error /name"}},
	{"65 in Claude Desktop", "claude-desktop", []string{named(51), named(50)}, []string{"0 API-02 error /name"}},
	{"twice", "api", []string{`{"name":"a","inputSchema":{"type":"object"}}`, `{"name":"a","inputSchema":{"type":"object"}}`}, []string{"1 API-03 error /name"}},
	{"the same after replacement", "claude-code", []string{`{"name":"a.b","inputSchema":{"type":"object"}}`, `{"name":"a_b","inputSchema":{"type":"object"}}`}, []string{"0 API-01 info /name", "1 API-03 error /name"}},
	{"combinators at the root", "api", []string{`{"name":"a","inputSchema":{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}}}`, `{"name":"b","inputSchema":{"type":"object","anyOf":[{"required":["x"]}],"oneOf":[]}}`, `{"name":"c","inputSchema":{"type":"object","not":{"required":["a"]},"if":{},"then":{}}}`},
		[]string{"1 API-04 error /inputSchema/anyOf", "1 API-04 error /inputSchema/oneOf", "1 API-08 error /inputSchema/oneOf"}},
	{"combinators in Claude Code", "claude-code", []string{`{"name":"b","inputSchema":{"type":"object","allOf":[true]}}`}, []string{"0 API-04 info /inputSchema/allOf"}},
	{"root types", "api", []string{`{"name":"a"}`, `{"name":"b","inputSchema":{}}`, `{"name":"c","inputSchema":{"type":["object","null"]}}`, `{"name":"d","inputSchema":true}`, `{"name":"e","inputSchema":null}`, `{"name":"f","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#"}}`},
		[]string{"0 API-05 error /inputSchema", "1 API-05 error /inputSchema", "2 API-05 error /inputSchema/type", "3 API-05 error /inputSchema", "4 API-05 error /inputSchema", "5 API-05 error /inputSchema"}},
	{"an output schema without a type", "claude-code", []string{`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"anyOf":[]}}`, `{"name":"b","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`}, []string{"0 API-06 warning /outputSchema"}},
	{"keys of arguments, nested ones do not count", "api", []string{`{"name":"a","inputSchema":{"type":"object","properties":{"filter[id]":{},"x.y-z":{"type":"object","properties":{"Account Number":{}}},"":{}}}}`, `{"name":"b","inputSchema":{"type":"object","properties":{"` + strings.Repeat("k", 65) + `":{}}}}`},
		[]string{"0 API-07 error /inputSchema/properties/filter[id]", "1 API-07 error /inputSchema/properties/" + strings.Repeat("k", 65)}},
	{"older drafts", "api", []string{
		`{"name":"a","inputSchema":{"type":"object","properties":{"ttl":{"type":"integer","exclusiveMinimum":true,"minimum":0}}}}`,
		`{"name":"b","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"t":{"type":"array","items":[{"type":"string"}]}}}}`,
		`{"name":"c","inputSchema":{"type":"object","properties":{"t":{"type":"string","required":true}}}}`,
		`{"name":"d","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"x":{}},"properties":{"t":{"$ref":"#/definitions/x","dependencies":{}}}}}`,
		`{"name":"e","inputSchema":{"type":"object","properties":{"n":{"minLength":1e99999}}}}`},
		[]string{"0 API-08 error /inputSchema/properties/ttl/exclusiveMinimum", "1 API-08 error /inputSchema/properties/t/items", "2 API-08 error /inputSchema/properties/t/required", "3 API-10 info /inputSchema/properties/t"}},
	{"references", "api", []string{
		`{"name":"a","inputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/X"},"y":{"$ref":"#"},"z":{"$ref":"#here"}},"$defs":{"X":{"$anchor":"here","$ref":"#/$defs/X"}}}}`,
		`{"name":"b","inputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/Y"}}}}`,
		`{"name":"c","inputSchema":{"type":"object","properties":{"x":{"$ref":"https://example.com/s.json"}}}}`,
		`{"name":"d","inputSchema":{"$id":"https://example.com/s","type":"object","properties":{"x":{"$ref":"https://example.com/s#/properties"},"y":{"$ref":"#/nowhere"}}}}`},
		[]string{"1 API-09 warning /inputSchema/properties/x/$ref", "2 API-09 warning /inputSchema/properties/x/$ref"}},
	{"any reference", "managed-agents", []string{`{"name":"a","inputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/X"}},"$defs":{"X":{}}}}`}, []string{"0 API-09 error /inputSchema/properties/x/$ref"}},
	{"arrays without items", "vscode", []string{`{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"array"},"y":{"type":"array","items":{}}}}}`}, []string{"0 API-11 error /inputSchema/properties/x"}},
	{"descriptions of 2049 and 2048 characters", "claude-code", []string{described(2049), described(2048)}, []string{"0 API-12 warning /description"}},
	{"what is not looked at", "api", []string{`{"name":"a","inputSchema":` + strings.Repeat(`{"items":`, 200) + `1` + strings.Repeat("}", 200) + `}`, `{"name":"b","inputSchema":{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}}`, `{"name":"c","inputSchema":{"type":"object","type":"string"}}`},
		[]string{"0 API-15 info /inputSchema", "1 API-15 info /inputSchema", "2 API-15 info /inputSchema"}},
}

func named(n int) string {
	return `{"name":"` + strings.Repeat("n", n) + `","inputSchema":{"type":"object"}}`
}

func described(n int) string {
	return `{"name":"a` + fmt.Sprint(n) + `","description":"` + strings.Repeat("é", n) + `","inputSchema":{"type":"object"}}`
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		var tools []Tool
		for _, d := range c.tools {
			tools = append(tools, toolOf("server1", []byte(d)))
		}
		var got []string
		for _, f := range Check(tools, profile(t, c.profile)) {
			got = append(got, fmt.Sprintf("%d %s %s %s", f.Tool, f.Rule.ID, f.Severity, f.Path))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// sentence says a finding with where it is and whose fact it rests on.
func sentence(f *Finding) string {
	words := fmt.Sprintf("%s (at %s); %s %s", f.What, f.Path, f.Fact.Who, f.Fact.Does)
	if when := f.Fact.When(); when != "" {
		words += " (" + when + ")"
	}
	return words
}

func TestAcrossServers(t *testing.T) {
	tools := []Tool{{Server: "a", Name: "get", Schema: []byte(`{"type":"object"}`)}, {Server: "b", Name: "get", Schema: []byte(`{"type":"object"}`)}}
	found := Check(tools, profile(t, "api"))
	if len(found) != 1 || found[0].Rule.ID != "API-03" || found[0].Tool != 1 {
		t.Fatalf("got %+v", found)
	}
	const want = "get: it is sent as get, as get of the server a is (at /name); the Claude API refuses every request with two tools of one name, unless the host drops one of them (observed, 2025-06-03 to 2026-05-17)"
	if got := sentence(&found[0]); got != want {
		t.Errorf("got %s", got)
	}
	if found := Check(tools, profile(t, "claude-code")); len(found) != 0 {
		t.Errorf("apart by their prefixes: %+v", found)
	}
}

func TestInstructions(t *testing.T) {
	found := Instructions(strings.Repeat("é", 2049), profile(t, "claude-code"))
	const want = "the server: its instructions have 2049 characters, more than 2048 (at /instructions); Claude Code cuts there (documented, 2026-04 to 2026-08-22)"
	if len(found) != 1 || sentence(&found[0]) != want || found[0].Rule.ID != "API-12" {
		t.Errorf("got %+v", found)
	}
	for name, text := range map[string]string{"claude-code": strings.Repeat("é", 2048), "api": strings.Repeat("é", 9999)} {
		if found := Instructions(text, profile(t, name)); len(found) != 0 {
			t.Errorf("%s: got %+v", name, found)
		}
	}
}

func TestManyTools(t *testing.T) {
	var tools []Tool
	for i := range 129 {
		tools = append(tools, Tool{Name: fmt.Sprint("t", i), Schema: []byte(`{"type":"object"}`)})
	}
	found := Check(tools, profile(t, "vscode"))
	if len(found) != 1 || found[0].Rule.ID != "API-13" || found[0].Tool != -1 {
		t.Errorf("got %+v", found)
	}
	if found := Check(tools[:128], profile(t, "vscode")); len(found) != 0 {
		t.Errorf("got %+v", found)
	}
	tools[0].Description = strings.Repeat("x", 32<<20)
	found = Check(tools[:1], profile(t, "api"))
	if len(found) != 1 || found[0].Rule.ID != "API-14" {
		t.Errorf("got %+v", found)
	}
}

// TestCorpus says what is found in the tools of recorded sessions, for each
// profile.
func TestCorpus(t *testing.T) {
	var b strings.Builder
	for _, file := range recorded.Files(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		var tools []Tool
		for _, it := range recorded.Tools(recorded.Load(t, file)) {
			tools = append(tools, toolOf(name, it.Definition))
		}
		for _, p := range Profiles() {
			for _, f := range Check(tools, p) {
				if !filepath.IsAbs(file) {
					fmt.Fprintf(&b, "%s %s: %s %s %s\n", name, p.Name, f.Severity, f.Rule.ID, sentence(&f))
				} else {
					t.Logf("%s %s: %s %s %s", name, p.Name, f.Severity, f.Rule.ID, sentence(&f))
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

// TestAnyOrder: what is found in a tool does not depend on the tools beside it,
// but for their names.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(cases).Draw(t, "case")
		var tools []Tool
		for i, d := range c.tools {
			tool := toolOf("s", []byte(d))
			tool.Name = fmt.Sprintf("t%d", i)
			tools = append(tools, tool)
		}
		p := rapid.SampledFrom(Profiles()).Draw(t, "profile")
		alone := 0
		for i := range tools {
			alone += len(Check(tools[i:i+1], p))
		}
		if together := len(Check(tools, p)); together != alone {
			t.Fatalf("%d alone, %d together", alone, together)
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, c := range cases {
		for _, d := range c.tools {
			if len(d) < 10_000 {
				f.Add([]byte(d))
			}
		}
	}
	f.Add([]byte(`{"name":"\u001b[2J","inputSchema":{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}}`))
	f.Fuzz(func(t *testing.T, definition []byte) {
		tools := []Tool{toolOf("a.b", definition), toolOf("a_b", definition)}
		for _, p := range Profiles() {
			for _, found := range Check(tools, p) {
				if found.Rule == nil || len(sentence(&found)) > 10_000 {
					t.Errorf("%+v", found)
				}
			}
		}
	})
}

func BenchmarkCheck500(b *testing.B) {
	var tools []Tool
	for i := range 500 {
		tools = append(tools, Tool{Server: "s", Name: fmt.Sprint("create_issue_", i), Description: "Creates an issue in a repository, with labels and assignees.",
			Schema: []byte(`{"type":"object","properties":{"owner":{"type":"string","description":"Who owns it."},"labels":{"type":"array","items":{"type":"string"}},"kind":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}},"required":["owner"]}`)})
	}
	for _, name := range []string{"api", "claude-code"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Check(tools, profile(b, name))
			}
		})
	}
}
