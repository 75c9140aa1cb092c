package httptap

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// room is a registry of clients with a clock of its own.
type room struct {
	*clients
	t       *testing.T
	time    time.Time
	started int
	dead    map[int]bool
	conns   map[string]*conn
}

func newRoom(t *testing.T) *room {
	r := &room{t: t, time: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), dead: map[int]bool{}, conns: map[string]*conn{}}
	create := journals(t, t.TempDir())
	r.clients = newClients(func(c Client) *tap.Writer { r.started++; return create(c) }, func() time.Time { return r.time }, func(pid int) bool { return !r.dead[pid] })
	return r
}

// say is one request: of which process, over which connection, in which MCP
// session.
type say struct {
	pid    int
	conn   string
	id     string // Mcp-Session-Id
	method string // of HTTP; POST if empty
	target string
	body   string
	agent  string
	// the answer
	status int // 200 if 0, none if below
	newID  string
}

const (
	initBody     = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"a","version":"1"}}}`
	listBody     = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	discoverBody = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}}}}`
	modernBody   = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}}}}`
)

// begin takes a request and gives its session; done ends it.
func (r *room) begin(s say) (x *exchange, done func()) {
	c := r.conns[s.conn]
	if c == nil {
		c = &conn{}
		r.conns[s.conn] = c
	}
	c.once.Do(func() { c.process = tap.Process{PID: s.pid} })
	method, target, status := s.method, s.target, s.status
	if method == "" {
		method = http.MethodPost
	}
	if target == "" {
		target = "/mcp"
	}
	if status == 0 {
		status = http.StatusOK
	}
	req := httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(s.body))
	req.Header.Set("User-Agent", s.agent)
	if s.agent == "Mozilla" {
		req.Header.Set("Accept", "text/html,*/*")
	} else if method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
	}
	if s.id != "" {
		req.Header.Set(sessionHeader, s.id)
	}
	x = &exchange{in: req, seen: look(req, []byte(s.body), target == "/mcp")}
	x.session, x.n = r.clients.begin(req, c, &x.seen, func(netip.AddrPort, netip.AddrPort) tap.Process { return tap.Process{} })
	res := &http.Response{StatusCode: status, Header: http.Header{}}
	if s.newID != "" {
		res.Header.Set(sessionHeader, s.newID)
	}
	if status > 0 {
		x.session.answered(x, res)
	}
	return x, func() { r.finish(x.session, &x.seen) }
}

// do is begin and done in one.
func (r *room) do(s say) *session {
	x, done := r.begin(s)
	done()
	return x.session
}

func (r *room) same(a, b *session, want bool, why string) {
	r.t.Helper()
	if (a == b) != want {
		r.t.Errorf("one session: %v, want %v: %s", a == b, want, why)
	}
}

func TestLegacyClientsAreToldApartByTheirSession(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", body: initBody, newID: "A"})
	b := r.do(say{pid: 1, conn: "2", body: initBody, newID: "B"})
	r.same(a, b, false, "a second client of the same process")
	r.same(a, r.do(say{pid: 1, conn: "2", id: "A", body: listBody}), true, "its id on the other's connection")
	r.same(b, r.do(say{pid: 1, conn: "1", id: "B", body: listBody}), true, "and the other way round")
	if x, done := r.begin(say{pid: 1, conn: "1", id: "A", method: "GET"}); true {
		r.same(a, x.session, true, "its stream")
		done()
	}
}

func TestAProbeBelongsToTheSessionThatFollows(t *testing.T) {
	r := newRoom(t)
	probe := r.do(say{pid: 1, conn: "1", body: discoverBody, status: 400})
	first := r.do(say{pid: 1, conn: "2", body: initBody, newID: "A"})
	r.same(probe, first, true, "initialize after a refused probe")
	r.do(say{pid: 1, conn: "2", id: "A", body: listBody})
	again := r.do(say{pid: 1, conn: "3", body: discoverBody, status: 400})
	r.same(first, again, false, "a probe of a process whose client is at work")
	r.same(again, r.do(say{pid: 1, conn: "3", body: initBody, newID: "B"}), true, "its initialize")
}

// TestAnAnswerIsEnoughToGoOn: the client has the answer to its probe before the
// exchange has ended.
func TestAnAnswerIsEnoughToGoOn(t *testing.T) {
	r := newRoom(t)
	probe, ended := r.begin(say{pid: 1, conn: "1", body: discoverBody, status: 400})
	next, _ := r.begin(say{pid: 1, conn: "2", body: initBody, newID: "A"})
	r.same(probe.session, next.session, true, "initialize before the probe's end")
	ended()
	if n := probe.session.open[discover].running; n != 0 {
		t.Errorf("%d probes are running", n)
	}
}

func TestALostSessionGoesOn(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", body: initBody, newID: "A"})
	r.do(say{pid: 1, conn: "1", id: "A", body: listBody, status: 404})
	r.same(a, r.do(say{pid: 1, conn: "2", body: initBody, newID: "A2"}), true, "initialize after 404")
	r.same(a, r.do(say{pid: 1, conn: "9", id: "A2", body: listBody}), true, "its new id")
}

func TestModernClientsAreToldApartByProcessAndName(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", body: modernBody})
	b := r.do(say{pid: 2, conn: "2", body: modernBody})
	other := strings.Replace(modernBody, `"a"`, `"b"`, 1)
	c := r.do(say{pid: 1, conn: "3", body: other})
	r.same(a, b, false, "two processes")
	r.same(a, c, false, "two names in one process")
	r.same(a, r.do(say{pid: 1, conn: "4", body: modernBody}), true, "a new connection")
	r.same(c, r.do(say{pid: 1, conn: "1", body: other}), true, "the other name on the first one's connection")
	r.same(a, r.do(say{pid: 1, conn: "1", body: discoverBody}), false, "a new start")
}

func TestClientsWithoutAProcessAreToldApartByAgent(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{conn: "1", body: modernBody, agent: "x"})
	r.same(a, r.do(say{conn: "2", body: modernBody, agent: "y"}), false, "two agents")
	r.same(a, r.do(say{conn: "3", body: modernBody, agent: "x"}), true, "one agent")
}

func TestHTTPAndSSEClientsAreToldApartByEndpoint(t *testing.T) {
	r := newRoom(t)
	stream, end := r.begin(say{pid: 1, conn: "1", method: "GET", target: "/sse"})
	r.bindEndpoint(stream.session, "/message?sessionId=A")
	second, endSecond := r.begin(say{pid: 1, conn: "2", method: "GET", target: "/sse"})
	r.same(stream.session, second.session, false, "two streams of one process")
	r.bindEndpoint(second.session, "/message?sessionId=B")
	r.same(stream.session, r.do(say{pid: 1, conn: "2", target: "/message?sessionId=A", body: initBody}), true, "the first's posts")
	r.same(second.session, r.do(say{pid: 1, conn: "1", target: "/message?sessionId=B", body: listBody}), true, "the second's posts")
	end()
	endSecond()
	again, end := r.begin(say{pid: 1, conn: "5", method: "GET", target: "/sse"})
	defer end()
	r.same(second.session, again.session, true, "a stream after it ended")
}

func TestAPersonsPagesGoWithTheNewest(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", body: discoverBody, status: 401})
	r.same(a, r.do(say{pid: 7, conn: "b", method: "GET", target: "/authorize?x=1", agent: "Mozilla"}), true, "a browser that logs in")
	if r.started != 1 {
		t.Errorf("%d journals, want 1", r.started)
	}
	for i, other := range []say{{method: "DELETE"}, {body: `{}`}, {body: "null"}, {body: "\ufeff{}"}, {method: "OPTIONS", target: "/health"}} {
		other.pid, other.conn = 10+i, string(rune('c'+i))
		r.same(a, r.do(other), false, "another process: "+other.method+other.body)
	}
}

func TestASessionThatTheTapDoesNotKnow(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", id: "old", body: listBody})
	r.same(a, r.do(say{pid: 3, conn: "2", id: "old", body: listBody}), true, "the same id from elsewhere")
	r.same(a, r.do(say{pid: 1, conn: "1", id: "other", body: listBody}), false, "another id of the same client")
}

func TestSessionsEnd(t *testing.T) {
	r := newRoom(t)
	deleted := r.do(say{pid: 1, conn: "1", body: initBody, newID: "A"})
	stream, end := r.begin(say{pid: 1, conn: "2", id: "A", method: "GET"})
	r.do(say{pid: 1, conn: "1", id: "A", method: "DELETE", status: 204})
	if deleted.closed {
		t.Error("ended while its stream is open")
	}
	end()
	if !deleted.closed || stream.session != deleted {
		t.Error("not ended by DELETE")
	}
	r.same(deleted, r.do(say{pid: 1, conn: "1", body: initBody, newID: "C"}), false, "a new session after DELETE")

	gone := r.do(say{pid: 5, conn: "5", body: modernBody})
	idle := r.do(say{conn: "6", body: modernBody, agent: "x"})
	busy, _ := r.begin(say{conn: "7", body: modernBody, agent: "y"})
	r.dead[5] = true
	r.time = r.time.Add(time.Minute)
	r.sweep()
	if !gone.closed || idle.closed {
		t.Errorf("gone %v, idle %v; want true, false", gone.closed, idle.closed)
	}
	r.time = r.time.Add(idleUnknown)
	r.sweep()
	if !idle.closed || busy.session.closed {
		t.Errorf("idle %v, busy %v; want true, false", idle.closed, busy.session.closed)
	}
}

func TestThereIsRoomForSoManySessions(t *testing.T) {
	r := newRoom(t)
	first := r.do(say{pid: 1, conn: "1", body: modernBody})
	for pid := 2; pid <= maxSessions+1; pid++ {
		r.time = r.time.Add(time.Second)
		r.do(say{pid: pid, conn: "x" + string(rune(pid)), body: modernBody})
	}
	if len(r.open) != maxSessions || !first.closed {
		t.Errorf("%d open, the oldest ended: %v", len(r.open), first.closed)
	}
}

// TestOpeningsAtTheSameTime are those of clients in one process that tell nothing
// but that they open.
func TestOpeningsAtTheSameTime(t *testing.T) {
	for name, opening := range map[string]say{
		"initialize": {pid: 1, body: initBody, newID: "A"},
		"discover":   {pid: 1, body: discoverBody},
		"stream":     {pid: 1, method: "GET", target: "/sse"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			first, second := opening, opening
			first.conn, second.conn, second.newID = "1", "2", ""
			a, endA := r.begin(first)
			b, endB := r.begin(second)
			r.same(a.session, b.session, false, "the second begins before the first has ended")
			endA()
			endB()
		})
	}
}

func TestOpeningsOfAStatelessServer(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", body: initBody})
	r.same(a, r.do(say{pid: 1, conn: "1", body: listBody}), true, "its next request")
	b := r.do(say{pid: 1, conn: "2", body: initBody})
	r.same(a, b, false, "a second initialize, though no session has an id")
	r.same(a, r.do(say{pid: 1, conn: "1", body: listBody}), true, "the first one's connection")
	r.same(b, r.do(say{pid: 1, conn: "2", body: listBody}), true, "the second one's connection")
}

func TestAnOpeningThatFailedIsMadeAgain(t *testing.T) {
	for name, steps := range map[string][]say{
		"initialize after a login": {{body: initBody, status: 401}, {body: initBody, newID: "A"}},
		"discover after a login":   {{body: discoverBody, status: 401}, {body: discoverBody}},
		"discover after an error":  {{body: discoverBody, status: 503}, {body: discoverBody}},
		"down to HTTP+SSE":         {{body: discoverBody, status: 404}, {body: initBody, status: 405}, {method: "GET"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			var first *session
			for i, s := range steps {
				s.pid, s.conn = 1, "1"
				got := r.do(s)
				if i == 0 {
					first = got
				}
				r.same(first, got, true, "one client")
			}
		})
	}
}

func TestAnInitializeGoesToTheProbeThatWaitsForIt(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", body: discoverBody, status: 400})
	b, end := r.begin(say{pid: 1, conn: "2", body: discoverBody, status: -1})
	r.same(a, b.session, false, "two probes")
	r.same(a, r.do(say{pid: 1, conn: "3", body: initBody, newID: "A"}), true, "the second probe is not answered yet")
	end()
	r.same(b.session, r.do(say{pid: 1, conn: "4", body: initBody, newID: "B"}), true, "now it is")
}

func TestEndpointThatTellsNobodyApart(t *testing.T) {
	r := newRoom(t)
	a, endA := r.begin(say{pid: 1, conn: "1", method: "GET", target: "/sse"})
	b, endB := r.begin(say{pid: 2, conn: "2", method: "GET", target: "/sse"})
	r.bindEndpoint(a.session, "/messages")
	r.bindEndpoint(b.session, "/messages")
	r.same(a.session, r.do(say{pid: 1, conn: "3", target: "/messages", body: initBody}), true, "the first process")
	r.same(b.session, r.do(say{pid: 2, conn: "4", target: "/messages", body: initBody}), true, "the second process")
	endB()
	r.same(a.session, r.do(say{pid: 1, conn: "5", target: "/messages", body: listBody}), true, "after the second's end")
	endA()
	if len(r.byEndpoint)+len(r.shared) != 0 {
		t.Errorf("endpoints left: %v, %v", r.byEndpoint, r.shared)
	}
}

func TestARequestWithTheIDBefore(t *testing.T) {
	r := newRoom(t)
	a := r.do(say{pid: 1, conn: "1", body: initBody, newID: "A"})
	r.do(say{pid: 1, conn: "1", id: "A", body: listBody, status: 404})
	r.do(say{pid: 1, conn: "1", body: initBody, newID: "A2"})
	r.same(a, r.do(say{pid: 2, conn: "7", id: "A", method: "DELETE", status: 404}), true, "its late DELETE")
	r.time = r.time.Add(idleKnown + time.Hour)
	r.sweep()
	if len(r.byID)+len(r.latest)+len(r.open) != 0 {
		t.Errorf("left: %v, %v, %v", r.byID, r.latest, r.open)
	}
}

func TestLook(t *testing.T) {
	large := `{"method":"tools/call","params":{"x":"` + strings.Repeat("x", 2<<10) + `"},"jsonrpc":"2.0","id":1}`
	for _, c := range []struct {
		name, method, body string
		headers            []string
		atEndpoint         bool
		want               requestKind
	}{
		{name: "initialize", method: "POST", body: initBody, atEndpoint: true, want: initialize},
		{name: "discover", method: "POST", body: discoverBody, atEndpoint: true, want: discover},
		{name: "posted elsewhere", method: "POST", body: listBody, want: otherMCP},
		{name: "jsonrpc stands last", method: "POST", body: large, atEndpoint: true, want: otherMCP},
		{name: "cut", method: "POST", body: large[:1500], atEndpoint: true, want: otherMCP},
		{name: "pretty", method: "POST", body: "\n\t {\"method\": \"initialize\", \"jsonrpc\": \"2.0\"}", atEndpoint: true, want: initialize},
		{name: "a token request", method: "POST", body: "grant_type=x", want: notMCP},
		{name: "a registration", method: "POST", body: `{"client_name":"x"}`, want: notMCP},
		{name: "named by its header", method: "POST", headers: []string{"Mcp-Method", "server/discover"}, atEndpoint: true, want: discover},
		{name: "HTTP+SSE", method: "GET", headers: []string{"Accept", "text/event-stream"}, want: eventStream},
		{name: "a stream of a session", method: "GET", headers: []string{"Accept", "text/event-stream", "Mcp-Session-Id", "A"}, want: otherMCP},
		{name: "metadata", method: "GET", headers: []string{"Accept", "application/json"}, want: notMCP},
		{name: "the end", method: "DELETE", headers: []string{"Mcp-Session-Id", "A"}, want: otherMCP},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "/mcp", nil)
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		if got := look(r, []byte(c.body), c.atEndpoint); got.kind != c.want {
			t.Errorf("%s: %d, want %d", c.name, got.kind, c.want)
		}
	}
}
