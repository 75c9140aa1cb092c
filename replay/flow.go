package replay

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/internal/wire"
)

// distinctive gives the values of some arguments that are unlikely to be there by
// chance: strings, identifiers and numbers of some length. They are without
// characters that JSON escapes.
func distinctive(arguments wire.Value) (out []string) {
	limit := theThresholds().Flow.Values
	var visit func(v gjson.Result, depth int)
	visit = func(v gjson.Result, depth int) {
		if len(out) >= limit || depth > 16 {
			return
		}
		switch {
		case v.IsObject() || v.IsArray():
			v.ForEach(func(_, m gjson.Result) bool {
				visit(m, depth+1)
				return len(out) < limit
			})
		case v.Type == gjson.String && tellsString(v.Str):
			out = append(out, strings.Clone(v.Str))
		case v.Type == gjson.Number && tellsNumber(v.Raw):
			out = append(out, strings.Clone(v.Raw))
		}
	}
	visit(arguments.Result, 0)
	return out
}

// maxValue is the longest value that is looked for.
const maxValue = 200

func tellsString(s string) bool {
	f := &theThresholds().Flow
	if len(s) > maxValue || strings.ContainsAny(s, "\"\\") || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	n := utf8.RuneCountInString(s)
	return n >= f.String || n >= f.Identifier && isIdentifier(s)
}

// isIdentifier reports letters and digits together, as in T-102.
func isIdentifier(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsFunc(s, unicode.IsDigit)
}

func tellsNumber(raw string) bool {
	digits := strings.TrimLeft(raw, "-")
	return len(digits) >= theThresholds().Flow.Digits && strings.Trim(digits, "0123456789") == ""
}

// plainWords reports a value of short words only: the user may have said them.
func plainWords(s string) bool {
	return len(s) < 16 && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' })
}

// A value is something that some arguments say, and where it was said first.
type value struct {
	text   string
	asked  callKey // whose arguments have it first
	found  callKey // whose result has it first
	isSaid bool    // found is set
	listed bool    // the definitions of tools say it
}

// callKey names a call whatever its place in Timeline.Calls.
type callKey struct{ session, index int }

// flow knows which values of arguments were in results before.
type flow struct {
	values map[string]*value
	of     map[callKey][]*value // by the call that asked them first
}

// lookBack is how many results that were searched before are searched again for
// values that are new.
const lookBack = 64

// follow takes in new calls and new results.
func (t *Timeline) follow() {
	if t.flow.values == nil {
		t.flow = flow{map[string]*value{}, map[callKey][]*value{}}
	}
	fresh := t.newValues()
	var old, answered []int
	for i := range t.Calls {
		c := &t.Calls[i]
		if !c.Answer.There() {
			continue
		}
		if t.read[c.Session][c.Index].scanned {
			old = append(old, i)
		} else {
			answered = append(answered, i)
		}
	}
	if len(fresh) > 0 {
		t.searchLists(fresh)
		t.searchResults(newMatcher(fresh), old[max(0, len(old)-lookBack):])
	}
	if len(answered) == 0 {
		return
	}
	all := make([]*value, 0, len(t.flow.values))
	for _, v := range t.flow.values {
		all = append(all, v)
	}
	t.searchResults(newMatcher(all), answered)
}

// newValues notes the values of calls that were not known.
func (t *Timeline) newValues() (fresh []*value) {
	for i := range t.Calls {
		c := &t.Calls[i]
		k := callKey{c.Session, c.Index}
		if _, known := t.flow.of[k]; known {
			continue
		}
		mine := []*value{}
		for _, text := range t.read[c.Session][c.Index].values {
			if t.flow.values[text] != nil {
				continue
			}
			v := &value{text: text, asked: k}
			t.flow.values[text] = v
			mine, fresh = append(mine, v), append(fresh, v)
		}
		t.flow.of[k] = mine
	}
	return fresh
}

// searchLists marks values that definitions of tools say: names, examples, choices.
func (t *Timeline) searchLists(fresh []*value) {
	m := newMatcher(fresh)
	seen := map[*decode.Item]bool{}
	for _, c := range t.catalogues {
		for i := range c.Lists {
			l := &c.Lists[i]
			if l.Kind != decode.Tools || len(l.Items) == 0 || seen[&l.Items[0]] {
				continue
			}
			seen[&l.Items[0]] = true
			for k := range l.Items {
				m.search(l.Items[k].Definition, func(v *value) { v.listed = true })
			}
		}
	}
}

