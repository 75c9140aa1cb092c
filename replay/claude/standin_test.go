package claude

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/replay"
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

// TestConnectorTurns: replies of the API's own client do not follow each other, and a
// server whose name is taken is left out with a word.
func TestConnectorTurns(t *testing.T) {
	sessions := []*replay.Session{}
	for range 2 {
		k := talk.New()
		k.List(100, toolNamed("a"))
		k.Answer(1100, k.Ask(1000, "a", "{}", ""), "done")
		k.Answer(9100, k.Ask(9000, "a", "{}", ""), "done")
		sessions = append(sessions, &replay.Session{Session: k.Session, Body: k.Body, Name: "same"})
	}
	r := NewBook(replay.New(replay.Options{}, sessions...), Options{Profile: profile(t, "mcp-connector")}).Request(2)
	checkRequest(t, "of the connector", r)
	for i := range r.Messages[1:] {
		if r.Messages[i].Role == r.Messages[i+1].Role {
			t.Errorf("messages %d and %d are both of the %s", i, i+1, r.Messages[i].Role)
		}
	}
	if len(r.Tools) != 1 || len(r.LeftOut) != 1 || !strings.Contains(r.LeftOut[0].Notes[0].Words, "another server has its name") {
		t.Errorf("%d toolsets, left out %+v", len(r.Tools), r.LeftOut)
	}
}

// TestPartial: a listing that is read again, and not to its end, is told.
func TestPartial(t *testing.T) {
	k := talk.New()
	page := func(ms, id int, cursor, result string) {
		k.Say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s}}`, id, cursor))
		k.Result(ms+1, id, result)
	}
	first := `{"tools":[` + toolNamed("a") + `],"nextCursor":"x"}`
	page(100, 51, "", first)
	page(200, 52, `"cursor":"x"`, `{"tools":[`+toolNamed("b")+`]}`)
	k.Answer(1100, k.Ask(1000, "a", "{}", ""), "done")
	page(2000, 53, "", first)
	k.Answer(9100, k.Ask(9000, "a", "{}", ""), "done")
	b := bookOf(t, k, "s", "generic")
	if got := b.Request(0).Partial(); len(got) != 0 {
		t.Errorf("a listing that was read to its end is partial: %v", got)
	}
	last := b.Request(2)
	if len(last.Tools) < 2 && len(last.Partial()) != 1 {
		t.Errorf("%d tools, and nothing says that they may be more", len(last.Tools))
	}
}
