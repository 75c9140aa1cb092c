package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{{0, ""}, {1, "████"}, {0.5, "██"}, {1.0 / 32, "▏"}, {7.0 / 32, "▉"}, {9.0 / 32, "█▏"}, {2, "████"}, {-1, ""}} {
		if got := bar(c.share, 4); got != c.want {
			t.Errorf("bar(%v) is %q, want %q", c.share, got, c.want)
		}
	}
}

// TestWrap: no line is too long, no range is broken, and nothing drives the terminal.
func TestWrap(t *testing.T) {
	text := "reads ~1,400 (1,200-1,600) tokens and $0.0057-$0.0078 of a well-known \x1b[2Jserver (-32602)"
	for width := 20; width < 90; width++ {
		lines := wrap(text, width)
		for _, l := range lines {
			if ansi.StringWidth(l) > width || strings.ContainsRune(l, '\x1b') {
				t.Errorf("width %d: %q", width, l)
			}
		}
		if all := strings.Join(lines, "\n"); !strings.Contains(all, "(1,200-1,600)") || !strings.Contains(all, "$0.0057-$0.0078") || !strings.Contains(all, "(-32602)") {
			t.Errorf("width %d breaks a range: %q", width, lines)
		}
	}
}

func TestSome(t *testing.T) {
	names := []string{"a", "b", "c"}
	if got := some(names, 3) + "; " + some(names, 2); got != "a, b, c; a, b and 1 more" {
		t.Error(got)
	}
}