// searchResults finds which result says each value first.
func (t *Timeline) searchResults(m *matcher, calls []int) {
	slices.SortFunc(calls, func(a, b int) int { return int(t.Calls[a].Answer.End - t.Calls[b].Answer.End) })
	for _, i := range calls {
		c := &t.Calls[i]
		t.read[c.Session][c.Index].scanned = true
		if len(m.by) == 0 {
			continue
		}
		k := callKey{c.Session, c.Index}
		for _, text := range t.resultTexts(c) {
			m.search(text, func(v *value) {
				if !v.isSaid {
					v.found, v.isSaid = k, true
				}
			})
		}
	}
}

// resultTexts gives what a result says, up to a bound.
func (t *Timeline) resultTexts(c *Call) (out [][]byte) {
	body := t.Sessions[c.Session].Body(c.Answer.Frame)
	if body == nil {
		return nil
	}
	left := theThresholds().Flow.Bytes
	add := func(s string) {
		s = s[:min(len(s), left)]
		left -= len(s)
		out = append(out, []byte(s))
	}
	r := t.ResultValue(c, body)
	for _, b := range r.Get("content").Items() {
		add(b.Get("text").Text())
		add(b.At("resource", "text").Text())
		add(b.Get("uri").Text())
	}
	add(r.Get("structuredContent").Raw)
	return out
}

// ResultValue gives the result or the error of an answer in the body of its frame.
func (t *Timeline) ResultValue(c *Call, body []byte) wire.Value {
	l := t.Sessions[c.Session].Call(c.Answer.Call)
	m := wire.Message(body, string(l.ID), true)
	switch strings.TrimPrefix(c.Answer.Path, m.Path) {
	case "/error":
		return m.Get("error")
	case "/result/result":
		return m.At("result", "result")
	case "/result/error":
		return m.At("result", "error")
	}
	return m.Get("result")
}

// flowsFrom finds a value of a call's arguments that an earlier answer of the same
// turn said first. weak: all such values are plain words.
func (t *Timeline) flowsFrom(c *Call, turn map[callKey]int) (from int, text string, weak bool) {
	from = -1
	for _, v := range t.flow.of[callKey{c.Session, c.Index}] {
		if !v.isSaid || v.listed {
			continue
		}
		i, mine := turn[v.found]
		if !mine || t.Calls[i].Answer.End > c.Start {
			continue
		}
		if w := plainWords(v.text); from < 0 || weak && !w {
			from, text, weak = i, v.text, w
		}
	}
	return from, text, weak
}

// A matcher finds many values in a text in one pass: by their first four bytes, then
// by their lengths, of which there are few.
type matcher struct {
	filter [1 << 10]uint64
	by     map[uint32]*candidates
}

// candidates are the values that begin with the same bytes.
type candidates struct {
	lengths []int
	values  map[string]*value
}

const prefix = 4

func newMatcher(values []*value) *matcher {
	m := &matcher{by: map[uint32]*candidates{}}
	for _, v := range values {
		if len(v.text) < prefix {
			continue
		}
		k := binary.LittleEndian.Uint32([]byte(v.text[:prefix]))
		c := m.by[k]
		if c == nil {
			c = &candidates{values: map[string]*value{}}
			m.by[k] = c
		}
		c.values[v.text] = v
		if !slices.Contains(c.lengths, len(v.text)) {
			c.lengths = append(c.lengths, len(v.text))
		}
		h := bucket(k)
		m.filter[h>>6] |= 1 << (h & 63)
	}
	return m
}

func bucket(k uint32) uint32 { return k * 2654435761 >> 16 }

// search calls visit for each value that a text holds as words of their own.
func (m *matcher) search(b []byte, visit func(*value)) {
	for i := 0; i+prefix <= len(b); i++ {
		k := binary.LittleEndian.Uint32(b[i:])
		h := bucket(k)
		if m.filter[h>>6]&(1<<(h&63)) == 0 || i > 0 && inWord(b[i-1]) {
			continue
		}
		if c := m.by[k]; c != nil {
			c.at(b[i:], visit)
		}
	}
}

// at looks for values at the beginning of b.
func (c *candidates) at(b []byte, visit func(*value)) {
	for _, n := range c.lengths {
		if n > len(b) || n < len(b) && inWord(b[n]) {
			continue
		}
		if v := c.values[string(b[:n])]; v != nil {
			visit(v)
		}
	}
}

func inWord(c byte) bool {
	return c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
