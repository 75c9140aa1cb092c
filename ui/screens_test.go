package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/sessions"
)

// TestScreens compares every screen, at several sizes, with and without colours, with
// what was found right by looking at it.
func TestScreens(t *testing.T) {
	for _, c := range []struct{ name, keys string }{
		{"list", ""},
		{"list-filter", "/ +legacy"},
		{"list-delete", "down D"},
		{"calls", "enter down*4 e"},
		{"calls-unfolded", "end enter down*3 right down*2"},
		{"calls-filter", "enter / +status:failed"},
		{"frames", "enter f down*3"},
		{"frame", "enter down*3 e enter down*6"},
		{"frame-text", "enter down*3 e v"},
		{"frame-bytes", "end enter down*4 v*2"},
		{"frame-content", "end enter down*3 tab down*3"},
		{"findings", "end enter i"},
		{"statistics", "end enter t down"},
		{"peers", "enter p"},
		{"rent", "down*2 enter r"},
		{"rent-advice", "down enter r down*7"},
		{"search", "enter S +ticket enter"},
		{"search-cut", "enter S tab +com"},
		{"compare-with", "enter d"},
		{"diff", "down enter d enter down*2"},
		{"save", "enter / +status:failed enter w"},
		{"find", "F +T-102 enter"},
		{"find-failures", "F +status:failed enter down"},
		{"find-prompt", "F +tool:add_* enter / space +stat"},
		{"find-nothing", "F +T-4711 enter"},
		{"copy", "enter e c"},
		{"note", "enter e b N +why?"},
		{"help", "enter ?"},
		{"help-filters", "enter H"},
		{"palette", "enter : +fr"},
	} {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 60}} {
			for _, colours := range []bool{false, true} {
				name := fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1])
				profile := colorprofile.NoTTY
				if colours {
					name, profile = name+"-colours", colorprofile.TrueColor
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					d := drive(t, testStore(t), profile, size[0], size[1]).keys(strings.Fields(c.keys)...)
					compare(t, name, d.screen())
				})
			}
		}
	}
}

// TestOtherScreens are pictures that one size is enough for.
func TestOtherScreens(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile colorprofile.Profile
		dark    bool
		w, h    int
		keys    string
	}{
		{"calls-40x10", colorprofile.NoTTY, true, 40, 10, "enter e"},
		{"rent-40x10", colorprofile.NoTTY, true, 40, 10, "enter r"},
		{"diff-40x10", colorprofile.NoTTY, true, 40, 10, "enter d enter down"},
		{"search-40x10", colorprofile.NoTTY, true, 40, 10, "enter S +assign"},
		{"find-40x10", colorprofile.NoTTY, true, 40, 10, "F +T-102 enter"},
		{"find-no-colours", colorprofile.ASCII, true, 80, 24, "F +T-102 enter"},
		{"find-wide-characters", colorprofile.NoTTY, true, 80, 24, "F +dish enter"},
		{"list-40x10", colorprofile.NoTTY, true, 40, 10, ""},
		{"calls-16-colours", colorprofile.ANSI, true, 80, 24, "enter e"},
		{"calls-256-colours-light", colorprofile.ANSI256, false, 80, 24, "enter e"},
		{"calls-no-colours", colorprofile.ASCII, true, 80, 24, "enter e"},
		{"too-small", colorprofile.NoTTY, true, 19, 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, testStore(t), c.profile, c.w, c.h)
			d.app.ground = func() {}
			d.app.setGround(c.dark)
			d.keys(strings.Fields(c.keys)...)
			compare(t, c.name, d.app.View())
		})
	}
	t.Run("empty", func(t *testing.T) {
		d := drive(t, sessions.Store{Dir: "/nowhere/at/all"}, colorprofile.NoTTY, 80, 24)
		compare(t, "empty", d.screen())
	})
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", "screens", name+".txt")
	got += "\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
