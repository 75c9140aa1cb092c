package decode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/decode/internal/httpscript"
	"github.com/mcptap/mcptap/tap"
)

func web1(t testing.TB, text string) *Session {
	t.Helper()
	records, err := httpscript.Records(text)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Bytes: true})
	s.Record(&tap.Record{Header: &tap.Header{Transport: "http"}})
	return feed(s, records)
}

const (
	opened = `POST 1 /mcp JSON | Accept: application/json, text/event-stream
>1 {V2,"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
200 1 JSON | SESSION:a
<1 {V2,"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
.1 server
`
	called = `POST 2 /mcp LEGACY:2025-11-25 | SESSION:a
>2 {V2,"id":1,"method":"tools/call","params":{"name":"a"}}
`
	opensOld = `GET 1 /sse Accept: text/event-stream
200 1 SSE
~1 event=endpoint /message?sessionId=«redacted:1»
`
)

// TestHTTP tells for each session what became of its calls, and which of its frames
// are odd.
func TestHTTP(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		odd        string
	}{
		{"a session", opened + called + `200 2 JSON
<2 {V2,"id":1,"result":{}}
.2 server`, []string{"c2s 0>1 ok", "c2s 1>3 ok"}, ""},
		{"modern: the exchange is the scope", `POST 1 /mcp MODERN:ping
POST 2 /mcp MODERN:ping
>1 {V2,"id":1,"method":"tools/list","params":{"_meta":{META}}}
>2 {V2,"id":1,"method":"tools/list","params":{"_meta":{META}}}
200 2 JSON
<2 {V2,"id":1,"result":{}}
.2 server
200 1 JSON
<1 {V2,"id":1,"result":{}}
.1 server`, []string{"c2s 1>3 ok", "c2s 1>2 ok"}, ""},
		{"the answer comes on a resumed stream", opened + called + `200 2 SSE
~2 id=e1
~2 id=e2 {V2,"id":5,"method":"roots/list"}
.2 server
GET 3 /mcp LEGACY:2025-11-25 | SESSION:a | Last-Event-ID: e1
200 3 SSE
~3 id=e2 {V2,"id":5,"method":"roots/list"}
POST 4 /mcp LEGACY:2025-11-25 | SESSION:a
>4 {V2,"id":5,"result":{"roots":[]}}
202 4
.4 server
~3 id=e3 {V2,"id":1,"result":{}}`, []string{"c2s 0>1 ok", "c2s 1>6 ok", "s2c 5>5 ok"}, "4r"},
		{"an id of an event used twice", opened + called + `200 2 SSE
~2 id=e1 {V2,"method":"notifications/message","params":{"level":"info","data":1}}
~2 id=e1 {V2,"id":1,"result":{}}`, []string{"c2s 0>1 ok", "c2s 1>4 ok"}, "4i"},
		{"the session is lost", opened + called + `404 2 JSON
<2 {V2,"error":{"code":-32001,"message":"Session not found"},"id":null}
.2 server
POST 3 /mcp JSON
>3 {V2,"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
200 3 JSON | SESSION:b
<3 {V2,"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
.3 server`, []string{"c2s 0>1 ok", "c2s 1>3 protocol error", "c2s 0>5 ok"}, "3x"},
		{"a page of a gateway", opened + called + `502 2 Content-Type: text/html
<2 <html>Bad Gateway</html>
.2 server`, []string{"c2s 0>1 ok", "c2s 1>-1 transport error"}, ""},
		{"accepted, though it was a request", opened + called + "202 2\n.2 server", []string{"c2s 0>1 ok", "c2s 1>-1 transport error"}, ""},
		{"a token is asked for", `POST 1 /mcp MODERN:tools/list
>1 {V2,"id":1,"method":"tools/list","params":{"_meta":{META}}}
401 1 JSON | WWW-Authenticate: Bearer resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"
<1 {"error":"invalid_token"}
.1 server
GET 2 /.well-known/oauth-protected-resource MCP-Protocol-Version: 2026-07-28
200 2 JSON
<2 {"resource":"http://127.0.0.1/mcp"}
.2 server
POST 3 /token Content-Type: application/x-www-form-urlencoded
>3 MASKED grant_type=authorization_code
200 3 JSON
<3 MASKED {"access_token":"«redacted:1»"}
.3 server`, []string{"c2s 1>-1 unauthorized"}, ""},
		{"a token is asked for in the middle of a session", opened + called + `401 2
.2 server
POST 3 /mcp LEGACY:2025-11-25 | SESSION:a | Authorization: «redacted:2»
>3 {V2,"id":1,"method":"tools/call","params":{"name":"a"}}
200 3 JSON
<3 {V2,"id":1,"result":{}}
.3 server`, []string{"c2s 0>1 ok", "c2s 1>-1 unauthorized", "c2s 1>4 ok"}, ""},
		{"the client goes away: modern", `POST 1 /mcp MODERN:tools/list
>1 {V2,"id":1,"method":"tools/list","params":{"_meta":{META}}}
.1 client`, []string{"c2s 1>-1 cancelled"}, ""},
		{"the client goes away: legacy", opened + called + ".2 client", []string{"c2s 0>1 ok", "c2s 1>-1 transport error"}, ""},
		{"a batch", opened + `POST 2 /mcp LEGACY:2025-03-26 | SESSION:a
>2 [{V2,"id":1,"method":"ping"},{V2,"id":2,"method":"ping"}]
400 2
.2 server`, []string{"c2s 0>1 ok", "c2s 1>-1 transport error", "c2s 2>-1 transport error"}, "2x"},
		{"http+sse", opensOld + `POST 2 /message?sessionId=«redacted:1» JSON
>2 {V2,"id":0,"method":"ping"}
~1 event=message {V2,"id":0,"result":{}}
202 2
<2 Accepted
.2 server
POST 3 /message?sessionId=«redacted:1» JSON
>3 {V2,"id":1,"method":"ping"}
202 3
.3 server
.1 broken`, []string{"c2s 0>1 ok", "c2s 1>-1 transport error"}, ""},
		{"http+sse behind another path", opensOld + `POST 2 /up/message?sessionId=«redacted:1» JSON
>2 {V2,"id":0,"method":"ping"}
~1 event=message {V2,"id":0,"result":{}}`, []string{"c2s 0>1 ok"}, ""},
		{"http+sse: its post is refused", opensOld + `POST 2 /message?sessionId=«redacted:1» JSON
>2 {V2,"id":0,"method":"ping"}
404 2
.2 server`, []string{"c2s 0>-1 transport error"}, ""},
		{"a body over lines", "POST 1 /mcp MODERN:tools/list\n>1 {V2, \"id\":1,\r\"method\":\"tools/list\",\"params\":{\"_meta\":{META}}}\n200 1 JSON\n<1 {V2,\r\"id\":1,\"result\":{}}", []string{"c2s 1>1 ok"}, ""},
	} {
		s := web1(t, c.text)
		if diff := cmp.Diff(c.want, pairs(s)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if got := oddWeb(s); got != c.odd {
			t.Errorf("%s: odd frames %q, want %q", c.name, got, c.odd)
		}
		checkInvariants(t, s)
	}
}

