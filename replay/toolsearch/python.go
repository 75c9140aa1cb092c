package toolsearch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// translate turns a pattern of Python's re (3.11) into one of regexp2 with the
// same meaning, and refuses what Python refuses. Two things differ: Python also
// refuses a lookbehind of no fixed width, and \s has four control characters more
// there (FS, GS, RS, US).
func translate(pattern string) (string, error) {
	t := translator{in: []rune(pattern), scopes: []scope{{}}, named: map[string]int{}}
	for !t.done() {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	switch {
	case len(t.scopes) > 1:
		return "", t.fault("missing )")
	case t.asked > t.groups:
		return "", t.fault("there is no group %d", t.asked)
	}
	return t.out.String(), nil
}

type translator struct {
	in     []rune
	i      int
	out    strings.Builder
	groups int
	asked  int            // highest group that a condition names
	named  map[string]int // by name, the group's number
	scopes []scope
	atom   atom
}

// scope is one open group.
type scope struct {
	verbose bool
	group   int // its number; 0 if it captures nothing
}

// atom is what a quantifier would repeat.
type atom uint8

const (
	nothing  atom = iota // at the start, or a position such as ^
	single               // something that may be repeated
	repeated             // something that has a quantifier
)

func (t *translator) fault(format string, args ...any) error {
	return &QueryError{codeInvalid, fmt.Sprintf("no pattern of Python's re: "+format, args...)}
}

func unsupported(what string) error {
	return &QueryError{"", "the pattern can't be tried offline: it has " + what}
}

func (t *translator) done() bool { return t.i >= len(t.in) }

// peek gives the character that is n further; 0 past the end.
func (t *translator) peek(n int) rune {
	if t.i+n < len(t.in) {
		return t.in[t.i+n]
	}
	return 0
}

func (t *translator) verbose() bool { return t.scopes[len(t.scopes)-1].verbose }

// put writes a piece as it is.
func (t *translator) put(s string, a atom) {
	t.out.WriteString(s)
	t.atom = a
}

// literal writes a character that stands for itself.
func (t *translator) literal(c rune) {
	if c < 0x80 && !unicode.IsLetter(c) && !unicode.IsDigit(c) || unicode.IsSpace(c) {
		t.put(fmt.Sprintf(`\u%04X`, c), single)
		return
	}
	t.put(string(c), single)
}

func (t *translator) next() error {
	c := t.peek(0)
	switch {
	case t.verbose() && strings.ContainsRune(" \t\n\r\v\f", c):
		t.i++
		return nil
	case t.verbose() && c == '#':
		for !t.done() && t.peek(0) != '\n' {
			t.i++
		}
		return nil
	}
	switch c {
	case '\\':
		return t.escape()
	case '[':
		return t.class()
	case '(':
		return t.open()
	case ')':
		return t.close()
	case '*', '+', '?', '{':
		return t.quantifier()
	}
	t.i++
	switch c {
	case '^', '$', '|':
		t.put(string(c), nothing)
	case '.':
		t.put(".", single)
	default:
		t.literal(c)
	}
	return nil
}

// escape reads what follows a backslash outside a class.
func (t *translator) escape() error {
	c := t.peek(1)
	switch {
	case c == 0 && t.i+1 >= len(t.in):
		return t.fault("a backslash at the end")
	case c == 'A' || c == 'b' || c == 'B':
		t.i += 2
		t.put(`\`+string(c), nothing)
		return nil
	case c == 'Z':
		t.i += 2
		t.put(`\z`, nothing)
		return nil
	case strings.ContainsRune("dDsSwW", c):
		t.i += 2
		t.put(`\`+string(c), single)
		return nil
	case '1' <= c && c <= '9':
		return t.backreference()
	}
	r, err := t.character()
	if err == nil {
		t.literal(r)
	}
	return err
}

var simple = map[rune]rune{'a': '\a', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// character reads an escape that stands for one character.
func (t *translator) character() (rune, error) {
	c := t.peek(1)
	t.i += 2
	if r, ok := simple[c]; ok {
		return r, nil
	}
	switch {
	case c == 'x':
		return t.hex(2)
	case c == 'u':
		return t.hex(4)
	case c == 'U':
		return t.hex(8)
	case c == 'N':
		return 0, unsupported(`a character by its name, \N`)
	case '0' <= c && c <= '7':
		return t.octal(c)
	case c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c)):
		return 0, t.fault(`\%c means nothing`, c)
	}
	return c, nil
}

func (t *translator) hex(n int) (rune, error) {
	digits := string(t.in[t.i:min(len(t.in), t.i+n)])
	v, err := strconv.ParseUint(digits, 16, 32)
	if len(digits) != n || err != nil || v > unicode.MaxRune {
		return 0, t.fault("a hexadecimal escape needs %d digits", n)
	}
	t.i += n
	return rune(v), nil
}

// octal reads up to two digits more. Past 0377 Python refuses.
func (t *translator) octal(first rune) (rune, error) {
	v := first - '0'
	for n := 0; n < 2 && '0' <= t.peek(0) && t.peek(0) <= '7'; n++ {
		v = v*8 + t.peek(0) - '0'
		t.i++
	}
	if v > 0o377 {
		return 0, t.fault("an octal escape goes to 377")
	}
	return v, nil
}

// backreference reads \1 to \99, and the octal escapes that look like one.
func (t *translator) backreference() error {
	if isOctal(t.peek(1)) && isOctal(t.peek(2)) && isOctal(t.peek(3)) {
		r, err := t.character()
		if err == nil {
			t.literal(r)
		}
		return err
	}
	n := int(t.peek(1) - '0')
	t.i += 2
	if c := t.peek(0); '0' <= c && c <= '9' {
		n = n*10 + int(c-'0')
		t.i++
	}
	return t.refer(n, strconv.Itoa(n))
}

func isOctal(c rune) bool { return '0' <= c && c <= '7' }

// refer writes a reference to a group, which must be closed.
func (t *translator) refer(group int, name string) error {
	if group > t.groups {
		return t.fault("there is no group %s", name)
	}
	if slices.ContainsFunc(t.scopes, func(s scope) bool { return s.group == group && group > 0 }) {
		return t.fault("group %s is not closed yet", name)
	}
	t.put(`\k<`+strconv.Itoa(group)+`>`, single)
	return nil
}

// class reads [...]. A bracket inside is nothing special to Python.
func (t *translator) class() error {
	t.i++
	t.out.WriteByte('[')
	if t.peek(0) == '^' {
		t.i++
		t.out.WriteByte('^')
	}
	many := false // the last one stands for several characters, and begins no range
	for first := true; ; first = false {
		c := t.peek(0)
		before := many
		many = c == '\\' && strings.ContainsRune("dDsSwW", t.peek(1))
		switch {
		case t.done():
			return t.fault("missing ]")
		case c == ']' && !first:
			t.i++
			t.put("]", single)
			return nil
		case c == '\\':
			if err := t.classEscape(); err != nil {
				return err
			}
		case c == '-' && before && t.peek(1) != ']':
			return t.fault("a range can't begin with a class")
		case c == '-':
			t.i++
			t.hyphen(first)
		default:
			t.i++
			t.literal(c)
		}
	}
}

// hyphen is an operator between two characters, and stands for itself at the ends.
func (t *translator) hyphen(first bool) {
	if first || t.peek(0) == ']' {
		t.literal('-')
		return
	}
	t.out.WriteByte('-')
	if t.peek(0) == '-' { // a range that ends at a hyphen
		t.i++
		t.literal('-')
	}
}

func (t *translator) classEscape() error {
	c := t.peek(1)
	switch {
	case c == 0 && t.i+1 >= len(t.in):
		return t.fault("a backslash at the end")
	case strings.ContainsRune("dDsSwW", c):
		t.i += 2
		t.out.WriteString(`\` + string(c))
		return nil
	case c == 'b':
		t.i += 2
		t.literal('\b')
		return nil
	}
	r, err := t.character()
	if err == nil {
		t.literal(r)
	}
	return err
}

func (t *translator) close() error {
	if len(t.scopes) == 1 {
		return t.fault("a ) too many")
	}
	t.scopes = t.scopes[:len(t.scopes)-1]
	t.i++
	t.put(")", single)
	return nil
}

// quantifier reads * + ? {m,n} with what may follow: ? for as few as possible, +
// for never giving back.
func (t *translator) quantifier() error {
	text := string(t.peek(0))
	if text == "{" {
		var err error
		if text, err = t.braces(); err != nil {
			return err
		}
		if text == "" {
			t.i++
			t.literal('{')
			return nil
		}
	} else {
		t.i++
	}
	switch t.atom {
	case nothing:
		return t.fault("%s has nothing to repeat", text)
	case repeated:
		return t.fault("%s after another quantifier", text)
	}
	if c := t.peek(0); c == '?' || c == '+' {
		t.i++
		text += string(c)
	}
	t.put(text, repeated)
	return nil
}

// braces reads {m}, {m,}, {,n} and {m,n}; anything else is a brace that stands for
// itself, and gives "".
func (t *translator) braces() (string, error) {
	end := slices.Index(t.in[t.i:], '}')
	if end < 2 {
		return "", nil
	}
	inside := string(t.in[t.i+1 : t.i+end])
	low, high, comma := strings.Cut(inside, ",")
	if !digits(low) || !digits(high) || !comma && low == "" {
		return "", nil
	}
	if !comma {
		high = low
	}
	from, to := number(low, 0), number(high, math.MaxInt32)
	switch {
	case from < 0 || to < 0:
		return "", t.fault("{%s} is too large", inside)
	case from > to:
		return "", t.fault("{%s} ends before it begins", inside)
	}
	t.i += end + 1
	if to == math.MaxInt32 {
		return fmt.Sprintf("{%d,}", from), nil
	}
	return fmt.Sprintf("{%d,%d}", from, to), nil
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// number reads a count; -1 for one that Python does not take.
func number(s string, empty int) int {
	if s == "" {
		return empty
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == math.MaxUint32 {
		return -1
	}
	return int(min(n, math.MaxInt32-1)) // no text is as long
}
