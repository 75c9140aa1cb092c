package httptap

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcptap/mcptap/tap"
)

const (
	maxHead       = 256 << 10        // of a request's line and headers
	maxAnswerHead = 1 << 20          // of an answer's
	headTime      = 30 * time.Second // for a client to send a request's head
	dialTime      = 30 * time.Second
	readBuffer    = 16 << 10 // of each connection to the server
	maxWarned     = 100      // different refusals that are told
	// idleUpstream is how long a connection to the server is kept without a
	// request. Common servers close theirs after five seconds, and a request that
	// crosses that close is lost.
	idleUpstream = 3 * time.Second
	idleClient   = 10 * time.Minute
	sweepEvery   = 3 * time.Second
	// grace is how long requests may go on when the tap is told to end; event
	// streams end at once.
	grace = 2 * time.Second
)

// A Tap stands between MCP clients and one server on HTTP.
type Tap struct {
	Upstream *url.URL // where clients would go without the tap
	// NewJournal starts the journal of a session. The tap ends it.
	NewJournal func(Client) *tap.Writer
	Mask       Masker
	Warn       func(string) // takes a sentence for the user
	Now        func() time.Time

	Authorization string   // header for requests that have none of their own
	AllowHosts    []string // names that the Host header may have, besides loopback's
	AllowOrigins  []string // web origins that may send requests, besides loopback's
	RewriteOrigin bool     // the server gets its own origin instead of the page's
	Insecure      bool     // the server's certificate is not checked

	// Hurry is closed when the tap, told to end, shall not wait for anybody. Nil
	// is never closed. The journals are ended all the same.
	Hurry <-chan struct{}

	stall, headTime time.Duration // shorter in tests

	proxy   *httputil.ReverseProxy
	mapping *Mapping
	guard   *guard
	clients *clients
	peers   peers
	masked  maskCache

	mu     sync.Mutex
	live   map[*exchange]context.CancelFunc
	ending bool
	warned map[string]bool
}

var silent = log.New(io.Discard, "", 0)

// Serve listens until ctx is done, ends what is going on, and ends the journals.
func (t *Tap) Serve(ctx context.Context, in net.Listener) error {
	if err := t.init(in); err != nil {
		return err
	}
	server := &http.Server{
		Handler: t, ConnContext: withConn, ErrorLog: silent,
		MaxHeaderBytes: maxHead, ReadHeaderTimeout: t.headTime, IdleTimeout: idleClient,
		Protocols: new(http.Protocols), DisableGeneralOptionsHandler: true,
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- server.Serve(in) }()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.clients.sweep()
			continue
		case err := <-served:
			t.endAll("the tap could not listen any more: " + err.Error())
			return err
		case <-ctx.Done():
		}
		break
	}
	t.shutDown(server)
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (t *Tap) init(in net.Listener) (err error) {
	if t.mapping, err = NewMapping("http://"+in.Addr().String(), t.origin()); err != nil {
		return err
	}
	t.live, t.warned = map[*exchange]context.CancelFunc{}, map[string]bool{}
	t.stall, t.headTime = cmp.Or(t.stall, stalled), cmp.Or(t.headTime, headTime)
	t.clients = newClients(t.NewJournal, t.Now, alive)
	t.guard = &guard{hosts: lower(t.AllowHosts), origins: lower(t.AllowOrigins)}
	if tcp, ok := in.Addr().(*net.TCPAddr); ok {
		t.guard.anyIP = !tcp.IP.IsLoopback()
	}
	t.proxy = t.newProxy()
	return nil
}

func lower(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}

// transport makes the connections to the server. It asks for no encoding of its
// own, follows no redirect and uses no proxy: nothing goes anywhere but there.
func (t *Tap) transport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTime}).DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        idleUpstream,
		TLSHandshakeTimeout:    dialTime,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxAnswerHead,
		ReadBufferSize:         readBuffer,
		TLSClientConfig:        &tls.Config{InsecureSkipVerify: t.Insecure}, // only if the user asked for it
	}
}

// shutDown lets requests end, those that have no end of their own at once, and
// then ends the journals.
func (t *Tap) shutDown(server *http.Server) {
	t.mu.Lock()
	t.ending = true
	t.mu.Unlock()
	t.cancel((*exchange).isStream)
	if !t.within(grace, server.Shutdown) {
		t.cancel(func(*exchange) bool { return true })
		if !t.within(grace, server.Shutdown) {
			_ = server.Close()
		}
	}
	t.proxy.Transport.(*http.Transport).CloseIdleConnections()
	t.endAll("the tap was ended")
}

// endAll ends the journals, and before that what goes on in them: a handler may
// return later, or serve another protocol by now.
func (t *Tap) endAll(reason string) {
	for _, x := range t.cancel(func(*exchange) bool { return true }) {
		x.finish()
	}
	t.clients.closeAll(reason)
}

// within reports whether f was done in time, or before somebody was in a hurry.
func (t *Tap) within(d time.Duration, f func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	go func() {
		select {
		case <-t.Hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	return f(ctx) == nil
}

// cancel breaks off exchanges that are going on, and gives them.
func (t *Tap) cancel(which func(*exchange) bool) (all []*exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for x, cancel := range t.live {
		if which(x) {
			cancel()
			all = append(all, x)
		}
	}
	return all
}

// isStream reports an exchange without an end of its own: an event stream, or a
// connection that speaks something else now.
func (x *exchange) isStream() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.down != nil && x.down.events != nil || x.status == http.StatusSwitchingProtocols
}

// track keeps what can be ended with the tap.
func (t *Tap) track(x *exchange, cancel context.CancelFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live[x] = cancel
}

func (t *Tap) untrack(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, x)
}

func (t *Tap) stopping() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ending
}

func (t *Tap) warnOnce(s string) {
	t.mu.Lock()
	known := t.warned[s] || len(t.warned) >= maxWarned
	if !known {
		t.warned[s] = true
	}
	t.mu.Unlock()
	if !known && t.Warn != nil {
		t.Warn(s)
	}
}