// oddWeb is oddFrames with what is odd about events and bodies.
func oddWeb(s *Session) string {
	out := oddFrames(s)
	for i := range s.Len() {
		f := s.Frame(i)
		for mark, on := range map[string]bool{"r": f.Replay, "i": f.SameID, "x": f.Faults != 0 || f.Kind == Stray || f.Kind == Malformed} {
			if on {
				out += fmt.Sprint(i) + mark
			}
		}
	}
	return out
}

func TestWhyNoAnswer(t *testing.T) {
	for text, want := range map[string]string{
		"404 2\n.2 server":                      "HTTP 404",
		"202 2\n.2 server":                      "HTTP 202, which answers notifications",
		"200 2 SSE\n.2 server":                  "the event stream ended without it",
		"200 2 SSE\n.2 broken connection reset": "the answer (HTTP 200) broke off: connection reset",
		".2 broken connection refused":          "the server gave no answer: connection refused",
		"200 2 JSON\n.2 client":                 "the client closed the connection first",
		".2 tap told to end":                    "the tap gave no answer: told to end",
		"200 2 SSE\n.2 tap told to end":         "the tap ended the exchange: told to end",
		"200 2 JSON\n<2 <html>\n.2 server":      "HTTP 200 with a body that is no JSON: text",
		"200 2 JSON\n.2 server":                 "HTTP 200 without a message",
		"200 2 Content-Type: text/html; charset=utf-8\n<2 <html>\n.2 server":                           "HTTP 200 with text/html instead of a message",
		"200 2 JSON\n<2 {\"ok\":true}\n.2 server":                                                      "HTTP 200 with JSON that is no message",
		"200 2 JSON\n<2 \ufeff{V2,\"id\":1,\"result\":{}}\n.2 server":                                  "HTTP 200 with a byte order mark before the message",
		"200 2 JSON\n<2 {V2,\"id\":1,\"result\":{\"a\":\"\xff\"}}\n.2 server":                          "HTTP 200 with a body that is not UTF-8",
		"200 2 JSON\n<2 {V2,\"id\":7,\"result\":{}}\n.2 server":                                        "the answer has another id",
		"200 2 JSON\n<2 {V2,\"id\":\"1\",\"result\":{}}\n.2 server":                                    "the id of the answer has another JSON type",
		"200 2 SSE\n~2 {V2,\"id\":7,\"result\":{}}\n.2 server":                                         "the answer has another id",
		"200 2 JSON\n<2 {V2,\"method\":\"notifications/a\"}\n.2 server":                                "HTTP 200 without an answer",
		"200 2 JSON | Content-Encoding: rot13\n<2 ?!\n.2 server":                                       "HTTP 200 with a body that could not be decoded (Content-Encoding: rot13)",
		"200 2 JSON\n.2 server the gzip encoding of the body: decoding the body: gzip: invalid header": "HTTP 200 without a message: the gzip encoding of the body: it is none",
		"200 2 JSON\n.2 broken the answer broke off: unexpected EOF":                                   "the answer (HTTP 200) broke off: the connection ended in the middle",
		"401 2\n.2 server": "HTTP 401: a token is asked for",
		"401 2 JSON\n<2 {V2,\"id\":null,\"error\":{\"code\":-32001,\"message\":\"no\"}}\n.2 server": "HTTP 401: a token is asked for",
	} {
		if c := web1(t, opened+called+text).Call(1); c.Why != want {
			t.Errorf("%q: %v, %q, want %q", text, c.Outcome, c.Why, want)
		}
	}
	half := web1(t, opened+`POST 2 /mcp LEGACY:2025-03-26 | SESSION:a
>2 [{V2,"id":1,"method":"ping"},{V2,"id":2,"method":"ping"}]
200 2 JSON
<2 [{V2,"id":1,"result":{}}]
.2 server`)
	if c := half.Call(2); c.Why != "the answer to the batch leaves it out" {
		t.Errorf("half of a batch: %v, %q", c.Outcome, c.Why)
	}
	const listen = `POST 1 /mcp MODERN:subscriptions/listen
>1 {V2,"id":"l","method":"subscriptions/listen","params":{"notifications":{},"_meta":{META}}}
200 1 SSE
`
	for text, want := range map[string]string{".1 client": "the client closed the event stream", ".1 broken": "the event stream broke off", "": ""} {
		if c := web1(t, listen+text).Call(0); c.Outcome != Open || c.Why != want {
			t.Errorf("%q: %v %q", text, c.Outcome, c.Why)
		}
	}
	c := web1(t, "POST 1 /mcp MODERN:ping\n>1 {V2,\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{META}}}\n.1 client").Call(0)
	if want := "the client closed the connection, which cancels it"; c.Why != want {
		t.Errorf("%q, want %q", c.Why, want)
	}
}

