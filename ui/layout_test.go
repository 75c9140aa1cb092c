package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/feed"
)

// TestArrange: parts lie within the screen and not over each other, the pane with the
// focus is there, and so are all panes where there is room.
func TestArrange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(leastWidth, 300).Draw(t, "w"), rapid.IntRange(leastHeight-1, 100).Draw(t, "h")
		p := panes{side: rapid.Bool().Draw(t, "side"), rows: rapid.IntRange(10, 90).Draw(t, "rows"), cols: rapid.IntRange(10, 90).Draw(t, "cols")}
		all := []place{inCalls, inFrame}
		if p.side {
			all = append(all, inSide)
		}
		p.focus = rapid.SampledFrom(all).Draw(t, "focus")
		if rapid.Bool().Draw(t, "one") {
			p.only = p.focus
		}
		a := arrange(w, h, p)
		taken := map[[2]int]string{}
		for name, r := range map[string]rect{"calls": a.calls, "frame": a.frame, "side": a.side, "clock": a.clock, "across": a.across, "down": a.down} {
			for x := r.x; x < r.x+r.w; x++ {
				for y := r.y; y < r.y+r.h; y++ {
					if other := taken[[2]int{x, y}]; other != "" || x >= w || y >= h || x < 0 || y < 1 {
						t.Fatalf("%s is at %d, %d, where %q is, in %d by %d: %+v", name, x, y, other, w, h, a)
					}
					taken[[2]int{x, y}] = name
				}
			}
		}
		if a.pane(p.focus).h <= 0 {
			t.Fatalf("the pane with the focus is not there: %+v", a)
		}
		if p.only == 0 && w >= wideWidth {
			for _, q := range all {
				if a.pane(q).h <= 0 && h > 10 {
					t.Fatalf("pane %d is not there: %+v", q, a)
				}
			}
		}
	})
}

// moment is a third pane that shows which frame the cursor is on.
type moment struct{ frame, seen int }

type momentMsg struct{ frame int }

func (m *moment) title() (name, rest string) { return "moment", "of a test" }
func (m *moment) do(id string) bool          { return id == "down" }
func (m *moment) click(int)                  {}
func (m *moment) leads() int                 { return 2 }
func (m *moment) stop()                      {}

func (m *moment) never(int) func(string) bool { return nil }

func (m *moment) need(_ *feed.Feed, frame, _ int) tea.Cmd {
	if frame == m.frame {
		return nil
	}
	m.frame = frame
	return func() tea.Msg { return momentMsg{frame} }
}

func (m *moment) take(msg tea.Msg) {
	if msg, ok := msg.(momentMsg); ok {
		m.seen = msg.frame
	}
}

func (m *moment) view(w, h int, focus bool) []string {
	return draw.Fill([]string{draw.NewLine(w, "").Raw("", fmt.Sprintf("at %d %v", m.seen, focus)).String()}, w, h)
}

// TestThirdPane: a third pane stands at the right where there is room, takes the
// frame's place where there is not, and follows the cursor.
func TestThirdPane(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 160, 40).keys("enter")
	d.app.top().(*session).side = &moment{frame: -1}
	d.keys("e")
	d.has("─ calls", "┬─ moment of a test", "─ frame 11", "at 10 false")
	if lines := strings.Split(d.screen(), "\n"); strings.Count(strings.Join(lines, "\n"), "┤") != 1 {
		t.Error("the line across does not end at the line down")
	}
	d.keys("tab", "tab")
	d.has("at 10 true")
	d.keys("enter")
	d.has("frame 3 result of server/discover", "at 2 true")
	d.keys("tab", "e", "tab", "tab")
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.has("─ calls", "─ moment of a test", "at 10 true")
	d.keys("tab")
	d.has("─ frame 11")
	d.keys("tab", "tab", "z")
	if s := d.screen(); strings.Contains(s, "─ calls") {
		t.Errorf("the pane does not have the whole screen:\n%s", s)
	}
}
