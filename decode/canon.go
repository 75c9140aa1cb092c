package decode

import (
	"encoding/binary"
	"hash/maphash"
	"strconv"
	"strings"
)

// maxCanonDepth bounds the recursion of canon.
const maxCanonDepth = 1000

// canon hashes a JSON value by what it means: the order of members, white space,
// escapes and the spelling of numbers make no difference. Equal hashes stand for
// equal values within one process. ok is false for what is nested too deeply.
func canon(b []byte, v span) (h uint64, ok bool) {
	c := canonizer{b: b}
	h = c.value(v, maxCanonDepth)
	return h, !c.failed
}

type canonizer struct {
	b      []byte
	failed bool
}

func (c *canonizer) value(v span, depth int) uint64 {
	if depth == 0 || v.size() <= 0 {
		c.failed = true
		return 0
	}
	switch c.b[v.from] {
	case '{':
		return c.object(v, depth)
	case '[':
		return c.array(v, depth)
	case '"':
		return c.string(v)
	case 't', 'f', 'n':
		return maphash.Bytes(valueSeed, v.of(c.b))
	}
	return mix('0', maphash.String(valueSeed, canonNumber(v.of(c.b))), 0)
}

// object adds the hashes of its members up, so that their order is lost.
func (c *canonizer) object(v span, depth int) uint64 {
	var sum, n uint64
	for w := walk(c.b, v); w.next(); n++ {
		sum += mix(':', maphash.Bytes(valueSeed, w.name()), c.value(w.value, depth-1))
	}
	return mix('{', sum, n)
}

func (c *canonizer) array(v span, depth int) uint64 {
	h := uint64(0)
	for w := walk(c.b, v); w.next(); {
		h = mix('[', h, c.value(w.value, depth-1))
	}
	return mix(']', h, 0)
}

func (c *canonizer) string(v span) uint64 {
	if raw, ok := plain(c.b, v); ok {
		return hashString(raw)
	}
	return hashString([]byte(text(c.b, v)))
}

// hashString is what canon gives for a string with that text.
func hashString(text []byte) uint64 { return mix('"', maphash.Bytes(valueSeed, text), 0) }

func mix(kind byte, x, y uint64) uint64 {
	var b [17]byte
	b[0] = kind
	binary.LittleEndian.PutUint64(b[1:], x)
	binary.LittleEndian.PutUint64(b[9:], y)
	return maphash.Bytes(valueSeed, b[:])
}

// canonNumber spells a number in one way: digits without zeros at either end, and
// an exponent. No precision is lost: ids beyond 2^53 stay apart.
func canonNumber(raw []byte) string {
	s := string(raw)
	if n, ok := number(raw); ok && n < 1e15 && n%10 != 0 {
		return s + "e0"
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		mantissa = s[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	exponent += len(digits) - len(trimmed)
	return sign + trimmed + "e" + strconv.Itoa(exponent)
}

func canonKey(name []byte) uint64 { return maphash.Bytes(valueSeed, name) }
