package httptap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// TestServerThatBreaksOff breaks off the answer to the client too: a cut body must
// not look whole.
func TestServerThatBreaksOff(t *testing.T) {
	for name, c := range map[string]struct {
		sent string
		want []kept
	}{
		"length":        {"Content-Length: 100\r\n\r\n{\"a\":", []kept{{`{"a":`, "", false}}},
		"within chunk":  {"Transfer-Encoding: chunked\r\n\r\n64\r\n{\"a\":", []kept{{`{"a":`, "", false}}},
		"after a chunk": {"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n", []kept{{`{"a":`, "", false}}},
		"whole message": {"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", []kept{{"{}", "", true}}},
		"event stream":  {"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n14\r\ndata: {}\n\ndata: {\"a\"\n\r\n", []kept{{"{}", "", true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := tapTo(t, respond(t, "HTTP/1.1 200 OK\r\n"+c.sent)+"/mcp")
			res, err := http.Get(x.base + "/mcp")
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("the client sees %v", err)
			}
			a := x.only()
			if a.end.By != tap.EndBroken || !strings.HasPrefix(a.end.Error, "the answer broke off: ") {
				t.Errorf("end: %+v", a.end)
			}
			if got := keptOf(a.down); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestServerThatGivesNoAnswer gets the client an answer of the tap's own, which
// says so.
func TestServerThatGivesNoAnswer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, origin := range map[string]string{
		"unreachable":  "http://" + closed.Addr().String(),
		"no such host": "http://mcptap.invalid",
		"closes":       raw(t, func(c *wire) { c.head() }),
		"not HTTP":     respond(t, "SSH-2.0-x\r\n\r\n"),
		"half a head":  respond(t, "HTTP/1.1 200 OK\r\nContent-Le"),
		"huge head":    respond(t, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 2<<20)+"\r\n\r\n"),
		"not TLS":      strings.Replace(raw(t, func(c *wire) { c.say("HTTP/1.1 400 Bad Request\r\n\r\n") }), "http:", "https:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := tapTo(t, origin+"/mcp")
			res, body := getBody(t, x.base+"/mcp")
			if res.StatusCode != http.StatusBadGateway || !strings.HasPrefix(body, "mcptap: no answer from "+origin+": ") || strings.Count(body, "\n") != 1 {
				t.Errorf("%s: %q", res.Status, body)
			}
			a := x.only()
			if a.end.By != tap.EndBroken || !strings.HasPrefix(a.end.Error, "the tap answered 502 in the server's place; ") || a.response != nil {
				t.Errorf("end: %+v, response: %+v", a.end, a.response)
			}
		})
	}
}

// TestClientThatGoesAway ends its request at the server at once, which is how
// 2026-07-28 cancels.
func TestClientThatGoesAway(t *testing.T) {
	for name, answer := range map[string]string{
		"before the answer": "",
		"within a stream":   "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n",
		"within a body":     "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, gone := make(chan bool), make(chan bool)
			x := tapTo(t, raw(t, func(c *wire) {
				c.head()
				c.say(answer)
				asked <- true
				c.closed()
				close(gone)
			})+"/mcp")
			c := dial(t, x.addr)
			c.say("GET /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n\r\n")
			<-asked
			if answer != "" {
				c.head()
				_, _ = c.ReadByte()
			}
			_ = c.Close()
			<-gone
			x.ended(1)
			if a := x.only(); a.end.By != tap.EndClient || a.end.Error != "" {
				t.Errorf("end: %+v", a.end)
			}
		})
	}
}

// TestClientThatGoesAwayWhileItSends has the server see no whole body.
func TestClientThatGoesAwayWhileItSends(t *testing.T) {
	seen := make(chan error, 1)
	x := tapTo(t, raw(t, func(c *wire) {
		req, err := http.ReadRequest(c.Reader)
		if err == nil {
			_, err = io.ReadAll(req.Body)
		}
		seen <- err
	})+"/mcp")
	c := dial(t, x.addr)
	c.say("POST /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"")
	_ = c.Close()
	if err := <-seen; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the server sees %v", err)
	}
	if a := x.only(); a.end.By != tap.EndClient || string(a.up[0].Body) != `{"jsonrpc"` {
		t.Errorf("end: %+v", a.end)
	}
}

