package draw

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestMark: what is marked stands out over any other style, and nothing else changes.
func TestMark(t *testing.T) {
	const on = "\x1b[7m"
	for _, c := range []struct{ row, text, want string }{
		{"a T-1 b", "t-1", "a " + on + "T-1" + reset + " b"},
		{"T-1T-1", "T-1", on + "T-1T-1" + reset},
		{"a" + "\x1b[31mb T-" + reset + "\x1b[1m1 c" + reset, "T-1", "a\x1b[31mb " + on + "T-" + reset + on + "\x1b[1m" + on + "1" + reset + "\x1b[1m c" + reset},
		{"é x", "É", on + "é" + reset + " x"},
		{"none", "other", "none"},
		{"none", "", "none"},
		{"end", "end", on + "end" + reset},
	} {
		got := Mark(c.row, c.text, on)
		if got != c.want {
			t.Errorf("%q in %q gives %q, not %q", c.text, c.row, got, c.want)
		}
		if ansi.Strip(got) != ansi.Strip(c.row) {
			t.Errorf("marking %q in %q changes the text: %q", c.text, c.row, got)
		}
	}
	if got := Mark("a", "a", ""); got != "a" {
		t.Errorf("no style gives %q", got)
	}
}
