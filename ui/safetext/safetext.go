// Package safetext makes text from the outside safe to draw on a terminal and
// clear to read: what would move the cursor, change colours, reorder or hide
// text becomes visible instead.
//
// It promises that its result has no control character, no line break, no
// invisible or direction-changing character and is valid UTF-8, and that text
// without any of these comes back as it was. It must not be used on bytes that
// are to stay exact.
package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one line of s. Control characters become their Unicode pictures
// (␛, ␊), other hidden characters \u escapes, bytes that are not UTF-8 \x ones.
func Line(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && invalidAt(s, i):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func invalidAt(s string, i int) bool {
	_, size := utf8.DecodeRuneInString(s[i:])
	return size == 1
}

func clean(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return cleanRunes(s[i:])
		}
	}
	return true
}

func cleanRunes(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < ' ' || r == 0x7f || hidden(r) {
			return false
		}
	}
	return true
}

// joiner binds emoji and letters of several scripts together: it is hidden, but
// text needs it.
const joiner = '\u200d'

// hidden reports characters that are drawn as nothing, or change how others are
// drawn: C1 controls, formats (direction, zero width), line and paragraph
// separators, tags, private use.
func hidden(r rune) bool {
	return r >= 0x80 && r != joiner && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
