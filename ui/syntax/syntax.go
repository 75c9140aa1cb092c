// Package syntax finds the tokens of a text that is code, Markdown, XML, YAML or JSON,
// so that it can be drawn in colours.
//
// It promises that no definition is read before it is needed, that a text is read only
// as far as somebody looks at it, and that its tokens together are the text, whatever
// bytes it has. The definitions in lexers/ are chroma's format. They are small on
// purpose: one for all programming languages, that knows strings, comments, numbers
// and the common words.
package syntax

import (
	"bytes"
	"embed"
	"sort"
	"sync"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

//go:embed lexers/*.xml
var definitions embed.FS

// A Language is a kind of text; "" is plain text.
type Language string

// The languages there are definitions of.
const (
	Code     Language = "code"
	JSON     Language = "json"
	Markdown Language = "markdown"
	XML      Language = "xml"
	YAML     Language = "yaml"
)

var (
	mu     sync.Mutex
	lexers = map[Language]*chroma.RegexLexer{}
)

func lexer(of Language) (*chroma.RegexLexer, error) {
	mu.Lock()
	defer mu.Unlock()
	if l := lexers[of]; l != nil {
		return l, nil
	}
	l, err := chroma.NewXMLLexer(definitions, "lexers/"+string(of)+".xml")
	if err == nil {
		lexers[of] = l
	}
	return l, err
}

// How much of a text gets colours: what comes before a line has to be read to know what
// the line is. So much takes 20 to 40 ms (BenchmarkWhole), whatever it holds.
const (
	maxText   = 32 << 10 // bytes
	maxTokens = 8 << 10
)

// A Text is a text whose tokens are found as far as they are asked for.
type Text struct {
	next  chroma.Iterator // nil: there is nothing more to find
	found int             // tokens
	most  int             // bytes that tokens are looked for in
	spans []Span
	upto  int // bytes that spans cover
}

// A Span is where a token begins in the text. It ends where the next one begins.
type Span struct {
	From int
	Kind chroma.TokenType
}

// New begins a text. A language that is "", and bytes that are no UTF-8, have no tokens.
func New(of Language, text []byte) *Text {
	text = text[:min(len(text), maxText)]
	t := &Text{most: len(text)}
	for len(text) > 0 && text[len(text)-1] >= utf8.RuneSelf && !utf8.Valid(text[max(0, len(text)-utf8.UTFMax):]) {
		text = text[:len(text)-1] // cut within a character
	}
	if of == "" || !utf8.Valid(text) {
		return t
	}
	l, err := lexer(of)
	if err != nil {
		return t
	}
	if t.next, err = l.Tokenise(&chroma.TokeniseOptions{State: "root"}, string(text)); err != nil {
		t.next = nil
	}
	return t
}

// Spans gives the tokens from a byte up to another; the first begins at from or before
// it. Where there are no tokens it gives none.
func (t *Text) Spans(from, to int) []Span {
	if from >= t.most {
		return nil
	}
	for t.next != nil && t.upto < to {
		token := t.next()
		if token == chroma.EOF || t.found == maxTokens {
			t.next = nil
			break
		}
		t.found++
		t.add(token)
	}
	if from >= t.upto {
		return nil
	}
	first := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].From > from }) - 1
	last := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].From >= to })
	return t.spans[first:max(first, last)]
}

// add takes a token. What is no ASCII goes on with the look there is: a mark that
// belongs to the character before it must not be torn from it.
func (t *Text) add(token chroma.Token) {
	kind := token.Type
	if token.Value == "" {
		return
	}
	if n := len(t.spans); n == 0 || t.spans[n-1].Kind != kind && token.Value[0] < utf8.RuneSelf {
		t.spans = append(t.spans, Span{t.upto, kind})
	}
	t.upto += len(token.Value)
}

// Guess tells the language of a text by its first lines.
func Guess(text []byte) Language {
	text = bytes.TrimLeft(text[:min(len(text), 4<<10)], " \t\r\n")
	if len(text) == 0 {
		return ""
	}
	switch {
	case text[0] == '{' || text[0] == '[':
		return JSON
	case text[0] == '<' && len(text) > 1 && (isLetter(text[1]) || text[1] == '?' || text[1] == '!') && bytes.IndexByte(text, '>') > 0:
		return XML
	case bytes.HasPrefix(text, []byte("#!")):
		return Code
	}
	return vote(text)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// vote counts the lines that look like a language.
func vote(text []byte) Language {
	var all, code, yaml, mark int
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		all++
		switch {
		case isMarkdown(line):
			mark++
		case isCode(line):
			code++
		case isYAML(line):
			yaml++
		}
	}
	switch {
	case mark > 0 && mark*2 >= code:
		return Markdown
	case code*3 >= all && code > 1:
		return Code
	case yaml*3 >= all*2 && yaml > 1:
		return YAML
	}
	return ""
}

func isMarkdown(line []byte) bool {
	hashes := len(line) - len(bytes.TrimLeft(line, "#"))
	return hashes > 1 && hashes < 7 && line[min(hashes, len(line)-1)] == ' ' || bytes.HasPrefix(line, []byte("```")) ||
		line[0] == '|' && line[len(line)-1] == '|' || bytes.Count(line, []byte("**")) > 1
}

// words that lines of code begin with.
var words = [][]byte{
	[]byte("func "), []byte("def "), []byte("class "), []byte("import "), []byte("package "), []byte("#include"), []byte("const "), []byte("let "),
	[]byte("var "), []byte("return "), []byte("if ("), []byte("for ("), []byte("public "), []byte("fn "), []byte("function "), []byte("export "),
	[]byte("//"), []byte("/*"), []byte("SELECT "), []byte("INSERT "), []byte("CREATE "),
}

func isCode(line []byte) bool {
	switch line[len(line)-1] {
	case ';', '{', '}':
		return true
	}
	for _, w := range words {
		if bytes.HasPrefix(line, w) {
			return true
		}
	}
	return false
}

// isYAML reports a line with a key, or one of a list.
func isYAML(line []byte) bool {
	if bytes.HasPrefix(line, []byte("- ")) || bytes.Equal(line, []byte("---")) {
		return true
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 1 || colon > 40 || colon+1 < len(line) && line[colon+1] != ' ' {
		return false
	}
	for _, c := range line[:colon] {
		if !isLetter(c) && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
