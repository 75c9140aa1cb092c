package filter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// finder makes the search for a text or an expression in bytes.
func (p *pattern) finder() func([]byte) bool {
	if re, _ := p.compile(); re != nil {
		return (&expression{re: re}).in
	}
	return newNeedle(p.text).in
}

// expression runs over the bytes as they are, then over a copy without escapes.
type expression struct {
	re   *regexp.Regexp
	copy []byte
}

func (e *expression) in(b []byte) bool {
	if e.re.Match(b) {
		return true
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return false
	}
	e.copy = unescape(e.copy[:0], b)
	return e.re.Match(e.copy)
}

// unescape appends b with its escapes undone.
func unescape(dst, b []byte) []byte {
	for len(b) > 0 {
		at := bytes.IndexByte(b, '\\')
		if at < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:at]...)
		b = b[at:]
		r, w := escape(b)
		if w == 0 {
			r, w = '\\', backslash(b)
		}
		dst = utf8.AppendRune(dst, r)
		b = b[w:]
	}
	return dst
}

// needle is a text to look for: its characters, folded.
type needle struct {
	runes  []rune
	starts []string // what it can begin with
}

func newNeedle(s string) *needle {
	n := &needle{}
	for _, r := range s {
		n.runes = append(n.runes, fold(r))
	}
	if len(n.runes) == 0 {
		return n
	}
	first := n.runes[0]
	n.starts = []string{`\u`}
	if strings.ContainsRune("\\"+short, first) { // it has an escape without a u
		n.starts[0] = `\`
	}
	for r := first; ; {
		if c := string(r)[:1]; !slices.Contains(n.starts, c) {
			n.starts = append(n.starts, c)
		}
		if r = unicode.SimpleFold(r); r == first {
			break
		}
	}
	return n
}

// maxStarts is more than any letter has: the largest orbit of simple folding has four.
const maxStarts = 6

// in reports whether b has the text.
func (n *needle) in(b []byte) bool {
	from, _ := n.find(b)
	return from >= 0
}

// find gives where the text is first, from -1 if it is nowhere. It looks at the places
// only where the text can begin.
func (n *needle) find(b []byte) (from, to int) {
	if len(n.runes) == 0 {
		return 0, 0
	}
	var next [maxStarts]int
	for k, start := range n.starts {
		next[k] = indexFrom(b, start, 0)
	}
	for {
		at, k := len(b), 0
		for i := range n.starts {
			if next[i] < at {
				at, k = next[i], i
			}
		}
		if at == len(b) {
			return -1, -1
		}
		if w := n.at(b[at:]); w >= 0 {
			return at, at + w
		}
		next[k] = indexFrom(b, n.starts[k], at+1)
	}
}

func indexFrom(b []byte, start string, from int) (i int) {
	if len(start) == 1 {
		i = bytes.IndexByte(b[from:], start[0])
	} else {
		i = bytes.Index(b[from:], []byte(start))
	}
	if i < 0 {
		return len(b)
	}
	return from + i
}

// at gives how many bytes the text takes that b begins with; -1 if it begins otherwise.
func (n *needle) at(b []byte) int {
	whole := len(b)
	for _, want := range n.runes {
		if len(b) == 0 {
			return -1
		}
		var r rune
		var w int
		switch {
		case b[0] == '\\' && want == '\\':
			r, w = '\\', backslash(b)
		case b[0] == '\\':
			r, w = escape(b)
		case b[0] < utf8.RuneSelf:
			r, w = rune(b[0]), 1
		default:
			r, w = utf8.DecodeRune(b)
			if r == utf8.RuneError && w == 1 {
				return -1
			}
		}
		if w == 0 || fold(r) != want {
			return -1
		}
		b = b[w:]
	}
	return whole - len(b)
}

// backslash is how many bytes one backslash takes in JSON, or where there is no
// JSON.
func backslash(b []byte) int {
	if len(b) > 1 && b[1] == '\\' {
		return 2
	}
	return 1
}

// short are the characters that have an escape of one letter.
const short = "\"/\b\f\n\r\t"

// escape undoes the escape that b begins with, however many levels of JSON deep:
// \u00fc and \\u00fc are both ü. The width is 0 if it is none.
func escape(b []byte) (r rune, width int) {
	i := 0
	for i < len(b) && b[i] == '\\' {
		i++
	}
	if i == len(b) {
		return 0, 0
	}
	if b[i] != 'u' {
		if at := strings.IndexByte(`"/bfnrt`, b[i]); at >= 0 {
			return rune(short[at]), i + 1
		}
		return 0, 0
	}
	r, ok := hex4(b[i+1:])
	if !ok {
		return 0, 0
	}
	width = i + 5
	if utf16.IsSurrogate(r) {
		low, w := surrogate(b[width:])
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, width + w
		}
	}
	return r, width
}

// surrogate is the code unit that b begins with, with any number of backslashes:
// how many stood before the first half is not known here.
func surrogate(b []byte) (r rune, width int) {
	i := 0
	for i < len(b) && b[i] == '\\' {
		i++
	}
	if i == 0 || i == len(b) || b[i] != 'u' {
		return 0, 0
	}
	r, _ = hex4(b[i+1:])
	return r, i + 5
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// fold gives letters that differ in case only one form.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < utf8.RuneSelf {
		return fold(least)
	}
	return least
}
