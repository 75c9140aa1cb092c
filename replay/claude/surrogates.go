package claude

import (
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/replay/internal/wire"
)

// Half a character: an escape for one half of a surrogate pair without the other is
// allowed in JSON and refused by the API ("no low surrogate in string", as public
// issues quote it). Hosts that pass one on have their request refused.

// HalfCharacter reports that a JSON text has an escape for half a character, which the
// API refuses.
func HalfCharacter(raw []byte) bool { return loneSurrogate(string(raw)) }

// loneSurrogate reports an escape for half a character.
func loneSurrogate(raw string) bool { return nextLone(raw, 0) >= 0 }

// mendSurrogates replaces half characters by U+FFFD; all else keeps its bytes.
func mendSurrogates(raw []byte) []byte {
	s := wire.String(raw)
	at := nextLone(s, 0)
	if at < 0 {
		return raw
	}
	var b strings.Builder
	from := 0
	for ; at >= 0; at = nextLone(s, from) {
		b.WriteString(s[from:at])
		b.WriteString(`\ufffd`)
		from = at + 6
	}
	b.WriteString(s[from:])
	return []byte(b.String())
}

// nextLone finds the next half character from an index on that is not within an
// escape; -1 if there is none.
func nextLone(raw string, from int) int {
	for i := from; i < len(raw); i++ {
		next := strings.IndexByte(raw[i:], '\\')
		if next < 0 {
			return -1
		}
		i += next
		r, ok := escaped(raw[i:])
		switch {
		case !ok:
			i++
		case 0xD800 <= r && r < 0xDC00:
			if low, ok := escaped(raw[i+6:]); !ok || low < 0xDC00 || low > 0xDFFF {
				return i
			}
			i += 11
		case 0xDC00 <= r && r <= 0xDFFF:
			return i
		default:
			i += 5
		}
	}
	return -1
}

// escaped reads an escape \uXXXX at the beginning of s.
func escaped(s string) (r uint64, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(s[2:6], 16, 32)
	return r, err == nil
}
