// Package copytext makes texts for a clipboard: bytes as they are where that is safe, and
// shell commands that send a frame again.
//
// It promises that what it gives has no control character but tabs and line ends, and no
// character that hides text or turns it around; that text without any comes back as it
// was, byte for byte; and that any POSIX shell (dash, bash, zsh) reads its commands as
// they were meant. It must not read files, nor the clipboard.
package copytext

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcptap/mcptap/ui/safetext"
)

// A Text is what is to be copied.
type Text struct {
	String  string
	Escaped int    // characters that are written so that they can be seen
	As      string // how the first of them is written: \x1b, \u009b
}

// Of makes a text of bytes. In JSON a hidden character is written as the escape that
// means the same there, elsewhere its bytes are written in hexadecimal.
func Of(b []byte) Text {
	if clean(b) {
		return Text{String: string(b)}
	}
	var t Text
	var s strings.Builder
	write := func(escape string) {
		if t.Escaped++; t.As == "" {
			t.As = escape
		}
		s.WriteString(escape)
	}
	isJSON := json.Valid(b) && utf8.Valid(b)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case isJSON && (b[0] == '\r' || seen(b[:n])): // a CR can only be white space
			s.Write(b[:n])
		case isJSON:
			write(jsonEscape(r))
		case seen(b[:n]) || r == '\r' && len(b) > 1 && b[1] == '\n':
			s.Write(b[:n])
		default:
			write(hexEscape(b[:n]))
		}
		b = b[n:]
	}
	t.String = s.String()
	return t
}

// Notice says what was written otherwise than it is; "" if nothing was.
func (t Text) Notice() string {
	switch t.Escaped {
	case 0:
		return ""
	case 1:
		return "1 hidden character written as " + t.As
	}
	return fmt.Sprintf("%d hidden characters written as %s and the like", t.Escaped, t.As)
}

func clean(b []byte) bool {
	for len(b) > 0 {
		if b[0] >= ' ' && b[0] < 0x7f || b[0] == '\n' || b[0] == '\t' {
			b = b[1:]
			continue
		}
		_, n := utf8.DecodeRune(b)
		if !seen(b[:n]) {
			return false
		}
		b = b[n:]
	}
	return true
}

// seen reports a character that is text: one that can be seen, a tab or a line feed.
func seen(char []byte) bool {
	c := string(char)
	return c == "\n" || c == "\t" || safetext.Line(c) == c
}

func jsonEscape(r rune) string {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func hexEscape(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02x`, c)
	}
	return s.String()
}
