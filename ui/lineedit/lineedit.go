// Package lineedit is one line of input with a history.
//
// Bubbles' textinput holds and edits the text. What it lacks is here: the history, and
// drawing in cells that are counted after hidden characters were made visible.
package lineedit

import (
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/safetext"
)

// maxText bounds what a paste can put in, in characters.
const maxText = 4096

// A Line is a line of input. The zero value is empty.
type Line struct {
	input   *textinput.Model
	history []string
	back    int // how many entries back in the history; 0 is the line itself
	draft   string
}

var (
	older = key.NewBinding(key.WithKeys("up", "ctrl+p"))
	newer = key.NewBinding(key.WithKeys("down", "ctrl+n"))
)

func (l *Line) in() *textinput.Model {
	if l.input == nil {
		m := textinput.New()
		m.CharLimit = maxText
		m.KeyMap.Paste.SetEnabled(false) // it would start a program; terminals paste by themselves
		m.Cursor.SetMode(cursor.CursorStatic)
		m.Focus()
		l.input = &m
	}
	return l.input
}

// String is the text so far.
func (l *Line) String() string { return l.in().Value() }

// Set replaces the text; the cursor stands behind it.
func (l *Line) Set(s string) {
	l.in().SetValue(s)
	l.in().CursorEnd()
	l.back = 0
}

// Key takes a key, or text that was typed or pasted.
func (l *Line) Key(k tea.KeyMsg) {
	switch {
	case key.Matches(k, older):
		l.recall(1)
	case key.Matches(k, newer):
		l.recall(-1)
	case k.Type == tea.KeyRunes && k.Alt && !l.edits(k): // it would be taken for the letter
	default:
		*l.in(), _ = l.in().Update(k)
	}
}

// edits reports whether textinput knows a key with alt.
func (l *Line) edits(k tea.KeyMsg) bool {
	m := l.in().KeyMap
	return key.Matches(k, m.WordForward, m.WordBackward, m.DeleteWordForward)
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

// View draws the line with its cursor in width cells. What has no room before the cursor
// or behind it shows as an ellipsis.
func (l *Line) View(width int, text, cursor draw.Style) string {
	value, at := []rune(l.String()), l.in().Position()
	before, under, after := string(value[:at]), " ", ""
	if at < len(value) {
		under, after = string(value[at]), string(value[at+1:])
	}
	before = safetext.Line(before)
	if draw.Width(before) > width-2 { // the cursor stays in view
		for draw.Width(before) > width-3 && before != "" {
			_, size := utf8.DecodeRuneInString(before)
			before = before[size:]
		}
		before = "…" + before
	}
	line := draw.NewLine(width, "")
	return line.Raw(text, before).Raw(cursor, safetext.Line(under)).Raw(text, draw.Safe(after, line.Left())).String()
}
