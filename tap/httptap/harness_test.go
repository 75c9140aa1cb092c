package httptap

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// A running is a tap that serves in this process.
type running struct {
	*Tap
	t    testing.TB
	base string // its origin
	addr string
	dir  string
	once sync.Once
	end  func()
}

// tapTo starts a tap in front of upstream, a URL with its path.
func tapTo(t testing.TB, upstream string, with ...func(*Tap)) *running {
	t.Helper()
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	one := &Tap{Upstream: to, NewJournal: journals(t, dir), Mask: keep{}, Now: time.Now, Warn: func(s string) { t.Log(s) }}
	for _, f := range with {
		f(one)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- one.Serve(ctx, in) }()
	r := &running{Tap: one, t: t, addr: in.Addr().String(), base: "http://" + in.Addr().String(), dir: dir}
	r.end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

func (r *running) stop() { r.once.Do(r.end) }

// now is what the journals hold at this moment.
func (r *running) now() (all []byte) {
	r.t.Helper()
	paths, _ := filepath.Glob(filepath.Join(r.dir, "*.jsonl"))
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// ended waits until so many exchanges have ended.
func (r *running) ended(n int) {
	for bytes.Count(r.now(), []byte(`"phase":"end"`)) < n {
		time.Sleep(time.Millisecond)
	}
}

// journals ends the tap and gives its journals, each of them checked.
func (r *running) journals() [][]byte {
	r.t.Helper()
	r.stop()
	paths, _ := filepath.Glob(filepath.Join(r.dir, "*.jsonl"))
	all := make([][]byte, 0, len(paths))
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		taptest.Check(r.t, b)
		checkExchanges(r.t, b)
		all = append(all, b)
	}
	return all
}

// journal is the only one.
func (r *running) journal() []byte {
	r.t.Helper()
	all := r.journals()
	if len(all) != 1 {
		r.t.Fatalf("%d journals, want 1", len(all))
	}
	return all[0]
}

// checkExchanges fails the test unless each exchange goes from its request to its
// end, has what it has between them, and the journal has an end.
func checkExchanges(t testing.TB, journal []byte) {
	t.Helper()
	const begun, ended = 1, 2
	state := map[uint32]int{}
	see := func(n uint32, what string, line int) {
		if state[n] != begun {
			t.Errorf("line %d: %s of exchange %d, which has not begun or has ended", line, what, n)
		}
	}
	records := taptest.Records(t, journal)
	for _, r := range records {
		switch {
		case r.Frame != nil && r.Frame.HTTP != nil:
			see(r.Frame.HTTP.Exchange, "a frame", r.Line)
		case r.HTTP != nil && r.HTTP.Phase == tap.PhaseRequest:
			if state[r.HTTP.Exchange] != 0 {
				t.Errorf("line %d: exchange %d begins again", r.Line, r.HTTP.Exchange)
			}
			state[r.HTTP.Exchange] = begun
		case r.HTTP != nil:
			see(r.HTTP.Exchange, string(r.HTTP.Phase), r.Line)
			if r.HTTP.Phase == tap.PhaseEnd {
				state[r.HTTP.Exchange] = ended
			}
		}
	}
	for n, s := range state {
		if s != ended {
			t.Errorf("exchange %d has no end", n)
		}
	}
	if last := records[len(records)-1]; last.End == nil {
		t.Errorf("the journal has no end")
	}
}

// An account is what a journal says of one exchange.
type account struct {
	request, response, end *tap.Exchange
	events                 []*tap.Exchange
	up, down               []*tap.Frame
}

// exchanges reads a journal, by number.
func exchanges(t testing.TB, journal []byte) map[uint32]*account {
	t.Helper()
	all := map[uint32]*account{}
	of := func(n uint32) *account {
		if all[n] == nil {
			all[n] = &account{}
		}
		return all[n]
	}
	for _, r := range taptest.Records(t, journal) {
		switch {
		case r.Frame != nil && r.Frame.Dir == tap.C2S:
			of(r.Frame.HTTP.Exchange).up = append(of(r.Frame.HTTP.Exchange).up, r.Frame)
		case r.Frame != nil:
			of(r.Frame.HTTP.Exchange).down = append(of(r.Frame.HTTP.Exchange).down, r.Frame)
		case r.HTTP != nil:
			a := of(r.HTTP.Exchange)
			switch r.HTTP.Phase {
			case tap.PhaseRequest:
				a.request = r.HTTP
			case tap.PhaseResponse:
				a.response = r.HTTP
			case tap.PhaseEvent:
				a.events = append(a.events, r.HTTP)
			case tap.PhaseEnd:
				a.end = r.HTTP
			}
		}
	}
	return all
}

// only is the one exchange of the only journal.
func (r *running) only() *account {
	r.t.Helper()
	all := exchanges(r.t, r.journal())
	if len(all) != 1 || all[1] == nil {
		r.t.Fatalf("%d exchanges, want 1", len(all))
	}
	return all[1]
}

// raw serves bytes: f speaks with each connection, which is closed after it.
func raw(t testing.TB, f func(c *wire)) (origin string) {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = in.Close()
		all.Wait()
	})
	go func() {
		for {
			c, err := in.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				f(newWire(t, c))
			})
		}
	}()
	return "http://" + in.Addr().String()
}

