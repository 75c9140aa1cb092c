// Package lineedit is one line of input with a history.
package lineedit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/safetext"
)

// maxText bounds what a paste can put in.
const maxText = 4096

// A Line is a line of input. The zero value is empty.
type Line struct {
	text    []rune
	at      int
	history []string
	back    int // how many entries back in the history; 0 is the line itself
	draft   string
}

// String is the text so far.
func (l *Line) String() string { return string(l.text) }

// Set replaces the text; the cursor stands behind it.
func (l *Line) Set(s string) {
	l.text = []rune(strings.Map(oneLine, s))
	l.text = l.text[:min(len(l.text), maxText)]
	l.at = len(l.text)
	l.back = 0
}

// oneLine drops what can't stand on a line.
func oneLine(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case r < ' ' || r == 0x7f:
		return -1
	}
	return r
}

// Insert puts text, typed or pasted, at the cursor.
func (l *Line) Insert(s string) {
	add := []rune(strings.Map(oneLine, s))
	add = add[:min(len(add), maxText-len(l.text))]
	l.text = slices.Insert(l.text, l.at, add...)
	l.at += len(add)
}

// Key edits by the name of a key; ok is false if the key means nothing here.
func (l *Line) Key(name string) (ok bool) {
	switch name {
	case "left", "ctrl+b":
		l.at = max(0, l.at-1)
	case "right", "ctrl+f":
		l.at = min(len(l.text), l.at+1)
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace", "ctrl+h":
		l.remove(l.at-1, l.at)
	case "delete", "ctrl+d":
		l.remove(l.at, l.at+1)
	case "ctrl+u":
		l.remove(0, l.at)
	case "ctrl+k":
		l.remove(l.at, len(l.text))
	case "ctrl+w", "alt+backspace":
		l.remove(l.word(), l.at)
	case "up", "ctrl+p":
		l.recall(1)
	case "down", "ctrl+n":
		l.recall(-1)
	default:
		return false
	}
	return true
}

func (l *Line) remove(from, to int) {
	from, to = max(0, from), min(to, len(l.text))
	if from >= to {
		return
	}
	l.text = slices.Delete(l.text, from, to)
	l.at = from
}

// word is where the word before the cursor begins.
func (l *Line) word() int {
	i := l.at
	for i > 0 && l.text[i-1] == ' ' {
		i--
	}
	for i > 0 && l.text[i-1] != ' ' {
		i--
	}
	return i
}

func (l *Line) recall(by int) {
	back := max(0, min(l.back+by, len(l.history)))
	if back == l.back {
		return
	}
	if l.back == 0 {
		l.draft = l.String()
	}
	text := l.draft
	if back > 0 {
		text = l.history[len(l.history)-back]
	}
	l.Set(text)
	l.back = back
}

// Keep puts the text into the history.
func (l *Line) Keep() {
	s := l.String()
	if s == "" || len(l.history) > 0 && l.history[len(l.history)-1] == s {
		return
	}
	l.history = append(l.history, s)
}

// View draws the line with its cursor in width cells.
func (l *Line) View(width int, text, cursor draw.Style) string {
	before, under, after := string(l.text[:l.at]), " ", ""
	if l.at < len(l.text) {
		under, after = string(l.text[l.at]), string(l.text[l.at+1:])
	}
	before = safetext.Line(before)
	for draw.Width(before) > width-2 && before != "" { // the cursor stays in view
		_, size := utf8.DecodeRuneInString(before)
		before = before[size:]
	}
	line := draw.NewLine(width, "")
	return line.Raw(text, before).Raw(cursor, safetext.Line(under)).Raw(text, draw.Safe(after, line.Left())).String()
}
