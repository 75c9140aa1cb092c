package oauthtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
)

// Password is what the login page asks for.
const Password = "correct-horse-7-battery-staple"

// The authorization server's paths are none that a client could guess.
const (
	pathMetadata  = "/.well-known/oauth-authorization-server"
	pathAuthorize = "/oauth/v1/authorize"
	pathLogin     = "/oauth/v1/login"
	pathToken     = "/oauth/v1/token"
	pathRegister  = "/oauth/v1/register"
)

// client is a registered client.
type client struct {
	id, secret, method string
	redirects          []string
}

// request is an authorization request, from the login page to its code.
type request struct {
	client                                       *client
	redirect, state, challenge, resource, hidden string
	scope                                        string
}

// grant is what a token is for.
type grant struct {
	client          *client
	resource, scope string
}

func (s *Server) serveAuthorization(mux *http.ServeMux) {
	mux.HandleFunc("GET "+pathMetadata, s.metadata)
	mux.HandleFunc("POST "+pathRegister, s.register)
	mux.HandleFunc("GET "+pathAuthorize, s.authorize)
	mux.HandleFunc("POST "+pathLogin, s.login)
	mux.HandleFunc("POST "+pathToken, s.token)
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	s.count("server metadata")
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                                         s.Issuer,
		"authorization_endpoint":                         s.Issuer + pathAuthorize,
		"token_endpoint":                                 s.Issuer + pathToken,
		"registration_endpoint":                          s.Issuer + pathRegister,
		"scopes_supported":                               []string{scope},
		"response_types_supported":                       []string{"code"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic", "client_secret_post"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": !s.options.NoIssuer,
	})
}

// register is RFC 7591: the client gets the method that it asks for, Basic by
// default, and a secret unless that is none.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
		s.refuse(w, http.StatusBadRequest, "invalid_client_metadata", err.Error())
		return
	}
	s.count("register")
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &client{id: "client-" + rand.Text()[:6], method: "client_secret_basic"}
	if m, ok := in["token_endpoint_auth_method"].(string); ok {
		c.method = m
	}
	if list, ok := in["redirect_uris"].([]any); ok {
		for _, u := range list {
			c.redirects = append(c.redirects, fmt.Sprint(u))
		}
	}
	in["client_id"], in["token_endpoint_auth_method"] = c.id, c.method
	in["registration_access_token"] = s.secret("rat")
	if c.method != "none" {
		c.secret = s.secret("cs")
		in["client_secret"], in["client_secret_expires_at"] = c.secret, 0
		basic := base64.StdEncoding.EncodeToString([]byte(c.id + ":" + c.secret))
		s.secrets = append(s.secrets, basic)
	}
	s.clients[c.id] = c
	writeJSON(w, http.StatusCreated, in)
}

