package httptap

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcptap/mcptap/tap"
)

const (
	// idleKnown and idleUnknown are how long a session may be silent before its
	// recording ends: long where the client's process is known, since its end is
	// then noticed.
	idleKnown   = 24 * time.Hour
	idleUnknown = 30 * time.Minute
	// maxSessions is how many recordings are open at most; the one that was silent
	// for longest ends first.
	maxSessions = 400
)

// A Client is what is known of the client that a session is recorded of.
type Client struct {
	Process tap.Process // PID 0 if it is not known
}

// clients finds the session that an exchange belongs to. One client may have
// several sessions, one after the other or at the same time; two clients never
// share one as long as anything tells them apart.
type clients struct {
	create func(Client) *tap.Writer
	now    func() time.Time
	alive  func(pid int) bool

	mu         sync.Mutex
	open       map[*session]bool
	byID       map[string]*session // Mcp-Session-Id, as the server gave it
	byEndpoint map[string]*session // where a client of HTTP+SSE posts to
	latest     map[string]*session // of each client
	shared     map[string]bool     // endpoints that do not tell clients apart
	newest     *session
}

func newClients(create func(Client) *tap.Writer, now func() time.Time, alive func(pid int) bool) *clients {
	return &clients{
		create: create, now: now, alive: alive,
		open: map[*session]bool{}, byID: map[string]*session{}, byEndpoint: map[string]*session{}, latest: map[string]*session{},
		shared: map[string]bool{},
	}
}

// A session is one recording.
type session struct {
	owner   *clients
	journal *tap.Writer
	client  Client
	key     string // of latest

	// guarded by owner.mu
	exchanges uint32 // begun so far
	running   int    // not ended
	used      time.Time
	info      string   // the client's name and version, once it said so
	id        string   // of the MCP session that is going on
	ids       []string // all that it had
	target    string   // endpoint of HTTP+SSE that is going on
	open      [otherMCP]opened
	working   bool // it was asked for more than an opening
	lost      bool // the server forgot the MCP session: a new one belongs here
	deleted   bool // the client ended its MCP session
	closed    bool
}

// opened is how far an opening of one kind has come. A client opens once, so a
// second opening is another client's, unless the first one came to nothing.
type opened struct {
	running int  // not yet answered
	done    bool // and that opened a session
}

func (o opened) taken() bool { return o.running > 0 || o.done }

// A conn is a client's connection.
type conn struct {
	remote, local net.Addr
	session       atomic.Pointer[session]
	once          sync.Once
	process       tap.Process
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &conn{remote: c.RemoteAddr(), local: c.LocalAddr()})
}

func connOf(r *http.Request) *conn {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return &conn{}
	}
	return c
}

// owner is the process at the connection's other end.
func (c *conn) owner(find func(remote, local netip.AddrPort) tap.Process) tap.Process {
	c.once.Do(func() {
		remote, ok1 := addrPort(c.remote)
		local, ok2 := addrPort(c.local)
		if ok1 && ok2 && remote.Addr().IsLoopback() {
			c.process = find(remote, local)
		}
	})
	return c.process
}

func addrPort(a net.Addr) (netip.AddrPort, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), true
}

