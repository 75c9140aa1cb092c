package filter

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcptap/mcptap/sessions/internal/nearest"
)

// A Filter is a filter that was read. It holds nothing of a session.
type Filter struct {
	root node // nil: everything is selected
}

// An Error is what is wrong with a filter, and where.
type Error struct {
	Text     string // the whole filter
	From, To int    // the bytes that are wrong; From == len(Text) if something is missing at its end
	What     string // what is wrong
	Hint     string // what to do next
	// Unfinished says that the filter may become valid by typing on.
	Unfinished bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("the filter is wrong at character %d: %s; %s", e.Column(), e.What, e.Hint)
}

// Column is where the error begins, in characters from 1.
func (e *Error) Column() int { return utf8.RuneCountInString(e.Text[:e.From]) + 1 }

// Bounds of a filter: nobody types more, and what generates one can split it.
const (
	maxText  = 16 << 10
	maxDepth = 64
)

// Parse reads a filter. An empty one selects everything. An error is an [*Error].
func Parse(text string) (*Filter, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Filter{root}, nil
}

// String gives the filter in its plain form: every term with its field, every "and"
// written out, no bracket that is not needed.
func (f *Filter) String() string {
	if f == nil || f.root == nil {
		return ""
	}
	var b strings.Builder
	f.root.write(&b, nil)
	return b.String()
}

// NeedsBodies reports a filter that has a term which looks into frames.
func (f *Filter) NeedsBodies() bool { return f != nil && f.root != nil && looksInside(f.root) }

// NeedsTurns reports a filter that has a term which asks for turns of the model: to know
// them costs a look at all of a session.
func (f *Filter) NeedsTurns() bool {
	return f != nil && f.root != nil && hasTerm(f.root, func(t *term) bool { return t.field.Name == "turn" })
}

func looksInside(n node) bool { return hasTerm(n, func(t *term) bool { return t.field.body }) }

func hasTerm(n node, is func(*term) bool) bool {
	switch n := n.(type) {
	case *join:
		return slices.ContainsFunc(n.parts, func(p node) bool { return hasTerm(p, is) })
	case *negation:
		return hasTerm(n.of, is)
	}
	return is(n.(*term))
}

type parser struct {
	text  string
	i     int
	depth int
	err   *Error
}

func parse(text string) (node, *Error) {
	p := parser{text: text}
	switch {
	case len(text) > maxText:
		p.fail(maxText, len(text), "it is too long", fmt.Sprintf("%d bytes is the most", maxText))
		return nil, p.err
	case !utf8.ValidString(text):
		at := strings.IndexRune(text, utf8.RuneError)
		p.fail(max(at, 0), len(text), "it is not UTF-8", "look for bytes with path: or a regular expression")
		return nil, p.err
	}
	p.space()
	if p.end() {
		return nil, nil
	}
	root := p.or()
	if p.err == nil && !p.end() { // or stops at a closing bracket only
		p.fail(p.i, p.i+1, "this bracket closes nothing", "take it away, or open one before it")
	}
	if p.err != nil {
		return nil, p.err
	}
	return root, nil
}

// fail keeps the first error.
func (p *parser) fail(from, to int, what, hint string) {
	if p.err == nil {
		p.err = &Error{Text: p.text, From: from, To: to, What: what, Hint: hint}
	}
}

// unfinished is fail for what typing on may mend.
func (p *parser) unfinished(from int, what, hint string) {
	if p.err == nil {
		p.fail(from, len(p.text), what, hint)
		p.err.Unfinished = true
	}
}

func (p *parser) end() bool { return p.i >= len(p.text) }

func (p *parser) space() {
	for !p.end() {
		r, w := utf8.DecodeRuneInString(p.text[p.i:])
		if !unicode.IsSpace(r) {
			return
		}
		p.i += w
	}
}

// atDelimiter reports the end of a word: white space, a bracket, the end.
func (p *parser) atDelimiter() bool { return delimits(p.text, p.i) }

func delimits(s string, i int) bool {
	if i >= len(s) || s[i] == '(' || s[i] == ')' {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

// keyword takes a word of the language if it stands here.
func (p *parser) keyword(words ...string) bool {
	for _, w := range words {
		end := p.i + len(w)
		if end <= len(p.text) && strings.EqualFold(p.text[p.i:end], w) && delimits(p.text, end) {
			p.i = end
			p.space()
			return true
		}
	}
	return false
}

func (p *parser) or() node {
	parts := []node{p.and()}
	for p.err == nil && p.keyword("or") {
		parts = append(parts, p.and())
	}
	if p.err != nil {
		return nil
	}
	return joined(true, parts)
}

// and takes terms that stand side by side for joined by "and".
func (p *parser) and() node {
	parts := []node{p.not()}
	for p.err == nil && !p.end() && p.text[p.i] != ')' {
		at := p.i
		if p.keyword("or") {
			p.i = at
			break
		}
		p.keyword("and")
		parts = append(parts, p.not())
	}
	if p.err != nil {
		return nil
	}
	return joined(false, parts)
}

func (p *parser) not() node {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.i, len(p.text), "brackets and nots are nested too deep", fmt.Sprintf("%d levels is the most", maxDepth))
		return nil
	}
	defer func() { p.depth-- }()
	if p.keyword("not") {
		of := p.not()
		return &negation{of}
	}
	return p.single()
}

