package rules

import (
	"net/url"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, authRules) }

// authRules are those of authorization, as far as it passes the tap: clients speak to
// authorization servers of their own.
var authRules = []Rule{
	{ID: "AUTH-01", Severity: Error, Side: Server, Span: From25a, Page: "basic/authorization",
		Title: "a missing or bad token gets 401",
		Words: "a request without a token was refused with $1, not 401", check: checkUnauthorized},
	{ID: "AUTH-02", Severity: Warning, Side: Server, Span: From25b, Page: "basic/authorization",
		Title: "401 says in WWW-Authenticate where the metadata of the resource is",
		Words: "401 $1", check: checkChallenge},
	{ID: "AUTH-03", Severity: Error, Side: Client, Span: From25a, Page: "basic/authorization",
		Title: "no token travels in a query string",
		Words: "a request with $1 in its query string", check: checkTokenQuery},
	{ID: "AUTH-04", Severity: Error, Side: Client, Span: From25a, Page: "basic/authorization", Whole: true,
		Title: "the token is on every request",
		Words: "$1 without the token that requests before it had", check: checkTokenSent},
	{ID: "AUTH-05", Severity: Error, Side: Server, Span: From25b, Page: "basic/authorization",
		Title: "the metadata of a resource lists authorization_servers",
		Words: "metadata of the resource without authorization_servers", check: checkMetadata},
	{ID: "AUTH-06", Severity: Error, Side: Client, Span: From25b, Page: "basic/authorization",
		Title: "authorization and token requests say with resource whom the token is for",
		Words: "$1 without resource", check: checkResource},
	{ID: "AUTH-07", Severity: Error, Side: Client, Span: From25a, Page: "basic/authorization",
		Title: "codes are protected with PKCE, method S256",
		Words: "$1 without $2", check: checkPKCE},
	{ID: "AUTH-08", Severity: Warning, Side: Server, Span: From25c, Page: "basic/authorization",
		Title: "a missing scope gets 403 with insufficient_scope and the scope",
		Words: "a missing scope was told $1", check: checkScopeTold},
	{ID: "AUTH-09", Severity: Warning, Side: Client, Span: From25c, Page: "basic/authorization",
		Title: "a request that lacks a scope is not tried again and again",
		Words: "$1 was tried more than 3 times without its scope", check: checkStepUps},
	{ID: "AUTH-10", Severity: Error, Side: Either, Span: All, Page: "basic/authorization",
		Title: "tokens travel over https, but to this machine",
		Words: "a token was sent to $1 over plain http", check: checkPlainHTTP},
	{ID: "AUTH-11", Severity: Error, Side: Server, Span: All, Page: "basic/transports",
		Title: "a request with a foreign Origin is refused with 403",
		Words: "a request of the origin $1 was served", check: checkOrigin},
}

// challenge is the WWW-Authenticate of an answer.
func (h *hop) challenge() string {
	v, _ := h.Answer("WWW-Authenticate")
	return v
}

func checkUnauthorized(p *pass, r *Rule) {
	p.eachMCP(r, func(h *hop) {
		if !h.has(tokenHeader) && h.Status >= 400 && h.Status != 401 && strings.Contains(strings.ToLower(h.challenge()), "bearer") {
			p.reportHop(r, h, "HTTP "+itoa(int64(h.Status)))
		}
	})
}

const protectedResource = "/.well-known/oauth-protected-resource"

// checkChallenge knows that since 2025-11-25 the metadata may be found at its
// well-known place instead.
func checkChallenge(p *pass, r *Rule) {
	found := false
	for i := range p.hops() {
		h := &p.hops()[i]
		found = found || strings.Contains(h.Target, protectedResource) && h.accepted()
	}
	p.eachMCP(r, func(h *hop) {
		if h.Status != 401 || strings.Contains(h.challenge(), "resource_metadata") {
			return
		}
		what := "without WWW-Authenticate"
		if h.challenge() != "" {
			what = "without resource_metadata in WWW-Authenticate"
		}
		switch {
		case h.rev < only25c.From:
			p.reportHopAs(r, Error, h, what)
		case !found:
			p.reportHop(r, h, what)
		}
	})
}

// query gives the parameters of a target; what can't be read holds none.
func query(target string) url.Values {
	_, raw, _ := strings.Cut(target, "?")
	v, err := url.ParseQuery(raw)
	if err != nil {
		return nil
	}
	return v
}

func checkTokenQuery(p *pass, r *Rule) {
	p.eachMCP(r, func(h *hop) {
		if query(h.Target).Has("access_token") {
			p.reportHop(r, h, "access_token")
		}
	})
}

func checkTokenSent(p *pass, r *Rule) {
	seen := false
	p.eachMCP(r, func(h *hop) {
		switch {
		case h.has(tokenHeader):
			seen = true
		case seen:
			p.reportHop(r, h, p.what(h))
		}
	})
}

