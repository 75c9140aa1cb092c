//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// httpTap is "mcptap http" in a test.
type httpTap struct {
	*exec.Cmd
	t     *testing.T
	store string
	url   string // to give to clients
	said  chan string
}

// startHTTP starts "mcptap http FLAGS --to URL" and waits until it says where it
// listens.
func startHTTP(t *testing.T, to string, flags ...string) *httpTap {
	t.Helper()
	return startHTTPWith(t, nil, to, flags...)
}

// startHTTPWith does so with more in its environment.
func startHTTPWith(t *testing.T, env []string, to string, flags ...string) *httpTap {
	t.Helper()
	p := &httpTap{t: t, store: t.TempDir(), said: make(chan string, 1)}
	p.Cmd = exec.Command("mcptap", append([]string{"--dir", p.store, "http", "--to", to}, flags...)...)
	p.Env = append(os.Environ(), env...)
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	r := bufio.NewReader(stderr)
	line, err := r.ReadString('\n')
	if p.url, _, _ = strings.Cut(strings.TrimPrefix(line, "mcptap: "), " "); err != nil || !strings.HasPrefix(p.url, "http://") {
		t.Fatalf("it says %q, %v", line, err)
	}
	go func() {
		rest, _ := io.ReadAll(r)
		p.said <- string(rest)
	}()
	return p
}

// end interrupts the tap and gives its journals, checked, with what it said after
// its first line.
func (p *httpTap) end() (journals [][]byte, said string) {
	p.t.Helper()
	_ = p.Process.Signal(syscall.SIGINT)
	said = <-p.said
	if err := p.Wait(); err != nil {
		p.t.Errorf("%v: %s", err, said)
	}
	for _, info := range list(p.t, p.store) {
		journal := readJournal(p.t, info.Path)
		endOf(p.t, journal)
		journals = append(journals, journal)
	}
	return journals, said
}

type noArgs struct{}

// canteen is a kitchen that also asks back, and waits.
func canteen() *mcp.Server {
	s := kitchen()
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ noArgs) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		wish, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which table?"})
		if err != nil {
			return nil, nil, err
		}
		//nolint:staticcheck // deprecated since 2026-07-28, but what servers of the revisions tested here ask for
		poem, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "A poem."}}}})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: wish.Action + " " + poem.Model}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ noArgs) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return s
}

// ways are the transports of all revisions.
var ways = map[string]struct {
	revision string
	handler  func() http.Handler
	sse      bool
}{
	"HTTP+SSE": {"2024-11-05", func() http.Handler {
		s := canteen()
		return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
	}, true},
	"sessions":       {"2025-11-25", streamable(&mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}), false},
	"sessions, JSON": {"2025-06-18", streamable(&mcp.StreamableHTTPOptions{JSONResponse: true}), false},
	"stateless":      {"2026-07-28", streamable(&mcp.StreamableHTTPOptions{Stateless: true}), false},
}

func streamable(o *mcp.StreamableHTTPOptions) func() http.Handler {
	return func() http.Handler {
		s := canteen()
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
	}
}

// guest connects a client that is called name, over connections of its own.
func guest(ctx context.Context, t *testing.T, url, name, revision string, sse bool) (*mcp.ClientSession, *http.Transport) {
	t.Helper()
	conns := &http.Transport{}
	t.Cleanup(conns.CloseIdleConnections)
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: conns}}
	if sse {
		transport = &mcp.SSEClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: conns}}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		//nolint:staticcheck // deprecated since 2026-07-28, but what servers of the revisions tested here ask for
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			//nolint:staticcheck // deprecated since 2026-07-28, but what servers of the revisions tested here ask for
			return &mcp.CreateMessageResult{Model: "m-1", Role: "assistant", Content: &mcp.TextContent{Text: "Soup."}}, nil
		},
	})
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	return session, conns
}

// TestHTTPClients has several clients of one process use a tap at once. Each sees
// what it would see without the tap, and each has a recording of its own; one that
// goes away within a call changes nothing for the others.
func TestHTTPClients(t *testing.T) {
	const clients = 4
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(way.handler())
			t.Cleanup(server.CloseClientConnections)
			p := startHTTP(t, server.URL+"/mcp")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			leave, left := context.WithCancel(ctx)
			defer left()
			leaver, _ := guest(ctx, t, p.url, "leaver", way.revision, way.sse)
			gone := make(chan error, 1)
			go func() {
				_, err := leaver.CallTool(leave, &mcp.CallToolParams{Name: "wait"})
				gone <- err
			}()
			var all sync.WaitGroup
			for i := range clients {
				all.Go(func() {
					who := fmt.Sprintf("guest-%d", i)
					direct, _ := guest(ctx, t, server.URL+"/mcp", who, way.revision, way.sse)
					tapped, _ := guest(ctx, t, p.url, who, way.revision, way.sse)
					if i == 0 {
						left()
					}
					if a, b := playSession(ctx, t, direct, "dish of "+who), playSession(ctx, t, tapped, "dish of "+who); a != b {
						t.Errorf("direct:\n%s\ntapped:\n%s", a, b)
					}
				})
			}
			all.Wait()
			if err := <-gone; err == nil {
				t.Error("the call that was left has a result")
			}
			_ = leaver.Close()
			journals, said := p.end()
			if len(journals) != clients+1 || said != "" {
				t.Errorf("%d journals, want %d; it said %q", len(journals), clients+1, said)
			}
			checkNotMixed(t, journals, clients)
		})
	}
}

