package decode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcptap/mcptap/tap"
)

// script feeds a session with lines: ">" goes to the server, "<" to the client.
func script(t testing.TB, lines ...string) (*Session, [][]byte) {
	t.Helper()
	s := New(Options{Bytes: true})
	return s, feedLines(s, lines...)
}

func expand(line string) string { return strings.ReplaceAll(line, "V2", `"jsonrpc":"2.0"`) }

// feedLines adds lines, a millisecond each, and gives their bodies.
func feedLines(s *Session, lines ...string) (bodies [][]byte) {
	for _, line := range lines {
		dir := tap.C2S
		if line[0] == '<' {
			dir = tap.S2C
		}
		n := s.Len() + 1
		body := []byte(expand(line[2:]))
		s.Add(&tap.Frame{N: uint64(n), Time: time.Duration(n) * time.Millisecond, Dir: dir, JSON: true, Body: body})
		bodies = append(bodies, body)
	}
	return bodies
}

func tool(name, description string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`, name, description)
}

func toolList(id int, next string, tools ...string) string {
	if next != "" {
		next = `,"nextCursor":` + next
	}
	return fmt.Sprintf(`< {V2,"id":%d,"result":{"tools":[%s]%s}}`, id, strings.Join(tools, ","), next)
}

func listRequest(id int, cursor string) string {
	if cursor != "" {
		return fmt.Sprintf(`> {V2,"id":%d,"method":"tools/list","params":{"cursor":%s}}`, id, cursor)
	}
	return fmt.Sprintf(`> {V2,"id":%d,"method":"tools/list"}`, id)
}

func TestCatalogueChanges(t *testing.T) {
	const changed = `< {V2,"method":"notifications/tools/list_changed"}`
	s, _ := script(t,
		listRequest(1, ""), toolList(1, "", tool("a", "A"), tool("b", "B")),
		listRequest(2, ""), toolList(2, "", tool("b", "B"), tool("a", "A")), // 3: reordered
		changed, listRequest(3, ""), toolList(3, "", tool("a", "A"), tool("b", "new text"), tool("c", "C")), // 6
		listRequest(4, ""), toolList(4, "", tool("a", "rug"), tool("b", "new text")), // 8: no announcement
		changed,
	)
	c := s.Catalogue()
	var got []string
	for _, ch := range c.Changes {
		got = append(got, fmt.Sprint(ch.What, " ", ch.Name, " at ", ch.Frame, " announced ", ch.Announced))
	}
	want := []string{
		"reordered  at 3 announced false",
		"changed b at 6 announced true", "added c at 6 announced true",
		"changed a at 8 announced false", "removed c at 8 announced false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{9}, c.Ignored); diff != "" {
		t.Errorf("ignored: %s", diff)
	}
	if it, _ := c.Find(Tools, "b", 5); !strings.Contains(string(it.Definition), `"B"`) {
		t.Errorf("b before frame 5 is %s", it.Definition)
	}
}

func TestCataloguePages(t *testing.T) {
	s, _ := script(t,
		listRequest(1, ""), toolList(1, `"p2"`, tool("a", "A")),
		listRequest(2, `"p2"`), toolList(2, `""`, tool("b", "B")), // the empty cursor is one
		listRequest(3, `""`), toolList(3, "", tool("c", "C")),
		listRequest(4, ""), toolList(4, `"p2"`, tool("a", "A")), // not followed
		listRequest(5, `"never"`), toolList(5, "", tool("z", "Z")),
		`> {V2,"id":6,"method":"tools/call","params":{"name":"q","arguments":{}}}`,
	)
	c := s.Catalogue()
	type summary struct {
		Items, Pages     int
		Complete, Orphan bool
		Next             string
	}
	var got []summary
	for _, l := range c.Lists {
		got = append(got, summary{len(l.Items), len(l.Calls), l.Complete, l.Orphan, l.Next})
	}
	want := []summary{{3, 3, true, false, ""}, {1, 1, false, false, `"p2"`}, {1, 1, true, true, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Unlisted{{Call: 5, Name: "q"}}, c.Unlisted()); diff != "" {
		t.Error(diff)
	}
	ops := s.Operations()
	if ops[0].Kind != OpPages || len(ops[0].Legs) != 3 || ops[2].Doubt == "" {
		t.Errorf("operations %+v", ops)
	}
}

func TestCheckArguments(t *testing.T) {
	for _, c := range []struct {
		schema, args string
		want         []Mismatch
		unchecked    string
	}{
		{`{"type":"object","required":["n"]}`, `{"n":1}`, nil, ""},
		{`{"type":"object","required":["n"]}`, `{}`, []Mismatch{{"arguments", "", "missing property 'n'"}}, ""},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"x"}`, []Mismatch{{"arguments", "/n", "got string, want integer"}}, ""},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":9007199254740993}`, nil, ""},
		{`{"$ref":"https://example.com/s.json"}`, `{}`, nil, "not followed"},
		{`{"$ref":"file:///etc/passwd"}`, `{}`, nil, "not followed"},
		{`{"type":7}`, `{}`, nil, "can't be used"},
		{`{"type":"object"}`, `{"n":1e999999999}`, nil, "too long to be checked"},
		{`{"type":"object"}`, `{"n":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, nil, "nested too deeply"},
		{explosion("allOf"), `{"a":1}`, nil, "too many steps"},
		{explosion("not"), `{"a":1}`, nil, "too intricate"},
		{`{"$defs":{"t":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/t"}}}}},"$ref":"#/$defs/t"}`, `{"kids":[{"kids":[7]}]}`,
			[]Mismatch{{"arguments", "/kids/0/kids/0", "got number, want object"}}, ""},
	} {
		s, bodies := script(t, listRequest(1, ""), toolList(1, "", `{"name":"a","inputSchema":`+c.schema+`}`),
			`> {V2,"id":2,"method":"tools/call","params":{"name":"a","arguments":`+c.args+`}}`)
		got := s.Catalogue().CheckArguments(1, bodies[2])
		if diff := cmp.Diff(c.want, got.Mismatches, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%.80s: %s", c.schema, diff)
		}
		if !strings.Contains(got.Unchecked, c.unchecked) || c.unchecked == "" && got.Unchecked != "" {
			t.Errorf("%.80s: unchecked %q, want %q", c.schema, got.Unchecked, c.unchecked)
		}
	}
}

