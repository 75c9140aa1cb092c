package decode

import (
	"bytes"
	"strconv"

	"github.com/tidwall/gjson"
)

// textBlock is a text in a result.
type textBlock struct {
	n     int    // of the block in content
	at    span   // the string, quotation marks included
	size  int    // of the text, unescaped
	bare  uint64 // hash of the text taken for a string
	value uint64 // hash of the JSON inside, 0 if it is none
	space int64  // white space of the JSON inside, in bytes of the frame
}

// copied takes out of the payload what says again what something else says, and
// the white space of JSON that travels as a text (server/tools: a tool with
// structured content should also return it serialised in a text block).
func (k *bookkeeper) copied(in span) {
	if !isObject(k.b, in) {
		return
	}
	r := lookResult(k.b, in)
	content := r.content
	if !content.there() {
		content = member(k.b, in, "contents")
	}
	if !isArray(k.b, content) {
		return
	}
	blocks := k.texts(content, r.structured.there())
	for _, t := range blocks {
		k.move(PartTextSpace, t.space)
	}
	if r.structured.there() {
		k.compare(blocks, r.structured)
	}
}

func (k *bookkeeper) move(to Part, n int64) {
	k.a[PartPayload] -= n
	k.a[to] += n
}

// texts reads the text blocks. Texts that are no JSON are read only if there is
// something to compare them with.
func (k *bookkeeper) texts(content span, compare bool) (out []textBlock) {
	n := -1
	for w := walk(k.b, content); w.next(); {
		n++
		v := member(k.b, w.value, "text")
		if !isString(k.b, v) || v.size() < 2 || !compare && !k.mayBeJSON(v) {
			continue
		}
		out = append(out, k.readText(n, v))
	}
	return out
}

func (k *bookkeeper) readText(n int, v span) textBlock {
	said := []byte(text(k.b, v))
	t := textBlock{n: n, at: v, size: len(said), bare: hashString(said)}
	if gjson.ValidBytes(said) {
		t.space = textSpace(k.b[v.from+1 : v.to-1])
		t.value, _ = canon(said, trim(said, span{0, len(bytes.TrimRight(said, " \t\r\n"))}))
	}
	return t
}

// mayBeJSON looks at the first character of a text only.
func (k *bookkeeper) mayBeJSON(v span) bool {
	c := firstChar(k.b, v)
	return c == '{' || c == '['
}

// firstChar is the first character of a string past white space; 0 if there is
// none, or none in ASCII.
func firstChar(b []byte, v span) byte {
	for i := v.from + 1; i < v.to-1; {
		c, n := unescaped(b[:v.to-1], i)
		if !isSpace(c) {
			return c
		}
		i += n
	}
	return 0
}

// unescaped gives the character at b[i] of a string, and how many bytes it takes
// there. Characters outside ASCII come out as 0.
func unescaped(b []byte, i int) (c byte, n int) {
	if b[i] != '\\' {
		return b[i], 1
	}
	if i+1 >= len(b) {
		return 0, 1
	}
	switch b[i+1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b', 'f':
		return 0, 2
	case 'u':
		if i+6 > len(b) {
			return 0, len(b) - i
		}
		r, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 32)
		if err != nil || r > 0x7f {
			return 0, 6
		}
		return byte(r), 6
	}
	return b[i+1], 2
}

// textSpace counts the white space between the tokens of JSON inside a string, in
// bytes as they stand in the frame: a line break is two there, \n.
func textSpace(raw []byte) (count int64) {
	inside := false
	for i := 0; i < len(raw); {
		c, n := unescaped(raw, i)
		i += n
		switch {
		case inside && c == '\\' && i < len(raw):
			_, n = unescaped(raw, i)
			i += n
		case c == '"':
			inside = !inside
		case !inside && isSpace(c):
			count += int64(n)
		}
	}
	return count
}

// compare finds out whether text and structured content say the same: then the
// structured copy is the duplicate; or whether one text says a part of it: then
// that text is. It compares hashes of values, each worked out once.
func (k *bookkeeper) compare(blocks []textBlock, structured span) {
	if k.sameAll(blocks, structured) {
		for _, t := range blocks {
			k.copies.Text += int64(t.at.size())
		}
		k.structuredCopy(structured)
		return
	}
	all, inner := k.hash(structured), k.hash(k.unwrap(structured))
	for _, t := range blocks {
		if t.says(all) || t.says(inner) {
			k.copies.Text += int64(t.at.size())
			k.structuredCopy(structured)
			return
		}
	}
	k.comparePartly(blocks, structured)
}

func (k *bookkeeper) structuredCopy(structured span) {
	k.copies.Structured += k.solid(structured)
	k.move(PartDuplicate, k.solid(structured))
}

// hash is 0 for what is nested too deeply to be compared.
func (k *bookkeeper) hash(v span) uint64 {
	h, ok := canon(k.b, v)
	if !ok {
		return 0
	}
	return h
}

// says compares by value: servers indent the text, and the order of members is
// theirs. A string is also said by its bare text.
func (t *textBlock) says(value uint64) bool {
	return value != 0 && (t.value == value || t.bare == value)
}

// sameAll is one block for each item of a list, which Python servers send: the
// list itself, or the only member of an object named result.
func (k *bookkeeper) sameAll(blocks []textBlock, structured span) bool {
	items := k.unwrap(structured)
	if !isArray(k.b, items) || len(blocks) == 0 {
		return false
	}
	i := 0
	for w := walk(k.b, items); w.next(); i++ {
		if i >= len(blocks) || !blocks[i].says(k.hash(w.value)) {
			return false
		}
	}
	return i == len(blocks)
}

// unwrap takes the value out of {"result": value}, which SDKs put around what is
// no object.
func (k *bookkeeper) unwrap(v span) span {
	if !isObject(k.b, v) {
		return v
	}
	w := walk(k.b, v)
	if !w.next() || string(w.name()) != "result" {
		return v
	}
	inner := w.value
	if w.next() {
		return v
	}
	return inner
}

// minPart is the shortest text that can be a copy of one member: shorter ones
// match by chance.
const minPart = 16

func (k *bookkeeper) comparePartly(blocks []textBlock, structured span) {
	if !isObject(k.b, structured) {
		return
	}
	members := map[uint64]bool{}
	for w := walk(k.b, structured); w.next() && len(members) < maxKeys; {
		if h := k.hash(w.value); h != 0 {
			members[h] = true
		}
	}
	for _, t := range blocks {
		if t.size >= minPart && (members[t.bare] || members[t.value]) {
			k.copies.Text += int64(t.at.size())
			k.move(PartDuplicate, int64(t.at.size())-t.space)
		}
	}
}
