package httptap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

const (
	message = `{"jsonrpc":"2.0","id":1,"result":{}}`
	pretty  = "{\r\n  \"jsonrpc\": \"2.0\",\n\t\"id\": 12345678901234567890\r\n}"
)

// kept is what a frame is in a journal.
type kept struct {
	Body string
	EOL  string
	JSON bool
}

func keptOf(frames []*tap.Frame) (all []kept) {
	for _, f := range frames {
		all = append(all, kept{string(f.Body), f.EOL.String(), f.JSON})
	}
	return all
}

// chunked is a body in pieces, each in a packet of its own as well as can be.
func chunked(pieces ...string) string {
	var b strings.Builder
	b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	for _, p := range pieces {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
	}
	return b.String() + "0\r\n\r\n"
}

func measured(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// each is a string in pieces of n bytes.
func each(s string, n int) (pieces []string) {
	for len(s) > n {
		pieces = append(pieces, s[:n])
		s = s[n:]
	}
	return append(pieces, s)
}

// TestBodies sends bodies both ways. The frames give the bytes back, and which of
// them are JSON.
func TestBodies(t *testing.T) {
	for name, c := range map[string]struct {
		typ, sent string
		want      []kept
	}{
		"length":             {sent: measured(message), want: []kept{{message, "", true}}},
		"chunked":            {sent: chunked(message), want: []kept{{message, "", true}}},
		"odd chunks":         {sent: chunked(each(message, 7)...), want: []kept{{message, "", true}}},
		"bytes":              {sent: chunked(each(message, 1)...), want: []kept{{message, "", true}}},
		"line end":           {sent: measured(message + "\n"), want: []kept{{message, "\n", true}}},
		"line end, chunked":  {sent: chunked(message + "\r\n"), want: []kept{{message, "\r\n", true}}},
		"pretty":             {sent: measured(pretty), want: []kept{{pretty, "", true}}},
		"pretty, chunked":    {sent: chunked(each(pretty, 3)...), want: []kept{{pretty, "", true}}},
		"batch":              {sent: measured("[" + message + "]"), want: []kept{{"[" + message + "]", "", true}}},
		"two texts":          {sent: measured(message + "\n" + message), want: []kept{{message + "\n" + message, "", false}}},
		"two texts, a chunk": {sent: chunked(message + message), want: []kept{{message + message, "", false}}},
		"empty":              {sent: measured("")},
		"empty, chunked":     {sent: chunked()},
		"html":               {typ: "text/html", sent: measured("<!doctype html><h1>502</h1>\n"), want: []kept{{"<!doctype html><h1>502</h1>", "\n", false}}},
		"not UTF-8":          {sent: chunked("{\"jsonrpc\":\"\xff\xfe\"}\x00"), want: []kept{{"{\"jsonrpc\":\"\xff\xfe\"}\x00", "", false}}},
		"a number":           {sent: chunked("12", "34"), want: []kept{{"1234", "", true}}},
		"only space":         {sent: chunked(" \n"), want: []kept{{" ", "\n", false}}},
		"cut JSON":           {sent: measured(message[:20]), want: []kept{{message[:20], "", false}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			typ := c.typ
			if typ == "" {
				typ = "application/json"
			}
			got := make(chan string, 1)
			origin := raw(t, func(w *wire) {
				req, err := http.ReadRequest(w.Reader)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(req.Body)
				if err != nil {
					t.Error(err)
				}
				got <- string(body)
				w.say("HTTP/1.1 200 OK\r\nContent-Type: " + typ + "\r\n" + c.sent)
			})
			x := tapTo(t, origin+"/mcp")
			client := dial(t, x.addr)
			client.say("POST /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\nConnection: close\r\nContent-Type: " + typ + "\r\n" + c.sent)
			res, err := http.ReadResponse(client.Reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			down, err := io.ReadAll(res.Body)
			want := ""
			for _, f := range c.want {
				want += f.Body + f.EOL
			}
			if up := <-got; err != nil || string(down) != want || up != want {
				t.Errorf("up %q, down %q, %v; want %q", up, down, err, want)
			}
			a := x.only()
			if d := cmp.Diff(c.want, keptOf(a.up)); d != "" {
				t.Errorf("up: %s", d)
			}
			if d := cmp.Diff(c.want, keptOf(a.down)); d != "" {
				t.Errorf("down: %s", d)
			}
			if a.end.By != tap.EndServer || a.end.Error != "" || a.end.Up != int64(len(want)) || a.end.Down != int64(len(want)) {
				t.Errorf("end: %+v", a.end)
			}
		})
	}
}

// TestSpaceAfterAMessage is no second message.
func TestSpaceAfterAMessage(t *testing.T) {
	slow := make(chan bool)
	x := tapTo(t, raw(t, func(c *wire) {
		c.head()
		c.say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(message), message))
		<-slow
		c.say("2\r\n\r\n\r\n0\r\n\r\n")
	})+"/mcp")
	client := dial(t, x.addr)
	client.say("GET /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n\r\n")
	client.until(message)
	close(slow)
	client.until("0\r\n\r\n")
	var all string
	a := x.only()
	for _, f := range keptOf(a.down) {
		all += f.Body + f.EOL
	}
	if all != message+"\r\n" || !a.down[0].JSON || string(a.down[0].Body) != message {
		t.Errorf("%q", all)
	}
}

