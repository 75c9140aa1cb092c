package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/samples"
	"github.com/mcptap/mcptap/ui/draw"
)

const pictures = "../screenshots"

func sampleStore(t testing.TB) sessions.Store {
	t.Helper()
	store, err := samples.Store(filepath.Join(t.TempDir(), "samples"))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestPictures draws what screenshots/make.sh makes pictures of: they are fresh as long
// as the screens of the samples are those of screenshots/frames. With -update it
// writes them.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys string
	}{
		{"list", 120, 20, "down*3"},
		{"session", 140, 36, "down*3 enter e"},
		{"frame", 110, 32, "down*3 enter down*4 tab z"},
		{"rounds", 120, 34, "down*2 enter down*9 down*8 down*3 right down*6"},
		{"filter", 120, 28, "down*4 enter / +status:failed"},
		{"findings", 120, 30, "enter i"},
		{"statistics", 120, 30, "down*2 enter t down*2"},
		{"peers", 110, 30, "down enter p"},
		{"rent", 120, 34, "down*4 enter r"},
		{"search", 110, 28, "down*4 enter S +comment enter"},
		{"diff", 130, 36, "down*4 enter d enter"},
		{"find", 120, 30, "F +T-102 enter down*2"},
		{"copy", 120, 28, "down*3 enter e c"},
		{"help", 110, 36, "enter ?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, sampleStore(t), colorprofile.TrueColor, c.w, c.h).keys(strings.Fields(c.keys)...)
			compareTo(t, filepath.Join(pictures, "frames", c.name+".txt"), draw.Unpin(d.screen())+"\n")
		})
	}
}

// TestTour draws the moving picture, as a recording of asciinema.
func TestTour(t *testing.T) {
	d := drive(t, sampleStore(t), colorprofile.TrueColor, 110, 30)
	var b strings.Builder
	fmt.Fprintf(&b, `{"version": 2, "width": %d, "height": %d, "title": "mcptap browse --samples"}`+"\n", d.app.w, d.app.h)
	at := 0.
	shoot := func(seconds float64) {
		text, err := json.Marshal("\x1b[H\x1b[2J" + strings.ReplaceAll(draw.Unpin(d.screen()), "\n", "\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "[%.2f, \"o\", %s]\n", at, text)
		at += seconds
	}
	for _, step := range []struct {
		keys    string
		seconds float64
	}{
		{"", 1.5}, {"down", .4}, {"down", .4}, {"down", .8}, {"enter", 1.6}, {"e", 2.4}, {"tab", .8}, {"down", .3}, {"down", .3}, {"down", 1.2},
		{"tab", .4}, {"m", 2.8}, {"m", .5}, {"e", 2}, {"t", 2.2}, {"esc", .6},
	} {
		d.keys(strings.Fields(step.keys)...)
		shoot(step.seconds)
	}
	compareTo(t, filepath.Join(pictures, "tour.cast"), b.String())
}

func compareTo(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the screen shows now; 'make screenshots' draws the pictures anew", golden)
	}
}