func TestExchangeFields(t *testing.T) {
	s := web1(t, opened+called+`200 2 SSE
~2 id=e1 retry=1500
~2 id=e2 {V2,"id":1,"result":{}}
.2 server
POST 3 /mcp MODERN:tools/call:b | Mcp-Param-Site: eu-1 | Authorization: «redacted:2»`)
	x := s.Exchange(1)
	if x.Number != 2 || x.Method != verbPost || x.Target != "/mcp" || x.Status != 200 || x.By != tap.EndServer || !x.MCP || !x.Stream || !x.EventID ||
		x.Sent != SentRequest || x.Call != 1 || x.Calls != 1 || x.Frames != 2 || x.Retry != 1500*time.Millisecond || x.First != "message" || !x.Known {
		t.Errorf("%+v", x)
	}
	if diff := cmp.Diff([]int{2, 3}, s.ExchangeFrames(1)); diff != "" {
		t.Error(diff)
	}
	if f := s.Frame(3); f.Exchange != 1 || f.Event != "message" || !f.EventID || f.Framing != 8 {
		t.Errorf("%+v", f)
	}
	if v, _ := x.Header("mcp-session-id"); v != "«redacted:a»" {
		t.Errorf("session %q", v)
	}
	y := s.Exchange(2)
	if diff := cmp.Diff([][2]string{{"mcp-param-site", "eu-1"}}, y.Params()); diff != "" || y.Scope != 0 || y.End != never {
		t.Errorf("%s %+v", diff, y)
	}
	if first := s.Exchange(0); first.Scope != x.Scope || first.Scope == 0 {
		t.Errorf("scopes %d and %d", first.Scope, x.Scope)
	}
	got := s.FrameBytes([]int{2, 3})
	if got.Heads[tap.C2S] != 100 || got.Heads[tap.S2C] != 100 || got.Framing[tap.S2C] != 8 {
		t.Errorf("%+v", got)
	}
	if all := s.Totals().HTTP; all.Heads[tap.C2S] != 300 || all.Heads[tap.S2C] != 200 || all.Framing[tap.S2C] != 16 {
		t.Errorf("%+v", all)
	}
}

