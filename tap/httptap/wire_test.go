package httptap

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// through sends the bytes of a request through a tap and gives what came out at the
// server, with {host} in it for the address that the client knows. The server's
// answer closes the connection.
func through(t *testing.T, request string) (got string) {
	t.Helper()
	seen := make(chan string, 1)
	origin := raw(t, func(c *wire) {
		head := c.head()
		_, h := headLines(head)
		switch {
		case len(h["content-length"]) > 0 && h["content-length"][0] != "0":
			body := make([]byte, len(request)-strings.Index(request, "\r\n\r\n")-4)
			_, _ = io.ReadFull(c, body)
			head += string(body)
		case len(h["transfer-encoding"]) > 0:
			head += c.until("0\r\n")
			for line := ""; line != "\r\n"; head += line {
				line = c.until("\r\n")
			}
		}
		seen <- strings.ReplaceAll(head, c.LocalAddr().String(), "{server}")
		c.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	})
	tap := tapTo(t, origin+"/mcp")
	c := dial(t, tap.addr)
	c.say(strings.ReplaceAll(request, "{host}", tap.addr))
	if answer := c.head(); !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") {
		t.Fatalf("%s\n-> %s", request, answer)
	}
	select {
	case got = <-seen:
	default:
		t.Fatal("an answer without the server")
	}
	tap.journals()
	return got
}