// checkNotMixed expects each guest's dish in one journal only, with the answers to
// what was asked there.
func checkNotMixed(t *testing.T, journals [][]byte, clients int) {
	t.Helper()
	for i := range clients {
		dish, found := fmt.Sprintf("dish of guest-%d", i), 0
		for _, journal := range journals {
			up, down := string(taptest.Raw(t, journal, tap.C2S)), string(taptest.Raw(t, journal, tap.S2C))
			if !strings.Contains(up, dish) {
				continue
			}
			found++
			if strings.Count(up, "dish of") != 1 || strings.Count(down, "window ") == 0 || strings.Contains(up, "leaver") {
				t.Errorf("the journal of guest %d is mixed: %s", i, up)
			}
		}
		if found != 1 {
			t.Errorf("%s is in %d journals", dish, found)
		}
	}
}

// TestServerAsksBackOverHTTP passes progress, elicitation and sampling while the
// call runs, and the client's answers.
func TestServerAsksBackOverHTTP(t *testing.T) {
	for _, name := range []string{"HTTP+SSE", "sessions"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way := ways[name]
			server := httptest.NewServer(way.handler())
			t.Cleanup(server.CloseClientConnections)
			p := startHTTP(t, server.URL+"/mcp")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			session, _ := guest(ctx, t, p.url, "guest", way.revision, way.sse)
			params := &mcp.CallToolParams{Name: "ask"}
			params.SetProgressToken("p1")
			got, err := session.CallTool(ctx, params)
			if err != nil || asJSON(t, got.Content) != `[{"type":"text","text":"decline m-1"}]` {
				t.Errorf("%+v, %v", got, err)
			}
			_ = session.Close()
			journals, _ := p.end()
			if len(journals) != 1 {
				t.Fatalf("%d journals", len(journals))
			}
			up, down := string(taptest.Raw(t, journals[0], tap.C2S)), string(taptest.Raw(t, journals[0], tap.S2C))
			if strings.Count(down, "notifications/progress") != 3 || !strings.Contains(down, "elicitation/create") || !strings.Contains(down, "sampling/createMessage") ||
				!strings.Contains(up, `"action":"decline"`) || !strings.Contains(up, `"model":"m-1"`) {
				t.Errorf("up: %s\ndown: %s", up, down)
			}
		})
	}
}

