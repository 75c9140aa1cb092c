package httptap

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

// A Mapping translates addresses between the two names that one origin has while
// the tap stands before it: the server's own and the tap's. A client that is given
// the tap's address believes that to be the server's identity, and OAuth clients
// check identities: the resource in the metadata, the issuer, the origin of every
// endpoint (protocol.md 8.6 has what they do; RFC 8414, 8707, 9207 and 9728 what
// they should). So documents and headers that name the server's origin get the
// tap's instead on their way to the client, and the resource that a client asks a
// token for gets the server's on its way back.
//
// It promises to change nothing but such addresses, byte for byte, and to send
// nothing: it is given text and gives text. What belongs to another origin stays
// as it is, an authorization server elsewhere above all. What it changed it returns
// for the journal, without secrets: where an address may hold one, the origins only.
// All methods may be used by several goroutines at once.
type Mapping struct {
	tap, upstream origin
	*learnt
}

// NewMapping returns a Mapping between the origins of two addresses: the tap's
// and that of the server behind it.
func NewMapping(own, upstream string) (*Mapping, error) {
	t, err := parseOrigin(own)
	if err != nil {
		return nil, err
	}
	u, err := parseOrigin(upstream)
	if err != nil {
		return nil, err
	}
	return &Mapping{tap: t, upstream: u, learnt: newLearnt()}, nil
}

// For returns the Mapping for a request whose Host header is host: clients reach
// one tap by several names (localhost, 127.0.0.1, [::1]), and each expects the
// name that it used. What is learnt stays shared. The caller has checked host.
func (m *Mapping) For(host string) *Mapping {
	o := *m
	o.tap.text = o.tap.scheme + "://" + host
	o.tap.authority = canonical(o.tap.scheme, host)
	return &o
}

// Challenge translates the resource_metadata of a WWW-Authenticate header, so that
// discovery goes through the tap, and learns where that document lies.
func (m *Mapping) Challenge(value string) (string, []tap.Rewrite) {
	at, found := challengeParam(value, "resource_metadata")
	if !found {
		return value, nil
	}
	from := unquote(value[at.from:at.to])
	to, ok := m.upstream.swap(from, m.tap)
	if !ok {
		return value, nil
	}
	m.learn(path(from), RoleResource)
	return value[:at.from] + to + value[at.to:], []tap.Rewrite{{What: "WWW-Authenticate resource_metadata", From: from, To: to}}
}

// Location translates where a redirect leads, if that is the server, and the
// issuer (RFC 9207) that an authorization response brings to the client.
func (m *Mapping) Location(value string) (string, []tap.Rewrite) {
	var done []tap.Rewrite
	if to, ok := m.upstream.swap(value, m.tap); ok {
		value, done = to, append(done, m.origins("Location"))
	}
	head, query, ok := strings.Cut(value, "?")
	if !ok || !hasParam(query, "state") && !hasParam(query, "code") && !hasParam(query, "error") {
		return value, done
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	query, issuers := eachParam(query, "iss", func(s string) (string, bool) { return m.upstream.swap(s, m.tap) })
	if hasFragment {
		query += "#" + fragment
	}
	return head + "?" + query, append(done, rewrites("Location iss", issuers)...)
}

// Endpoint translates the data of the endpoint event of 2024-11-05: only an
// absolute address at the server's origin, and only its origin.
func (m *Mapping) Endpoint(data string) (string, []tap.Rewrite) {
	to, ok := m.upstream.swap(data, m.tap)
	if !ok {
		return data, nil
	}
	return to, []tap.Rewrite{m.origins("endpoint event")}
}

// Query translates the resource in the query of an authorization request, for
// the path that the request is for. Other queries stay.
func (m *Mapping) Query(path, rawQuery string) (string, []tap.Rewrite) {
	if m.Role(path) != RoleAuthorize && (!hasParam(rawQuery, "response_type") || !hasParam(rawQuery, "client_id")) {
		return rawQuery, nil
	}
	query, done := eachParam(rawQuery, "resource", m.resourceUpstream)
	return query, rewrites("query resource", done)
}

// Form translates the resource in the body of a token request (or one that is
// pushed, RFC 9126), for the path that the request is for. Other forms stay. A
// client may have kept the address of a token endpoint from before the tap was
// started, so a form that says what it is for is enough.
func (m *Mapping) Form(path string, body []byte) ([]byte, []tap.Rewrite) {
	s := string(body)
	if m.Role(path) != RoleForm && !hasParam(s, "grant_type") && !hasParam(s, "response_type") {
		return body, nil
	}
	s, done := eachParam(s, "resource", m.resourceUpstream)
	if len(done) == 0 {
		return body, nil
	}
	return []byte(s), rewrites("form resource", done)
}

// Browser returns the address at the server that a browser which asks the tap for
// an authorization page is better sent to with a redirect: there it has the
// server's cookies, passkeys and callbacks, and the password does not pass the
// tap. ok is false if path is no authorization endpoint, or if the server says
// that it puts its issuer into the response (RFC 9207): a client would compare
// that with the tap's address, so the page has to come through the tap, where
// [Mapping.Location] translates it.
func (m *Mapping) Browser(path, rawQuery string) (location string, done []tap.Rewrite, ok bool) {
	if m.Role(path) != RoleAuthorize || m.sendsIssuer() {
		return "", nil, false
	}
	query, done := m.Query(path, rawQuery)
	return m.upstream.text + (&url.URL{Path: path, RawQuery: query}).String(), done, true
}

// resourceUpstream is what the server calls the resource that the client knows
// under the tap's name: exactly as its metadata spelt it, if that is known.
func (m *Mapping) resourceUpstream(s string) (string, bool) {
	if from, ok := m.original(s); ok {
		return from, true
	}
	return m.tap.swap(s, m.upstream)
}

func (m *Mapping) origins(what string) tap.Rewrite {
	return tap.Rewrite{What: what, From: m.upstream.text, To: m.tap.text}
}

// origin is scheme, host and port.
type origin struct {
	text      string // as it is written into addresses
	scheme    string
	authority string // lower case, without the scheme's own port
}

func parseOrigin(address string) (origin, error) {
	u, err := url.Parse(address)
	if err != nil {
		return origin{}, fmt.Errorf("reading the address %q: %w", address, errors.Unwrap(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return origin{}, fmt.Errorf("the address %q has to begin with http:// or https:// and a host", address)
	}
	return origin{u.Scheme + "://" + u.Host, u.Scheme, canonical(u.Scheme, u.Host)}, nil
}

// canonical is an authority in lower case, without the port its scheme implies.
func canonical(scheme, authority string) string {
	authority = strings.ToLower(authority)
	host, port, err := net.SplitHostPort(authority)
	if err != nil || port != "" && port != map[string]string{"http": "80", "https": "443"}[scheme] {
		return authority
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// swap replaces the origin of an address at o by another one. An address that
// begins with two slashes has the scheme of what it stands in.
func (o origin) swap(address string, by origin) (string, bool) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		rest, ok = strings.CutPrefix(address, "//")
		scheme = o.scheme
	}
	end := len(rest)
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		end = i
	}
	if !ok || !strings.EqualFold(scheme, o.scheme) || canonical(o.scheme, rest[:end]) != o.authority {
		return "", false
	}
	return by.text + rest[end:], true
}

// path is the path of an address, "/" at least.
func path(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Path == "" {
		return "/"
	}
	return u.Path
}