// TestRequestsArriveAsTheyAre compares what a server gets with what the client
// sent: the line byte for byte, and headers but for their order and case.
func TestRequestsArriveAsTheyAre(t *testing.T) {
	for _, line := range []string{
		"GET /mcp", "HEAD /mcp", "DELETE /mcp", "OPTIONS /mcp", "OPTIONS *", "TRACE /mcp", "PROPFIND /mcp", "FROB /mcp", "get /mcp", "M-SEARCH /x",
		"GET /", "GET /other/path", "GET //", "GET //double//slash/", "GET /a/../b/./c", "GET /mcp/",
		"GET /mcp?", "GET /mcp?a=1&b=2;c=3", "GET /mcp?x=%zz&y=%", "GET /mcp?a=b?c=d", "GET /mcp?a=%2F/b", "GET /mcp?q=a+b%20c&q=", "GET /mcp?&&", "GET /mcp?%00",
		"GET /a%2Fb", "GET /a%2fb", "GET /%7Euser", "GET /a;b=c;d", "GET /a:b@c", "GET /%E4%B8%AD", "GET /a+b%20c", "GET /%2e%2e/x", "GET /a%3Fb", "GET /a%25b",
		`GET /a"b<c>d`, "GET /a|b^c`d{e}f", `GET /a\b`, "GET /[a]", "GET /\xc3\xa4", "GET /a%C3%a4\xc3\xa4", "GET /mcp?\xc3\xa4=\xff", "GET /a#b", "GET /mcp?a#b",
		"GET /.well-known/oauth-protected-resource/mcp",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			got := through(t, line+" HTTP/1.1\r\nHost: {host}\r\n\r\n")
			if want := line + " HTTP/1.1\r\nHost: {server}\r\n\r\n"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestHeadersArriveAsTheyAre(t *testing.T) {
	headers := []string{
		"Accept: application/json, text/event-stream", "Accept: text/plain", // twice
		"Authorization: Bearer x.y.z", "Proxy-Foo: 1",
		"Mcp-Session-Id: 1868a90c", "MCP-Protocol-Version: 2025-11-25", "Mcp-Method: tools/call", "Mcp-Name: =?base64?TcO8bmNoZW4=?=",
		"Mcp-Param-City: M\xfcnchen", "Mcp-Param-Empty:", "Last-Event-ID: a_1", "Cookie: a=1; b=2", "Cookie: c=3",
		"Origin: http://localhost:6274", "Referer: http://localhost:6274/x", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: h", "X-Forwarded-Proto: https",
		"Forwarded: for=1.2.3.4", "X-Real-Ip: 1.2.3.4", "Via: 1.1 x", "User-Agent: test/1", "If-None-Match: \"x\"", "Range: bytes=0-1", "X_Under: 1", "Date: now",
	}
	for name, sent := range map[string][]string{"many": headers, "none": nil} {
		t.Run(name, func(t *testing.T) {
			request := "GET /mcp HTTP/1.1\r\nHost: {host}\r\n"
			for _, h := range sent {
				request += h + "\r\n"
			}
			_, got := headLines(through(t, request+"\r\n"))
			_, want := headLines(strings.ReplaceAll(strings.ReplaceAll(request, "Empty:", "Empty: "), "{host}", "{server}") + "\r\n")
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHopByHopHeadersStay(t *testing.T) {
	_, got := headLines(through(t, "GET /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Authorization: Basic x\r\nX-Other: 1\r\n\r\n"))
	want := map[string][]string{"host": {"{server}"}, "te": {"trailers"}, "x-other": {"1"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRequestBodiesArriveAsTheyAre(t *testing.T) {
	for name, c := range map[string]struct{ request, want string }{
		"length":  {"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n\r\nab\r\nc", "Content-Length: 5\r\n\r\nab\r\nc"},
		"chunked": {"POST /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n2\r\n\":\r\n3\r\n 1}\r\n0\r\n\r\n", ""},
		"delete":  {"DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{}", "Content-Length: 2\r\n\r\n{}"},
		"empty":   {"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n", "Content-Length: 0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := through(t, c.request)
			if c.want != "" && !strings.HasSuffix(got, c.want) {
				t.Errorf("%q, want an end %q", got, c.want)
			}
			if c.want == "" {
				_, body, _ := strings.Cut(got, "\r\n\r\n")
				plain, err := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(body)))
				if err != nil || string(plain) != `{"a": 1}` {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
}

// TestAnswersArriveAsTheyAre compares what a client gets with what the server sent.
func TestAnswersArriveAsTheyAre(t *testing.T) {
	packed := gzipped(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	for name, c := range map[string]struct{ method, sent, want string }{
		"bare":        {sent: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
		"typed":       {sent: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/html\r\nDate: then\r\nServer: x\r\nX-A: 1\r\nX-A: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Path=/\r\n\r\nhi"},
		"empty":       {sent: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		"no content":  {sent: "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"},
		"not changed": {sent: "HTTP/1.1 304 Not Modified\r\nEtag: \"x\"\r\n\r\n"},
		"accepted":    {sent: "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nMcp-Session-Id: x\r\n\r\n"},
		"head":        {method: "HEAD", sent: "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nContent-Type: application/json\r\n\r\n"},
		"401":         {sent: "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nWww-Authenticate: Bearer realm=\"a\", scope=\"b\"\r\nWww-Authenticate: Basic\r\n\r\n"},
		"307":         {sent: "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: /other\r\n\r\n"},
		"405":         {sent: "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nAllow: POST\r\n\r\n"},
		"421":         {sent: "HTTP/1.1 421 Misdirected Request\r\nContent-Length: 3\r\n\r\nno\n"},
		"999":         {sent: "HTTP/1.1 999 Whatever\r\nContent-Length: 0\r\n\r\n", want: "HTTP/1.1 999 status code 999\r\nContent-Length: 0\r\n\r\n"},
		"gzip":        {sent: "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(packed)) + "\r\nContent-Encoding: gzip\r\n\r\n" + packed},
		"chunked":     {sent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"},
		"trailers":    {sent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n"},
		"to the end":  {sent: "HTTP/1.0 200 OK\r\n\r\nhi", want: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"},
		"early hints": {sent: "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tap := tapTo(t, respond(t, c.sent)+"/mcp")
			client := dial(t, tap.addr)
			method, want := c.method, c.want
			if method == "" {
				method = "GET"
			}
			if want == "" {
				want = c.sent
			}
			client.say(method + " /mcp HTTP/1.1\r\nHost: " + tap.addr + "\r\nConnection: close\r\n\r\n")
			all, err := io.ReadAll(client)
			if got := strings.ReplaceAll(string(all), "Connection: close\r\n", ""); err != nil || !sameAnswer(got, want) {
				t.Errorf("%q\nwant %q (%v)", got, want, err)
			}
			tap.only()
		})
	}
}

// sameAnswer compares answers but for the order of headers.
func sameAnswer(a, b string) bool {
	for {
		headA, restA, okA := strings.Cut(a, "\r\n\r\n")
		headB, restB, okB := strings.Cut(b, "\r\n\r\n")
		firstA, linesA := headLines(headA)
		firstB, linesB := headLines(headB)
		if okA != okB || firstA != firstB || !cmp.Equal(linesA, linesB) {
			return false
		}
		if !strings.HasPrefix(firstA, "HTTP/1.1 1") {
			return restA == restB
		}
		a, b = restA, restB
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

// TestTrailersOfARequest pass, with their announcement.
func TestTrailersOfARequest(t *testing.T) {
	got := through(t, "POST /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 42\r\n\r\n")
	if !strings.Contains(got, "Trailer: X-Sum\r\n") || !strings.HasSuffix(got, "0\r\nX-Sum: 42\r\n\r\n") {
		t.Errorf("%q", got)
	}
}

// TestExpectContinue asks the client for its body only when the server does.
func TestExpectContinue(t *testing.T) {
	const head = "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
	t.Run("asked", func(t *testing.T) {
		origin := raw(t, func(c *wire) {
			if got := c.head(); !strings.Contains(got, "Expect: 100-continue\r\n") {
				t.Errorf("%q", got)
			}
			c.say("HTTP/1.1 100 Continue\r\n\r\n")
			c.until("{}")
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		})
		tap := tapTo(t, origin+"/mcp")
		c := dial(t, tap.addr)
		c.say(strings.ReplaceAll(head, "{host}", tap.addr))
		if got := c.head(); got != "HTTP/1.1 100 Continue\r\n\r\n" {
			t.Errorf("%q", got)
		}
		c.say("{}")
		if got := c.head(); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
			t.Errorf("%q", got)
		}
		if a := tap.only(); len(a.up) != 1 || string(a.up[0].Body) != "{}" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("refused", func(t *testing.T) {
		tap := tapTo(t, respond(t, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")+"/mcp")
		c := dial(t, tap.addr)
		c.say(strings.ReplaceAll(head, "{host}", tap.addr))
		if got := c.head(); !strings.HasPrefix(got, "HTTP/1.1 413 ") {
			t.Errorf("%q", got)
		}
		if a := tap.only(); len(a.up) != 0 || a.response.Status != 413 || a.end.By != "server" {
			t.Errorf("%+v, end %+v", a, a.end)
		}
	})
}

// TestUpgrade passes a connection on that speaks something else.
func TestUpgrade(t *testing.T) {
	origin := raw(t, func(c *wire) {
		if got := c.head(); !strings.Contains(got, "Connection: Upgrade\r\n") || !strings.Contains(got, "Upgrade: echo\r\n") {
			t.Errorf("%q", got)
		}
		c.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		c.say(strings.ToUpper(c.until("\n")))
		c.closed()
	})
	tap := tapTo(t, origin+"/mcp")
	c := dial(t, tap.addr)
	c.say("GET /mcp HTTP/1.1\r\nHost: " + tap.addr + "\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	c.head()
	c.say("hello\n")
	if got := c.until("\n"); got != "HELLO\n" {
		t.Errorf("%q", got)
	}
	a := tap.only() // the tap ends while it is open
	if a.response.Status != 101 || a.end == nil || a.end.By != "tap" {
		t.Errorf("%+v, end %+v", a.response, a.end)
	}
}

func TestHTTP2Server(t *testing.T) {
	seen := make(chan *http.Request, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- r
		w.Header().Set("Trailer", "X-Sum")
		w.Header()["Date"], w.Header()["Content-Type"] = nil, nil
		_, _ = w.Write(body)
		if r.URL.Query().Has("flush") {
			_ = http.NewResponseController(w).Flush() // no length then
		}
		w.Header().Set("X-Sum", "1")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	for _, query := range []string{"", "&flush"} {
		testHTTP2Server(t, server.URL, query, seen)
	}
}

func testHTTP2Server(t *testing.T, url, query string, seen <-chan *http.Request) {
	t.Helper()
	tap := tapTo(t, url+"/mcp", func(x *Tap) { x.Insecure = true })
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, tap.base+"/mcp?a=%zz"+query, strings.NewReader(`{"jsonrpc":"2.0"}`))
	req.Header.Set("User-Agent", "test/1")
	res, body := do(t, req)
	got := <-seen
	if got.Proto != "HTTP/2.0" || got.RequestURI != "/mcp?a=%zz"+query || "https://"+got.Host != url || got.ContentLength != 17 {
		t.Errorf("%s %s %s %d", got.Proto, got.RequestURI, got.Host, got.ContentLength)
	}
	if d := cmp.Diff(http.Header{"User-Agent": {"test/1"}, "Content-Length": {"17"}}, got.Header); d != "" {
		t.Error(d)
	}
	if body != `{"jsonrpc":"2.0"}` || res.ContentLength < 0 && res.Trailer.Get("X-Sum") != "1" || len(res.Header) > 2 {
		t.Errorf("%q, %v, trailers %v", body, res.Header, res.Trailer)
	}
	for !bytes.Contains(tap.now(), []byte(`"phase":"end"`)) { // the trailers come after all that the client waits for
		time.Sleep(time.Millisecond)
	}
	if a := tap.only(); a.response.Proto != "HTTP/2.0" || len(a.down) != 1 || len(a.end.Trailers) != 1 {
		t.Errorf("%+v, end %+v", a, a.end)
	}
}

func TestHTTP2Client(t *testing.T) {
	tap := tapTo(t, respond(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\n\r\n{}")+"/mcp")
	client := &http.Transport{Protocols: new(http.Protocols)}
	client.Protocols.SetUnencryptedHTTP2(true)
	defer client.CloseIdleConnections()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, tap.base+"/mcp", nil)
	res, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if string(body) != "{}" || err != nil || res.ProtoMajor != 2 || len(res.Header) != 2 {
		t.Errorf("%q, %v, %s, %v", body, err, res.Proto, res.Header)
	}
	if a := tap.only(); a.request.Proto != "HTTP/2.0" || a.end.By != "server" {
		t.Errorf("%+v, end %+v", a.request, a.end)
	}
}
