package decode

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// StrayKind is why a frame is no JSON text, as far as it can be told.
type StrayKind string

// The kinds of a stray.
const (
	StrayBlank    StrayKind = "blank line"
	StrayHeader   StrayKind = "header framing"        // Content-Length, as language servers do
	StrayGlued    StrayKind = "text before a message" // a print without its newline, then a message
	StrayTrailing StrayKind = "text after a message"
	StraySeveral  StrayKind = "several messages"  // on one line
	StrayPartial  StrayKind = "part of a message" // a message over several lines, or cut off
	StrayEncoding StrayKind = "not UTF-8"
	StrayBOM      StrayKind = "byte order mark"         // before a message
	StrayNumber   StrayKind = "NaN or Infinity"         // in what else would be a message
	StrayText     StrayKind = "text"                    // anything else: a banner, a debug print
	StrayLines    StrayKind = "a message over lines"    // valid JSON with line breaks in it
	StrayDeep     StrayKind = "a message nested deeply" // valid, but more than any reader takes
)

var (
	bom          = []byte("\xef\xbb\xbf")
	messageStart = []byte(`{"`)
)

// Classify says why body, which is not one JSON text, is a stray. It claims a
// message only where both a beginning and an end of one are there.
func Classify(body []byte) StrayKind {
	s := bytes.TrimSpace(body)
	switch {
	case len(s) == 0:
		return StrayBlank
	case isHeader(s):
		return StrayHeader
	case bytes.HasPrefix(s, bom) && looksLikeMessage(s[len(bom):]):
		return StrayBOM
	case !utf8.Valid(s):
		return StrayEncoding
	case s[0] == '{' || s[0] == '[':
		return classifyBroken(s)
	case gluedAt(s) > 0:
		return StrayGlued
	case endsLikeMessage(s):
		return StrayPartial
	}
	return StrayText
}

func isHeader(s []byte) bool {
	const name = "content-length:"
	return len(s) >= len(name) && bytes.EqualFold(s[:len(name)], []byte(name))
}

// classifyBroken is Classify for what begins like a message.
func classifyBroken(s []byte) StrayKind {
	end := skipValue(s, 0)
	if !looksLikeMessage(s[:end]) {
		if bytes.Contains(s, []byte(`"`)) {
			return StrayPartial
		}
		return StrayText
	}
	rest := bytes.TrimLeft(s[end:], " \t\r\n\x1e,")
	switch {
	case len(rest) > 0 && (rest[0] == '{' || rest[0] == '['):
		return StraySeveral
	case len(rest) > 0:
		return StrayTrailing
	case hasBadNumber(s):
		return StrayNumber
	case bytes.ContainsAny(s, "\r\n"):
		return StrayLines
	case Depth(s) > 1000:
		return StrayDeep
	}
	return StrayPartial
}

// looksLikeMessage asks for a whole object that starts with a member, or a whole
// array of objects: "[info] ready" is none.
func looksLikeMessage(s []byte) bool {
	if len(s) < 2 {
		return false
	}
	second := skipSpace(s, 1)
	switch last := s[len(s)-1]; {
	case s[0] == '{' && last == '}':
		return s[second] == '"' || s[second] == '}'
	case s[0] == '[' && last == ']':
		return s[second] == '{'
	}
	return false
}

func endsLikeMessage(s []byte) bool {
	return bytes.HasSuffix(s, []byte(`}`)) && bytes.Contains(s, []byte(`"jsonrpc"`))
}

// gluedAt finds a message that ends where s ends; -1 if there is none. A line
// has only so many beginnings worth a look.
func gluedAt(s []byte) int {
	from := 0
	for range 16 {
		k := bytes.Index(s[from:], messageStart)
		if k < 0 {
			return -1
		}
		at := from + k
		if gjson.ValidBytes(s[at:]) {
			return at
		}
		from = at + len(messageStart)
	}
	return -1
}

func hasBadNumber(s []byte) bool {
	for i := 0; i < len(s); {
		switch s[i] {
		case '"':
			i = skipString(s, i)
		case 'N', 'I':
			return bytes.HasPrefix(s[i:], []byte("NaN")) || bytes.HasPrefix(s[i:], []byte("Infinity"))
		default:
			i++
		}
	}
	return false
}

// Depth is how deep arrays and objects lie in each other at most, in a JSON text. It does
// not recurse.
func Depth(s []byte) (deepest int) {
	level := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case '"':
			i = skipString(s, i)
			continue
		case '{', '[':
			level++
			deepest = max(deepest, level)
		case '}', ']':
			level--
		}
		i++
	}
	return deepest
}
