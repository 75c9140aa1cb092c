package redact

import (
	"encoding/json"
	"strings"
)

// JSON is Text for one JSON text, read as structure: it stays one JSON text, and all
// that holds no secret stays as it was written. The value of a secret-like member is
// masked whole if it is a string or a number, and so is everything in it if it is an
// array; an object below one is left to its members (see Text). Strings are masked as
// texts, or as JSON where they hold JSON. What is no JSON text is masked as a text.
func JSON(s string) string { return data().structure(s, 0) }

// maxWithin is how deep JSON within strings of JSON is read as such.
const maxWithin = 6

// structure is JSON within JSON that many levels deep.
func (t *table) structure(s string, within int) string {
	if within > maxWithin || !json.Valid([]byte(s)) {
		return sweep(t, s, false)
	}
	m := frameMasker{table: t, writer: writer{s: s}, within: within}
	m.value(0, open)
	return m.String()
}

// frameMasker walks a valid JSON text once.
type frameMasker struct {
	*table
	writer
	within int
}

// below is what a value lies under.
type below uint8

const (
	open  below = iota
	named       // directly under a secret-like name
	deep        // somewhere under one, in an array
)

// value masks the value at i, after white space, and gives where it ends.
func (m *frameMasker) value(i int, b below) (end int) {
	i = skipSpace(m.s, i)
	switch m.s[i] {
	case '{':
		return m.object(i, b)
	case '[':
		return m.array(i, b)
	case '"':
		end = stringEnd(m.s, i)
		m.text(span{i, end}, b)
		return end
	}
	end = i + indexAny(m.s[i:], ",]} \t\r\n")
	if b != open && strings.IndexByte("tfn", m.s[i]) < 0 {
		m.replace(span{i, end}, `"`+Mask+`"`)
	}
	return end
}

func (m *frameMasker) object(i int, b below) (end int) {
	if b == named {
		b = open
	}
	for i = skipSpace(m.s, i+1); m.s[i] != '}'; {
		to := stringEnd(m.s, i)
		name := unquote(m.s[i:to])
		m.text(span{i, to}, open)
		colon := skipSpace(m.s, to)
		member := b
		if b == open && m.secretHeader(name) {
			member = named
		}
		i = m.next(m.value(colon+1, member))
	}
	return i + 1
}

// array also knows command lines, where a value follows its option's name.
func (m *frameMasker) array(i int, b below) (end int) {
	if b == named {
		b = deep
	}
	before := ""
	for i = skipSpace(m.s, i+1); m.s[i] != ']'; {
		element, text := b, ""
		if m.s[i] == '"' {
			text = unquote(m.s[i:stringEnd(m.s, i)])
			if b == open && isOptionName(before) && m.secretOption(before) && !isOptionName(text) {
				element = named
			}
		}
		before = text
		i = m.next(m.value(i, element))
	}
	return i + 1
}

// next passes over white space and a comma.
func (m *frameMasker) next(i int) int {
	i = skipSpace(m.s, i)
	if m.s[i] == ',' {
		i = skipSpace(m.s, i+1)
	}
	return i
}

// text masks a string.
func (m *frameMasker) text(at span, b below) {
	was := unquote(m.s[at.from:at.to])
	is := Mask
	switch {
	case b != open && m.harmlessValue(was):
		return
	case b != open:
	case holdsJSON(was):
		is = m.structure(was, m.within+1)
	default:
		is = sweep(m.table, was, false)
	}
	if is != was {
		m.replace(at, quoted(is))
	}
}

func holdsJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return s != "" && (s[0] == '{' || s[0] == '[')
}

// stringEnd is where the string ends that begins at i.
func stringEnd(s string, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func unquote(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s) // it is part of a valid text
	return s
}