// TestSecretIn: the length of a value that is masked can be told if it is the only one.
func TestSecretIn(t *testing.T) {
	mask := "«redacted:9f3a61»"
	id := [2]string{"Mcp-Session-Id", mask}
	head := int64(len("POST /mcp HTTP/1.1\r\nHost: h\r\nMcp-Session-Id: \r\n\r\n"))
	for _, c := range []struct {
		name    string
		target  string
		bytes   int64
		headers [][2]string
		want    int64
	}{
		{"one", "/mcp", head + 36, [][2]string{{"Host", "h"}, id}, 36},
		{"none", "/mcp", head, [][2]string{{"Host", "h"}}, 0},
		{"two", "/mcp", head + 99, [][2]string{{"Host", "h"}, id, {"Authorization", "Bearer " + mask}}, 0},
		{"the target as well", "/" + mask, head + 36, [][2]string{{"Host", "h"}, id}, 0},
		{"a length that is wrong", "/mcp", 1, [][2]string{{"Host", "h"}, id}, 0},
		{"a length that is too large", "/mcp", 1 << 60, [][2]string{{"Host", "h"}, id}, 0},
	} {
		s := New(Options{})
		s.Record(&tap.Record{HTTP: &tap.Exchange{N: 1, Exchange: 1, Phase: tap.PhaseRequest, Method: "POST", Target: c.target, Proto: "HTTP/1.1", Headers: c.headers, Bytes: c.bytes}})
		if got := s.Exchange(0).SecretUp; got != c.want {
			t.Errorf("%s: %d bytes, not %d", c.name, got, c.want)
		}
	}
	s := New(Options{})
	s.Record(&tap.Record{HTTP: &tap.Exchange{N: 1, Exchange: 1, Phase: tap.PhaseResponse, Status: 404, Proto: "HTTP/1.1", Headers: [][2]string{id}, Bytes: int64(len("HTTP/1.1 404 Not Found\r\nMcp-Session-Id: \r\n\r\n")) + 36}})
	if got := s.Exchange(0).SecretDown; got != 36 {
		t.Errorf("%d bytes of the answer's, not 36", got)
	}
}

