package lineedit

import (
	"testing"

	"github.com/mcptap/mcptap/ui/draw"
)

func TestKeys(t *testing.T) {
	var l Line
	for _, step := range []struct{ key, want string }{
		{"+one two", "one two"}, {"ctrl+w", "one "}, {"+three", "one three"}, {"home", "one three"}, {"delete", "ne three"},
		{"+O", "One three"}, {"end", "One three"}, {"backspace", "One thre"}, {"left", "One thre"}, {"ctrl+k", "One thr"},
		{"ctrl+u", ""}, {"backspace", ""}, {"+a\x1b[2J\nb\x00", "a[2J b"},
	} {
		if text, typed := step.key[1:], step.key[0] == '+'; typed {
			l.Insert(text)
		} else if !l.Key(step.key) {
			t.Errorf("%s means nothing", step.key)
		}
		if l.String() != step.want {
			t.Fatalf("after %q: %q, want %q", step.key, l.String(), step.want)
		}
	}
	if l.Key("f5") {
		t.Error("f5 means something")
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
		l.Key(step.key)
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
			l.Key("left")
		}
		l.Key("end")
	}
}
