package filter

import (
	"regexp"
	"strings"
)

// pattern is what a text is compared with.
type pattern struct {
	form form
	text string // as it was written: without quotation marks or slashes
	fold bool   // of a regular expression: /.../i
}

type form uint8

const (
	word   form = iota // as it stands, or a glob if it has * or ?
	quoted             // as it stands, whatever is in it
	regex
)

func (p *pattern) isGlob() bool { return p.form == word && strings.ContainsAny(p.text, "*?") }

// compile makes the expression of a regular expression or a glob; nil for what is
// compared as it stands.
func (p *pattern) compile() (*regexp.Regexp, error) {
	switch {
	case p.form == regex && p.fold:
		return regexp.Compile("(?i:" + p.text + ")")
	case p.form == regex:
		return regexp.Compile(p.text)
	case p.isGlob():
		return regexp.Compile("(?is)^" + globs.Replace(regexp.QuoteMeta(p.text)) + "$")
	}
	return nil, nil
}

var globs = strings.NewReplacer(`\*`, `.*`, `\?`, `.`)

// matcher compares whole names. Names are few and come again and again, so that
// what an expression said of one is kept.
type nameMatcher struct {
	text string
	re   *regexp.Regexp
	said map[string]bool
}

const maxSaid = 1 << 12

func (p *pattern) names() *nameMatcher {
	re, _ := p.compile() // the parser has compiled it once
	return &nameMatcher{text: p.text, re: re, said: map[string]bool{}}
}

func (m *nameMatcher) match(name string) bool {
	if m.re == nil {
		return strings.EqualFold(name, m.text)
	}
	yes, known := m.said[name]
	if !known {
		yes = m.re.MatchString(name)
		if len(m.said) < maxSaid {
			m.said[name] = yes
		}
	}
	return yes
}

// quote writes a text so that the parser reads it as it stands.
func quote(s string) string {
	if plainWord(s) {
		return s
	}
	return `"` + quotes.Replace(s) + `"`
}

var quotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// plainWord reports a text that needs no quotation marks after a field's colon.
func plainWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || strings.IndexByte("_-./@#%+", c) < 0) && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

func (p *pattern) String() string {
	switch {
	case p.form == regex && p.fold:
		return "/" + slashes.Replace(p.text) + "/i"
	case p.form == regex:
		return "/" + slashes.Replace(p.text) + "/"
	case p.isGlob():
		return p.text
	}
	return quote(p.text)
}

// slashes puts a backslash before a slash. The parser takes away no other: it is
// the expression's own.
var slashes = strings.NewReplacer(`/`, `\/`)