// authorize shows the login page, if the request is in order.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.count("authorize")
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, q.Get("state"))
	c := s.clients[q.Get("client_id")]
	if c == nil || !slices.Contains(c.redirects, q.Get("redirect_uri")) {
		s.refused = append(s.refused, "unknown client or redirect")
		http.Error(w, "unknown client or redirect", http.StatusBadRequest)
		return
	}
	req := &request{
		client: c, redirect: q.Get("redirect_uri"), state: q.Get("state"), challenge: q.Get("code_challenge"),
		resource: q.Get("resource"), scope: q.Get("scope"), hidden: s.secret("csrf"),
	}
	if why := s.wrong(req, q); why != "" {
		s.refused = append(s.refused, why)
		s.answer(w, r, req, url.Values{"error": {why}})
		return
	}
	cookie := s.secret("login")
	s.pending[cookie] = req
	http.SetCookie(w, &http.Cookie{Name: "login", Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := page.Execute(w, map[string]string{"Hidden": req.hidden, "Action": pathLogin}); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// wrong is the error code for a request that is not as it should be.
func (s *Server) wrong(req *request, q url.Values) string {
	switch {
	case q.Get("response_type") != "code":
		return "unsupported_response_type"
	case q.Get("code_challenge_method") != "S256" || req.challenge == "" || req.state == "":
		return "invalid_request"
	case !s.options.Lax && req.resource != s.URL:
		return "invalid_target"
	}
	return ""
}

var page = template.Must(template.New("login").Parse(`<!DOCTYPE html>
<html><body><form method="post" action="{{.Action}}">
<input type="hidden" name="csrf" value="{{.Hidden}}">
<input type="password" name="password">
<button>Allow</button>
</form></body></html>
`))

// login takes the page's form and gives the client its code.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	s.count("login")
	cookie, err := r.Cookie("login")
	if err != nil {
		s.refuse(w, http.StatusForbidden, "access_denied", "no cookie")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req := s.pending[cookie.Value]
	delete(s.pending, cookie.Value)
	s.secrets = append(s.secrets, r.PostFormValue("password"))
	if req == nil || r.PostFormValue("csrf") != req.hidden || r.PostFormValue("password") != Password {
		s.refused = append(s.refused, "wrong login")
		http.Error(w, "wrong login", http.StatusForbidden)
		return
	}
	code := s.secret("code")
	s.codes[code] = req
	s.answer(w, r, req, url.Values{"code": {code}})
}

// answer sends the browser back to the client.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req *request, v url.Values) {
	v.Set("state", req.state)
	if !s.options.NoIssuer {
		v.Set("iss", s.Issuer)
	}
	http.Redirect(w, r, req.redirect+"?"+v.Encode(), http.StatusFound)
}

// token exchanges a code or a refresh token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	kind := r.PostFormValue("grant_type")
	s.count(kind)
	c, why := s.authenticate(r)
	if c == nil {
		s.refuse(w, http.StatusUnauthorized, "invalid_client", why)
		return
	}
	var g grant
	code := "unsupported_grant_type"
	switch kind {
	case "authorization_code":
		g, code = s.byCode(c, r)
	case "refresh_token":
		g, code = s.byRefresh(c, r)
	}
	if code != "" {
		s.refuse(w, http.StatusBadRequest, code, kind)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	access, refresh := s.secret("at"), s.secret("rt")
	s.access[access], s.refresh[refresh] = g, g
	expires := 3600
	if s.options.ShortLived {
		expires = 1
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": expires, "refresh_token": refresh, "scope": g.scope,
	})
}

// authenticate finds the client, by the method that it registered.
func (s *Server) authenticate(r *http.Request) (c *client, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	s.secrets = append(s.secrets, secret)
	c = s.clients[id]
	switch {
	case c == nil:
		return nil, "no such client"
	case c.secret != secret:
		return nil, "wrong secret"
	case basic != (c.method == "client_secret_basic"):
		return nil, "not by " + c.method
	}
	return c, ""
}

// byCode checks a code, which is good for one try, against its request.
func (s *Server) byCode(c *client, r *http.Request) (grant, string) {
	code, verifier := r.PostFormValue("code"), r.PostFormValue("code_verifier")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, code, verifier)
	req := s.codes[code]
	delete(s.codes, code)
	sum := sha256.Sum256([]byte(verifier))
	switch {
	case req == nil || req.client != c || req.redirect != r.PostFormValue("redirect_uri"):
		return grant{}, "invalid_grant"
	case base64.RawURLEncoding.EncodeToString(sum[:]) != req.challenge:
		return grant{}, "invalid_grant"
	case !s.options.Lax && r.PostFormValue("resource") != req.resource:
		return grant{}, "invalid_target"
	}
	return grant{client: c, resource: req.resource, scope: req.scope}, ""
}

// byRefresh checks a refresh token, which is good for one try.
func (s *Server) byRefresh(c *client, r *http.Request) (grant, string) {
	token := r.PostFormValue("refresh_token")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, token)
	g, ok := s.refresh[token]
	delete(s.refresh, token)
	switch resource := r.PostFormValue("resource"); {
	case !ok || g.client != c:
		return grant{}, "invalid_grant"
	case !s.options.Lax && resource != "" && resource != g.resource:
		return grant{}, "invalid_target"
	}
	return g, ""
}

// secret makes one up and remembers it. Its caller holds s.mu.
func (s *Server) secret(kind string) string {
	secret := kind + "-" + rand.Text()
	s.secrets = append(s.secrets, secret)
	return secret
}

func (s *Server) refuse(w http.ResponseWriter, status int, code, why string) {
	s.mu.Lock()
	s.refused = append(s.refused, code+": "+why)
	s.mu.Unlock()
	writeJSON(w, status, map[string]string{"error": code, "error_description": why})
}
