package lineedit

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/draw"
)

// press is a key as bubbletea tells it, "+" before text that is typed or pasted.
func press(name string) tea.KeyMsg {
	if text, typed := strings.CutPrefix(name, "+"); typed {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: len(text) > 1}
	}
	if letter, alt := strings.CutPrefix(name, "alt+"); alt {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(letter), Alt: true}
	}
	return tea.KeyMsg{Type: map[string]tea.KeyType{
		"ctrl+w": tea.KeyCtrlW, "home": tea.KeyHome, "end": tea.KeyEnd, "delete": tea.KeyDelete, "backspace": tea.KeyBackspace, "left": tea.KeyLeft,
		"ctrl+k": tea.KeyCtrlK, "ctrl+u": tea.KeyCtrlU, "ctrl+v": tea.KeyCtrlV, "up": tea.KeyUp, "down": tea.KeyDown, "f5": tea.KeyF5,
	}[name]}
}

func TestKeys(t *testing.T) {
	var l Line
	for _, step := range []struct{ key, want string }{
		{"+one two", "one two"}, {"ctrl+w", "one "}, {"+three", "one three"}, {"home", "one three"}, {"delete", "ne three"},
		{"+O", "One three"}, {"end", "One three"}, {"backspace", "One thre"}, {"left", "One thre"}, {"ctrl+k", "One thr"},
		{"ctrl+u", ""}, {"backspace", ""}, {"+a\x1b[2J\nb\x00", "a[2J b"},
		{"alt+b", "a[2J b"}, {"+x", "a[2J xb"}, {"alt+q", "a[2J xb"}, {"f5", "a[2J xb"}, {"ctrl+v", "a[2J xb"}, {"+漢字", "a[2J x漢字b"},
	} {
		l.Key(press(step.key))
		if l.String() != step.want {
			t.Fatalf("after %q: %q, want %q", step.key, l.String(), step.want)
		}
	}
	l.Key(press("+" + strings.Repeat("x", 3*maxText)))
	if got := len([]rune(l.String())); got != maxText {
		t.Errorf("a paste makes it %d characters long", got)
	}
}

func TestHistory(t *testing.T) {
	var l Line
	for _, s := range []string{"first", "second", "second"} {
		l.Set(s)
		l.Keep()
	}
	l.Set("draft")
	for _, step := range []struct{ key, want string }{{"up", "second"}, {"up", "first"}, {"up", "first"}, {"down", "second"}, {"down", "draft"}, {"down", "draft"}} {
		l.Key(press(step.key))
		if l.String() != step.want {
			t.Fatalf("after %s: %q, want %q", step.key, l.String(), step.want)
		}
	}
}

func TestView(t *testing.T) {
	var l Line
	l.Set("a long line 漢字 of input")
	for width := 2; width < 40; width++ {
		for range 30 {
			if got := draw.Width(l.View(width, "", "\x1b[7m")); got != width {
				t.Fatalf("%d cells, want %d", got, width)
			}
			l.Key(press("left"))
		}
		l.Key(press("end"))
	}
}
