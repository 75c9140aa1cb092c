package safetext

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// JSON gives a writer for JSON that a terminal may show: characters that are hidden
// or would drive it are written as \u escapes, which say the same. It expects whole
// values, as an Encoder writes them.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ out io.Writer }

func (j jsonWriter) Write(b []byte) (int, error) {
	safe := make([]byte, 0, len(b)+64)
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if hidden(r) || r == 0x7f {
			safe = appendEscape(safe, r)
		} else {
			safe = append(safe, rest[:size]...)
		}
		rest = rest[size:]
	}
	if _, err := j.out.Write(safe); err != nil {
		return 0, err
	}
	return len(b), nil
}

// appendEscape writes a character as JSON escapes, in two halves if need be.
func appendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}
