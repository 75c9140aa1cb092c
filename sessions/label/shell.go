package label

import "strings"

// shell finds what a shell's command line runs: the last command that is not
// behind a pipe or an "or", and does more than prepare for another. The
// arguments after the line are what "$@" stands for in it.
func (g *guess) shell(line string, args []string) []string {
	g.hops++
	if g.hops > maxHops {
		return nil
	}
	var chosen []string
	lex := lexer{s: line}
	for lex.more() {
		before := lex.op
		words := g.dropWords(lex.command())
		if len(words) == 0 || before == "|" || before == "||" {
			continue
		}
		if words[0] == "cd" || words[0] == "pushd" {
			g.enter(words[len(words)-1])
		}
		if !g.Preparations[strings.ToLower(words[0])] {
			chosen = words
		}
	}
	return g.run(g.expand(chosen, args), true)
}

// dropWords drops what may stand before a command.
func (g *guess) dropWords(words []string) []string {
	for len(words) > 0 && (g.ShellWords[words[0]] || isAssignment(words[0])) {
		words = words[1:]
	}
	return words
}

// expand puts the arguments in the place of "$@", once in a search: a line
// could double itself with it.
func (g *guess) expand(words, args []string) []string {
	for i, word := range words {
		if (word == "$@" || word == "$*") && !g.expanded {
			g.expanded = true
			args = args[min(1, len(args)):] // the first is $0
			return append(append(append([]string(nil), words[:i]...), args...), words[i+1:]...)
		}
	}
	return words
}

// lexer splits a shell's line into commands, well enough for a name. A
// backslash counts as an escape only where it cannot be a part of a Windows
// path.
type lexer struct {
	s  string
	i  int
	op string // before the next command
}

func (x *lexer) more() bool { return x.i < len(x.s) }

// command takes the words up to the next operator.
func (x *lexer) command() []string {
	var words []string
	x.op = ""
	for x.more() {
		switch c := x.s[x.i]; {
		case c == ' ' || c == '\t' || c == '\r':
			x.i++
		case c == '<' || c == '>':
			x.redirection()
		case strings.IndexByte("\n;|&()", c) >= 0:
			x.op = x.run(c)
			return words
		default:
			if word, ok := x.word(); ok {
				words = append(words, word)
			}
		}
	}
	return words
}

// run takes an operator of one or more of the same character.
func (x *lexer) run(c byte) string {
	start := x.i
	for x.more() && x.s[x.i] == c {
		x.i++
	}
	return x.s[start:x.i]
}

// redirection takes > or < with what follows it.
func (x *lexer) redirection() {
	for x.more() && strings.IndexByte("<>&", x.s[x.i]) >= 0 {
		x.i++
	}
	for x.more() && (x.s[x.i] == ' ' || x.s[x.i] == '\t') {
		x.i++
	}
	x.word()
}

// word takes a word and its quotes off. It is none if it is the number of a
// redirected stream.
func (x *lexer) word() (word string, ok bool) {
	var b strings.Builder
	start := x.i
	for x.more() {
		c := x.s[x.i]
		switch {
		case c == '"' || c == '\'':
			x.quoted(&b, c)
			continue
		case c == '\\' && x.escapes():
			x.i++
			c = x.s[x.i]
		case strings.IndexByte(" \t\r\n;|&()<>", c) >= 0:
			digits := x.i > start && strings.Trim(x.s[start:x.i], "0123456789") == ""
			return b.String(), !digits || c != '<' && c != '>'
		}
		b.WriteByte(c)
		x.i++
	}
	return b.String(), x.i > start
}

// escapes tells whether the backslash at hand takes the next character's
// meaning away.
func (x *lexer) escapes() bool {
	return x.i+1 < len(x.s) && strings.IndexByte(" \t\"'\\$`;|&()<>", x.s[x.i+1]) >= 0
}

// quoted takes what is between quotes.
func (x *lexer) quoted(b *strings.Builder, quote byte) {
	for x.i++; x.more() && x.s[x.i] != quote; x.i++ {
		if quote == '"' && x.s[x.i] == '\\' && x.escapes() {
			x.i++
		}
		b.WriteByte(x.s[x.i])
	}
	x.i = min(x.i+1, len(x.s))
}
