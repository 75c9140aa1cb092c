package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// frameWriter fails the test when a Write is anything but one whole line.
type frameWriter struct {
	t   *testing.T
	out bytes.Buffer
}

func (w *frameWriter) Write(p []byte) (int, error) {
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' || !json.Valid(p) {
		w.t.Errorf("a Write that is not one message: %q", p)
	}
	return w.out.Write(p)
}

func serve(t *testing.T, input string) string {
	t.Helper()
	w := &frameWriter{t: t}
	if err := Serve(strings.NewReader(input), w, io.Discard); err != nil {
		t.Errorf("Serve: %v", err)
	}
	return strings.TrimSuffix(w.out.String(), "\n")
}

const (
	meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	sig  = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"acme-tickets","version":"1.0.0"}}`
)

// opened is initialize at a revision and what follows it.
func opened(revision string, rest ...string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + revision +
		`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" + strings.Join(rest, "\n") + "\n"
}

// afterOpening is what the server said to all but initialize.
func afterOpening(t *testing.T, revision string, rest ...string) string {
	t.Helper()
	_, after, _ := strings.Cut(serve(t, opened(revision, rest...)), "\n")
	return after
}

func TestRudeLines(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n\r\n \t\n", ""},
		{"not JSON", "hello\n", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"half a message, no line feed", `{"jsonrpc":"2.0","id":1`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"byte order mark", "\ufeff{}\n", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"a number", "17\n", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: not an object"}}`},
		{"null", "null\n", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: not an object"}}`},
		{"an array", "[{}]\n", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: unexpected array"}}`},
		{"too deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "\n", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"empty object", "{}\n", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: no method"}}`},
		{"id alone", `{"jsonrpc":"2.0","id":"a"}`, `{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"Invalid Request: no method"}}`},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: method is not a string"}}`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: id is not a string or an integer"}}`},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: id is not a string or an integer"}}`},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: id is not a string or an integer"}}`},
		{"no jsonrpc", `{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: jsonrpc is not \"2.0\""}}`},
		{"params is an array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: not an object"}}`},
		{"ids keep their spelling", `{"jsonrpc":"2.0","id":123456789012345678901,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":"<\u003c","method":"ping"}`,
			`{"jsonrpc":"2.0","id":123456789012345678901,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"<\u003c","result":{}}`},
		{"empty id, spaces, CR LF", " { \"jsonrpc\" : \"2.0\", \"id\" : \"\", \"method\" : \"ping\" } \r\n", `{"jsonrpc":"2.0","id":"","result":{}}`},
		{"other letter case", `{"jsonrpc":"2.0","ID":1,"Method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: no method"}}`},
		{"responses", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","error":{"code":1,"message":""},"id":null,"result":1}`, ""},
		{"notifications", `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"method":"no/such"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[7]}`, ""},
		{"too early", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Received request before initialization was complete"}}`},
		{"initialize without version", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: protocolVersion is not a string"}}`},
		{"initialize without clientInfo", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: clientInfo is not an object"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := serve(t, c.in); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestModernRequests(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"discover without _meta", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion, a string"}}`},
		{"no version", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion, a string"}}`},
		{"no capabilities", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: _meta lacks io.modelcontextprotocol/clientCapabilities, an object"}}`},
		{"unknown version", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2027-01-01"}}}`},
		{"ping is legacy", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: ping"}}`},
		{"no resource", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"tickets://T-9",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Resource not found","data":{"uri":"tickets://T-9"}}}`},
		{"a bare ticket id is no URI", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"T-101",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Resource not found","data":{"uri":"T-101"}}}`},
		{"no such cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: unknown cursor"}}`},
		{"no such prompt", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown prompt: x"}}`},
		{"prompt without argument", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"triage",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: ticket_id is not a string"}}`},
		{"empty lists", `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"resources":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",` + sig + `}}`},
		{"prompts", `{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"triage","description":"Ask the model to triage one ticket.","arguments":[{"name":"ticket_id","required":true}]}],"resultType":"complete","ttlMs":0,"cacheScope":"private",` + sig + `}}`},
		{"nothing found", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tickets","arguments":{"query":"zzz"},` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"result":[]},"isError":false,"resultType":"complete",` + sig + `}}`},
		{"missing and wrong arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_comment","arguments":{"text":7},` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Error executing tool add_comment: 2 validation errors for add_commentArguments\ntext\n  Input should be a valid string\nticket_id\n  Field required"}],"isError":true,"resultType":"complete",` + sig + `}}`},
		{"no arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tickets",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Error executing tool search_tickets: 1 validation error for search_ticketsArguments\nquery\n  Field required"}],"isError":true,"resultType":"complete",` + sig + `}}`},
		{"arguments is a string", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tickets","arguments":"x",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: arguments is not an object"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := serve(t, c.in); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Without a handshake, a request that names no version is too early on a fresh
// connection and incomplete on a modern one.
func TestModernConnectionExpectsMeta(t *testing.T) {
	got := serve(t, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if !strings.Contains(got, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,`) {
		t.Error(got)
	}
}

// One pipe may carry both eras, each request being answered by its own.
func TestBothErasOnOnePipe(t *testing.T) {
	got := lines(afterOpening(t, "2025-11-25",
		`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{`+meta+`}}`,
		`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`))
	if len(got) != 2 || !strings.Contains(got[0], `"resultType"`) || got[1] != `{"jsonrpc":"2.0","id":2,"result":{"resources":[]}}` {
		t.Error(strings.Join(got, "\n"))
	}
}

func TestNegotiation(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05",
		"2025-03-26": "2025-03-26",
		"2025-06-18": "2025-06-18",
		"2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", // modern, but not by handshake
		"1999-01-01": "2025-11-25",
	} {
		if got := serve(t, opened(asked)); !strings.Contains(got, `"protocolVersion":"`+want+`"`) {
			t.Errorf("asked for %s: %s", asked, got)
		}
	}
}

func TestLegacyRevisions(t *testing.T) {
	const noResource = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"tickets://T-9"}}`
	const noQuery = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tickets"}}`
	const search = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tickets","arguments":{"query":"dark","status":"any"}}}`
	const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		revision, in, want string
		present            bool
	}{
		{"2025-11-25", noResource, `"error":{"code":-32002,"message":"Resource not found","data":{"uri":"tickets://T-9"}}`, true},
		{"2024-11-05", noResource, `"code":-32002`, true},
		{"2025-11-25", noQuery, `"isError":true`, true},
		{"2025-06-18", noQuery, `"error":{"code":-32602`, true},
		{"2025-06-18", search, `"structuredContent":{"result":[{"id":"T-103"`, true},
		{"2025-03-26", search, `"structuredContent"`, false},
		{"2025-06-18", listing, `"outputSchema"`, true},
		{"2025-03-26", listing, `"outputSchema"`, false},
		{"2025-11-25", listing, `"resultType"`, false},
		{"2025-11-25", opened("2025-11-25"), `"message":"Invalid Request: already initialized"`, true},
		{"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel"}`, `"code":-32601`, true},
	} {
		got := afterOpening(t, c.revision, strings.TrimSuffix(c.in, "\n"))
		if strings.Contains(got, c.want) != c.present {
			t.Errorf("%s: %s\nanswer %s\n%q is there: want %v", c.revision, c.in, got, c.want, c.present)
		}
	}
}

func TestBatches(t *testing.T) {
	const pings = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},7,{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	const refused = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: unexpected array"}}`
	for _, c := range []struct{ revision, in, want string }{
		{"2025-03-26", pings, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: not an object"}},{"jsonrpc":"2.0","id":2,"result":{}}]`},
		{"2025-03-26", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, ""},
		{"2025-03-26", `[]`, refused},
		{"2025-06-18", pings, refused},
	} {
		if got := afterOpening(t, c.revision, c.in); got != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.revision, c.in, got, c.want)
		}
	}
}

func TestSubscriptions(t *testing.T) {
	listen := func(id, filter string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":` + filter + `,` + meta + `}}`
	}
	const comment = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"add_comment","arguments":{"ticket_id":"T-101","text":"x"},` + meta + `}}`
	got := lines(serve(t, strings.Join([]string{
		listen(`"a"`, `{"toolsListChanged":true,"resourceSubscriptions":["tickets://T-101","file:///etc/motd"]}`),
		listen(`"a"`, `{"toolsListChanged":true}`),
		listen(`2`, `{"resourceSubscriptions":["file:///etc/motd"]}`),
		listen(`3`, `7`),
		comment,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`,
		comment,
	}, "\n")))
	want := []string{
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["tickets://T-101"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"a"}}}`,
		`{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"Invalid Request: id is in use"}}`,
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`,
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params: notifications is not a filter"}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"tickets://T-101","_meta":{"io.modelcontextprotocol/subscriptionId":"a"}}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"Comment added to T-101 (1 total)"}],"structuredContent":{"result":"Comment added to T-101 (1 total)"},"isError":false,"resultType":"complete",` + sig + `}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"Comment added to T-101 (2 total)"}],"structuredContent":{"result":"Comment added to T-101 (2 total)"},"isError":false,"resultType":"complete",` + sig + `}}`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d:\n got %q\nwant %q", i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}

func TestAssignTicket(t *testing.T) {
	assign := func(ticket, person string) string {
		return afterOpening(t, "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"assign_ticket","arguments":{"ticket_id":"`+ticket+`","assignee":"`+person+`"}}}`)
	}
	for _, c := range []struct{ ticket, person, want string }{
		{"T-101", "ana", `\"comments\": [],\n  \"assignee\": \"ana\"\n}"}],"isError":false`},
		{"T-101", "robin", `{\n  \"error\": \"No user robin\",\n  \"status\": 404\n}"}],"isError":false`},
		{"T-999", "ana", `{\n  \"error\": \"No ticket T-999\",\n  \"status\": 404\n}"}],"isError":false`},
	} {
		if got := assign(c.ticket, c.person); !strings.Contains(got, c.want) {
			t.Errorf("%s to %s: %s\nwant %s in it", c.ticket, c.person, got, c.want)
		}
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	got := afterOpening(t, "2025-11-25", `{"jsonrpc":"2.0","id":"`+long+`","method":"ping"}`)
	if got != `{"jsonrpc":"2.0","id":"`+long+`","result":{}}` {
		t.Errorf("an answer of %d bytes", len(got))
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }
func (brokenPipe) Read([]byte) (int, error)  { return 0, errBroken }

func TestServeReportsBrokenPipes(t *testing.T) {
	var stderr bytes.Buffer
	if err := Serve(strings.NewReader(opened("2025-11-25")), brokenPipe{}, &stderr); !errors.Is(err, errBroken) {
		t.Errorf("broken output: %v", err)
	}
	if stderr.String() != "acme-tickets: serving on stdio\n" {
		t.Errorf("stderr %q", stderr.String())
	}
	if err := Serve(brokenPipe{}, io.Discard, io.Discard); !errors.Is(err, errBroken) {
		t.Errorf("broken input: %v", err)
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(modernCall + "\n" + legacyCall + "\n"))
	f.Add([]byte(opened("2025-11-25", legacyCall, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"triage","arguments":{"ticket_id":"<"}}}`)))
	f.Add([]byte(opened("2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"},[],null]`)))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["tickets://T-101"]},` + meta + `}}`))
	f.Add([]byte("{\"id\":-,\n\xff\r\n[[[{\"method\":null}]]]"))
	f.Fuzz(func(t *testing.T, input []byte) {
		if err := Serve(bytes.NewReader(input), &frameWriter{t: t}, io.Discard); err != nil {
			t.Error(err)
		}
	})
}
