package httptap

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

// TestPiecesGoOnWhenTheyCome is a dialogue in which nobody says a word before the
// last one has arrived: it ends only if nothing waits for more.
func TestPiecesGoOnWhenTheyCome(t *testing.T) {
	for name, answer := range map[string]struct {
		head   string
		pieces []string
		end    string
	}{
		"event stream": {
			"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked",
			[]string{"3\r\n: k\r\n", "8\r\neepalive\r\n", "2\r\n\n\n\r\n", "7\r\ndata: {\r\n", "3\r\n}\n\n\r\n", "1\r\n:\r\n"}, "0\r\n\r\n",
		},
		"JSON, chunked": {"Content-Type: application/json\r\nTransfer-Encoding: chunked", []string{"1\r\n{\r\n", "1\r\n \r\n", "1\r\n}\r\n"}, "0\r\n\r\n"},
		"JSON, length":  {"Content-Type: application/json\r\nContent-Length: 5", []string{"{", " ", "  ", "}"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heard := make(chan bool) // the client has the last piece
			x := tapTo(t, raw(t, func(c *wire) {
				c.head()
				c.say("HTTP/1.1 200 OK\r\n" + answer.head + "\r\n\r\n")
				for _, piece := range answer.pieces {
					<-heard
					c.say(piece)
				}
				<-heard
				c.say(answer.end)
			})+"/mcp")
			c := dial(t, x.addr)
			c.say("GET /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n\r\n")
			c.head()
			for _, piece := range answer.pieces {
				heard <- true
				c.until(piece)
			}
			heard <- true
			c.until(answer.end)
			if a := x.only(); a.end.By != tap.EndServer {
				t.Errorf("end: %+v", a.end)
			}
		})
	}
}

// TestBothBodiesAtTheSameTime is such a dialogue between request and answer.
func TestBothBodiesAtTheSameTime(t *testing.T) {
	for name, head := range map[string]string{"chunked": "Transfer-Encoding: chunked", "length": "Content-Length: 24"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := tapTo(t, raw(t, func(c *wire) {
				if got := c.head(); !strings.Contains(got, head) {
					t.Errorf("%q", got)
				}
				c.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
				for i := range 3 {
					c.until(fmt.Sprintf("ping %d", i))
					c.say(fmt.Sprintf("6\r\npong %d\r\n", i))
				}
				c.until("!")
				c.say("0\r\n\r\n")
			})+"/mcp")
			c := dial(t, x.addr)
			c.say("POST /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n" + head + "\r\n\r\n")
			if name == "chunked" {
				c.head() // comes before the first byte of the request's body
			}
			send := func(s string) {
				if name == "chunked" {
					s = fmt.Sprintf("%x\r\n%s\r\n", len(s), s)
				}
				c.say(s)
			}
			for i := range 3 {
				send(fmt.Sprintf("ping %d", i))
				c.until(fmt.Sprintf("pong %d\r\n", i))
			}
			send("     !")
			if name == "chunked" {
				c.say("0\r\n\r\n")
			}
			c.until("0\r\n\r\n")
			if a := x.only(); a.end.By != tap.EndServer || a.end.Error != "" || a.end.Up != 24 || a.end.Down != 18 {
				t.Errorf("end: %+v", a.end)
			}
		})
	}
}

// TestRecordedBeforeDelivered looks into the journal when the last byte of a
// message is there.
func TestRecordedBeforeDelivered(t *testing.T) {
	const rounds = 300
	down := map[string]string{
		"events":        "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%s",
		"JSON, length":  "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		"JSON, chunked": "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%s",
	}
	for name, form := range down {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			msg := func(i int) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"round":"%s-%d."}}`, i, name, i)
			}
			next := make(chan bool)
			var x *running
			origin := raw(t, func(c *wire) {
				for range rounds {
					c.head()
					body := c.until("}}")
					if !bytes.Contains(x.now(), []byte(body)) {
						t.Errorf("request %s arrives unrecorded", body)
					}
					m := msg(n)
					switch name {
					case "JSON, length":
						c.say("HTTP/1.1 200 OK\r\n" + fmt.Sprintf(form, len(m), m))
						continue
					case "events":
						m = "event: message\ndata: " + m + "\n\n"
					}
					chunk := fmt.Sprintf("%x\r\n%s\r\n", len(m), m)
					c.say("HTTP/1.1 200 OK\r\n" + fmt.Sprintf(form, chunk))
					<-next
					c.say("0\r\n\r\n")
				}
			})
			x = tapTo(t, origin+"/mcp")
			c := dial(t, x.addr)
			for n = range rounds {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"params":{"n":%d}}`, n, n)
				c.say("POST /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n" + measured(body))
				want := msg(n)
				got := c.until(want)
				if name == "events" {
					c.until("\n\n")
				}
				if !bytes.Contains(x.now(), []byte(want)) {
					t.Fatalf("round %d: delivered %q unrecorded", n, got)
				}
				if name != "JSON, length" {
					next <- true
					c.until("0\r\n\r\n")
				}
			}
			if got := len(exchanges(t, x.journal())); got != rounds {
				t.Errorf("%d exchanges", got)
			}
		})
	}
}

