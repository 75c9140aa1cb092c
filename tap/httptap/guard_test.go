package httptap

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestGuard(t *testing.T) {
	g := &guard{hosts: []string{"host.docker.internal"}, origins: []string{"https://inspector.example"}}
	for host, want := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:1": true, "LOCALHOST": true, "[::1]:80": true, "127.9.9.9": true, "app.localhost:3": true, "localhost.": true,
		"evil.example": false, "evil.example:8080": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "10.0.0.1": false, "": false,
		"host.docker.internal:80": true, "HOST.docker.internal": true, "2130706433": false,
	} {
		if got := g.knows(hostName(host)); got != want {
			t.Errorf("Host %q: %v, want %v", host, got, want)
		}
	}
	for origin, want := range map[string]bool{
		"http://localhost:6274": true, "http://127.0.0.1": true, "https://inspector.example": true, "vscode-file://vscode-app": true,
		"null": false, "https://evil.example": false, "http://localhost.evil.example": false, "": false, "https://inspector.example.evil.example": false,
		"http://localhost@evil.example": false, "//localhost": false, "%%": false,
	} {
		if got := g.mayCome(origin, "127.0.0.1"); got != want {
			t.Errorf("Origin %q: %v, want %v", origin, got, want)
		}
	}
	anywhere := &guard{anyIP: true}
	for host, want := range map[string]bool{"10.0.0.1:80": true, "evil.example": false, "localhost": true} {
		if got := anywhere.knows(hostName(host)); got != want {
			t.Errorf("anywhere, Host %q: %v, want %v", host, got, want)
		}
	}
	for origin, want := range map[string]bool{"http://10.0.0.1:80": true, "http://10.0.0.2": false, "http://localhost": true} {
		if got := anywhere.mayCome(origin, "10.0.0.1"); got != want {
			t.Errorf("anywhere, Origin %q: %v, want %v", origin, got, want)
		}
	}
}

// TestRefusals are of whole requests: none reaches the server or a journal.
func TestRefusals(t *testing.T) {
	reached := 0
	origin := serve(t, func(http.ResponseWriter, *http.Request) { reached++ })
	var said []string
	x := tapTo(t, origin+"/mcp", func(x *Tap) {
		x.AllowHosts, x.AllowOrigins = []string{"Tap.Example"}, []string{"https://Inspector.example"}
		x.Warn = func(s string) { said = append(said, s) }
	})
	for _, c := range []struct {
		name, head, want string
	}{
		{"itself", "GET /mcp HTTP/1.1\r\nHost: {host}", "200"},
		{"no host", "GET /mcp HTTP/1.0", "200"},
		{"two hosts", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nHost: evil.example", "400"},
		{"rebound", "POST /mcp HTTP/1.1\r\nHost: evil.example:1234\r\nContent-Length: 0", "403"},
		{"rebound, absolute", "GET http://evil.example/mcp HTTP/1.1\r\nHost: {host}", "403"},
		{"absolute", "GET http://{host}/mcp HTTP/1.1\r\nHost: evil.example", "200"},
		{"tunnel", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443", "403"},
		{"allowed host", "GET /mcp HTTP/1.1\r\nHost: tap.example", "200"},
		{"page", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: https://evil.example", "403"},
		{"local page", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: http://localhost:3000", "200"},
		{"opaque page", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: null", "403"},
		{"two origins", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: http://localhost\r\nOrigin: https://evil.example", "403"},
		{"allowed page", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: https://inspector.example", "200"},
		{"preflight", "OPTIONS /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST", "403"},
		{"huge head", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nX: " + strings.Repeat("x", maxHead+8<<10), "431"},
		{"large head", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nX: " + strings.Repeat("x", maxHead-8<<10), "200"},
		{"smuggled", "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nContent-Length: 6", "400"},
		{"smuggled, chunked", "POST /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: x, chunked", "501"},
		{"broken name", "GET /mcp HTTP/1.1\r\nHost: {host}\r\nX Y: 1", "400"},
	} {
		before := reached
		conn := dial(t, x.addr)
		conn.say(strings.ReplaceAll(c.head, "{host}", x.addr) + "\r\n\r\n")
		answer := conn.head()
		if _, status, _ := strings.Cut(answer, " "); !strings.HasPrefix(status, c.want) {
			t.Errorf("%s: %q, want %s", c.name, answer, c.want)
		}
		if got := reached > before; got != (c.want == "200") {
			t.Errorf("%s: reached the server: %v", c.name, got)
		}
		if c.want == "403" {
			conn.until("mcptap refused this request: ")
		}
		_ = conn.Close()
	}
	if got := exchanges(t, x.journal()); len(got) != reached {
		t.Errorf("%d exchanges, %d reached the server", len(got), reached)
	}
	if len(said) != 3 {
		t.Errorf("said: %q", said)
	}
}

// TestSlowHead closes connections whose head does not come to an end.
func TestSlowHead(t *testing.T) {
	x := tapTo(t, respond(t, "HTTP/1.1 200 OK\r\n\r\n")+"/mcp", func(x *Tap) { x.headTime = 100 * time.Millisecond })
	for _, begun := range []string{"GET /mcp HTTP/1.1\r\nX: ", "G"} {
		c := dial(t, x.addr)
		c.say(begun)
		_, _ = io.Copy(io.Discard, c) // until it is closed
	}
	if got := x.journals(); len(got) != 0 {
		t.Errorf("%d journals", len(got))
	}
}
