package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/talk"
)

// bookOf makes the requests of a made-up session, as a host sends them.
func bookOf(t testing.TB, k *talk.Talk, server, host string) *Book {
	t.Helper()
	return NewBook(replay.New(replay.Options{}, &replay.Session{Session: k.Session, Body: k.Body, Name: server}), Options{Profile: profile(t, host)})
}

const emptySchema = `{"type":"object"}`

func toolNamed(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, emptySchema)
}

// oneResult is a session with one call that came to this result.
func oneResult(result string) *talk.Talk {
	k := talk.New()
	k.List(100, toolNamed("t"))
	id := k.Ask(1000, "t", "{}", "")
	k.Result(1100, id, result)
	return k
}

// answerOf gives the n-th tool result of a request.
func answerOf(r *Request, n int) *Block {
	for p := range r.All() {
		if p.Kind == ToolResult {
			if n == 0 {
				return p.Block
			}
			n--
		}
	}
	return nil
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 130)
	for _, c := range []struct{ host, server, tool, want string }{
		{"claude-code", "my server.v2", "do it", "mcp__my_server_v2__do_it"},
		{"claude-code", "s", "a__b", "mcp__s__a__b"},
		{"generic", "asrama", "cari_anak", "mcp__asrama__cari_anak"},
		{"bridge", "tickets", "search_tickets", "tickets__search_tickets"},
		{"bridge", "tickets", "größe!", "tickets__gr__e_"},
		{"bridge", "s", long, "s__" + long[:125]},
		{"vscode", "My Very Long Server Name", "t", "mcp_my_very_long_s_t"},
		{"vscode", "a b  c", "t", "mcp_a_b_c_t"},
		{"sdk-helper", "s", "a-b", "a-b"},
		{"sdk-helper", "s", "a.b", "a_b"}, // the API refuses a.b: see Refused
		{"langchain", "s", "t", "t"},
	} {
		h := profile(t, c.host)
		if got := h.compose(h.serverParts([]string{c.server})[0], c.tool); got.Sent != c.want || got.Tool != c.tool {
			t.Errorf("%s calls %s of %s %+v, want %s", c.host, c.tool, c.server, got, c.want)
		}
	}
	if n := profile(t, "sdk-helper").compose("s", "a.b"); n.Refused != "a.b" {
		t.Errorf("%+v does not tell that the API refuses it", n)
	}
	if n := profile(t, "claude-code").compose("s", long); !n.Over {
		t.Errorf("%+v is not left out", n)
	}
	vscode := profile(t, "vscode").serverParts([]string{"srv", "srv!", "other", "srv"})
	if diff := cmp.Diff([]string{"srv", "srv_", "other", "srv"}, vscode); diff != "" {
		t.Error(diff)
	}
	if got := profile(t, "vscode").serverParts([]string{"a b", "a_b"}); got[1] != "a_b2" {
		t.Errorf("the second server of that name is %s", got[1])
	}
}

// TestContent is one result with a block of each kind, as each host passes it on.
func TestContent(t *testing.T) {
	k := oneResult(`{"content":[
		{"type":"text","text":"words"},
		{"type":"image","mimeType":"image/png","data":"aGk="},
		{"type":"resource_link","name":"doc","uri":"x://doc","description":"a doc"},
		{"type":"resource","resource":{"uri":"x://r","text":"embedded"}},
		{"type":"resource","resource":{"uri":"x://p","mimeType":"application/pdf","blob":"aGk="}}]}`)
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`
	pdf := `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}`
	text := func(s string) string { return string(textBlock(s)) }
	for host, want := range map[string][]string{
		"claude-code": {text("words"), image, text("[Resource link: doc] x://doc (a doc)"), text("[Resource from s at x://r] embedded"), text(mark("the path of the file that the host saved an embedded PDF to"))},
		"generic":     {text("words"), image, text("[Resource link: doc] x://doc (a doc)"), text("embedded"), pdf},
		"vscode":      {text("words"), image, text(mark("how this host shows a link to x://doc")), text(mark("how this host shows a link to x://r")), text(mark("how this host shows a link to x://p"))},
		"langchain":   {text("words"), image, text(mark("how this host shows a link to x://doc")), text("embedded"), pdf},
		"sdk-helper":  {text(mark("what the caller sends after the exception that the host raises on a link to a resource"))},
	} {
		c := answerOf(bookOf(t, k, "s", host).Request(1), 0).Content()
		var got []string
		for _, p := range c.Parts {
			got = append(got, string(p.JSON))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", host, diff)
		}
		if c.IsError != (host == "sdk-helper") {
			t.Errorf("%s: is_error %v", host, c.IsError)
		}
	}
	joined := string(answerOf(bookOf(t, k, "s", "bridge").Request(1), 0).JSON())
	if !strings.Contains(joined, `"content":"words\n{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"aGk=\"}\n`) {
		t.Errorf("the bridge joins them to %s", joined)
	}
}

