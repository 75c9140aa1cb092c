package oauthtest

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// redirectURI is where the client would listen for its code. Nobody does: the
// browser below stops there.
const redirectURI = "http://127.0.0.1:1/callback"

// Connect connects the official SDK's client to an MCP endpoint that asks for
// authorization, a tap's or the server's own, with a user who logs in.
func Connect(ctx context.Context, endpoint, revision string) (*mcp.ClientSession, error) {
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "guest", RedirectURIs: []string{redirectURI}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: Browser,
	})
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "guest", Version: "1.0.0"}, nil)
	return client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: endpoint, OAuthHandler: handler},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
}

// Browser is a user at a browser: it opens an authorization page, fills in its
// form and follows redirects until the one to the client.
func Browser(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	b := &browser{client: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), redirectURI) {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
	back, err := b.open(ctx, args.URL)
	if err != nil {
		return nil, fmt.Errorf("logging in at %s: %w", args.URL, err)
	}
	q := back.Query()
	if code := q.Get("error"); code != "" {
		return nil, errors.New("the authorization server says " + code)
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

type browser struct{ client *http.Client }

// open returns the address that the client is called back at.
func (b *browser) open(ctx context.Context, address string) (*url.URL, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	for range 5 {
		answer, err := b.client.Do(r)
		if err != nil {
			return nil, err
		}
		page, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case answer.StatusCode == http.StatusFound:
			return answer.Location()
		case answer.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("%s: %s", answer.Status, page)
		}
		if r, err = fillIn(ctx, answer.Request.URL, string(page)); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("one page after the other")
}

var (
	action = regexp.MustCompile(`<form [^>]*action="([^"]*)"`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// fillIn is the request that sends a page's form off.
func fillIn(ctx context.Context, at *url.URL, page string) (*http.Request, error) {
	to := action.FindStringSubmatch(page)
	if to == nil {
		return nil, fmt.Errorf("no form in %q", page)
	}
	form := url.Values{"password": {Password}}
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	target, err := at.Parse(html.UnescapeString(to[1]))
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r, nil
}