// explosion is a small schema that takes 2^40 steps.
func explosion(keyword string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&b, `"d%d":{"allOf":[%s,%s]},`, i, next, next)
	}
	b.WriteString(`"d40":{"type":"object"`)
	if keyword == "not" {
		b.WriteString(`,"not":{"type":"string"}`)
	}
	b.WriteString(`}}}`)
	return b.String()
}

func TestCheckResult(t *testing.T) {
	s, bodies := script(t, listRequest(1, ""),
		toolList(1, "", `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"string"}}}`),
		`> {V2,"id":2,"method":"tools/call","params":{"name":"a"}}`,
		`< {V2,"id":2,"result":{"content":[],"structuredContent":["x",1]}}`,
		`< {V2,"id":2,"result":{"content":[],"isError":true}}`)
	c := s.Catalogue()
	if got := c.CheckResult(1, bodies[3]); len(got.Mismatches) != 1 || got.Mismatches[0].At != "/1" {
		t.Errorf("got %+v", got)
	}
	if got := c.CheckResult(1, bodies[4]); got.Unchecked == "" {
		t.Errorf("an error was checked: %+v", got)
	}
	if got := c.CheckArguments(1, bodies[2]); len(got.Mismatches) > 0 || got.Unchecked != "" {
		t.Errorf("missing arguments: %+v", got)
	}
}

// TestCatalogueCorpus checks every call of the recorded sessions; the servers in
// there keep to their own schemas but where a script provokes them.
func TestCatalogueCorpus(t *testing.T) {
	for _, file := range corpusFiles(t) {
		steps := loadCorpus(t, file)
		s := feed(New(Options{}), steps)
		bodies := bodiesOf(steps)
		c := s.Catalogue()
		for i := range s.Calls() {
			call := s.Call(i)
			if call.Method != "tools/call" {
				continue
			}
			if got := c.CheckArguments(i, bodies[call.Request]); len(got.Mismatches) > 0 {
				t.Logf("%s: call %d %s: %v", file, i, call.Name, got.Mismatches)
			}
			if call.Response < 0 {
				continue
			}
			if got := c.CheckResult(i, bodies[call.Response]); len(got.Mismatches) > 0 {
				t.Logf("%s: result of call %d %s: %v", file, i, call.Name, got.Mismatches)
			}
		}
	}
}

func bodiesOf(records []tap.Record) (out [][]byte) {
	for _, rec := range records {
		if rec.Frame != nil {
			out = append(out, rec.Frame.Body)
		}
	}
	return out
}

func FuzzCatalogue(f *testing.F) {
	f.Add(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"x"}`, `{"name":"a","arguments":{"x":1}}`)
	f.Add(`{"tools":[{"name":"a","inputSchema":{"$ref":"#"}}]}`, `{"name":"a","arguments":[]}`)
	f.Add(`{"tools":[{"name":"a","inputSchema":{"pattern":"(?<x"}}]}`, `{"name":"a","arguments":"y"}`)
	f.Fuzz(func(t *testing.T, result, params string) {
		s, bodies := script(t, `> {V2,"id":1,"method":"tools/list"}`, `< {V2,"id":1,"result":`+result+`}`,
			`> {V2,"id":2,"method":"tools/call","params":`+params+`}`, `< {V2,"id":2,"result":`+result+`}`,
			`> {V2,"id":3,"method":"tools/list"}`, `< {V2,"id":3,"result":`+params+`}`)
		c := s.Catalogue()
		c.Unlisted()
		for i := range s.Calls() {
			if call := s.Call(i); call.Method == "tools/call" {
				c.CheckArguments(i, bodies[call.Request])
				if call.Response >= 0 {
					c.CheckResult(i, bodies[call.Response])
				}
			}
		}
	})
}