// TestLargeBodies are too long for a journal: a message lies beside it, what is
// none is not kept.
func TestLargeBodies(t *testing.T) {
	fill := strings.Repeat("0123456789abcdef", (tap.MaxFrame+1<<20)/16)
	for name, c := range map[string]struct {
		typ, target, body string
		file              bool
	}{
		"a message":           {"application/json", "/mcp", `{"jsonrpc":"2.0","id":1,"result":"` + fill + `"}`, true},
		"jsonrpc stands last": {"application/json", "/mcp", `{"result":"` + fill + `","jsonrpc":"2.0","id":1}`, true},
		"a download":          {"application/zip", "/file", fill, false},
		"a page":              {"text/html", "/mcp", fill, false},
	} {
		for how, sent := range map[string]string{"length": measured(c.body), "chunked": chunked(each(c.body, 100_000)...)} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				origin := raw(t, func(w *wire) {
					req, _ := http.ReadRequest(w.Reader)
					if n, err := io.Copy(io.Discard, req.Body); err != nil || n != int64(len(c.body)) {
						t.Errorf("%d bytes, %v", n, err)
					}
					w.say("HTTP/1.1 200 OK\r\nContent-Type: " + c.typ + "\r\n" + sent)
				})
				x := tapTo(t, origin+"/mcp")
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, x.base+c.target, strings.NewReader(c.body))
				req.Header.Set("Content-Type", c.typ)
				if how == "chunked" {
					req.ContentLength = -1
				}
				if _, got := do(t, req); got != c.body {
					t.Errorf("%d bytes arrive", len(got))
				}
				a := x.only()
				if len(a.up) != 1 || len(a.down) != 1 {
					t.Fatalf("%d and %d frames", len(a.up), len(a.down))
				}
				checkDigest(t, x.dir, a.up[0], c.body, c.file)
				checkDigest(t, x.dir, a.down[0], c.body, c.file)
			})
		}
	}
}

// TestLargeEvents are kept if they carry a message, and leave no file if not.
func TestLargeEvents(t *testing.T) {
	fill := `"` + strings.Repeat("x", tap.MaxFrame) + `"`
	x := tapTo(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: other\ndata: %s\n\nid: 1\ndata: %s\n\ndata: {}\n\n", fill, fill)
	})+"/mcp")
	_, body := getBody(t, x.base+"/mcp")
	a := x.only()
	if len(a.down) != 2 || len(a.events) != 1 || a.events[0].SSE.Event != "other" || string(a.down[1].Body) != "{}" || a.end.Down != int64(len(body)) {
		t.Fatalf("%d frames, %d events", len(a.down), len(a.events))
	}
	checkDigest(t, x.dir, a.down[0], fill, true)
	if files, _ := filepath.Glob(filepath.Join(x.dir, "*.bin")); len(files) != 1 {
		t.Errorf("side files: %v", files)
	}
}

func checkDigest(t *testing.T, dir string, f *tap.Frame, body string, file bool) {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	d := f.Digest
	if d == nil || d.Bytes != int64(len(body)) || d.SHA256 != hex.EncodeToString(sum[:]) || (d.File != "") != file {
		t.Fatalf("digest %+v", d)
	}
	if f.JSON != file {
		t.Errorf("JSON: %v", f.JSON)
	}
	if !file {
		if d.Head+d.Tail != "" || d.Reason == "" {
			t.Errorf("what is not kept: %.20q, %.20q, %q", d.Head, d.Tail, d.Reason)
		}
		return
	}
	if b, err := os.ReadFile(filepath.Join(dir, "1."+d.File)); err != nil || !bytes.Equal(b, []byte(body)) {
		t.Errorf("side file of %d bytes, %v", len(b), err)
	}
}
