package exact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Secret is a key that doesn't print.
type Secret string

const mask = "[secret]"

// Format writes a mask, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) {
	if s != "" {
		_, _ = f.Write([]byte(mask))
	}
}

// MarshalText gives a mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(s)), nil }

// DefaultURL is Anthropic's own.
const DefaultURL = "https://api.anthropic.com"

// Options say where and as whom to count.
type Options struct {
	HTTP    *http.Client // nil: one with a time limit of a minute
	BaseURL string       // as in ANTHROPIC_BASE_URL; empty: DefaultURL
	Key     Secret       // sent as x-api-key
	Token   Secret       // sent as a bearer token instead, as gateways want it
	Cache   Cache        // nil: nothing is kept
	// Wait sleeps; nil: it really does.
	Wait func(context.Context, time.Duration) error
	// Now is asked if a server names a time to try again; nil: the clock.
	Now func() time.Time
	// Attempts is how often a request is sent while the server is busy; 0: 4.
	Attempts int
}

// A Client counts. It may be used by several goroutines.
type Client struct {
	o    Options
	http http.Client
	url  string
	host string
}

// Format writes where it counts, whatever the verb: package fmt would print the key of
// a field that isn't exported.
func (c *Client) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "token counter at %s", c.host) }

// path is the endpoint's, below the base URL.
const path = "/v1/messages/count_tokens"

// New checks the options; it sends nothing.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	u, err := checkURL(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("counting tokens: %w", err)
	}
	o.Key, o.Token = trim(o.Key), trim(o.Token)
	if err := checkKey(o.Key, o.Token); err != nil {
		return nil, fmt.Errorf("counting tokens: %w", err)
	}
	c := &Client{o: o, url: strings.TrimRight(u.String(), "/") + path, host: u.Host}
	c.http.Timeout = time.Minute
	if o.HTTP != nil {
		c.http = *o.HTTP
	}
	// A redirect would carry the key to another host.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.o.Wait == nil {
		c.o.Wait = sleep
	}
	if c.o.Now == nil {
		c.o.Now = time.Now
	}
	if c.o.Attempts < 1 {
		c.o.Attempts = 4
	}
	return c, nil
}

func trim(s Secret) Secret { return Secret(strings.TrimSpace(string(s))) }

func checkURL(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the base URL is no address of the form https://host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL holds a user, a query or a fragment; leave only https://host/path")
	case u.Scheme == "http" && !local(u.Hostname()):
		return nil, fmt.Errorf("the key would go to %s without encryption; use https", u.Host)
	}
	return u, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func checkKey(key, token Secret) error {
	switch {
	case key == "" && token == "":
		return errors.New("there is no API key; set one, or stay with estimates")
	case key != "" && token != "":
		return errors.New("there are both a key and a bearer token; set one of them")
	case strings.ContainsFunc(string(key+token), func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the API key holds characters that can't be in one; copy it again")
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// An Error is an answer that is no count.
type Error struct {
	Status     int
	Type       string // such as rate_limit_error; empty if the body doesn't say
	Message    string // the server's own words, cut and without control characters
	RequestID  string
	RetryAfter time.Duration // that the server asked for; 0 if it didn't
}

// Error says what the server said, and what to do.
func (e *Error) Error() string {
	s := fmt.Sprintf("the server answered %d", e.Status)
	if e.Type != "" {
		s += " " + e.Type
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.RequestID != "" {
		s += " (request " + e.RequestID + ")"
	}
	if h := e.hint(); h != "" {
		s += "; " + h
	}
	return s
}

func (e *Error) hint() string {
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return "check the API key"
	case e.Status == http.StatusNotFound:
		return "check the model's id and the base URL"
	case e.Status == http.StatusTooManyRequests && e.RetryAfter > 0:
		return fmt.Sprintf("try again in %s; what was counted so far is kept", e.RetryAfter)
	case e.busy():
		return "try again later; what was counted so far is kept"
	case e.Status >= 300 && e.Status < 400:
		return "redirects are not followed, since the key would go along; set the base URL to where it leads"
	}
	return ""
}

// busy reports whether the same request may well succeed later.
func (e *Error) busy() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// words makes a server's text fit to stand in an error: short, on one line, and
// without the key, should the server repeat it.
func (c *Client) words(s string) string {
	for _, secret := range []Secret{c.o.Key, c.o.Token} {
		if secret != "" {
			s = strings.ReplaceAll(s, string(secret), mask)
		}
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if s = strings.TrimSpace(s); len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// failure reads an answer that is no count.
func (c *Client) failure(resp *http.Response, body []byte) *Error {
	var b struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
		RequestID string `json:"request_id"`
	}
	_ = json.Unmarshal(body, &b) // a gateway may answer with a page
	if b.RequestID == "" {
		b.RequestID = resp.Header.Get("request-id")
	}
	return &Error{
		Status: resp.StatusCode, Type: c.words(b.Error.Type), Message: c.words(b.Error.Message),
		RequestID: c.words(b.RequestID), RetryAfter: retryAfter(resp.Header.Get("retry-after"), c.o.Now()),
	}
}