// TestAnswerBeforeTheEndOfTheRequest passes, whether or not the client goes on.
func TestAnswerBeforeTheEndOfTheRequest(t *testing.T) {
	for name, answer := range map[string]string{
		"length":  "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n",
		"chunked": "HTTP/1.1 413 Content Too Large\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nno\n\r\n0\r\n\r\n",
	} {
		for _, goesOn := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, goes on: %v", name, goesOn), func(t *testing.T) {
				t.Parallel()
				x := tapTo(t, raw(t, func(c *wire) {
					c.until("begin")
					c.say(answer)
					_ = c.Conn.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, c) // else the answer may be lost
				})+"/mcp")
				c := dial(t, x.addr)
				c.say("POST /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\nContent-Length: 100000000\r\n\r\nbegin")
				if goesOn {
					go func() {
						for {
							if _, err := c.Conn.Write(make([]byte, 64<<10)); err != nil {
								return
							}
						}
					}()
				}
				if got := c.head(); !strings.HasPrefix(got, "HTTP/1.1 413 ") {
					t.Errorf("%q", got)
				}
				c.until("no\n")
				if name == "chunked" {
					c.until("0\r\n\r\n")
				}
				if goesOn { // the rest of the body is no request
					if rest, _ := io.ReadAll(c); len(rest) > 0 {
						t.Errorf("after the answer: %q", rest)
					}
				}
				a := x.only()
				if a.response.Status != 413 || a.end.By != tap.EndServer || a.end.Error != "the answer came before the end of the request" {
					t.Errorf("end: %+v", a.end)
				}
			})
		}
	}
}

