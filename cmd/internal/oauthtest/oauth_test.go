package oauthtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcptap/mcptap/sessions/redact"
	"github.com/mcptap/mcptap/tap/httptap"
)

// drive logs in at an endpoint and uses what is behind it.
func drive(t *testing.T, s *Server, endpoint, revision string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	session, err := Connect(ctx, endpoint, revision)
	if err != nil {
		return err
	}
	for range 3 {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "order", Arguments: order{Dish: "soup"}})
		if err != nil {
			return err
		}
		if got := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(got, "SOUP") {
			t.Errorf("the tool says %s", got)
		}
		if !s.options.ShortLived {
			s.Expire() // and the client has to log in again
		}
	}
	return session.Close()
}

// ways are the servers that a strict client gets along with.
var ways = map[string]Options{
	"same origin":           {},
	"without an issuer":     {NoIssuer: true},
	"refreshing":            {ShortLived: true},
	"elsewhere":             {Elsewhere: true},
	"elsewhere, lax":        {Elsewhere: true, Lax: true},
	"2025-03-26":            {NoResourceMetadata: true},
	"2025-03-26, no issuer": {NoResourceMetadata: true, NoIssuer: true},
}

// TestDirect has the official client log in at the servers themselves.
func TestDirect(t *testing.T) {
	for name, o := range ways {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(name+", "+revision, func(t *testing.T) {
				s := Start(t, o)
				if err := drive(t, s, s.URL, revision); err != nil {
					t.Fatalf("%v\nrefused: %q", err, s.Refused())
				}
				checkFlow(t, s)
			})
		}
	}
}

// checkFlow tells whether all steps were taken and all their secrets remembered.
func checkFlow(t *testing.T, s *Server) {
	t.Helper()
	for _, step := range []string{"server metadata", "register", "authorize", "login", "authorization_code"} {
		if s.Count(step) == 0 {
			t.Errorf("no %s", step)
		}
	}
	if s.options.NoResourceMetadata != (s.Count("resource metadata") == 0) || s.options.ShortLived != (s.Count("refresh_token") > 0) {
		t.Errorf("%d times the metadata, %d times a refresh token", s.Count("resource metadata"), s.Count("refresh_token"))
	}
	secrets := strings.Join(s.Secrets(), "\n")
	for _, kind := range []string{"at-", "rt-", "cs-", "rat-", "code-", "csrf-", "login-", Password} {
		if !strings.Contains(secrets, kind) {
			t.Errorf("no secret of kind %s in\n%s", kind, secrets)
		}
	}
	if s.Token() == "" || !slices.ContainsFunc(s.Secrets(), func(s string) bool { return len(s) == 43 }) {
		t.Error("no code verifier among the secrets")
	}
}

// TestStrict has each check of the servers refuse what it is there for.
func TestStrict(t *testing.T) {
	s := Start(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	// What is given the server's documents under another name asks for another resource.
	naive := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(mustParse(t, s.origin)) }})
	defer naive.Close()
	if _, err := Connect(ctx, naive.URL+"/mcp", ""); err == nil {
		t.Error("a client logs in through a proxy that translates nothing")
	}
	for _, form := range []url.Values{
		{"grant_type": {"authorization_code"}, "code": {"x"}},
		{"grant_type": {"authorization_code"}, "code": {"x"}, "client_id": {"client-x"}},
	} {
		answer, err := http.PostForm(s.Issuer+pathToken, form)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%v: %s", form, answer.Status)
		}
	}
}

// TestThroughMapping puts a proxy in between that changes what the Mapping says
// and nothing else: the client's checks and the servers' all hold, whichever of
// the two ways a browser takes.
func TestThroughMapping(t *testing.T) {
	for name, o := range ways {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(name+", "+revision, func(t *testing.T) {
				s := Start(t, o)
				proxy, m := mappingProxy(t, s.origin)
				err := drive(t, s, proxy+"/mcp", revision)
				if o.Elsewhere && !o.Lax {
					if err == nil || !slices.Contains(s.Refused(), "invalid_target") {
						t.Errorf("a strict server elsewhere takes the proxy's address for a resource: %v, %q", err, s.Refused())
					}
					if hint := m.Hint(http.StatusUnauthorized); !strings.Contains(hint, s.Issuer) {
						t.Errorf("the user is not told: %s", hint)
					}
					return
				}
				if err != nil {
					t.Fatalf("%v\nrefused: %q", err, s.Refused())
				}
				checkFlow(t, s)
			})
		}
	}
}

