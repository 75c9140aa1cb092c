package httptap

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcptap/mcptap/tap"
)

const (
	// stalled is how long one end may take no byte, or send none of a request that
	// it has begun. An answer may be silent for as long as it likes.
	stalled = 10 * time.Minute
	// largePiece and smallPiece are the pieces in which bodies are passed on, and
	// maxLarge is how many have the large one at the same time.
	largePiece = 256 << 10
	smallPiece = 16 << 10
	maxLarge   = 16
)

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// newProxy makes the machinery that forwards.
func (t *Tap) newProxy() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:        t.forward,
		ModifyResponse: t.deliver,
		ErrorHandler:   t.undeliverable,
		Transport:      t.transport(),
		BufferPool:     &buffers{},
		ErrorLog:       silent,
	}
}

// ServeHTTP passes one request on.
func (t *Tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if reason := t.guard.refuse(r); reason != "" {
		t.refuse(w, reason)
		return
	}
	_ = http.NewResponseController(w).EnableFullDuplex()
	x := t.begin(w, r)
	defer t.clients.finish(x.session, &x.seen)
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), exchangeKey{}, x))
	defer cancel()
	t.track(x, cancel)
	defer t.untrack(x)
	defer x.finish()
	// Set to nothing, these are not made up by the server when the answer lacks them.
	w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
	if t.sendOn(x, w, r) {
		return
	}
	out := newWriter(w, x)
	defer out.end()
	t.proxy.ServeHTTP(out, x.in.WithContext(ctx))
}

// refuse answers a request that must not pass.
func (t *Tap) refuse(w http.ResponseWriter, reason string) {
	t.warnOnce("refused a request: " + reason)
	http.Error(w, "mcptap refused this request: "+reason, http.StatusForbidden)
}

// begin finds whose request it is and records its head, with the body if all of
// that is there.
func (t *Tap) begin(w http.ResponseWriter, r *http.Request) *exchange {
	// A copy, since the server looks at its own request's body to know where the
	// next request begins.
	r = r.WithContext(r.Context())
	x := &exchange{tap: t, w: w, in: r, mapping: t.mapping.For(r.Host), atEndpoint: r.URL.Path == t.Upstream.Path}
	first, rest := begun(r)
	x.seen = look(r, first, x.atEndpoint)
	x.session, x.n = t.clients.begin(r, connOf(r), &x.seen, t.peers.find)
	t.translateRequest(x, r)
	if int64(len(first)) == r.ContentLength && isForm(r) {
		return t.beginWhole(x, r, first, x.translateForm(r, first))
	}
	head := x.requestHead(r)
	if r.Body == nil || r.Body == http.NoBody {
		x.session.journal.RecordHTTP(head, nil, nil)
		return x
	}
	if int64(len(first)) == r.ContentLength {
		return t.beginWhole(x, r, first, first)
	}
	x.up = newRecorder(x, tap.C2S, r.Header, r.ContentLength)
	x.session.journal.RecordHTTP(head, nil, nil)
	r.Body = t.streamed(w, &tee{src: rest, prefix: first, rec: x.up})
	return x
}

// beginWhole records the head of a request whose body has come already, with it, and
// passes the body on as the server has to get it.
func (t *Tap) beginWhole(x *exchange, r *http.Request, body, passedOn []byte) *exchange {
	x.up = newRecorder(x, tap.C2S, r.Header, int64(len(body)))
	x.owed = x.requestHead(r)
	x.up.feed(body)
	x.recordOwed()
	r.Body = io.NopCloser(bytes.NewReader(passedOn))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(passedOn)), nil }
	return x
}

// forward makes the request for the server: the same but for its host.
func (t *Tap) forward(r *httputil.ProxyRequest) {
	out := r.Out
	out.URL.Scheme, out.URL.Host, out.Host = t.Upstream.Scheme, t.Upstream.Host, t.Upstream.Host
	out.URL.RawQuery, out.URL.ForceQuery = r.In.URL.RawQuery, r.In.URL.ForceQuery
	if path, _, _ := strings.Cut(r.In.RequestURI, "?"); path != out.URL.EscapedPath() && strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") {
		out.URL.Opaque = path // escaped in a way that Go would not choose
	}
	out.Trailer = r.In.Trailer // its values come with the end of the body
	out.GetBody = r.In.GetBody
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			out.Header[name] = v
		}
	}
	if t.RewriteOrigin && out.Header.Get("Origin") != "" {
		out.Header.Set("Origin", t.origin())
	}
}

func (t *Tap) origin() string { return t.Upstream.Scheme + "://" + t.Upstream.Host }

// deliver sees the answer before the client does.
func (t *Tap) deliver(res *http.Response) error {
	x := exchangeOf(res.Request)
	for _, name := range [...]string{"Content-Type", "Date"} {
		if _, ok := x.w.Header()[name]; !ok && len(res.Header[name]) == 0 {
			x.w.Header()[name] = nil
		}
	}
	x.answered(res, t.translateAnswer(x, res))
	return nil
}

// undeliverable answers for a server that gave no answer.
func (t *Tap) undeliverable(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r)
	x.fail(err)
	status, why := http.StatusBadGateway, "no answer from "+t.origin()+": "+plainError(err)
	switch {
	case x.in.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the client is gone
	case t.stopping():
		status, why = http.StatusServiceUnavailable, "the tap was ended before "+t.origin()+" answered"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "mcptap: %s\n", why)
	x.remark(fmt.Sprintf("the tap answered %d in the server's place", status))
}

// buffers lends out the room in which bodies are passed on: a large piece costs as
// many system calls as a small one. Many streams at once get small room.
type buffers struct {
	large, small sync.Pool
	lent         atomic.Int32 // large ones
}

func (b *buffers) Get() []byte {
	if b.lent.Add(1) > maxLarge {
		b.lent.Add(-1)
		if room, ok := b.small.Get().(*[smallPiece]byte); ok {
			return room[:]
		}
		return new([smallPiece]byte)[:]
	}
	if room, ok := b.large.Get().(*[largePiece]byte); ok {
		return room[:]
	}
	return new([largePiece]byte)[:]
}

func (b *buffers) Put(room []byte) {
	if len(room) == smallPiece {
		b.small.Put((*[smallPiece]byte)(room))
		return
	}
	b.large.Put((*[largePiece]byte)(room))
	b.lent.Add(-1)
}

// URL is what a client has to be given, for a tap that listens at addr.
func (t *Tap) URL(addr string) string {
	u := url.URL{Scheme: "http", Host: addr, Path: t.Upstream.Path, RawPath: t.Upstream.RawPath, RawQuery: t.Upstream.RawQuery}
	return u.String()
}