// A wire is one end of a connection.
type wire struct {
	net.Conn
	*bufio.Reader
	t testing.TB
}

func newWire(t testing.TB, c net.Conn) *wire {
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // a test that hangs fails
	return &wire{Conn: c, Reader: bufio.NewReader(c), t: t}
}

func dial(t testing.TB, addr string) *wire {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return newWire(t, c)
}

func (w *wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }

func (w *wire) say(s string) {
	if _, err := io.WriteString(w.Conn, s); err != nil {
		w.t.Logf("writing %.60q: %v", s, err)
	}
}

// until reads up to and with this text.
func (w *wire) until(text string) string {
	w.t.Helper()
	var got []byte
	for !bytes.HasSuffix(got, []byte(text)) {
		b, err := w.ReadByte()
		if err != nil {
			w.t.Errorf("waiting for %q: %v after %q", text, err, got)
			return string(got)
		}
		got = append(got, b)
	}
	return string(got)
}

// head reads the head of a message.
func (w *wire) head() string { w.t.Helper(); return w.until("\r\n\r\n") }

// closed reports that the other end closes the connection, without another byte.
func (w *wire) closed() {
	w.t.Helper()
	if b, err := w.ReadByte(); err == nil {
		w.t.Errorf("a byte %q comes, want the end", b)
	}
}

// lines cuts a head, sorted but for its first line: Go gives headers in an order of
// its own.
func headLines(head string) (first string, rest map[string][]string) {
	rest = map[string][]string{}
	for i, line := range strings.Split(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n") {
		if i == 0 {
			first = line
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		rest[strings.ToLower(name)] = append(rest[strings.ToLower(name)], value)
	}
	return first, rest
}

// respond serves one answer to every request: HTTP in its bytes.
func respond(t testing.TB, answer string) (origin string) {
	return raw(t, func(c *wire) {
		c.head()
		c.say(answer)
	})
}

// An answer is one that was read to its end.
type answer struct {
	Status          string
	StatusCode      int
	Header, Trailer http.Header
	ContentLength   int64
}

func getBody(t testing.TB, url string) (answer, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req)
}

// do sends a request over a connection of its own and reads the answer.
func do(t testing.TB, req *http.Request) (answer, string) {
	t.Helper()
	client := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	res, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("reading the answer: %v", err)
	}
	return answer{res.Status, res.StatusCode, res.Header, res.Trailer, res.ContentLength}, string(b)
}

// serve serves a handler of the standard library.
func serve(t testing.TB, h http.HandlerFunc) (origin string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