// TestStatuses pass as they are; nothing is followed, tried again or made up.
func TestStatuses(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	origin := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.RequestURI)
		mu.Unlock()
		var status int
		_, _ = fmt.Sscanf(r.URL.Query().Get("status"), "%d", &status)
		w.Header().Set("Location", "http://elsewhere.example/x?y=1")
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="/x"`)
		w.WriteHeader(status)
	})
	x := tapTo(t, origin+"/mcp")
	statuses := []int{200, 202, 204, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 409, 413, 415, 421, 429, 431, 500, 502, 503, 504}
	methods := []string{http.MethodPost, http.MethodGet, http.MethodDelete}
	var want []string
	for _, status := range statuses {
		for _, method := range methods {
			target := fmt.Sprintf("/mcp?status=%d", status)
			want = append(want, method+" "+target)
			req, _ := http.NewRequestWithContext(t.Context(), method, x.base+target, nil)
			if res, _ := do(t, req); res.StatusCode != status || res.Header.Get("Location") != "http://elsewhere.example/x?y=1" || res.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%d: %s, %v", status, res.Status, res.Header)
			}
		}
	}
	if strings.Join(asked, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server was asked %v", asked)
	}
	all := exchanges(t, x.journal())
	for i, line := range want {
		a := all[uint32(i+1)]
		if got := a.request.Method + " " + a.request.Target; got != line || a.response.Status != statuses[i/len(methods)] || a.end.By != tap.EndServer || a.end.Error != "" {
			t.Errorf("%s, %+v, %+v; want %s", got, a.response, a.end, line)
		}
	}
}

// TestEndOfTheTap ends streams and journals in order, and what is about to end in
// its own time.
func TestEndOfTheTap(t *testing.T) {
	release := make(chan bool)
	x := tapTo(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/soon" {
			<-release
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(release)
	})+"/mcp")
	stream, soon := dial(t, x.addr), dial(t, x.addr)
	stream.say("GET /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n\r\n")
	stream.until("data: {}\n\n")
	soon.say("GET /soon HTTP/1.1\r\nHost: " + x.addr + "\r\n\r\n")
	for !bytes.Contains(x.now(), []byte("/soon")) {
		time.Sleep(time.Millisecond)
	}
	x.stop()
	if got := soon.head(); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("%q", got)
	}
	for n, a := range exchanges(t, x.journal()) {
		if want := map[string]string{"/mcp": tap.EndTap, "/soon": tap.EndServer}[a.request.Target]; a.end.By != want {
			t.Errorf("exchange %d: %+v, want %s", n, a.end, want)
		}
	}
}

// TestEndOfTheTapWithAHangingServer does not wait for ever, and says why there is no
// answer.
func TestEndOfTheTapWithAHangingServer(t *testing.T) {
	asked := make(chan bool)
	x := tapTo(t, raw(t, func(c *wire) {
		c.head()
		asked <- true
		c.closed()
	})+"/mcp")
	c := dial(t, x.addr)
	c.say("GET /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n\r\n")
	<-asked
	a := x.only()
	if got := c.head(); !strings.HasPrefix(got, "HTTP/1.1 503 ") {
		t.Errorf("%q", got)
	}
	if a.end.By != tap.EndTap || a.response != nil {
		t.Errorf("end: %+v", a.end)
	}
}

// fullDisk is a file that takes no more bytes from some length on, until there is
// room again.
type fullDisk struct {
	*os.File
	mu   *sync.Mutex
	size *int64
	room *int64
}

func (f fullDisk) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(int64(len(b)), max(0, *f.room-*f.size))
	wrote, _ := f.File.Write(b[:n])
	*f.size += int64(wrote)
	if wrote < len(b) {
		return wrote, errors.New("no space left on device")
	}
	return wrote, nil
}

func (f fullDisk) Truncate(n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.size = n
	return f.File.Truncate(n)
}

// TestFullDisk costs the recording, not the traffic; the loss is counted.
func TestFullDisk(t *testing.T) {
	var mu sync.Mutex
	size, room := int64(0), int64(4000)
	var warned []string
	x := tapTo(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			b = []byte("data: {}\n\ndata: {}\n\n")
		}
		_, _ = w.Write(b)
	})+"/mcp", func(x *Tap) {
		dir := t.TempDir()
		start := time.Now()
		x.NewJournal = func(Client) *tap.Writer {
			return tap.NewWriter(tap.Header{Session: "s", Start: start, Transport: "http"}, tap.WriterOptions{
				Open: func() (tap.File, error) {
					f, err := os.OpenFile(filepath.Join(dir, "1.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
					return fullDisk{f, &mu, &size, &room}, err
				},
				Since: func() time.Duration { return time.Since(start) },
				Warn:  func(s string) { warned = append(warned, s) },
			})
		}
		t.Cleanup(func() {
			b, _ := os.ReadFile(filepath.Join(dir, "1.jsonl"))
			checkLoss(t, b)
		})
	})
	for i := range 40 {
		if i == 30 {
			mu.Lock()
			room = 1 << 30
			mu.Unlock()
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, x.base+"/mcp", strings.NewReader(message))
		if _, got := do(t, req); got != message {
			t.Errorf("%q", got)
		}
		if _, got := getBody(t, x.base+"/mcp"); got != "data: {}\n\ndata: {}\n\n" {
			t.Errorf("%q", got)
		}
	}
	x.stop()
	if len(warned) != 1 || !strings.Contains(warned[0], "no space left on device; the session goes on") {
		t.Errorf("warned: %q", warned)
	}
}

func checkLoss(t *testing.T, journal []byte) {
	t.Helper()
	taptest.Check(t, journal)
	var lost, frames, moments int64
	for _, r := range taptest.Records(t, journal) {
		switch {
		case r.Lost != nil:
			lost += r.Lost.Frames
		case r.Frame != nil:
			frames++
		case r.HTTP != nil:
			moments++
		case r.End != nil && (r.End.Lost != lost || r.End.Frames != frames):
			t.Errorf("end %+v, found %d frames, %d lost", r.End, frames, lost)
		}
	}
	if want := int64(40 * (3 + 2 + 3 + 2)); lost == 0 || lost+frames+moments != want {
		t.Errorf("%d lost, %d frames, %d moments; want %d together", lost, frames, moments, want)
	}
}