func TestEndpointOf(t *testing.T) {
	for _, c := range [][3]string{
		{"/sse", "/message?sessionId=1", "/message?sessionId=1"},
		{"/a/sse", "message?s=1", "/a/message?s=1"},
		{"/a/sse", "?s=1", "/a/sse?s=1"},
		{"/sse", "http://127.0.0.1:9/x/message?s=«redacted:1»", "/x/message?s=«redacted:1»"},
		{"/sse", "/m", "/m"},
		{"/sse", "http://[::1", "http://[::1"},
	} {
		if got := endpointOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestHTTPMemory: an exchange with its two frames costs little.
func TestHTTPMemory(t *testing.T) {
	const n = 100_000
	head, end := tap.Exchange{Phase: tap.PhaseRequest, Method: "POST", Target: "/mcp", Client: "127.0.0.1:50000", Headers: [][2]string{
		{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "a"}}}, tap.Exchange{Phase: tap.PhaseEnd, By: tap.EndServer}
	answer := tap.Exchange{Phase: tap.PhaseResponse, Status: 200, Headers: [][2]string{{"Content-Type", "application/json"}}}
	ask, reply := []byte(httpscript.Expand(`{V2,"id":1,"method":"tools/call","params":{"name":"a","_meta":{META}}}`)), []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	before := heap()
	s := New(Options{})
	for i := range uint32(n) {
		for _, m := range []tap.Exchange{head, answer, end} {
			m.Exchange = i + 1
			s.moment(&m)
			if m.Phase != tap.PhaseEnd {
				dir, body := tap.C2S, ask
				if m.Phase == tap.PhaseResponse {
					dir, body = tap.S2C, reply
				}
				s.Add(&tap.Frame{Dir: dir, JSON: true, Body: body, HTTP: &tap.Carriage{Exchange: i + 1}})
			}
		}
	}
	each := float64(heap()-before) / n
	t.Logf("%.0f bytes an exchange", each)
	if each > 500 {
		t.Errorf("%.0f bytes an exchange with two frames, want at most 500", each)
	}
	if c := s.Call(n - 1); c.Outcome != OK {
		t.Errorf("%+v", c)
	}
}

// BenchmarkHTTP decodes calls over HTTP: five records each.
func BenchmarkHTTP(b *testing.B) {
	const n = 10_000
	var text strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&text, "POST %d /mcp MODERN:tools/call:a\n>%[1]d {V2,\"id\":%[1]d,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"_meta\":{META}}}\n200 %[1]d JSON\n<%[1]d {V2,\"id\":%[1]d,\"result\":{}}\n.%[1]d server\n", i)
	}
	records, err := httpscript.Records(text.String())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		feed(New(Options{}), records)
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
}

// checkExchanges asks for what must hold of exchanges whatever came.
func checkExchanges(t testing.TB, s *Session) {
	t.Helper()
	frames := 0
	for i := range s.Exchanges() {
		x := s.Exchange(i)
		frames += x.Frames
		for _, f := range s.ExchangeFrames(i) {
			if s.Frame(f).Exchange != i {
				t.Errorf("frame %d is of exchange %d, not of %d", f, s.Frame(f).Exchange, i)
			}
		}
		for c := x.Call; c >= 0 && c < x.Call+x.Calls; c++ {
			if s.Call(c).Exchange != i {
				t.Errorf("call %d is of exchange %d, not of %d", c, s.Call(c).Exchange, i)
			}
		}
	}
	for i := range s.Len() {
		if s.Frame(i).Exchange >= 0 {
			frames--
		}
	}
	if frames != 0 {
		t.Errorf("%d frames too many in exchanges", frames)
	}
}

// FuzzHTTP: whatever the exchanges are, nothing panics, and what must hold does.
func FuzzHTTP(f *testing.F) {
	f.Add(opened + called + "200 2 SSE\n~2 id=1 {V2,\"id\":1,\"result\":{}}\nGET 3 /mcp SESSION:a | Last-Event-ID: 1\n200 3 SSE\n~3 id=1 {V2,\"id\":1,\"result\":{}}\n.3 client")
	f.Add(opensOld + "POST 2 /message?sessionId=«redacted:1» JSON\n>2 [{V2,\"id\":1,\"method\":\"ping\"},{V2,\"id\":1,\"result\":{}}]\n.1 broken\n.2 tap")
	f.Add("~7 id=1 {V2,\"id\":1,\"result\":{}}\n~7 id=1 [{V2,\"id\":1,\"method\":\"x\"}]\n~8 id=1 [{V2,\"id\":1,\"method\":\"x\"}]\n.8 server\n>8 {V2}")
	f.Fuzz(func(t *testing.T, text string) {
		s := New(Options{Bytes: true})
		n := uint64(0)
		for line := range strings.Lines(text) {
			n++
			if rec, ok := httpscript.Line(strings.TrimRight(line, "\n"), n, time.Duration(n)*time.Second); ok {
				s.Record(&rec)
			}
		}
		checkInvariants(t, s)
	})
}
