package filter

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Passage is a text that a filter looks for, with what stands around it in a frame.
// Escapes are undone.
type Passage struct{ Before, Match, After string }

// Texts are the texts that a filter looks for in frames. Like a Matcher they are not
// safe for concurrent use.
type Texts struct {
	terms []func([]byte) (Passage, bool)
}

// Texts gives the texts of a filter in the order in which they were written, without
// those that it excludes.
func (f *Filter) Texts() *Texts {
	t := &Texts{}
	if f != nil {
		t.add(f.root)
	}
	return t
}

func (t *Texts) add(n node) {
	switch n := n.(type) {
	case *join:
		for _, p := range n.parts {
			t.add(p)
		}
	case *term:
		if n.field.Name == "text" {
			t.terms = append(t.terms, n.value.passages())
		}
	}
}

// Passage gives the first place of a frame's bytes at which one of the texts stands; ok
// is false if none does.
func (t *Texts) Passage(b []byte) (p Passage, ok bool) {
	for _, find := range t.terms {
		if p, ok = find(b); ok {
			break
		}
	}
	return p, ok
}

// passages makes the search for the place of what finder's search only tells of.
func (p *pattern) passages() func([]byte) (Passage, bool) {
	if re, _ := p.compile(); re != nil {
		return func(b []byte) (Passage, bool) { return expressionIn(re, b) }
	}
	n := newNeedle(p.text)
	return func(b []byte) (Passage, bool) {
		from, to := n.find(b)
		return passage(b, from, to)
	}
}

func expressionIn(re *regexp.Regexp, b []byte) (Passage, bool) {
	at := re.FindIndex(b)
	if at == nil && bytes.IndexByte(b, '\\') >= 0 {
		b = unescape(nil, b)
		at = re.FindIndex(b)
	}
	if at == nil {
		return Passage{}, false
	}
	return passage(b, at[0], at[1])
}

// How much of a frame goes into a passage, in bytes.
const (
	passageBefore = 200
	passageMatch  = 400
	passageAfter  = 600
)

func passage(b []byte, from, to int) (p Passage, ok bool) {
	if from < 0 {
		return p, false
	}
	return Passage{
		Before: undone(b[wordFrom(b, from):from]),
		Match:  undone(upTo(b[from:to], passageMatch)),
		After:  undone(upTo(b[to:], passageAfter)),
	}, true
}

// wordFrom is where what stands before a place begins, so that it is not in the middle
// of an escape, if that can be.
func wordFrom(b []byte, at int) int {
	if at <= passageBefore {
		return 0
	}
	from := at - passageBefore
	if i := bytes.IndexAny(b[from:min(at, from+passageBefore/4)], " ,:{["); i >= 0 {
		return from + i
	}
	for from < at && !utf8.RuneStart(b[from]) {
		from++
	}
	return from
}

// longestEscape is how long an escape of JSON is in JSON is in JSON; what is cut there is
// left out.
const longestEscape = 9

func upTo(b []byte, most int) []byte {
	if len(b) <= most {
		return b
	}
	if i := bytes.IndexByte(b[most-longestEscape:most], '\\'); i >= 0 {
		return bytes.TrimRight(b[:most-longestEscape+i], `\`)
	}
	for most > 0 && !utf8.RuneStart(b[most]) {
		most--
	}
	return b[:most]
}

func undone(b []byte) string { return string(unescape(nil, b)) }

// Needs gives a test of raw bytes: where it does not hold, no frame is selected whose
// bytes stand there, as they are or as a string of JSON. So a file can be passed over
// without being decoded. It is nil if the filter may select frames without a certain
// text.
func (f *Filter) Needs() func([]byte) bool {
	if f == nil {
		return nil
	}
	texts := needed(f.root)
	if texts == nil {
		return nil
	}
	return func(b []byte) bool {
		for _, n := range texts {
			if n.in(b) {
				return true
			}
		}
		return false
	}
}

// needed are texts of which one stands in whatever a node selects; nil if there are none
// to rely on.
func needed(n node) (texts []*needle) {
	switch n := n.(type) {
	case *join:
		for _, p := range n.parts {
			some := needed(p)
			switch {
			case n.or && some == nil:
				return nil
			case n.or:
				texts = append(texts, some...)
			case shortest(some) > shortest(texts): // it is the rarest, as a rule
				texts = some
			}
		}
	case *term:
		re, _ := n.value.compile()
		// Of a backslash nobody can tell how often it is escaped.
		if n.field.Name == "text" && re == nil && n.value.text != "" && !strings.Contains(n.value.text, `\`) {
			texts = []*needle{newNeedle(n.value.text)}
		}
	}
	return texts
}

// shortest is how many characters the shortest of some texts has, 0 if there is none.
func shortest(texts []*needle) (n int) {
	for i, t := range texts {
		if i == 0 || len(t.runes) < n {
			n = len(t.runes)
		}
	}
	return n
}