// TestNothingSecretIsKept masks all heads and bodies of a login, as a tap would
// record them, and looks for every secret there was.
func TestNothingSecretIsKept(t *testing.T) {
	for name, o := range ways {
		t.Run(name, func(t *testing.T) {
			s := Start(t, o)
			k := &keeper{mask: redact.NewHTTP([]byte(name))}
			proxy, m := mappingProxy(t, s.origin)
			m.Proxy.Transport = k
			err := drive(t, s, proxy+"/mcp", "2025-11-25")
			if strict := o.Elsewhere && !o.Lax; strict != (err != nil) {
				t.Fatal(err)
			}
			for _, secret := range append(s.Secrets(), k.sessions...) {
				for _, spelt := range []string{secret, url.QueryEscape(secret)} {
					if i := strings.Index(k.kept.String(), spelt); i >= 0 {
						t.Errorf("%s is kept: ...%s", secret, k.kept.String()[max(0, i-200):i+len(spelt)])
					}
				}
			}
			for _, word := range []string{"Bearer «redacted:", "/mcp", "Mcp-Session-Id: «redacted:"} {
				if err == nil && !strings.Contains(k.kept.String(), word) {
					t.Errorf("%q is not kept", word)
				}
			}
		})
	}
}

// keeper passes requests on and keeps what of them may be kept. Bodies at the MCP
// endpoint are MCP's, and no matter of it.
type keeper struct {
	mask *redact.HTTP

	mu       sync.Mutex
	kept     strings.Builder
	sessions []string
}

func (k *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/mcp" && r.Body != nil {
		r.Body = k.body(r.Header, r.Body)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if r.URL.Path != "/mcp" {
		answer.Body = k.body(answer.Header, answer.Body)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(&k.kept, "%s %s\n", r.Method, k.mask.Target(r.URL.RequestURI()))
	for _, h := range []http.Header{r.Header, answer.Header} {
		if id := h.Get("Mcp-Session-Id"); id != "" {
			k.sessions = append(k.sessions, id)
		}
		for name, values := range h {
			for _, v := range values {
				fmt.Fprintf(&k.kept, "%s: %s\n", name, k.mask.Header(name, v))
			}
		}
	}
	return answer, nil
}

// body keeps a body and gives it back.
func (k *keeper) body(h http.Header, r io.ReadCloser) io.ReadCloser {
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return io.NopCloser(iotest.ErrReader(err))
	}
	kept, _ := k.mask.Body(h.Get("Content-Type"), b)
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(&k.kept, "%s\n", kept)
	return io.NopCloser(bytes.NewReader(b))
}

// mappedProxy is a proxy with its Mapping.
type mappedProxy struct {
	*httptap.Mapping
	Proxy *httputil.ReverseProxy
}

// mappingProxy is the least that a tap has to do for a Mapping.
func mappingProxy(t *testing.T, upstream string) (origin string, m *mappedProxy) {
	t.Helper()
	proxy := &httputil.ReverseProxy{FlushInterval: -1}
	m = &mappedProxy{Proxy: proxy}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to, _, ok := m.Browser(r.URL.Path, r.URL.RawQuery); ok && r.Method == http.MethodGet {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	var err error
	if m.Mapping, err = httptap.NewMapping(server.URL, upstream); err != nil {
		t.Fatal(err)
	}
	proxy.Rewrite = func(r *httputil.ProxyRequest) {
		r.SetURL(mustParse(t, upstream))
		r.Out.URL.RawQuery, _ = m.Query(r.In.URL.Path, r.In.URL.RawQuery)
		if strings.HasPrefix(r.In.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			body, _ := m.Form(r.In.URL.Path, readAll(t, r.In.Body))
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
	}
	proxy.ModifyResponse = func(res *http.Response) error {
		for i, v := range res.Header["Www-Authenticate"] {
			res.Header["Www-Authenticate"][i], _ = m.Challenge(v)
		}
		if v := res.Header.Get("Location"); v != "" {
			v, _ = m.Location(v)
			res.Header.Set("Location", v)
		}
		switch m.Role(res.Request.URL.Path) {
		case httptap.RoleResource, httptap.RoleServer:
			body, _ := m.Document(res.Request.URL.Path, readAll(t, res.Body))
			res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			res.Header.Set("Content-Length", strconv.Itoa(len(body)))
		}
		return nil
	}
	return server.URL, m
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func readAll(t *testing.T, r io.ReadCloser) []byte {
	t.Helper()
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return b
}