func (p *parser) single() node {
	from := p.i
	switch {
	case p.end():
		p.unfinished(from, "a term is missing", "go on with one, like tool:add_* or ms>100")
		return nil
	case p.text[from] == '(':
		return p.bracket()
	case p.text[from] == ')':
		p.fail(from, from+1, "a term is missing before this bracket", "put one there, or take the bracket away")
		return nil
	case p.keyword("and", "or"):
		p.fail(from, p.i, "a term is missing before this word", "put one there; to look for the word itself, put it in quotation marks")
		return nil
	}
	n := p.term()
	p.space()
	return n
}

func (p *parser) bracket() node {
	open := p.i
	p.i++
	p.space()
	n := p.or()
	if p.err == nil && p.end() {
		p.unfinished(open, "this bracket is not closed", "put a ) where it ends; to look for the bracket itself, put it in quotation marks")
	}
	p.i++
	p.space()
	return n
}

// term takes one term: a field with a value, or a text.
func (p *parser) term() node {
	from := p.i
	name, sign := fieldAt(p.text, from)
	if sign == "" {
		v, ok := p.value(fieldText())
		if !ok {
			return nil
		}
		return &term{field: fieldText(), value: v}
	}
	f := lookUp(name)
	if f == nil {
		p.unknownField(from, name)
		return nil
	}
	p.i = from + len(name) + len(sign)
	not := sign == "!="
	n := p.fieldTerm(f, from, strings.TrimPrefix(sign, "!"))
	if not && n != nil {
		return &negation{n}
	}
	return n
}

func fieldText() *Field { return lookUp("text") }

// signs are what may stand between a field and its value, longer ones first.
var signs = []string{"!=", ">=", "<=", "==", ":", "=", ">", "<"}

// fieldAt gives the name and the sign that stand at i; no sign if there is no field.
func fieldAt(s string, i int) (name, sign string) {
	end := i
	for end < len(s) && ('a' <= s[end]|0x20 && s[end]|0x20 <= 'z' || s[end] == '_') {
		end++
	}
	if end == i {
		return "", ""
	}
	for _, sign := range signs {
		if strings.HasPrefix(s[end:], sign) {
			return s[i:end], sign
		}
	}
	return s[i:end], ""
}

func (p *parser) unknownField(from int, name string) {
	hint := "the fields are " + fieldNames()
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.Name
	}
	if n := nearest.Word(name, all); n != "" {
		hint = "did you mean " + n + "?"
	}
	p.fail(from, from+len(name), fmt.Sprintf("there is no field %.40q", name), hint+"; to look for the text itself, put it in quotation marks")
}

func (p *parser) fieldTerm(f *Field, from int, sign string) node {
	switch {
	case f.Numeric():
		return p.numberTerm(f, from, sign)
	case sign != ":" && sign != "=" && sign != "==":
		p.fail(from, p.i, f.Name+" has no order to compare by", "write "+f.Name+":VALUE")
		return nil
	case p.atDelimiter():
		p.missing(f, from)
		return nil
	case f.kind == gjsonish:
		return p.pathTerm(f)
	}
	at := p.i
	v, ok := p.value(f)
	if !ok {
		return nil
	}
	if f.kind == fixed {
		p.checkWord(f, &v, at)
	}
	return &term{field: f, value: v}
}

// missing says that a value is missing: at the end it may still come.
func (p *parser) missing(f *Field, from int) {
	what, hint := "the value after "+f.Name+" is missing", "write it right after the sign, in quotation marks if it has spaces"
	switch {
	case f.Numeric():
		hint = numberHint(f)
	case f.kind == fixed:
		hint = "it can be " + strings.Join(f.Words, ", ")
	}
	if p.end() {
		p.unfinished(from, what, hint)
		return
	}
	p.fail(from, p.i, what, hint)
}

func (p *parser) numberTerm(f *Field, from int, sign string) node {
	c := equal
	for i, s := range compareSigns {
		if s == sign {
			c = compare(i)
		}
	}
	if p.atDelimiter() {
		p.missing(f, from)
		return nil
	}
	at := p.i
	for !p.atDelimiter() {
		p.i++
	}
	raw := p.text[at:p.i]
	n, ok := readNumber(f, raw)
	if !ok {
		p.fail(at, p.i, fmt.Sprintf("%s is compared with a number, and %.40q is none", f.Name, raw), numberHint(f))
		return nil
	}
	return &term{field: f, compare: c, number: n, value: pattern{text: raw}}
}

