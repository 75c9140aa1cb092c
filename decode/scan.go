package decode

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// A span is a part of a text: text[from:to]. The zero span stands for a member
// that is not there.
type span struct{ from, to int }

func (s span) there() bool        { return s.to > 0 }
func (s span) of(b []byte) []byte { return b[s.from:s.to] }
func (s span) size() int          { return s.to - s.from }
func whole(b []byte) span         { return span{0, len(b)} }

// skipSpace gives the place of the next byte that is no JSON white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// plainRun is after how many bytes without an escape a string is taken for long
// plain text.
const plainRun = 32

// skipString gives the place after the string that begins at b[i]. Short texts
// and those full of escapes it reads byte by byte; in long plain ones, which are
// most of what crosses a wire, it jumps to the next quotation mark.
func skipString(b []byte, i int) int {
	i++
	for limit := i + plainRun; i < len(b); {
		switch {
		case b[i] == '"':
			return i + 1
		case b[i] == '\\':
			i += 2
			limit = i + plainRun
		case i < limit:
			i++
		default:
			end, closed := jumpQuote(b, i)
			if closed {
				return end
			}
			i, limit = end, end+plainRun
		}
	}
	return len(b)
}

// jumpQuote gives the place after the next quotation mark, and whether it ends the
// string: one after an odd number of backslashes doesn't.
func jumpQuote(b []byte, from int) (after int, closed bool) {
	k := bytes.IndexByte(b[from:], '"')
	if k < 0 {
		return len(b), true
	}
	end := from + k
	slashes := 0
	for end-slashes > from && b[end-slashes-1] == '\\' {
		slashes++
	}
	return end + 1, slashes%2 == 0
}

// skipValue gives the place after the value that begins at b[i]. It needs no
// stack, so that depth costs nothing; what is no JSON it passes over somehow.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && !ends(b[i]) {
		i++
	}
	return i
}

func ends(c byte) bool { return c == ',' || c == '}' || c == ']' || isSpace(c) }

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
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

// A walker goes over the members of an object or the elements of an array. It
// only finds where they are: nothing is copied, unescaped or converted, which is
// why the walk is ours and not gjson's. It always comes to an end, whatever the
// bytes are.
type walker struct {
	b          []byte
	i          int
	object     bool
	key, value span // key without its quotation marks
}

// walk starts at the object or array that in begins with.
func walk(b []byte, in span) walker {
	b = b[:in.to]
	i := skipSpace(b, in.from)
	w := walker{b: b, i: len(b)}
	if i < len(b) && (b[i] == '{' || b[i] == '[') {
		w.i, w.object = i+1, b[i] == '{'
	}
	return w
}

func (w *walker) next() bool {
	i := skipSpace(w.b, w.i)
	if i < len(w.b) && w.b[i] == ',' {
		i = skipSpace(w.b, i+1)
	}
	if i >= len(w.b) || w.b[i] == '}' || w.b[i] == ']' {
		return false
	}
	if w.object {
		if w.b[i] != '"' {
			return false
		}
		end := skipString(w.b, i)
		w.key = span{i + 1, max(i+1, end-1)}
		i = skipSpace(w.b, end)
		if i >= len(w.b) || w.b[i] != ':' {
			return false
		}
		i = skipSpace(w.b, i+1)
	}
	end := skipValue(w.b, i)
	w.value, w.i = span{i, end}, end
	return end > i
}

// name is the key of the current member, unescaped.
func (w *walker) name() []byte {
	raw := w.key.of(w.b)
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return []byte(gjson.ParseBytes(w.b[w.key.from-1 : min(w.key.to+1, len(w.b))]).Str)
}

// isObject, isArray and isString tell a value by its first byte.
func isObject(b []byte, v span) bool { return first(b, v) == '{' }
func isArray(b []byte, v span) bool  { return first(b, v) == '[' }
func isString(b []byte, v span) bool { return first(b, v) == '"' }
func isNull(b []byte, v span) bool   { return first(b, v) == 'n' }

func isNumber(b []byte, v span) bool {
	c := first(b, v)
	return c == '-' || '0' <= c && c <= '9'
}

func first(b []byte, v span) byte {
	if v.from >= v.to {
		return 0
	}
	return b[v.from]
}

// text is the value of a string, unescaped; "" for any other value.
func text(b []byte, v span) string {
	if !isString(b, v) || v.size() < 2 {
		return ""
	}
	raw := b[v.from+1 : v.to-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return gjson.ParseBytes(v.of(b)).Str
}

// plain is text without a copy, for strings that hold no escape.
func plain(b []byte, v span) ([]byte, bool) {
	if !isString(b, v) || v.size() < 2 {
		return nil, false
	}
	raw := b[v.from+1 : v.to-1]
	return raw, bytes.IndexByte(raw, '\\') < 0
}

// is reports whether a value is the string want.
func is(b []byte, v span, want string) bool {
	raw, ok := plain(b, v)
	if ok {
		return string(raw) == want
	}
	return isString(b, v) && text(b, v) == want
}

func isTrue(b []byte, v span) bool { return string(v.of(b)) == "true" }

// member finds the last member of that name: most readers let the last one win.
func member(b []byte, in span, name string) (v span) {
	if !in.there() {
		return span{}
	}
	w := walk(b, in)
	for w.object && w.next() {
		if string(w.name()) == name {
			v = w.value
		}
	}
	return v
}

// path follows member names from the outermost object.
func path(b []byte, in span, names ...string) span {
	for _, n := range names {
		if in = member(b, in, n); !in.there() {
			break
		}
	}
	return in
}
