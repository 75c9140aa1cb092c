package connector

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/internal/recorded"
	"github.com/mcptap/mcptap/sessions"
)

var update = flag.Bool("update", false, "write the golden files anew")

// serverOf makes a server of a recorded session.
func serverOf(l *sessions.Loaded, label, address string) Server {
	s := Server{Label: label, URL: address}
	for _, it := range recorded.Tools(l) {
		d := gjson.ParseBytes(it.Definition)
		s.Tools = append(s.Tools, Tool{Name: it.Name, Description: d.Get("description").String(), Schema: []byte(d.Get("inputSchema").Raw)})
	}
	for i := range l.Calls() {
		c := l.Call(i)
		if c.Method != "tools/call" || c.Retry {
			continue
		}
		call := Call{Order: c.Request, Tool: c.Name, Arguments: []byte(gjson.GetBytes(l.Body(c.Request), "params.arguments").Raw)}
		if c.Response >= 0 {
			answer := gjson.ParseBytes(l.Body(c.Response))
			call.Result = []byte(answer.Get("result").Raw)
			if c.Outcome == decode.ProtocolError {
				call.Error = answer.Get("error.message").String()
			}
		}
		s.Calls = append(s.Calls, call)
	}
	return s
}

func TestGolden(t *testing.T) {
	slack := recorded.Load(t, "../../decode/testdata/corpus/slack-ts-auto.jsonl")
	features := recorded.Load(t, "../../decode/testdata/corpus/features-ts-legacy-full.jsonl")
	for name, o := range map[string]Options{
		"plain":    {Model: "claude-opus-5-5", MaxTokens: 1024},
		"deferred": {Model: "claude-opus-5-5", MaxTokens: 1024, User: "Post it.", Defer: true, Pin: true},
	} {
		one := serverOf(slack, "slack", "https://user:secret@slack.example/mcp?key=secret#top")
		one.Authorized = true
		loaded := false
		one.Tools[0].Defer, one.Tools[1].Off = &loaded, true
		two := serverOf(features, "features", "https://features.example/mcp")
		r, err := Build([]Server{one, two}, o)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Body), "secret") {
			t.Error("a credential got out")
		}
		var b strings.Builder
		fmt.Fprintf(&b, "anthropic-beta: %s\n\n", r.Beta)
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(json.RawMessage(r.Body)); err != nil {
			t.Fatal(err)
		}
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "%s: %s\n", n.Path, n.Text)
		}
		compare(t, "testdata/"+name+".txt", b.String())
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", golden, d)
	}
}

func TestRefused(t *testing.T) {
	for want, servers := range map[string][]Server{
		"there is no server":     nil,
		"a server has no label":  {{URL: "https://a.example"}},
		"two servers are called": {{Label: "a", URL: "https://a.example"}, {Label: "a", URL: "https://b.example"}},
		"https only":             {{Label: "a", URL: "http://127.0.0.1:8080/mcp"}},
		"no URL":                 {{Label: "a", URL: "https://se\x00cret"}},
	} {
		_, err := Build(servers, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestOrderAndLosses(t *testing.T) {
	a := Server{Label: "a", URL: "https://a.example/mcp", Tools: []Tool{{Name: "x"}}, Calls: []Call{
		{Order: 3, Tool: "x", ID: "mcptoolu_3", Arguments: []byte(`[1]`), Result: []byte(`{"content":[{"type":"text","text":"3 < 4"},{"type":"image","data":""}],"structuredContent":{},"isError":true}`)},
		{Order: 1, Tool: "y", Arguments: []byte(`{"n": 12345678901234567890}`)},
	}}
	b := Server{Label: "b", URL: "https://b.example/mcp", Calls: []Call{{Order: 2, Tool: "z", Error: "Unknown tool"}}}
	r, err := Build([]Server{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"mcp_tool_use","id":"mcptoolu_not_on_this_wire_1","name":"y","server_name":"a","input":{"n":12345678901234567890}},` +
		`{"type":"mcp_tool_use","id":"mcptoolu_not_on_this_wire_2","name":"z","server_name":"b","input":{}},` +
		`{"type":"mcp_tool_result","tool_use_id":"mcptoolu_not_on_this_wire_2","is_error":true,"content":[{"type":"text","text":"Unknown tool"}]},` +
		`{"type":"mcp_tool_use","id":"mcptoolu_3","name":"x","server_name":"a","input":{}},` +
		`{"type":"mcp_tool_result","tool_use_id":"mcptoolu_3","is_error":true,"content":[{"type":"text","text":"3 < 4"}]}]`
	if got := gjson.GetBytes(r.Body, "messages.1.content").Raw; got != want {
		t.Errorf("got %s", got)
	}
	var notes []string
	for _, n := range r.Notes[3:] { // after those about the tools and the user
		notes = append(notes, n.Path+" "+n.Text)
	}
	wantNotes := []string{
		"/messages/1/content/0/name y was not listed",
		" y has no result: the API would not send such a turn on",
		"/messages/1/content/1/name z was not listed",
		"/messages/1/content/2/content an error of the protocol: the words that the API puts there are not known",
		"/messages/1/content/3/input the arguments of x are no object, and are left out",
		`/messages/1/content/4/content a block of type "image" has no place in mcp_tool_result`,
		"/messages/1/content/4 structuredContent has no place in mcp_tool_result",
		"/messages/1/content the assistant's text and thinking are not on the wire, nor what came after",
	}
	if d := cmp.Diff(wantNotes, notes); d != "" {
		t.Error(d)
	}
}

func FuzzBuild(f *testing.F) {
	f.Add("https://a.example/?k=v", "a", []byte(`{}`), []byte(`{"content":[{"type":"text","text":"x"}]}`))
	f.Add("https://u:p@[::1]/", "\x1b", []byte("{\"a\":\"\xff\"}"), []byte(strings.Repeat("[", 20_000)))
	f.Fuzz(func(t *testing.T, address, name string, arguments, result []byte) {
		s := Server{Label: "s", URL: address, Tools: []Tool{{Name: name, Description: name, Schema: arguments}}, Calls: []Call{{Tool: name, Arguments: arguments, Result: result}}}
		for _, o := range []Options{{}, {Pin: true, Defer: true}} {
			if r, err := Build([]Server{s}, o); err == nil && !json.Valid(r.Body) {
				t.Errorf("no JSON: %q", r.Body)
			}
		}
	})
}