// checkWord checks a value of which all that it can be is known.
func (p *parser) checkWord(f *Field, v *pattern, at int) {
	if v.form != regex {
		v.text = plainStatus(v.text)
	}
	m := v.names()
	prefix := false
	for _, w := range f.Words {
		if m.match(w) {
			return
		}
		prefix = prefix || strings.HasPrefix(w, strings.ToLower(v.text))
	}
	hint := f.Name + " can be " + strings.Join(f.Words, ", ")
	if n := nearest.Word(v.text, f.Words); n != "" {
		hint = "did you mean " + n + "? " + hint
	}
	p.fail(at, p.i, fmt.Sprintf("nothing has %s %.40q", f.Name, v.text), hint)
	if prefix && v.form == word && p.end() && p.err.From == at {
		p.err.Unfinished = true
	}
}

// plainStatus writes "tool error" and tool_error as tool-error.
func plainStatus(s string) string { return strings.NewReplacer(" ", "-", "_", "-").Replace(s) }

func (p *parser) pathTerm(f *Field) node {
	t := &term{field: f}
	at := p.i
	if c := p.text[p.i]; c == '"' || c == '\'' {
		v, ok := p.quotedValue()
		if !ok {
			return nil
		}
		t.path = v.text
	} else {
		var open bool
		if t.path, p.i, open = barePath(p.text, p.i); open {
			p.unfinished(at, "a bracket of this path is not closed", "close it; a path with odd brackets goes in quotation marks")
			return nil
		}
	}
	if t.path == "" {
		p.fail(at, max(p.i, at+1), "the path is empty", "write a gjson path, like path:params.name")
		return nil
	}
	if p.end() || p.text[p.i] != '=' {
		p.mustEnd()
		return t
	}
	p.i++
	if p.atDelimiter() {
		p.unfinished(at, "the value after = is missing", `write it right after the sign; for an empty one write ""`)
		return nil
	}
	t.hasValue = true
	var ok bool
	if t.value, ok = p.value(f); !ok {
		return nil
	}
	return t
}

// barePath takes a path up to white space, a bracket that it did not open, or a =
// outside of brackets: queries like #(name=="x y") are part of it. open tells that a
// bracket of it is not closed.
func barePath(s string, i int) (path string, end int, open bool) {
	depth, from, lastQuote := 0, i, strings.LastIndexByte(s, '"')
	for i < len(s) {
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '(' && i > from:
			depth++
		case depth == 0 && (r == '(' || r == ')' || r == '=' || unicode.IsSpace(r)):
			return s[from:i], i, false
		case r == ')':
			depth--
		case r == '"' && depth > 0 && i < lastQuote:
			w = strings.IndexByte(s[i+1:], '"') + 2
		}
		i += w
	}
	return s[from:i], i, depth > 0
}

// value takes a word, a quoted text or a regular expression.
func (p *parser) value(f *Field) (v pattern, ok bool) {
	switch p.text[p.i] {
	case '"', '\'':
		v, ok = p.quotedValue()
		return v, ok && p.mustEnd()
	case '/':
		return p.regexValue()
	}
	from := p.i
	for !p.atDelimiter() {
		p.i++
	}
	v = pattern{text: p.text[from:p.i]}
	if f.kind == prose { // globs are for whole names
		v.form = quoted
	}
	return v, true
}

func (p *parser) quotedValue() (v pattern, ok bool) {
	from, mark := p.i, p.text[p.i]
	var b strings.Builder
	for p.i++; !p.end(); p.i++ {
		c := p.text[p.i]
		switch {
		case c == mark:
			p.i++
			return pattern{form: quoted, text: b.String()}, true
		case mark == '"' && c == '\\' && p.i+1 < len(p.text) && (p.text[p.i+1] == '"' || p.text[p.i+1] == '\\'):
			p.i++
			c = p.text[p.i]
		}
		b.WriteByte(c)
	}
	p.unfinished(from, "this quotation mark is not closed", "put another where the text ends")
	return v, false
}

func (p *parser) regexValue() (v pattern, ok bool) {
	from := p.i
	end := closingSlash(p.text, from+1)
	if end < 0 {
		p.i = len(p.text)
		p.unfinished(from, "this regular expression is not closed", "put a / where it ends; to look for a text that begins with /, put it in quotation marks")
		return v, false
	}
	v = pattern{form: regex, text: strings.ReplaceAll(p.text[from+1:end], `\/`, `/`)}
	p.i = end + 1
	if !p.end() && p.text[p.i] == 'i' {
		v.fold = true
		p.i++
	}
	if !p.mustEnd() {
		return v, false
	}
	if _, err := v.compile(); err != nil {
		p.fail(from, p.i, regexWords(err), "it takes Go's (RE2) syntax; a / inside is written \\/")
		return v, false
	}
	return v, true
}

// closingSlash is where a regular expression ends, -1 if it does not.
func closingSlash(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '/':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

func regexWords(err error) string {
	var e *syntax.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("this is no regular expression: %s: %.40q", e.Code, e.Expr)
	}
	return "this is no regular expression"
}

// mustEnd reports whether a value ends here.
func (p *parser) mustEnd() bool {
	if p.err == nil && !p.atDelimiter() {
		p.fail(p.i, p.i+1, "the value has ended before this", "put a space between two terms; to look for all of it, put it in quotation marks")
	}
	return p.err == nil
}
