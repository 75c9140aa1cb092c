package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// A Path leads to a value of a message: result.content[0].text. A text that is JSON
// is gone into like any other value.
type Path []step

// step is a member's name, or an element's index.
type step struct {
	name  string
	index int
	array bool
}

// anyIndex stands for every element, anyName for every member, of a pattern.
const (
	anyIndex = -1
	anyName  = "*"
)

func (p Path) member(name string) Path { return append(p[:len(p):len(p)], step{name: name}) }
func (p Path) element(i int) Path      { return append(p[:len(p):len(p)], step{index: i, array: true}) }

// Pointer writes the path as a JSON pointer (RFC 6901). What is in a text of JSON goes on
// after the text's own: a pointer proper ends there.
func (p Path) Pointer() string {
	var b strings.Builder
	for _, s := range p {
		if s.array {
			b.WriteString("/" + strconv.Itoa(s.index))
			continue
		}
		b.WriteString("/" + pointerEscapes.Replace(s.name))
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// String writes the path as ParsePath reads it.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.array && s.index == anyIndex:
			b.WriteString("[*]")
		case s.array:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(escapeName.Replace(s.name))
		}
	}
	return b.String()
}

var escapeName = strings.NewReplacer(`\`, `\\`, `.`, `\.`, `[`, `\[`)

// ParsePath reads a path: names with dots between, [0] for an element, [*] for every
// element, * for every member; a backslash before a dot, bracket or backslash of a
// name. A leading "$." is allowed.
func ParsePath(s string) (Path, error) {
	rest := strings.TrimPrefix(s, "$.")
	var p Path
	for first := true; rest != ""; first = false {
		var err error
		switch {
		case rest[0] == '[':
			p, rest, err = p.parseElement(rest)
		case first:
			p, rest, err = p.parseName(rest)
		case rest[0] == '.':
			p, rest, err = p.parseName(rest[1:])
		default:
			err = fmt.Errorf("a dot or a bracket is missing before %q", rest)
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", s, err)
		}
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("path %q is empty", s)
	}
	return p, nil
}

func (p Path) parseElement(s string) (Path, string, error) {
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return nil, "", fmt.Errorf("%q has no closing bracket", s)
	}
	if s[1:end] == "*" {
		return p.element(anyIndex), s[end+1:], nil
	}
	n, err := strconv.ParseUint(s[1:end], 10, 31)
	if err != nil {
		return nil, "", fmt.Errorf("%q is no index", s[1:end])
	}
	return p.element(int(n)), s[end+1:], nil
}

func (p Path) parseName(s string) (Path, string, error) {
	var name strings.Builder
	i := 0
	for ; i < len(s) && s[i] != '.' && s[i] != '['; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		name.WriteByte(s[i])
	}
	if i == 0 {
		return nil, "", fmt.Errorf("a name is missing before %q", s)
	}
	return p.member(name.String()), s[i:], nil
}

// covers reports whether p, taken for a pattern, leads to q or to something around it.
func (p Path) covers(q Path) bool {
	if len(p) > len(q) {
		return false
	}
	for i, s := range p {
		if !s.fits(q[i]) {
			return false
		}
	}
	return true
}

func (s step) fits(t step) bool {
	if s.array != t.array {
		return false
	}
	if s.array {
		return s.index == anyIndex || s.index == t.index
	}
	return s.name == anyName || s.name == t.name
}

// ignored reports whether one of the patterns covers a path.
func ignored(patterns []Path, p Path) bool {
	for _, i := range patterns {
		if i.covers(p) {
			return true
		}
	}
	return false
}
