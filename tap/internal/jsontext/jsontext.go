// Package jsontext answers one question about a stream of bytes: are they one
// valid JSON text in valid UTF-8, without a line break unless those are allowed?
//
// It takes the bytes in pieces, however they were cut, keeps a fixed amount of
// state (about 1 KiB) whatever it is fed, and never allocates. It follows
// RFC 8259; two things that RFC allows it refuses, because a journal line could
// not hold them: a CR or LF between tokens, unless told otherwise, and nesting
// deeper than MaxDepth.
//
// It must not interpret: it builds no values and knows nothing of MCP.
package jsontext

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects that still counts as
// valid. The common readers of JSON lines stop at 10,000 levels (jq, Go's
// encoding/json), and the record around the text takes one of them.
const MaxDepth = 8192

type state uint8

const (
	wantValue    state = iota // a value
	wantElement               // a value, or the end of an array just opened
	wantMember                // a key, or the end of an object just opened
	wantKey                   // a key, after a comma
	wantColon                 // the colon after a key
	wantNext                  // a comma or the end, after a value
	done                      // the text is complete; only space may follow
	inString                  // between two quotation marks
	inEscape                  // after a backslash
	inUnicode                 // inside the four digits of \uXXXX
	inRune                    // inside a UTF-8 sequence that was cut
	inLiteral                 // inside true, false or null
	afterMinus                // numbers, by the last thing seen
	afterZero                 //
	inInt                     //
	afterPoint                //
	inFraction                //
	afterE                    //
	afterExpSign              //
	inExponent                //
	failed                    // not valid, whatever comes
)

// Checker is the state of one check. The zero value is ready for a text.
type Checker struct {
	Breaks  bool // line breaks between tokens are allowed, as in a body of HTTP
	state   state
	key     bool   // the string being read is a member's name
	need    uint8  // hexadecimal digits or bytes still to come
	literal string // what is left of true, false or null
	part    [utf8.UTFMax]byte
	have    uint8 // bytes in part
	depth   int
	objects [MaxDepth / 64]uint64 // a bit for each open level: set for an object
}

// Reset makes c ready for another text.
func (c *Checker) Reset() {
	c.state, c.depth, c.key = wantValue, 0, false
}

// Valid reports whether all that was fed since Reset is one complete JSON text.
func (c *Checker) Valid() bool {
	switch c.state {
	case done:
		return true
	case afterZero, inInt, inFraction, inExponent:
		return c.depth == 0
	}
	return false
}

// Complete reports that the text is valid and nothing but space can follow. Of a
// number that is known only at the end: see Valid.
func (c *Checker) Complete() bool { return c.state == done }

// Failed reports that the text is not valid, whatever follows.
func (c *Checker) Failed() bool { return c.state == failed }

// Feed takes the next bytes of the text.
func (c *Checker) Feed(b []byte) {
	for i := 0; i < len(b); {
		switch c.state {
		case wantValue, wantElement, wantMember, wantKey, wantColon, wantNext, done:
			i = c.between(b, i)
		case failed:
			return
		case inString:
			i = c.text(b, i)
		case inEscape, inUnicode:
			c.escape(b[i])
			i++
		case inRune:
			c.rune(b[i])
			i++
		case inLiteral:
			c.continueLiteral(b[i])
			i++
		default:
			i = c.number(b, i)
		}
	}
}

// between reads brackets, commas, colons, space, short plain strings and the
// first bytes of other values from b[i:], which is most of a small message. It
// returns where it stopped: at the end of b, or inside something that another
// state handles.
func (c *Checker) between(b []byte, i int) int {
	for ; i < len(b) && c.state <= done; i++ {
		switch ch := b[i]; ch {
		case '"':
			c.openString()
			if end := i + 1 + plain(b[i+1:]); c.state == inString {
				if end == len(b) || b[end] != '"' {
					return end
				}
				c.endString()
				i = end
			}
		case ' ', '\t':
		case '\n', '\r':
			if !c.Breaks {
				c.state = failed
			}
		case ',':
			c.comma()
		case ':':
			c.expect(wantColon, wantValue)
		case '{':
			c.open(true)
		case '[':
			c.open(false)
		case '}':
			c.close(true)
		case ']':
			c.close(false)
		default:
			c.scalar(ch)
		}
	}
	return i
}

func (c *Checker) expect(now, next state) {
	if c.state != now {
		next = failed
	}
	c.state = next
}

func (c *Checker) atValue() bool { return c.state == wantValue || c.state == wantElement }

func (c *Checker) openString() {
	switch c.state {
	case wantValue, wantElement:
		c.key = false
	case wantMember, wantKey:
		c.key = true
	default:
		c.state = failed
		return
	}
	c.state = inString
}

func (c *Checker) comma() {
	switch {
	case c.state != wantNext:
		c.state = failed
	case c.inObject():
		c.state = wantKey
	default:
		c.state = wantValue
	}
}

func (c *Checker) inObject() bool {
	d := c.depth - 1
	return c.objects[d/64]&(1<<(d%64)) != 0
}

func (c *Checker) open(object bool) {
	if !c.atValue() || c.depth == MaxDepth {
		c.state = failed
		return
	}
	bit := uint64(1) << (c.depth % 64)
	if object {
		c.objects[c.depth/64] |= bit
		c.state = wantMember
	} else {
		c.objects[c.depth/64] &^= bit
		c.state = wantElement
	}
	c.depth++
}