// documents visits what was asked beside MCP, with the body of the answer, or of the
// request.
func (p *pass) documents(r *Rule, dir tap.Dir, visit func(*hop, int)) {
	for i := range p.hops() {
		h := &p.hops()[i]
		if h.MCP || !r.Span.Has(h.rev) {
			continue
		}
		body := -1
		for _, f := range p.ExchangeFrames(i) {
			if p.frame(f).Dir == dir {
				body = f
			}
		}
		visit(h, body)
	}
}

func checkMetadata(p *pass, r *Rule) {
	p.documents(r, tap.S2C, func(h *hop, body int) {
		if !strings.Contains(h.Target, protectedResource) || !h.accepted() || body < 0 {
			return
		}
		if doc := p.json(body); doc.IsObject() && len(doc.Get("authorization_servers").Array()) == 0 {
			p.report(r, body, -1)
		}
	})
}

// grants visits the requests for a code, by their query, and those for a token, by
// their form.
func (p *pass) grants(r *Rule, visit func(h *hop, what string, form url.Values)) {
	p.documents(r, tap.C2S, func(h *hop, body int) {
		path, _, _ := strings.Cut(h.Target, "?")
		switch {
		case h.Method == verbGet && strings.HasSuffix(path, "/authorize"):
			visit(h, "an authorization request", query(h.Target))
		case h.Method == verbPost && body >= 0:
			form, err := url.ParseQuery(string(p.body(body)))
			if err == nil && form.Has("grant_type") {
				visit(h, "a token request", form)
			}
		}
	})
}

func checkResource(p *pass, r *Rule) {
	p.grants(r, func(h *hop, what string, form url.Values) {
		if !form.Has("resource") {
			p.reportHop(r, h, what)
		}
	})
}

func checkPKCE(p *pass, r *Rule) {
	p.grants(r, func(h *hop, what string, form url.Values) {
		code := form.Get("grant_type") == "authorization_code"
		asks := form.Get("response_type") == "code" || !form.Has("grant_type")
		switch {
		case code && !form.Has("code_verifier"):
			p.reportHop(r, h, what, "code_verifier")
		case asks && !form.Has("code_challenge"):
			p.reportHop(r, h, what, "code_challenge")
		case asks && form.Get("code_challenge_method") != "S256":
			p.reportHop(r, h, what, "code_challenge_method S256")
		}
	})
}

func checkScopeTold(p *pass, r *Rule) {
	p.eachMCP(r, func(h *hop) {
		said := h.challenge()
		insufficient := strings.Contains(said, "insufficient_scope")
		switch {
		case h.Status == 401 && insufficient:
			p.reportHop(r, h, "with 401, not 403")
		case h.Status != 403 || said == "" || !h.has(tokenHeader):
		case !insufficient:
			p.reportHop(r, h, "without insufficient_scope")
		case !strings.Contains(strings.ReplaceAll(said, "insufficient_scope", ""), "scope="):
			p.reportHop(r, h, "without the scope")
		}
	})
}

// maxStepUps is how often a request is tried with other scopes before it is a loop.
const maxStepUps = 3

func checkStepUps(p *pass, r *Rule) {
	tried := map[[2]string]int{}
	p.eachMCP(r, func(h *hop) {
		if h.Call < 0 {
			return
		}
		c := p.Call(h.Call)
		key := [2]string{c.Method, c.Name}
		if h.Status != 403 || !strings.Contains(h.challenge(), "insufficient_scope") {
			tried[key] = 0
			return
		}
		if tried[key]++; tried[key] > maxStepUps {
			p.reportHop(r, h, c.Method)
		}
	})
}

func checkPlainHTTP(p *pass, r *Rule) {
	u, err := url.Parse(p.Opening().Header.URL)
	if err != nil || u.Scheme != "http" || isLoopback(u.Hostname()) {
		return
	}
	for i := range p.hops() {
		if h := &p.hops()[i]; h.has(tokenHeader) {
			p.reportHop(r, h, brief(u.Host))
		}
	}
}

// checkOrigin takes for foreign what is neither the server's origin nor this machine.
func checkOrigin(p *pass, r *Rule) {
	p.eachMCP(r, func(h *hop) {
		u, err := url.Parse(h.header("Origin"))
		if err != nil || u.Host == "" || isLoopback(u.Hostname()) || strings.EqualFold(u.Host, h.header("Host")) {
			return
		}
		if own, err := url.Parse(p.Opening().Header.URL); err == nil && strings.EqualFold(own.Host, u.Host) {
			return
		}
		if h.accepted() && h.Sent != decode.SentNothing {
			p.reportHop(r, h, brief(h.header("Origin")))
		}
	})
}