// TestStructured is which half of a result each host passes on.
func TestStructured(t *testing.T) {
	const (
		both   = `{"content":[{"type":"text","text":"Two of them"}],"structuredContent":{"n": 2}}`
		same   = `{"content":[{"type":"text","text":"{\"n\":2}"}],"structuredContent":{"n": 2}}`
		only   = `{"content":[],"structuredContent":{"n": 2}}`
		failed = `{"content":[{"type":"text","text":"No"}],"structuredContent":{"n": 2},"isError":true}`
		object = `{"n":2}`
	)
	for _, c := range []struct {
		host, result string
		want         []string
		note         bool
	}{
		{"claude-code", both, []string{object}, true},
		{"claude-code", same, []string{object}, false},
		{"claude-code", failed, []string{"No"}, true},
		{"vscode", failed, []string{object}, true},
		{"generic", both, []string{"Two of them"}, true},
		{"generic", same, []string{object}, false},
		{"generic", only, nil, true},
		{"sdk-helper", both, []string{"Two of them"}, true},
		{"sdk-helper", only, []string{object}, false},
		{"bridge", both, []string{"Two of them"}, true},
	} {
		content := answerOf(bookOf(t, oneResult(c.result), "s", c.host).Request(1), 0).Content()
		var got []string
		for _, p := range content.Parts {
			got = append(got, p.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s of %s: %s", c.host, c.result, diff)
		}
		noted := slices.ContainsFunc(content.Notes, func(n Note) bool { return n.Kind == NoteStructured })
		if noted != c.note {
			t.Errorf("%s of %s: notes %+v", c.host, c.result, content.Notes)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ host, result, want string }{
		{"generic", `{"content":[{"type":"text","text":"No"}],"isError":true}`, `"is_error":true,"content":[{"type":"text","text":"No"}]`},
		{"vscode", `{"content":[{"type":"text","text":"No"}],"isError":true}`, `"tool_use_id":"toolu_not_on_this_wire_1","content":[{"type":"text","text":"No"}]`},
		{"generic", `{"content":[],"isError":true}`, `in place of an error without a text`},
		{"generic", `{"content":[{"type":"text","text":""}]}`, `"content":[]`},
		{"generic", `{"content":"no array"}`, `"content":[]`},
		{"generic", `{"content":[{"type":"strange"}]}`, `what this host makes of a block of type \"strange\"`},
	} {
		got := string(answerOf(bookOf(t, oneResult(c.result), "s", c.host).Request(1), 0).JSON())
		if !strings.Contains(got, c.want) {
			t.Errorf("%s makes of %s %s", c.host, c.result, got)
		}
	}
	user := oneResult(`{"content":[{"type":"text","text":"for you","annotations":{"audience":["user"]}},{"type":"text","text":"for it"}]}`)
	if n := len(answerOf(bookOf(t, user, "s", "vscode").Request(1), 0).Content().Parts); n != 1 {
		t.Errorf("a host that obeys passes on %d parts", n)
	}
	c := answerOf(bookOf(t, user, "s", "claude-code").Request(1), 0).Content()
	if len(c.Parts) != 2 || len(c.Notes) != 1 || c.Notes[0].Kind != NoteUserOnly {
		t.Errorf("a host that does not obey: %+v", c)
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("long words ", 300) // 3,300 characters
	k := talk.New()
	k.Open(10, "claude-code", long)
	k.List(100, fmt.Sprintf(`{"name":"t","description":%q,"inputSchema":%s},{"name":"big","inputSchema":%s,"_meta":{"anthropic/maxResultSizeChars":400000}}`, long, emptySchema, emptySchema))
	huge := strings.Repeat("0123456789", 15_000)
	id := k.Ask(1000, "t", "{}", "")
	k.Answer(1100, id, huge)
	id = k.Ask(3000, "big", "{}", "")
	k.Answer(3100, id, huge)
	b := bookOf(t, k, "s", "claude-code")
	r := b.Request(2)
	if found := Check(r.JSON()); len(found) > 0 {
		t.Fatal(found)
	}
	cuts := r.Tools[1].Cuts()
	if len(cuts) != 1 || cuts[0].Limit != 2048 || cuts[0].Size != 3300 || long[2048:] != cuts[0].Lost {
		t.Errorf("the description is cut as %+v", cuts)
	}
	if !strings.Contains(string(r.Tools[1].JSON()), `… [truncated]"`) {
		t.Error("the description does not tell that it was cut")
	}
	instructions := r.Messages[0].Blocks[0]
	if instructions.Kind != Instructions || len(instructions.Cuts()) != 1 {
		t.Errorf("the instructions are %+v", instructions)
	}
	c := answerOf(r, 0).Content()
	if len(c.Cuts) != 1 || !c.Cuts[0].Estimated || c.Cuts[0].Lost != huge || c.Placeholder == "" {
		t.Errorf("the long result: %d cuts, %q", len(c.Cuts), c.Placeholder)
	}
	if c := answerOf(r, 1).Content(); len(c.Cuts) != 0 {
		t.Error("a tool that may say so much is cut")
	}
	exact := NewBook(b.Timeline(), Options{Profile: profile(t, "claude-code"), Tokens: func(string) int { return 5 }})
	if c := answerOf(exact.Request(1), 0).Content(); len(c.Cuts) != 0 {
		t.Error("the estimator that was handed in does not count")
	}
}

// TestLeftOut are definitions that do not get into a request.
func TestLeftOut(t *testing.T) {
	k := talk.New()
	k.List(100, strings.Join([]string{
		toolNamed("good"), toolNamed("a b"), toolNamed("a_b"),
		`{"name":"noschema"}`, `{"name":"notype","inputSchema":{}}`,
		`{"name":"alternatives","description":"Does.","inputSchema":{"type":"object","anyOf":[{"required":["a"]}],"properties":{"a":{}}}}`,
		`{"name":"key","inputSchema":{"type":"object","properties":{"filter[x]":{}}}}`,
		`{"name":"app","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}`,
		toolNamed(strings.Repeat("y", 200)),
	}, ","))
	left := func(host string) (names []string) {
		b := bookOf(t, k, "s", host)
		if found := Check(b.Request(0).JSON()); len(found) > 0 {
			t.Errorf("%s: %v", host, found)
		}
		for _, x := range b.Request(0).LeftOut {
			names = append(names, cut(x.Name.Tool, 12))
		}
		return names
	}
	if diff := cmp.Diff([]string{"a_b", "noschema", "notype", "alternatives", "key", "app"}, left("generic")); diff != "" {
		t.Errorf("generic: %s", diff) // the long name is cut
	}
	if diff := cmp.Diff([]string{"a_b", "noschema", "notype", "key", "app", "yyyyyyyyyyyy"}, left("claude-code")); diff != "" {
		t.Errorf("claude-code: %s", diff) // it takes alternatives apart
	}
}

func TestDeferred(t *testing.T) {
	k := talk.New()
	k.List(100, `{"name":"a","inputSchema":{"type":"object"}},{"name":"always","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}`)
	id := k.Ask(1000, "a", "{}", "")
	k.Answer(1100, id, "x")
	b := bookOf(t, k, "s", "claude-code")
	r := b.Request(1)
	if a := r.Tools[1]; !a.Deferred || a.Loaded != 1 || !r.IsNew(a) {
		t.Errorf("a tool that was called: %+v", a)
	}
	if r.Tools[2].Deferred {
		t.Error("a tool that is always loaded is deferred")
	}
	if names := r.System[1]; names.Kind != DeferredNames || !strings.HasSuffix(names.Text(), "\nmcp__s__a") {
		t.Errorf("the names are %q", names.Text())
	}
	upfront := NewBook(b.Timeline(), Options{Profile: profile(t, "claude-code"), Loading: LoadUpfront}).Request(1)
	if len(upfront.Tools) != 2 || upfront.Tools[0].Deferred {
		t.Error("loaded up front, and yet deferred")
	}
}

// TestChanges follows a listing that changes between turns.
func TestChanges(t *testing.T) {
	k := talk.New()
	k.List(100, toolNamed("a")+","+toolNamed("b")+","+toolNamed("c"))
	k.Answer(1100, k.Ask(1000, "a", "{}", ""), "x")
	k.List(2000, `{"name":"c","description":"new words","inputSchema":{"type":"object"}},`+toolNamed("b")+","+toolNamed("d"))
	k.Answer(3100, k.Ask(3000, "b", "{}", ""), "x")
	b := bookOf(t, k, "s", "generic")
	first := b.Request(0).Changes()
	if first.Resent != 0 || len(first.New) != 5 || len(first.Gone) != 0 {
		t.Errorf("the first request: %+v", first)
	}
	second := b.Request(2).Changes()
	var fresh, gone []string
	for _, p := range second.New {
		fresh = append(fresh, p.Path)
	}
	for _, g := range second.Gone {
		gone = append(gone, g.Name.Tool)
	}
	if diff := cmp.Diff([]string{"/tools/0", "/tools/2", "/messages/3/content/0", "/messages/3/content/1", "/messages/4/content/0"}, fresh); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, gone); diff != "" {
		t.Error(diff)
	}
	if !second.Reordered {
		t.Error("c stands before b now")
	}
	total := 0
	for p := range b.Request(2).All() {
		total++
		if want := slices.Contains(fresh, p.Path); p.New != want {
			t.Errorf("%s is new: %v", p.Path, p.New)
		}
	}
	if total != second.Resent+len(second.New) {
		t.Errorf("%d blocks, %d new, %d sent again", total, len(second.New), second.Resent)
	}
}

// TestUserRequests: where the host tells that the user spoke in between, it shows.
func TestUserRequests(t *testing.T) {
	k := talk.New()
	k.List(100, toolNamed("a"))
	k.Answer(1100, k.Ask(1000, "a", "{}", `{"vscode.requestId":"1"}`), "x")
	k.Answer(1300, k.Ask(1200, "a", "{}", `{"vscode.requestId":"2"}`), "x")
	line := replay.New(replay.Options{}, &replay.Session{Session: k.Session, Body: k.Body, Name: "s"})
	host, reason := Builtin().Detect(line)
	if host.ID != "vscode" || !strings.Contains(reason, "vscode.requestId") {
		t.Errorf("the host is %s, since %s", host.ID, reason)
	}
	r := NewBook(line, Options{Profile: host}).Request(2)
	var roles []string
	for _, m := range r.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "user assistant user assistant user assistant user" {
		t.Error(got)
	}
	if found := Check(r.JSON()); len(found) > 0 {
		t.Error(found)
	}
}

func TestIDs(t *testing.T) {
	k := talk.New()
	k.Ask(1000, "a", "{}", `{"claudecode/toolUseId":"toolu_01AbC"}`)
	k.Ask(1001, "a", "{}", `{"claudecode/toolUseId":"not an id!"}`)
	line := replay.New(replay.Options{}, &replay.Session{Session: k.Session, Body: k.Body, Name: "s"})
	if host, _ := Builtin().Detect(line); host.ID != "claude-code" {
		t.Errorf("the host is %s", host.ID)
	}
	uses := NewBook(line, Options{}).Request(1).Messages[1].Blocks
	if uses[1].ID() != "toolu_01AbC" || uses[1].Placeholder != "" {
		t.Errorf("its id is %s", uses[1].ID())
	}
	if uses[2].ID() != "toolu_not_on_this_wire_2" || uses[2].Placeholder == "" {
		t.Errorf("its id is %s", uses[2].ID())
	}
}

// TestUnlisted: what stands for a definition that never crossed says of which tool it is.
func TestUnlisted(t *testing.T) {
	k := talk.New()
	k.Ask(1000, "close_ticket", "{}", "")
	k.Ask(1001, "", "{}", "")
	var got []string
	for p := range bookOf(t, k, "s", "generic").Request(1).All() {
		if p.Kind == Tool {
			got = append(got, p.Placeholder)
		}
	}
	want := []string{
		"the definition of mcp__s__close_ticket: no listing that could be sent crossed before it was called",
		"the definition of a tool without a name: no listing that could be sent crossed before it was called",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestRetried: the model reads the answer to the second try of its one call.
func TestRetried(t *testing.T) {
	k := talk.New()
	k.List(100, toolNamed("a"))
	k.Ask(1000, "a", "{}", `{"claudecode/toolUseId":"toolu_1"}`)
	k.Cancel(2000, 2)
	k.Answer(2100, k.Ask(2001, "a", "{}", `{"claudecode/toolUseId":"toolu_1"}`), "at last")
	r := bookOf(t, k, "s", "claude-code").Request(1)
	checkRequest(t, "retried", r)
	if got := answerOf(r, 0).Content().Parts[0].Text; got != "at last" {
		t.Errorf("the model reads %q", got)
	}
	for frame, want := range map[int]Verdict{2: Reads, 4: Never, 5: Reads} {
		if got := r.book.Reach(replay.Ref{Frame: frame}).Verdict(); got != want {
			t.Errorf("frame %d: %v, want %v", frame, got, want)
		}
	}
}

// TestLateServer: the instructions of a server that connects later come with the first
// messages that its tools can have been called of, where the host has them there.
func TestLateServer(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	a, b := talk.New(), talk.New()
	a.Open(1, "claude-code", "I am a.")
	a.List(10, toolNamed("a"))
	a.Answer(1100, a.Ask(1000, "a", "{}", ""), "x")
	b.Open(1, "claude-code", "I am b.") // at 2 s
	b.List(10, toolNamed("b"))
	b.Answer(1100, b.Ask(1000, "b", "{}", ""), "x")
	book := NewBook(replay.New(replay.Options{},
		&replay.Session{Session: a.Session, Body: a.Body, Name: "a", Start: start},
		&replay.Session{Session: b.Session, Body: b.Body, Name: "b", Start: start.Add(2 * time.Second)},
	), Options{Profile: profile(t, "claude-code")})
	for turn, want := range []string{"a", "a b", "a b"} {
		var got []string
		for p := range book.Request(turn).All() {
			if p.Kind == Instructions {
				got = append(got, p.Name.Server)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("request %d has the instructions of %v", turn, got)
		}
		if found := Check(book.Request(turn).JSON()); len(found) > 0 {
			t.Error(found)
		}
	}
	if n := len(book.Request(0).Tools); n != 2 { // and the tool search
		t.Errorf("the first request has %d tools", n)
	}
}

// TestVerbatim: what a server wrote keeps its bytes.
func TestVerbatim(t *testing.T) {
	const (
		schema      = `{ "type" : "object", "x-n":1.50, "properties":{"b":{},"a":{"default":1e400}} }`
		description = `"tab\t\u00e9 <b>&\/"`
		arguments   = `{ "b" : 1.0, "a":12345678901234567890 }`
		text        = `"\u003c\/ <&> \ud83d\ude00"`
	)
	k := talk.New()
	k.List(100, `{"name":"t","description":`+description+`,"inputSchema":`+schema+`}`)
	k.Result(1100, k.Ask(1000, "t", arguments, ""), `{"content":[{"type":"text","text":`+text+`}]}`)
	got := string(bookOf(t, k, "s", "generic").Request(1).JSON())
	for _, want := range []string{`"description":` + description, `"input_schema":` + schema, `"input":` + arguments, `"text":` + text} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not hold %s", want)
		}
	}
}

func TestCheck(t *testing.T) {
	const good = `{"model":"m","max_tokens":1,"tools":[{"name":"t","input_schema":{"type":"object"}}],"system":"s","messages":[
		{"role":"user","content":"hi"},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"no"}]},{"type":"text","text":"and?"}]}]}`
	if found := Check([]byte(good)); len(found) > 0 {
		t.Fatal(found)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"model":"m",`, ``, "/model"},
		{`"max_tokens":1`, `"max_tokens":1.5`, "/max_tokens"},
		{`"name":"t","input_schema"`, `"name":"a.b","input_schema"`, "/tools/0/name"},
		{`{"type":"object"}}]`, `{"type":"object"}},{"name":"t","input_schema":{"type":"object"}}]`, "/tools/1/name"},
		{`{"type":"object"}`, `{"type":"array"}`, "/tools/0/input_schema"},
		{`{"type":"object"}`, `{"type":"object","oneOf":[]}`, "/tools/0/input_schema"},
		{`{"type":"object"}`, `{"type":"object","properties":{"a b":{}}}`, "/tools/0/input_schema"},
		{`{"type":"object"}}]`, `{"type":"object"},"defer_loading":true}]`, "/tools"},
		{`"tools":[{"name":"t","input_schema":{"type":"object"}}],`, ``, "/tools"},
		{`"content":"hi"`, `"content":""`, "/messages/0/content"},
		{`{"role":"user","content":"hi"},`, ``, "/messages/0/role"},
		{`"id":"b"`, `"id":"a"`, "/messages/1/content/1/id"},
		{`"id":"a"`, `"id":"a?"`, "/messages/1/content/0/id"},
		{`"input":{}}]`, `"input":[]}]`, "/messages/1/content/1/input"},
		{`{"type":"tool_result","tool_use_id":"a","content":"x"},`, ``, "/messages/2"},
		{`"tool_use_id":"b"`, `"tool_use_id":"c"`, "/messages/2/content/1/tool_use_id"},
		{`"tool_use_id":"b"`, `"tool_use_id":"a"`, "/messages/2/content/1/tool_use_id"},
		{`[{"type":"tool_result","tool_use_id":"a"`, `[{"type":"text","text":"first"},{"type":"tool_result","tool_use_id":"a"`, "/messages/2/content/1"},
		{`[{"type":"text","text":"no"}]`, `[]`, "/messages/2/content/1/content"},
		{`"text":"and?"`, `"text":""`, "/messages/2/content/2/text"},
		{`{"type":"text","text":"and?"}`, `{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"eHh4"}}`, "/messages/2/content/2/source/media_type"},
		{`{"type":"text","text":"and?"}`, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eHh4 !"}}`, "/messages/2/content/2/source/data"},
		{`{"type":"text","text":"no"}`, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eHh4"}}`, "/messages/2/content/1/content/0/type"},
		{`"text":"and?"`, `"text":" \n\t"`, "/messages/2/content/2/text"},
		{`"and?"`, `"\ud83d and"`, ""},
		{`"and?"}]}]`, `"and?"}]},{"role":"assistant","content":[{"type":"tool_use","id":"z","name":"t","input":{}}]}]`, "/messages/3"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("%s is not in the request", c.old)
		}
		found := Check([]byte(bad))
		if !slices.ContainsFunc(found, func(p Problem) bool { return p.Path == c.want }) {
			t.Errorf("%s in place of %s: found %v, not %s", c.new, c.old, found, c.want)
		}
	}
}

func TestProfiles(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`"lane": "attachment"`, `"lane": "somewhere"`},
		{`"structured": "prefer"`, `"structured": "sometimes"`},
		{`"max": 128`, `"max": 0`},
		{`"image": "image"`, `"image": "magic"`},
		{`"id": "generic"`, `"id": "specific"`},
		{`mcp__{server}__{tool}`, `mcp__{server}`},
		{`"evidence"`, `"hearsay"`},
		{`"keep": "A-Za-z0-9_-"`, `"keep": "z-a"`},
	} {
		bad := strings.Replace(string(profilesFile), c.old, c.new, 1)
		if _, err := ParseProfiles([]byte(bad)); err == nil {
			t.Errorf("%s is taken", c.new)
		}
	}
	for client, want := range map[string]string{"claude-ai": "claude-desktop", "claude-ai (via mcp-remote 0.1.37)": "claude-desktop", "cursor-vscode": "cursor", "Visual Studio Code": "vscode", "lab-client": "generic"} {
		k := talk.New()
		k.Open(1, client, "")
		if host, reason := Builtin().Detect(replay.New(replay.Options{}, &replay.Session{Session: k.Session, Body: k.Body})); host.ID != want || reason == "" {
			t.Errorf("client %q is %s, since %s", client, host.ID, reason)
		}
	}
	var all struct{ Profiles []map[string]json.RawMessage }
	if err := json.Unmarshal(profilesFile, &all); err != nil {
		t.Fatal(err)
	}
	want := []string{"claude-code", "claude-desktop", "mcp-connector", "sdk-helper", "bridge", "vscode", "cursor", "langchain", "generic"}
	if diff := cmp.Diff(want, Builtin().IDs()); diff != "" {
		t.Error(diff)
	}
	_ = theReach()
}

func TestSurrogates(t *testing.T) {
	for raw, want := range map[string]string{
		`"plain"`:                 `"plain"`,
		`"\ud83d\ude00"`:          `"\ud83d\ude00"`,
		`"\ud83d"`:                `"\ufffd"`,
		`"\ude00 x \ud83d\u0041"`: `"\ufffd x \ufffd\u0041"`,
		`"\\ud83d"`:               `"\\ud83d"`,
		`"\\\ud83d"`:              `"\\\ufffd"`,
		`"\ud83`:                  `"\ud83`,
	} {
		if got := string(mendSurrogates([]byte(raw))); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
	}
}
