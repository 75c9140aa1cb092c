package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestLine(t *testing.T) {
	got := NewLine(20, "\x1b[44m").Raw("\x1b[1m", "ab").Gap(1).Cell("", "漢字kanji", 6, true).Text("", "x\x1b[2Jy").String()
	if want := "ab 漢字k…x␛[2Jy     "; ansi.Strip(got) != want {
		t.Errorf("%q, want %q", ansi.Strip(got), want)
	}
	if strings.Contains(got, "\x1b[2J") {
		t.Error("an escape sequence came through")
	}
}

// TestPin: what follows text of doubtful width stands where it should on a terminal
// that counts joined emoji as it likes.
func TestPin(t *testing.T) {
	if got, want := NewLine(12, "").Text("", "👩\u200d💻x").Pin(10).Raw("", "ok").String(), "👩\u200d💻x       \x1b[K\x1b[11Gok"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := NewLine(6, "").Text("", "ab").Pin(4).Raw("", "ok").String(), "ab  ok"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Unpin(NewLine(12, "").Text("", "漢").Pin(10).Raw("", "ok").String()); got != "漢        ok" {
		t.Errorf("%q", got)
	}
}

func TestSafeEnd(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"mcp__server__tool", 20, "mcp__server__tool"}, {"mcp__server__tool", 8, "…r__tool"}, {"漢字漢字x", 4, "…字x"}, {"a\x1b[2Jb", 3, "…Jb"}, {"ab", 0, ""}, {"abc", 1, "…"}} {
		if got := SafeEnd(c.text, c.width); got != c.want {
			t.Errorf("%q in %d cells: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("näive 漢字 👩\u200d💻 \x1b]0;x\x07 a\u202eb \U000e0041 e\u0301", 10, true)
	f.Add("\u0600\u0600\ufdfd שלום مرحبا", 3, false)
	f.Fuzz(func(t *testing.T, s string, width int, right bool) {
		width = min(max(width, 0), 500)
		if got := SafeEnd(s, width); Width(got) > width {
			t.Errorf("%q: its end in %d cells is %q", s, width, got)
		}
		if got := NewLine(width, "").Cell("", s, width/2, right).Gap(1).Text("\x1b[1m", s).Pin(width - 3).String(); Width(got) != width {
			t.Errorf("%q: %d cells, want %d: %q", s, Width(got), width, got)
		}
	})
}
