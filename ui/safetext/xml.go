package safetext

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// XML gives a writer for XML that a terminal may show: characters that are hidden or
// would drive it are written as references, which say the same. It expects what an
// Encoder writes: hidden characters in attributes and text only, and none in two pieces.
func XML(w io.Writer) io.Writer { return xmlWriter{w} }

type xmlWriter struct{ out io.Writer }

func (x xmlWriter) Write(b []byte) (int, error) {
	safe := make([]byte, 0, len(b)+64)
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if hidden(r) || r == 0x7f {
			safe = fmt.Appendf(safe, "&#x%x;", r)
		} else {
			safe = append(safe, rest[:size]...)
		}
		rest = rest[size:]
	}
	if _, err := x.out.Write(safe); err != nil {
		return 0, err
	}
	return len(b), nil
}