// TestSessionLostAndResumed opens a stream again with Last-Event-ID, and a session
// again after the server forgot it: all of it is one recording.
func TestSessionLostAndResumed(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.Header.Get("Mcp-Session-Id")+" "+r.Header.Get("Last-Event-Id"))
		switch {
		case strings.Contains(string(body), "initialize"):
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", len(asked)))
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "id: e%d\nretry: 10\ndata:\n\n", len(asked))
		default:
			http.Error(w, "no such session", http.StatusNotFound)
		}
	}))
	defer server.Close()
	p := startHTTP(t, server.URL+"/mcp")
	for _, c := range [][4]string{
		{"POST", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`},
		{"GET", "s1", "", ""},
		{"GET", "s1", "e2", ""},
		{"POST", "s1", "", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`},
		{"POST", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`},
		{"GET", "s5", "e3", ""},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), c[0], p.url, strings.NewReader(c[3]))
		req.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range map[string]string{"Mcp-Session-Id": c[1], "Last-Event-ID": c[2]} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	journals, _ := p.end()
	if got := strings.Join(asked, "\n"); got != "POST  \nGET s1 \nGET s1 e2\nPOST s1 \nPOST  \nGET s5 e3" {
		t.Errorf("the server was asked\n%s", got)
	}
	if len(journals) != 1 || strings.Contains(string(journals[0]), `"s1"`) || strings.Count(string(journals[0]), `"retry":"10"`) != 3 {
		t.Errorf("%d journals: %s", len(journals), journals)
	}
}

// TestInterruptWithAnOpenStream ends stream, journal and tap; a second interrupt
// does not wait for anything.
func TestInterruptWithAnOpenStream(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {}\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	open := func(p *httpTap, method string) *http.Response {
		req, _ := http.NewRequestWithContext(t.Context(), method, p.url, http.NoBody)
		res, err := (&http.Transport{}).RoundTrip(req)
		if err != nil && method == http.MethodGet {
			t.Error(err)
		}
		return res
	}
	p := startHTTP(t, server.URL+"/mcp")
	res := open(p, http.MethodGet)
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	journals, _ := p.end()
	if _, err := res.Body.Read(make([]byte, 1)); err == nil {
		t.Error("the stream goes on")
	}
	if len(journals) != 1 || !strings.Contains(string(journals[0]), `"by":"tap","error":"the tap was ended"`) {
		t.Errorf("%s", journals)
	}

	p = startHTTP(t, server.URL+"/mcp")
	go open(p, http.MethodPost) // hangs: the first interrupt has to wait for it
	for len(list(t, p.store)) == 0 {
		time.Sleep(time.Millisecond)
	}
	_ = p.Process.Signal(syscall.SIGINT)
	for { // the second one ends it, unless it comes before the first has arrived
		time.Sleep(20 * time.Millisecond)
		if p.Process.Signal(syscall.SIGINT) != nil {
			break
		}
		select {
		case <-p.said:
			_ = p.Wait()
			if p.ProcessState.ExitCode() != 0 {
				t.Errorf("%v", p.ProcessState)
			}
			for _, info := range list(t, p.store) {
				endOf(t, readJournal(t, info.Path)) // in a hurry too
			}
			return
		default:
		}
	}
}

// TestWhoMayUseTheTap is the guard with the flags that open it.
func TestWhoMayUseTheTap(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	closed := startHTTP(t, server.URL+"/mcp")
	open := startHTTP(t, server.URL+"/mcp", "--listen", "0.0.0.0:0", "--listen-anywhere", "--allow-host", "tap.example", "--allow-origin", "https://page.example")
	_, port, _ := strings.Cut(strings.TrimPrefix(open.url, "http://["), "]:") // [::]:PORT
	for _, c := range []struct {
		host, origin         string
		whenClosed, whenOpen int
	}{
		{"", "", 200, 200},
		{"tap.example", "", 403, 200},
		{"evil.example", "", 403, 403},
		{"192.0.2.7", "", 403, 200},
		{"", "https://page.example", 403, 200},
		{"", "https://evil.example", 403, 403},
		{"", "http://192.0.2.9", 403, 403},
		{"", "http://localhost:6274", 200, 200},
	} {
		for url, want := range map[string]int{closed.url: c.whenClosed, "http://127.0.0.1:" + strings.Trim(port, "/mcp") + "/mcp": c.whenOpen} {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
			req.Host = c.host
			if c.origin != "" {
				req.Header.Set("Origin", c.origin)
			}
			res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != want || (want == 403) != strings.HasPrefix(string(body), "mcptap refused this request: ") {
				t.Errorf("%s, Host %q, Origin %q: %s %q, want %d", url, c.host, c.origin, res.Status, body, want)
			}
		}
	}
	if _, said := closed.end(); strings.Count(said, "mcptap: refused a request: ") != 6 {
		t.Errorf("it said %q", said)
	}
	open.end()
}

// TestHostCommandGetsSignals passes each on, once.
func TestHostCommandGetsSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		store := t.TempDir()
		c := exec.Command("mcptap", "--dir", store, "http", "--to", "http://127.0.0.1:9/mcp", "--", "sh", "-c",
			`trap 'echo got; exit 7' HUP INT TERM; echo "$MCPTAP_URL"; while :; do sleep 0.05; done`)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		if url, _ := r.ReadString('\n'); !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/mcp\n") {
			t.Errorf("MCPTAP_URL=%s", url)
		}
		_ = c.Process.Signal(s)
		rest, _ := io.ReadAll(r)
		_ = c.Wait()
		if got := c.ProcessState.ExitCode(); got != 7 || string(rest) != "got\n" {
			t.Errorf("%v: exit status %d, %q", s, got, rest)
		}
	}
}

// myAgent is a host that someone starts beside a tap: it lists the tools of the
// server at MCPTAP_URL.
func myAgent() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "my-agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: os.Getenv("MCPTAP_URL")}, nil)
	if err == nil {
		var tools *mcp.ListToolsResult
		if tools, err = session.ListTools(ctx, nil); err == nil {
			fmt.Println(len(tools.Tools), "tools")
			err = session.Close()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "my-agent:", err)
		os.Exit(1)
	}
}

// local is the verb "local [until TEXT] COMMAND ARGS...": it runs a command as the
// README has it, but with a real server in place of 127.0.0.1:3001 and a free port
// in place of 8080, which others on this machine may have. With until, the command
// is interrupted as soon as it has said TEXT on standard error.
func local(ts *testscript.TestScript, _ bool, args []string) {
	server := httptest.NewServer(streamable(nil)())
	defer server.Close()
	defer server.CloseClientConnections()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_ = free.Close()
	swap := strings.NewReplacer("http://127.0.0.1:3001", server.URL, "127.0.0.1:8080", free.Addr().String())
	for i, arg := range args {
		args[i] = swap.Replace(arg)
	}
	if len(args) < 3 || args[0] != "until" {
		ts.Check(ts.Exec(args[0], args[1:]...))
		return
	}
	// A shell waits for the text; testscript has no word for that.
	script := `"$@" 2>said & p=$!; until grep -q -- "$text" said; do sleep 0.02; done; kill -INT $p; wait $p; s=$?; cat said >&2; exit $s`
	ts.Setenv("text", args[1])
	ts.Check(ts.Exec("bash", append([]string{"-mc", script, "sh"}, args[2:]...)...))
}