func (c *Checker) close(object bool) {
	empty := wantElement
	if object {
		empty = wantMember
	}
	if c.state != wantNext && c.state != empty || c.depth == 0 || c.inObject() != object {
		c.state = failed
		return
	}
	c.depth--
	c.endValue()
}

// endValue moves on after a complete value.
func (c *Checker) endValue() {
	c.state = wantNext
	if c.depth == 0 {
		c.state = done
	}
}

// scalar begins a number or a literal.
func (c *Checker) scalar(ch byte) {
	if !c.atValue() {
		c.state = failed
		return
	}
	switch {
	case ch == '-':
		c.state = afterMinus
	case ch == '0':
		c.state = afterZero
	case '1' <= ch && ch <= '9':
		c.state = inInt
	case ch == 't':
		c.state, c.literal = inLiteral, "rue"
	case ch == 'f':
		c.state, c.literal = inLiteral, "alse"
	case ch == 'n':
		c.state, c.literal = inLiteral, "ull"
	default:
		c.state = failed
	}
}

func (c *Checker) continueLiteral(ch byte) {
	if ch != c.literal[0] {
		c.state = failed
		return
	}
	if c.literal = c.literal[1:]; c.literal == "" {
		c.endValue()
	}
}

// number reads digits and signs from b[i:] and returns where the number, or b,
// ends. The byte that ends a number is left to structure.
func (c *Checker) number(b []byte, i int) int {
	for ; i < len(b); i++ {
		next, ends := step(c.state, b[i])
		if ends {
			c.endValue()
			return i
		}
		if next == failed {
			c.state = failed
			return len(b)
		}
		c.state = next
	}
	return i
}

// step is the grammar of a number: the state after ch, or that ch is not part
// of the number and the number is complete.
func step(s state, ch byte) (next state, ends bool) {
	digit := '0' <= ch && ch <= '9'
	switch s {
	case afterMinus:
		switch {
		case ch == '0':
			return afterZero, false
		case digit:
			return inInt, false
		}
	case inInt, afterZero:
		switch {
		case ch == '.':
			return afterPoint, false
		case ch == 'e' || ch == 'E':
			return afterE, false
		case !digit:
			return s, true
		case s == inInt:
			return inInt, false
		}
	case afterPoint, inFraction:
		switch {
		case digit:
			return inFraction, false
		case s == afterPoint:
		case ch == 'e' || ch == 'E':
			return afterE, false
		default:
			return s, true
		}
	case afterE, afterExpSign, inExponent:
		switch {
		case digit:
			return inExponent, false
		case s == afterE && (ch == '+' || ch == '-'):
			return afterExpSign, false
		case s == inExponent:
			return s, true
		}
	}
	return failed, false
}

// text reads a string's characters from b[i:] and returns where it stopped: at
// the end of the string, of b, or at something that another state handles.
func (c *Checker) text(b []byte, i int) int {
	for {
		i += plain(b[i:])
		if i == len(b) {
			return i
		}
		switch ch := b[i]; {
		case ch == '"':
			c.endString()
			return i + 1
		case ch == '\\':
			if i+1 == len(b) || !simpleEscape[b[i+1]] {
				c.state = inEscape
				return i + 1
			}
			i += 2
		case ch < ' ':
			c.state = failed
			return len(b)
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size == 1 {
				if utf8.FullRune(b[i:]) {
					c.state = failed
					return len(b)
				}
				c.state, c.have = inRune, uint8(copy(c.part[:], b[i:]))
				return len(b)
			}
			i += size
		}
	}
}

func (c *Checker) endString() {
	if c.key {
		c.state = wantColon
		return
	}
	c.endValue()
}

// rune completes a UTF-8 sequence that Feed's caller had cut in two.
func (c *Checker) rune(ch byte) {
	c.part[c.have] = ch
	c.have++
	got := c.part[:c.have]
	if !utf8.FullRune(got) {
		return
	}
	c.state = inString
	if r, size := utf8.DecodeRune(got); r == utf8.RuneError && size == 1 {
		c.state = failed
	}
}

func (c *Checker) escape(ch byte) {
	if c.state == inUnicode {
		if !isHex(ch) {
			c.state = failed
			return
		}
		if c.need--; c.need == 0 {
			c.state = inString
		}
		return
	}
	switch {
	case simpleEscape[ch]:
		c.state = inString
	case ch == 'u':
		c.state, c.need = inUnicode, 4
	default:
		c.state = failed
	}
}

// simpleEscape has the characters that may follow a backslash, but for u.
var simpleEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

func isHex(ch byte) bool {
	return '0' <= ch && ch <= '9' || 'a' <= ch && ch <= 'f' || 'A' <= ch && ch <= 'F'
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain counts the leading bytes of b that can stand in a JSON string as they
// are: ASCII, no control character, no quotation mark, no backslash. It looks
// at 32 bytes at a time, since most of a large frame is one long string.
func plain(b []byte) int {
	i := 0
	if len(b) >= 8 {
		if m := special(binary.LittleEndian.Uint64(b)); m != 0 { // most strings are short
			return bits.TrailingZeros64(m) / 8
		}
		i = 8
	}
	for ; i+32 <= len(b); i += 32 {
		if m := special(binary.LittleEndian.Uint64(b[i:])) |
			special(binary.LittleEndian.Uint64(b[i+8:])) |
			special(binary.LittleEndian.Uint64(b[i+16:])) |
			special(binary.LittleEndian.Uint64(b[i+24:])); m != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// special has the high bit of a byte set for the first byte of x that is not
// plain (bytes after the first may be marked falsely: the borrow of a
// subtraction runs upwards only).
func special(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x | x) & highs
}
