package claude

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/replay/internal/talk"
	"github.com/mcptap/mcptap/tap"
)

// TestOddCalls: what can't stand in a request as it crossed has a note.
func TestOddCalls(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{"name":"t","arguments":{}}`, ""},
		{`{"name":"t"}`, ""},
		{`{"name":"t","arguments":null}`, "its arguments are null, and"},
		{`{"name":"t","arguments":[1,2]}`, "its arguments are an array, and"},
		{`{"name":"t","arguments":"s"}`, "its arguments are a text, and"},
		{`{"name":"t","arguments":5}`, "its arguments are a number, and"},
		{`{"arguments":{}}`, "the call names no tool: mcp__s__ stands for it"},
	} {
		k := talk.New()
		k.List(100, toolNamed("t"))
		k.Say(1000, tap.C2S, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":`+c.params+`}`)
		k.Answer(1100, 9, "done")
		r := bookOf(t, k, "s", "generic").Request(1)
		checkRequest(t, c.params, r)
		var notes []string
		for p := range r.All() {
			if p.Kind == ToolUse {
				for _, n := range p.Notes {
					if n.Kind == NoteStandIn {
						notes = append(notes, n.Words)
					}
				}
			}
		}
		if got := strings.Join(notes, "; "); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: notes %q, want %q", c.params, got, c.want)
		}
	}
}

// TestCalledThoughLeftOut: a call of a tool that a host leaves out is none that the
// model can have made of that name.
func TestCalledThoughLeftOut(t *testing.T) {
	k := talk.New()
	long := strings.Repeat("x", 130)
	k.List(100, toolNamed(long)+","+toolNamed("t"))
	k.Answer(1100, k.Ask(1000, long, "{}", ""), "done")
	for host, want := range map[string]bool{"claude-code": true, "bridge": false} {
		r := bookOf(t, k, "s", host).Request(1)
		noted := false
		for p := range r.All() {
			if p.Kind == ToolUse {
				noted = slices.ContainsFunc(p.Notes, func(n Note) bool { return n.Kind == NoteLeftOut })
			}
		}
		if noted != want {
			t.Errorf("%s: noted: %v", host, noted)
		}
	}
}

// TestNotTaken: what the API does not take of an answer has a mark or a note in its
// place, and the request is one that it takes.
func TestNotTaken(t *testing.T) {
	const png = `{"type":"image","mimeType":"image/png","data":%q}`
	for _, c := range []struct {
		what, result, want string
		kind               NoteKind
	}{
		{"an image in a failure", `{"isError":true,"content":[` + fmt.Sprintf(png, "aGk=") + `,{"type":"text","text":"no"}]}`, `[not on this wire: what this host makes of a block of type image in a failed result]`, NoteStandIn},
		{"a PDF in a failure", `{"isError":true,"content":[{"type":"resource","resource":{"uri":"x://p","mimeType":"application/pdf","blob":"aGk="}}]}`, `a block of type document in a failed result`, NoteStandIn},
		{"no base64", `{"content":[` + fmt.Sprintf(png, "not base64!") + `]}`, `[not on this wire: what this host makes of an image whose data is no base64]`, NoteStandIn},
		{"base64 without padding", `{"content":[` + fmt.Sprintf(png, "aGk") + `]}`, `whose data is no base64`, NoteStandIn},
		{"a PDF that is no base64", `{"content":[{"type":"resource","resource":{"uri":"x://p","mimeType":"application/pdf","blob":"%PDF"}}]}`, `a PDF whose data is no base64`, NoteStandIn},
		{"blanks", `{"content":[{"type":"text","text":" \n\t\u00a0"},{"type":"text","text":"words"}]}`, `"content":[{"type":"text","text":"words"}]`, NoteEmpty},
		{"blanks in a failure", `{"isError":true,"content":[{"type":"text","text":"  "}]}`, `an error without a text`, NoteLostError},
	} {
		r := bookOf(t, oneResult(c.result), "s", "generic").Request(1)
		checkRequest(t, c.what, r)
		b := answerOf(r, 0)
		if got := string(b.JSON()); !strings.Contains(got, c.want) || !slices.ContainsFunc(b.Content().Notes, func(n Note) bool { return n.Kind == c.kind }) {
			t.Errorf("%s: %s, notes %+v", c.what, got, b.Content().Notes)
		}
	}
	k := talk.New()
	k.Open(1, "c", " \n ")
	k.List(100, toolNamed("t"))
	for _, host := range []string{"generic", "vscode", "claude-code"} {
		checkRequest(t, "instructions of blanks for "+host, bookOf(t, k, "s", host).Request(0))
	}
}

// TestSearch: a host that loads no definitions searches before it calls, in a request
// of its own; a tool is found once.
func TestSearch(t *testing.T) {
	k := talk.New()
	k.List(100, toolNamed("a")+","+toolNamed("b")+`,{"name":"always","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}`)
	for i, tool := range []string{"always", "a", "a", "b"} {
		k.Answer(5000*i+1100, k.Ask(5000*i+1000, tool, "{}", ""), "done")
	}
	r := bookOf(t, k, "s", "claude-code").Request(4)
	checkRequest(t, "with searches", r)
	var got []string
	for p := range r.All() {
		switch p.Kind {
		case SearchUse:
			got = append(got, "search")
		case SearchResult:
			got = append(got, "found "+gjson.GetBytes(p.JSON(), "content").String())
		case ToolUse:
			got = append(got, p.Name.Tool)
		}
	}
	text := strings.Join(got, "|")
	for i, want := range []string{"always|search|found ", "mcp__s__a]|a|a|search|found ", "mcp__s__b]|b"} {
		if !strings.Contains(text, want) {
			t.Errorf("%d: %s lacks %s", i, text, want)
		}
	}
	for p := range bookOf(t, k, "s", "generic").Request(4).All() {
		if p.Kind == SearchUse {
			t.Error("a host that loads all searches")
		}
	}
}
