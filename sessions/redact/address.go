package redact

import (
	"net/url"
	"strings"
)

// maxNested is how deep addresses inside of addresses are looked into. What is
// nested deeper is masked whole.
const maxNested = 4

// address masks an address, absolute or relative.
func (h *HTTP) address(s string, depth int) string {
	rest, fragment, hasFragment := strings.Cut(s, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	out := h.path(path, depth)
	if hasQuery {
		out += "?" + h.query(query, "&", depth)
	}
	if hasFragment {
		out += "#" + h.query(fragment, "&", depth)
	}
	return h.text(out)
}

// path masks the segments that look random, and what comes behind a semicolon
// in them. The scheme and the host stay.
func (h *HTTP) path(s string, depth int) string {
	from := 0
	if i := strings.Index(s, "://"); i > 0 && isName(s[:i]) {
		from = i + len("://")
		from += indexAny(s[from:], "/")
	}
	segments := strings.Split(s[from:], "/")
	for i, segment := range segments {
		segment, params, ok := strings.Cut(segment, ";")
		segments[i] = h.segment(segment)
		if ok {
			segments[i] += ";" + h.query(params, ";", depth)
		}
	}
	return s[:from] + strings.Join(segments, "/")
}

func (h *HTTP) segment(s string) string {
	plain, err := url.PathUnescape(s)
	switch {
	case err != nil:
		return h.text(s)
	case looksRandom(plain):
		return h.Secret(plain)
	}
	return h.masked(s, plain, h.text(plain))
}

// masked is raw, the escaped form of plain, unless something of plain was masked.
func (h *HTTP) masked(raw, plain, masked string) string {
	if masked == plain {
		return raw
	}
	return unescapeMasks(url.QueryEscape(masked))
}

// unescapeMasks makes the masks in an escaped text readable again.
func unescapeMasks(s string) string {
	s = strings.ReplaceAll(s, url.QueryEscape(keyedStart), keyedStart)
	return strings.ReplaceAll(s, url.QueryEscape(keyedEnd), keyedEnd)
}

// query masks the values of a query.
func (h *HTTP) query(s, separator string, depth int) string {
	pairs := strings.Split(s, separator)
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			pairs[i] = h.bare(pair)
			continue
		}
		plain := unescape(name)
		pairs[i] = h.masked(name, plain, h.fieldName(plain)) + "=" + h.queryValue(plain, value, depth)
	}
	return strings.Join(pairs, separator)
}

// bare masks a part of a query that is no pair.
func (h *HTTP) bare(s string) string {
	plain := unescape(s)
	if opaque(plain) {
		return h.Secret(plain)
	}
	return h.masked(s, plain, h.text(plain))
}

// queryValue masks one value. Its hash is that of the unescaped value, so that
// it is the same wherever the secret stands.
func (h *HTTP) queryValue(name, value string, depth int) string {
	plain := unescape(value)
	harmless := h.HTTP.HarmlessFields[strings.ToLower(name)]
	if !harmless && (h.secretField(name) || opaque(plain)) {
		return h.Secret(plain)
	}
	return h.masked(value, plain, h.nested(plain, depth+1))
}

// nested masks a value that may be an address itself.
func (h *HTTP) nested(s string, depth int) string {
	switch {
	case !strings.ContainsAny(s, "?#/%"):
		return h.text(s)
	case depth > maxNested:
		return h.Secret(s)
	}
	return h.address(s, depth)
}

// unescape is s without its percent signs, or s itself if they are no escapes.
func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// opaque tells whether a value looks like an id or a key that somebody made at
// random: long, without blanks, letters and digits mixed.
func opaque(s string) bool {
	if len(s) < 16 || isMask(s) {
		return false
	}
	letters, digits := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c):
			letters++
		case isDigit(c):
			digits++
		case strings.IndexByte("-_.~+/=", c) < 0:
			return false
		}
	}
	return letters > 0 && digits > 0
}

// looksRandom is opaque for a part of a path, where words with a number in them
// are common: it wants a UUID, or three digits in a run of letters.
func looksRandom(s string) bool {
	hex := strings.ReplaceAll(s, "-", "")
	if len(hex) >= 16 && strings.Trim(hex, "0123456789abcdefABCDEF") == "" && opaque(hex) {
		return true
	}
	run, digits := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			run, digits = run+1, digits+1
		case isLetter(c):
			run++
		default:
			run, digits = 0, 0
		}
		if run >= 16 && digits >= 3 && opaque(s) {
			return true
		}
	}
	return false
}
