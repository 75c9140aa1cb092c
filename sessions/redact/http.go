package redact

import (
	"mime"
	"regexp"
	"strings"
	"sync"
)

// HTTP masks what of an HTTP exchange must not reach the disk: headers, targets
// and those bodies that are not MCP's. Every secret becomes a keyed hash such as
// «redacted:9f3a61», so that equal secrets can still be told from others: the
// access token in a token response is the one in the Authorization header, and
// the session in an endpoint event is the one in the POSTs that follow.
//
// It promises what the package does: masked again nothing changes, the work
// grows linearly, and no input makes it panic. It may be used by several
// goroutines at once.
//
// Unlike [Text] it errs towards masking: an authorization code has no shape, and
// a name that could stand for one is enough.
type HTTP struct {
	*table
	key []byte
}

// NewHTTP returns an HTTP whose masks depend on key, which should be random and
// kept no longer than the recording grows.
func NewHTTP(key []byte) *HTTP {
	h := &HTTP{key: append([]byte(nil), key...)}
	t := *data()
	t.mask = h.Secret
	h.table = &t
	return h
}

// Secret is the mask for a secret. What is empty or masked already stays.
func (h *HTTP) Secret(s string) string {
	if s == "" || isMask(s) {
		return s
	}
	return keyedMask(h.key, s)
}

// Header returns what may be kept of one value of the header called name, of a
// request or a response:
//
//   - of Authorization the scheme, of cookies their names and attributes;
//   - of a challenge all but its error_description;
//   - of the address in Location, Content-Location and Referer what [HTTP.Target] keeps;
//   - of headers with secret-like names nothing, Mcp-Session-Id among them;
//   - Mcp-Name, Mcp-Param-* and what else only repeats the body all of it, since the
//     body is kept too;
//   - of all others what has not the shape of a secret.
func (h *HTTP) Header(name, value string) string {
	return settle(value, func(value string) string { return h.header(strings.ToLower(name), value) })
}

func (h *HTTP) header(name, value string) string {
	names := &h.HTTP
	switch {
	case names.ArgumentHeaders[name] || strings.HasPrefix(name, "mcp-param-") && !h.secretHeader(strings.TrimPrefix(name, "mcp-param-")):
		return value
	case names.CredentialHeaders[name]:
		return h.credentials(value)
	case name == "cookie":
		return h.cookies(value, false)
	case name == "set-cookie":
		return h.cookies(value, true)
	case names.ChallengeHeaders[name]:
		return h.challenge(value)
	case names.URLHeaders[name]:
		return h.address(value, 0)
	case h.secretHeader(name), names.LastHeaderWords[name[strings.LastIndexByte(name, '-')+1:]] && !names.OpenHeaders[name]:
		return h.credentials(value)
	}
	return h.text(value)
}

// credentials keeps the scheme that value starts with, if that is a known one.
func (h *HTTP) credentials(value string) string {
	n := h.schemeLen(value)
	rest := strings.TrimRight(value[n:], " \t")
	if h.Schemes[strings.ToLower(rest)] {
		return value // a scheme, and nothing after it
	}
	return value[:n] + h.Secret(rest)
}

// cookies keeps the names. In Set-Cookie the first pair is the cookie and the
// others are its attributes.
func (h *HTTP) cookies(value string, set bool) string {
	pairs := strings.Split(value, ";")
	for i, pair := range pairs {
		trimmed := strings.TrimSpace(pair)
		name, v, ok := strings.Cut(trimmed, "=")
		attribute := set && i > 0 && h.HTTP.CookieAttributes[strings.ToLower(name)]
		switch {
		case attribute:
			v = h.text(v)
		case !ok:
			name = h.Secret(trimmed) // a value without a name
		default:
			name, v = h.fieldName(name), h.Secret(v)
		}
		if ok {
			name += "=" + v
		}
		pairs[i] = strings.Replace(pair, trimmed, name, 1)
	}
	return strings.Join(pairs, ";")
}

// description finds the one parameter of a challenge that is free text.
var description = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\berror_description\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^\s",]+))`)
})

func (h *HTTP) challenge(value string) string {
	if scheme, _, ok := strings.Cut(value, " "); ok && (strings.EqualFold(scheme, "negotiate") || strings.EqualFold(scheme, "ntlm")) {
		return h.credentials(value) // the handshake itself
	}
	w := writer{s: value}
	for _, loc := range description().FindAllStringSubmatchIndex(value, -1) {
		at := span{max(loc[2], loc[4]), max(loc[3], loc[5])}
		w.replace(at, h.Secret(value[at.from:at.to]))
	}
	value = w.String()
	n := h.schemeLen(value)
	return value[:n] + h.text(value[n:]) // a scheme's parameters are no token
}

// Target returns what may be kept of a request's target, or of any address: the
// values of secret-like names in its query and of names that say nothing about a
// value which looks random are masked, and so are user information and the parts
// of the path that look random. That goes for addresses inside of values too.
func (h *HTTP) Target(target string) string {
	return settle(target, func(s string) string { return h.address(s, 0) })
}

// Endpoint returns what may be kept of the endpoint event of the transport of
// 2024-11-05, whose data is the address that a client sends its messages to:
// what names the session in it gets the same mask as in the Target of those.
func (h *HTTP) Endpoint(data string) string { return h.Target(data) }

// Body returns what may be kept of a body that is not MCP's, and whether that is
// not all of it. By content type:
//
//   - of a form the names of its fields, and the values of those known to be harmless;
//   - of JSON all but the values of secret-like names and what has the shape of a secret;
//   - of plain text, and of a page that has neither a form nor a script (an error
//     page of a gateway), all but what has the shape of a secret;
//   - of anything else only how long it was: login pages, archives, keys.
func (h *HTTP) Body(contentType string, body []byte) (masked []byte, changed bool) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(contentType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	out := settle(string(body), func(s string) string { return h.body(media, s) })
	return []byte(out), out != string(body)
}

// secretField tells whether a value under this name is kept from the disk.
func (h *HTTP) secretField(name string) bool {
	name = strings.ToLower(name)
	return h.HTTP.Query[name] || h.secretQuery(name) || h.secretHeader(name)
}

// fieldName keeps a name, unless what stands there looks like a secret that
// happens to have a = behind it.
func (h *HTTP) fieldName(name string) string {
	if len(name) > maxName || opaque(name) {
		return h.Secret(name)
	}
	return h.text(name)
}

// settle masks s until there is nothing left to mask, for the reason that sweep
// does: a mask may take away what hid the next secret.
func settle(s string, mask func(string) string) string {
	for range rounds {
		before := s
		if s = mask(s); s == before {
			break
		}
	}
	return s
}

// text masks what has the shape of a secret or a secret-like name before it.
func (h *HTTP) text(s string) string { return sweep(h.table, s, true) }