// brief makes a tap that takes 300 ms for what are ten minutes.
func brief(x *Tap) { x.stall = 300 * time.Millisecond }

// TestSilenceCutsNothing is silence far beyond what one end may take for a piece:
// within a stream, before its end, before an answer, between two requests.
func TestSilenceCutsNothing(t *testing.T) {
	const event = "data: {}\n\n"
	handler := func(w http.ResponseWriter, r *http.Request) {
		silence := func() { time.Sleep(time.Second) }
		if r.URL.Path == "/slow" {
			silence()
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 2 {
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
			silence()
		}
	}
	for name, version2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := tapTo(t, serve(t, handler)+"/mcp", brief)
			client := &http.Transport{Protocols: new(http.Protocols)}
			client.Protocols.SetUnencryptedHTTP2(version2)
			client.Protocols.SetHTTP1(!version2)
			defer client.CloseIdleConnections()
			for _, path := range []string{"/mcp", "/slow", "/mcp"} {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, x.base+path, nil)
				res, err := client.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if want := map[string]string{"/mcp": event + event}[path]; err != nil || string(body) != want {
					t.Errorf("%s: %q, %v", path, body, err)
				}
				time.Sleep(time.Second)
			}
		})
	}
}

// TestClientThatTakesNothing is cut off, and its request at the server.
func TestClientThatTakesNothing(t *testing.T) {
	gone := make(chan error, 1)
	x := tapTo(t, raw(t, func(c *wire) {
		c.head()
		c.say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
		event := []byte("data: " + strings.Repeat("x", 1<<20) + "\n\n")
		for {
			if _, err := c.Write(event); err != nil {
				gone <- err
				return
			}
		}
	})+"/mcp", brief)
	c := dial(t, x.addr)
	c.say("GET /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\n\r\n")
	<-gone
	x.ended(1)
	if a := x.only(); a.end.By != tap.EndClient {
		t.Errorf("end: %+v", a.end)
	}
}

// TestClientThatStopsWithinABody is cut off as well.
func TestClientThatStopsWithinABody(t *testing.T) {
	x := tapTo(t, raw(t, func(c *wire) {
		_, _ = io.Copy(io.Discard, c)
	})+"/mcp", brief)
	c := dial(t, x.addr)
	c.say("POST /mcp HTTP/1.1\r\nHost: " + x.addr + "\r\nContent-Length: 100\r\n\r\n{")
	_, _ = io.Copy(io.Discard, c)
	if a := x.only(); a.end.By != tap.EndClient || !strings.Contains(a.end.Error, "the request broke off") || len(a.up) != 1 || string(a.up[0].Body) != "{" {
		t.Errorf("end: %+v, %+v", a.end, a.up)
	}
}

// deadlines is a ResponseWriter that notes which deadlines it is given.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error { d.set = append(d.set, t); return nil }
func (d *deadlines) Write(b []byte) (int, error)        { return len(b), nil }
func (d *deadlines) FlushError() error                  { return nil }

// TestDeadlines is hours of a stream, by a clock of its own.
func TestDeadlines(t *testing.T) {
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	now := start
	for version, want := range map[int][]time.Duration{
		1: {stalled, 3*time.Hour + stalled, 9*time.Hour + stalled},
		2: {stalled, -1, time.Second + stalled, -1, 3*time.Hour + stalled, -1, 9*time.Hour + stalled},
	} {
		now = start
		d := &deadlines{}
		in, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "/", nil)
		in.ProtoMajor = version
		w := newWriter(d, &exchange{tap: &Tap{Now: func() time.Time { return now }, stall: stalled}, in: in})
		for _, at := range []time.Duration{0, time.Second, 3 * time.Hour} {
			now = start.Add(at)
			_, _ = w.Write([]byte("x"))
		}
		now = start.Add(9 * time.Hour)
		w.end()
		var got []time.Duration
		for _, at := range d.set {
			if at.IsZero() {
				got = append(got, -1)
			} else {
				got = append(got, at.Sub(start))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("HTTP/%d: %s", version, diff)
		}
	}
}
