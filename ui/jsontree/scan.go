package jsontree

import (
	"bytes"
	"slices"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of values. Bad is anything else.
const (
	Bad Kind = iota
	Object
	Array
	String
	Number
	Word // true, false, null
)

func kindOf(b []byte, i int) Kind {
	if i >= len(b) {
		return Bad
	}
	switch c := b[i]; {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c == 't' || c == 'f' || c == 'n':
		return Word
	case c == '-' || '0' <= c && c <= '9':
		return Number
	}
	return Bad
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// quoted gives the end of the string that begins at i. Each byte is looked at twice at
// most, however many escapes there are.
func quoted(b []byte, i int) int {
	quote := i
	for i++; i < len(b); {
		if quote < i {
			next := bytes.IndexByte(b[i:], '"')
			if next < 0 {
				return len(b)
			}
			quote = i + next
		}
		e := bytes.IndexByte(b[i:quote], '\\')
		if e < 0 {
			return quote + 1
		}
		i += e + 2 // behind the escaped character
	}
	return len(b)
}

// value gives the end of the value that begins at i: at least i+1, if there is
// anything.
func value(b []byte, i int) int {
	switch kindOf(b, i) {
	case String:
		return quoted(b, i)
	case Object, Array:
		return nested(b, i)
	}
	from := i
	for i < len(b) && !bytes.ContainsRune([]byte(" \n\t\r,]}:"), rune(b[i])) {
		i++
	}
	return min(len(b), max(i, from+1))
}

// nested gives the end of the container that begins at i. It counts brackets of
// both kinds as one, which is enough for valid JSON and ends for all other.
func nested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = quoted(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}

// A child is a member of an object or an element of an array, by places in the
// text it stands in.
type child struct {
	key, keyEnd int // 0, 0 of elements
	from, to    int // of the value
	kind        Kind
}

// childAt reads the child that begins at or after i; ok is false at the end of the
// container.
func childAt(b []byte, i, end int, object bool) (c child, ok bool) {
	b = b[:end]
	i, ok = upTo(b, i)
	if !ok {
		return child{}, false
	}
	if object && b[i] == '"' {
		c.key, c.keyEnd = i, quoted(b, i)
		i = space(b, c.keyEnd)
		if i < len(b) && b[i] == ':' {
			i = space(b, i+1)
		}
	}
	c.from, c.kind = i, kindOf(b, i)
	c.to = value(b, i)
	return c, true
}

// upTo is where the next child begins; ok is false at the end of the container.
func upTo(b []byte, i int) (at int, ok bool) {
	i = space(b, i)
	for i < len(b) && b[i] == ',' {
		i = space(b, i+1)
	}
	return i, i < len(b) && b[i] != '}' && b[i] != ']'
}

// begin is where the child begins, its key included.
func (c *child) begin() int {
	if c.keyEnd > 0 {
		return c.key
	}
	return c.from
}

// maxMarks bounds what an index keeps.
const maxMarks = 1 << 16

// longChild is from how many bytes on an index remembers a child, so as not to look
// for its end again.
const longChild = 16 << 10

// An index finds the children of a container: it keeps where every step-th begins,
// and the long ones.
type index struct {
	marks []int
	step  int
	n     int
	long  map[int]child
}

// indexOf reads through the container b[from:to].
func indexOf(b []byte, from, to int, object bool) index {
	x := index{step: 1}
	for at := from + 1; ; {
		c, ok := childAt(b, at, to, object)
		if !ok {
			return x
		}
		if c.to-c.from >= longChild {
			if x.long == nil {
				x.long = map[int]child{}
			}
			x.long[x.n] = c
		}
		x.add(c.begin())
		at = c.to
	}
}

func (x *index) add(at int) {
	if x.n%x.step == 0 {
		if len(x.marks) == maxMarks {
			x.thin()
		}
		if x.n%x.step == 0 {
			x.marks = append(x.marks, at)
		}
	}
	x.n++
}

// thin keeps every other mark.
func (x *index) thin() {
	for i := range len(x.marks) / 2 {
		x.marks[i] = x.marks[2*i]
	}
	x.marks = x.marks[:len(x.marks)/2]
	x.step *= 2
}

// read reads the i-th child, which begins at or after place.
func (x *index) read(b []byte, i, place, end int, object bool) (child, bool) {
	if c, ok := x.long[i]; ok {
		return c, true
	}
	return childAt(b, place, end, object)
}

// child reads the i-th child.
func (x *index) child(b []byte, i, end int, object bool) child {
	if i < 0 || i >= x.n {
		return child{}
	}
	at := x.marks[i/x.step]
	for j := i - i%x.step; ; j++ {
		c, ok := x.read(b, j, at, end, object)
		if j == i || !ok {
			return c
		}
		at = c.to
	}
}

// holding gives the number of the child that the byte at place stands in.
func (x *index) holding(b []byte, place, end int, object bool) int {
	after, _ := slices.BinarySearch(x.marks, place+1)
	i := max(0, after-1) * x.step
	for at := x.marks[max(0, after-1)]; ; i++ {
		c, ok := x.read(b, i, at, end, object)
		if !ok || c.to > place {
			return min(i, x.n-1)
		}
		at = c.to
	}
}