// begin finds or makes the session of a request and gives the exchange its number.
func (cs *clients) begin(r *http.Request, c *conn, o *opening, find func(remote, local netip.AddrPort) tap.Process) (s *session, n uint32) {
	cs.mu.Lock()
	s = cs.named(r)
	cs.mu.Unlock()
	var process tap.Process
	if s == nil {
		process = c.owner(find) // reads files: not under the lock
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if s == nil || s.closed {
		s = cs.pick(r, c, o, process)
	}
	c.session.Store(s)
	s.note(o, cs.now())
	s.exchanges++
	s.running++
	return s, s.exchanges
}

// named is the session that the request names: by its MCP session, or by the
// endpoint that it posts to.
func (cs *clients) named(r *http.Request) *session {
	if id := r.Header.Get(sessionHeader); id != "" {
		return cs.byID[id]
	}
	if cs.shared[r.RequestURI] {
		return nil
	}
	return cs.byEndpoint[r.RequestURI]
}

const sessionHeader = "Mcp-Session-Id"

// pick finds the session of a request that names none that is known.
func (cs *clients) pick(r *http.Request, c *conn, o *opening, process tap.Process) *session {
	key := clientKey(r, process)
	s := c.session.Load()
	if s == nil || s.closed {
		s = cs.latest[key]
	}
	if s != nil && o.info != "" && s.info != "" && s.info != o.info {
		s = cs.latest[key+"\x00"+o.info]
	}
	if (s == nil || s.closed) && o.kind == fromBrowser && cs.newest != nil && !cs.newest.closed {
		return cs.newest // somebody logs in for a client
	}
	id := r.Header.Get(sessionHeader)
	if s == nil || s.closed || s.isTaken(o, id) {
		if s = cs.free(key, o, id); s == nil {
			s = cs.add(key, Client{Process: process})
		}
	}
	if id != "" {
		cs.bindID(s, id) // the tap is younger than the MCP session
	}
	if o.info != "" {
		cs.latest[key+"\x00"+o.info] = s
	}
	return s
}

// free finds another session of the same client, or of another one in the same
// process, that waits for this opening: its probe was refused, for example.
func (cs *clients) free(key string, o *opening, id string) (found *session) {
	if !o.opens() || id != "" {
		return nil
	}
	for s := range cs.open {
		if s.key == key && !s.isTaken(o, id) && (s.info == "" || o.info == "" || s.info == o.info) && (found == nil || s.used.After(found.used)) {
			found = s
		}
	}
	return found
}

// isTaken reports that a request is that of another client of the same process:
// this session has come further.
func (s *session) isTaken(o *opening, id string) bool {
	switch {
	case s.lost:
		return o.opens() && s.open[o.kind].running > 0
	case id != "": // one that is not known is older than the tap
		return s.id != "" || s.working
	case o.kind == initialize:
		return s.id != "" || s.working || s.open[initialize].taken() || s.open[discover].running > 0
	case o.kind == discover:
		return s.id != "" || s.working || s.open[initialize].taken() || s.open[discover].taken()
	case o.kind == eventStream:
		return s.id != "" || s.working && !s.open[initialize].done || s.open[eventStream].taken()
	}
	return false
}

func (s *session) note(o *opening, now time.Time) {
	s.used = now
	if o.info != "" {
		s.info = o.info
	}
	switch {
	case o.opens():
		s.open[o.kind].running++
	case o.kind == otherMCP:
		s.working = true
	}
}

// clientKey tells clients apart: by process, or by what they call themselves.
func clientKey(r *http.Request, process tap.Process) string {
	if process.PID != 0 {
		return "pid " + strconv.Itoa(process.PID)
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return "agent " + host + " " + r.Header.Get("User-Agent")
}

func (cs *clients) add(key string, c Client) *session {
	cs.makeRoom()
	s := &session{owner: cs, journal: cs.create(c), client: c, key: key}
	cs.open[s], cs.latest[key], cs.newest = true, s, s
	return s
}

// makeRoom ends the recording that was silent for longest if there are too many.
func (cs *clients) makeRoom() {
	if len(cs.open) < maxSessions {
		return
	}
	var oldest *session
	for s := range cs.open {
		if s.running == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest != nil {
		cs.close(oldest, "other clients needed the room: it was silent for longest")
	}
}

// answered takes what the head of an answer says of the session.
func (s *session) answered(x *exchange, res *http.Response) {
	cs := s.owner
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if x.seen.kind != eventStream { // that one is open as long as its stream is
		s.decided(&x.seen)
	}
	good := res.StatusCode/100 == 2
	asked := x.in.Header.Get(sessionHeader)
	switch {
	case x.seen.kind == initialize && good:
		s.open[initialize].done, s.lost, s.deleted = true, false, false
		if id := res.Header.Get(sessionHeader); id != "" {
			cs.bindID(s, id)
		}
	case x.seen.kind == discover && answersProbe(res.StatusCode):
		s.open[discover].done = true
	case asked != "" && asked == s.id && res.StatusCode == http.StatusNotFound:
		s.lost = true
	case asked != "" && asked == s.id && x.in.Method == http.MethodDelete && good:
		s.deleted = true
	}
}

// decided takes an opening that is answered, or never will be. The client may go on
// from there at once, before the exchange has ended. The lock must be held.
func (s *session) decided(o *opening) {
	if o.opens() && !o.decided {
		o.decided = true
		s.open[o.kind].running--
	}
}

// answersProbe reports a status that answers the question which revisions there
// are. After any other, the client will ask again.
func answersProbe(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 2 || status/100 == 4
}

// bindID takes the id of an MCP session that is recorded in s. Those that it had
// before stay its own: requests with them may still come.
func (cs *clients) bindID(s *session, id string) {
	if s.id != id {
		s.ids = append(s.ids, id)
	}
	s.id = id
	cs.byID[id] = s
}

// bindEndpoint takes where a client of HTTP+SSE is told to post to. A server that
// tells all of them the same does not name a session by it.
func (cs *clients) bindEndpoint(s *session, target string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if other := cs.byEndpoint[target]; other != nil && other != s {
		cs.shared[target] = true
	}
	s.target = target
	cs.byEndpoint[target] = s
}

// unbindEndpoint forgets it with the stream.
func (cs *clients) unbindEndpoint(s *session) {
	if cs.byEndpoint[s.target] == s {
		delete(cs.byEndpoint, s.target)
		delete(cs.shared, s.target)
	}
	s.target = ""
}

// finish ends an exchange, and the recording if the client has ended its session.
func (cs *clients) finish(s *session, o *opening) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	s.running--
	s.used = cs.now()
	s.decided(o)
	if o.kind == eventStream && s.target != "" { // the stream was the session
		cs.unbindEndpoint(s)
		s.lost = true
	}
	if s.deleted && s.running == 0 {
		cs.close(s, "the client ended the session")
	}
}

// close ends a recording. The lock must be held.
func (cs *clients) close(s *session, reason string) {
	s.closed = true
	delete(cs.open, s)
	for _, id := range s.ids {
		if cs.byID[id] == s {
			delete(cs.byID, id)
		}
	}
	cs.unbindEndpoint(s)
	for key, other := range cs.latest {
		if other == s {
			delete(cs.latest, key)
		}
	}
	if cs.newest == s {
		cs.newest = nil
	}
	s.journal.End(tap.End{Reason: reason})
}

// sweep ends the recordings whose clients are gone.
func (cs *clients) sweep() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for s := range cs.open {
		if s.running > 0 {
			continue
		}
		silent := cs.now().Sub(s.used)
		switch pid := s.client.Process.PID; {
		case pid != 0 && !cs.alive(pid):
			cs.close(s, "the client's process has ended")
		case pid != 0 && silent > idleKnown, pid == 0 && silent > idleUnknown:
			cs.close(s, "no request came for "+silent.Round(time.Minute).String())
		}
	}
}

// closeAll ends all recordings.
func (cs *clients) closeAll(reason string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for s := range cs.open {
		cs.close(s, reason)
	}
}
