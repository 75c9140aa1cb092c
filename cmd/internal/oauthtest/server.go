// Package oauthtest has an MCP server that asks for authorization, and an
// authorization server for it, both on loopback and for tests only.
//
// They follow what MCP builds on: RFC 9728 (metadata of the protected resource),
// RFC 8414 (metadata of the authorization server), RFC 7591 (registration), the
// authorization code flow with PKCE (RFC 7636, S256 only), RFC 8707 (the resource
// a token is for, checked letter by letter unless told otherwise), RFC 9207 (the
// issuer in the response) and refresh tokens that are used once. The login page
// has a form, a cookie and a hidden value, as real ones have; [Browser] fills it in.
//
// Every secret that was issued or received is remembered, so that a test can look
// for them where they must not be.
package oauthtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are the ways in which servers differ. The zero value is a strict
// authorization server on the MCP server's own origin.
type Options struct {
	// Elsewhere puts the authorization server on an origin of its own.
	Elsewhere bool
	// Lax servers take any resource, and tokens for any.
	Lax bool
	// NoIssuer leaves the issuer out of the authorization response.
	NoIssuer bool
	// NoResourceMetadata is 2025-03-26, where the MCP server's origin is the
	// authorization server and nothing says so.
	NoResourceMetadata bool
	// ShortLived tells clients that a token is about to expire, so that they
	// refresh it before each request.
	ShortLived bool
}

// A Server is a running pair of servers.
type Server struct {
	URL    string // of the MCP endpoint
	Issuer string // of the authorization server

	options Options
	origin  string // of the MCP server

	mu      sync.Mutex
	secrets []string
	clients map[string]*client
	pending map[string]*request // by the cookie of the login page
	codes   map[string]*request
	access  map[string]grant
	refresh map[string]grant
	counts  map[string]int
	refused []string
}

// scope is what the MCP server wants a token to have.
const scope = "kitchen"

// Start starts the servers. They end with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{
		options: o, clients: map[string]*client{}, pending: map[string]*request{}, codes: map[string]*request{},
		access: map[string]grant{}, refresh: map[string]grant{}, counts: map[string]int{},
	}
	resource := http.NewServeMux()
	server := httptest.NewServer(resource)
	t.Cleanup(server.Close)
	s.origin, s.Issuer, s.URL = server.URL, server.URL, server.URL+"/mcp"
	authorization := resource
	if o.Elsewhere {
		authorization = http.NewServeMux()
		other := httptest.NewServer(authorization)
		t.Cleanup(other.Close)
		s.Issuer = other.URL
	}
	s.serveResource(resource)
	s.serveAuthorization(authorization)
	return s
}

// serveResource adds the MCP server and its metadata.
func (s *Server) serveResource(mux *http.ServeMux) {
	const metadata = "/.well-known/oauth-protected-resource/mcp"
	kitchen := mcp.NewServer(&mcp.Implementation{Name: "kitchen", Version: "1.0.0"}, nil)
	mcp.AddTool(kitchen, &mcp.Tool{Name: "order"}, func(_ context.Context, _ *mcp.CallToolRequest, in order) (*mcp.CallToolResult, order, error) {
		return nil, order{Dish: strings.ToUpper(in.Dish)}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return kitchen }, nil)
	o := &auth.RequireBearerTokenOptions{Scopes: []string{scope}}
	if !s.options.NoResourceMetadata {
		o.ResourceMetadataURL = s.origin + metadata
		mux.HandleFunc("GET "+metadata, func(w http.ResponseWriter, _ *http.Request) {
			s.count("resource metadata")
			writeJSON(w, http.StatusOK, map[string]any{
				"resource": s.URL, "authorization_servers": []string{s.Issuer}, "scopes_supported": []string{scope}, "bearer_methods_supported": []string{"header"},
			})
		})
	}
	mux.Handle("/mcp", auth.RequireBearerToken(s.verify, o)(handler))
}

type order struct {
	Dish string `json:"dish"`
}

// verify is how the MCP server checks a token.
func (s *Server) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, token)
	g, ok := s.access[token]
	if !ok {
		return nil, fmt.Errorf("unknown token: %w", auth.ErrInvalidToken)
	}
	if !s.options.Lax && g.resource != s.URL {
		return nil, fmt.Errorf("the token is for %s: %w", g.resource, auth.ErrInvalidToken)
	}
	return &auth.TokenInfo{Scopes: strings.Fields(g.scope), Expiration: time.Now().Add(time.Hour)}, nil
}

// Secrets are all that was issued or received so far and must stay between the
// parties, each once.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(s.secrets), func(secret string) bool { return secret == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// Token returns a token that the MCP server takes, for a client that is given one.
func (s *Server) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := s.secret("at")
	s.access[token] = grant{resource: s.URL, scope: scope}
	return token
}

// Expire makes the MCP server refuse all tokens there are.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Count is how often something was done: "resource metadata", "server metadata",
// "register", "authorize", "login", and the grant types.
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Refused are the reasons for which requests were refused, in order.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

func (s *Server) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
}
