//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// sampleStore has the sessions of the screens' own tests.
func sampleStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../ui/testdata/store")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBrowse(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t))
	s.wait("3 recordings", "tickets-modern", "1 tool 1 protocol 1 hidden")
	s.keys("\r")
	s.wait("server/discover", "✗ tool", "✗ protocol", "? hidden")
	s.keys("e")
	s.wait("frame 11 result", "▌ tool error: Error executing tool add_comment: No ticket T-999")
	row := s.row("No ticket T-999")
	if got, other := s.ground(20, row), s.ground(20, row-1); got != "2a3546" || other != "" {
		t.Errorf("the cursor's row has background %q, the one above it %q", got, other)
	}
	s.keys("/tool:assign*\r")
	s.wait("1 of 11", "frame 15 result")
	s.keys("i")
	s.wait("TOOL-21")
	s.keys("\x1b")
	s.wait("─ calls")
	s.keys("?")
	s.wait("the keys that work here")
	s.keys("q")
	s.ends(0)
}

// TestBrowseOne opens a session at once, in a small terminal, and copies.
func TestBrowseOne(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 40, 10, "--dir", sampleStore(t), "browse", "tickets-legacy")
	s.wait("initialize", "✓")
	s.keys("e")
	s.wait("◉")
	s.keys("y")
	s.wait("copied the frame 12")
	_, rest, found := strings.Cut(s.written(), "\x1b]52;c;")
	encoded, _, _ := strings.Cut(rest, "\x07")
	if b, err := base64.StdEncoding.DecodeString(encoded); !found || err != nil || !strings.HasPrefix(string(b), `{"jsonrpc":"2.0","id":5,"result":`) {
		t.Errorf("the clipboard got %q", b)
	}
	s.keys("\x03")
	s.ends(0)
}

// TestBrowseSamples opens what the program brings with it, and leaves nothing behind.
func TestBrowseSamples(t *testing.T) {
	for _, how := range []string{"q", "SIGTERM"} {
		scratch := t.TempDir()
		t.Setenv("TMPDIR", scratch)
		s := onScreen(t, 100, 30, "--dir", sampleStore(t), "browse", "--samples")
		s.wait("6 recordings", "rounds", "rough")
		s.keys("/school\r\r")
		s.wait("detail_anak", "? hidden")
		if how == "q" {
			s.keys("q")
		} else {
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		}
		_ = s.cmd.Wait()
		if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
			t.Errorf("after %s there are %v (%v)", how, left, err)
		}
	}
}

// TestBrowseMouse clicks as a terminal reports it, scrolls, and pastes.
func TestBrowseMouse(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t))
	s.wait("school")
	click := func(x, y int) { s.keys(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1)) }
	row := s.row("school")
	click(10, row)
	s.until(func(string) bool { return s.ground(20, row) == "2a3546" })
	click(10, row)
	s.wait("menu week=49")
	click(10, s.row("menu week=49"))
	s.wait("frame 10 result", "JSON in a string")
	s.keys("\t/ラーメン\r")
	s.wait("dish \"漢字ラーメン\"", "days.0.dish")
	s.keys("\x1b[200~Dyq\x1b[201~") // a paste is no command
	click(30, 29)                   // the footer: one of its keys, or nothing
	s.keys("\x1b[<64;10;5M\x1b[<65;10;5M?")
	s.wait("the keys that work here")
	s.keys("q")
	s.ends(0)
}

// TestBrowseGround: the colours suit the terminal's background, and answers that come
// late are no keys.
func TestBrowseGround(t *testing.T) {
	t.Parallel()
	s := startOnScreen(t, 80, 24, true, "--dir", sampleStore(t))
	s.wait("3 recordings")
	s.until(func(string) bool { return s.ground(20, 3) == "d6e6fa" })
	s.keys("\x1b]11;rgb:0000/0000/0000\x07\x1b[?62;4c\x1b]10;rgb:ff")
	s.keys("ff/ffff/ffff\x1b\\?")
	s.wait("the keys that work here")
	s.keys("q")
	s.ends(0)
}

// TestBrowseSignals: the terminal is given back when the program is told to end, and the
// exit status names the signal, as a shell does; a key that ends it is no signal.
func TestBrowseSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := onScreen(t, 80, 24, "--dir", sampleStore(t), "browse", "school")
			s.wait("menu week=49")
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.ends(128 + int(sig))
		})
	}
	s := onScreen(t, 80, 24, "--dir", sampleStore(t), "browse", "school")
	s.wait("menu week=49")
	s.keys("\x03")
	s.ends(0)
}

// TestBrowseDrag draws the lines between the panes with the mouse, as a terminal reports
// it: pressed, moved, let go.
func TestBrowseDrag(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 140, 40, "--dir", sampleStore(t), "browse", "tickets-modern")
	s.wait("server/discover", "─ frame", "what the model reads")
	drag := func(x, y, toX, toY int) {
		s.keys(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<32;%d;%dM\x1b[<32;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, (x+toX)/2+1, (y+toY)/2+1, toX+1, toY+1, toX+1, toY+1))
	}
	from := s.row("─ frame")
	drag(10, from, 10, from+6)
	s.until(func(string) bool { row := s.row("─ frame"); return row == from+6 || row == from+5 })
	column := func() int { return len([]rune(strings.Split(strings.Split(s.text(), "\n")[1], "┬")[0])) }
	at := column()
	drag(at, 10, at-15, 10)
	s.until(func(string) bool { return max(column(), at-15)-min(column(), at-15) <= 1 }) // panes are in percent
	s.keys("q")
	s.ends(0)
}

// TestBrowseGone: a recording that is deleted while it is open says so, and the screens
// go on.
func TestBrowseGone(t *testing.T) {
	t.Parallel()
	store := sampleStore(t)
	s := onScreen(t, 80, 24, "--dir", store, "browse", "tickets-modern")
	s.wait("server/discover")
	if err := os.Remove(filepath.Join(store, "20261130T125130Z-tickets-modern-3c4d.jsonl")); err != nil {
		t.Fatal(err)
	}
	s.wait("the recording was deleted; what was read stays here until you leave", "✗ deleted")
	s.keys("e")
	s.wait("frame 11 result", "the recording was deleted")
	s.keys("\x0c\x7f") // draws anew, and goes back
	s.wait("2 recordings")
	s.keys("q")
	s.ends(0)
}

// TestBrowseResize resizes the terminal again and again while keys are pressed; at the
// end the screen has the last size.
func TestBrowseResize(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t), "browse", "tickets-modern")
	s.wait("server/discover")
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		s.resize(20+r.IntN(200), 5+r.IntN(60))
		s.keys(string("jkfrsez+-"[r.IntN(9)]))
	}
	s.resize(91, 27)
	s.keys("q")
	s.ends(0)

	s = onScreen(t, 30, 8, "--dir", sampleStore(t), "browse", "tickets-modern")
	s.wait("server/disc")
	s.resize(91, 27)
	s.until(func(screen string) bool {
		lines := strings.Split(screen, "\n")
		return len(lines) == 27 && strings.Contains(lines[26], "? help") && ansi.StringWidth(strings.TrimRight(lines[1], "\n")) == 91
	})
	s.keys("q")
	s.ends(0)
}

// TestBrowseLive: four sessions that begin while the list is open show up in it, and
// one is followed to its last frame.
func TestBrowseLive(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	s := onScreen(t, 100, 30, "--dir", store)
	s.wait("Nothing is recorded yet")
	var ins []io.WriteCloser
	var taps []*exec.Cmd
	for i := range 4 {
		c := exec.Command("mcptap", "--dir", store, "--label", fmt.Sprint("live", i), "--", "fakeserver", "echo")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
		ins, taps = append(ins, in), append(taps, c)
	}
	s.wait("live0", "live1", "live2", "live3", "●")
	const frames = 500
	for i, in := range ins {
		for n := range frames {
			if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","method":"n%d/%d"}`+"\n", i, n+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.keys("g\r")
	s.wait("● live", fmt.Sprintf("/%d", frames))
	for i := range ins {
		if err := ins[i].Close(); err != nil {
			t.Fatal(err)
		}
		if err := taps[i].Wait(); err != nil {
			t.Fatal(err)
		}
	}
	s.until(func(screen string) bool { return !strings.Contains(screen, "● live") })
	s.keys("f\x1b[F") // every frame, and the last of them
	s.wait(fmt.Sprintf("frame %d ", 2*frames))
	s.keys("q")
	s.ends(0)
}

// TestNothingIsAskedOfTheTerminal: commands other than the screens write nothing to a
// terminal but their output, and wait for no answer. (Bubbletea asks for the background
// colour as soon as it is part of a program.)
func TestNothingIsAskedOfTheTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"--dir", t.TempDir(), "--", "fakeserver", "exit=0"}} {
		if out := onTerminal(t, 80, "NO_COLOR=1", args...); strings.Contains(out, "\x1b") {
			t.Errorf("%v wrote %q", args, out)
		}
	}
}

// TestDemoOpensTheScreens: on a terminal the demo ends in what it recorded.
func TestDemoOpensTheScreens(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", t.TempDir(), "demo")
	s.wait("2 recordings", "demo-modern", "demo-legacy", "1 tool 1 protocol 1 hidden")
	s.keys("q")
	s.ends(0)
}

// TestBrowseRent: what tools cost, in a small and in a common terminal, and back to the
// frame that listed one.
func TestBrowseRent(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 15}, {100, 30}} {
		s := onScreen(t, size[0], size[1], "--dir", sampleStore(t), "browse", "tickets-legacy")
		s.wait("initialize", "── turn 1")
		s.keys("r")
		s.wait("tokens of tools in a request", "assign_ticket", "not cached", "~$0.00")
		s.keys("ooo")
		s.wait("add_comment")
		s.keys("\r")
		s.wait("result of tools/list")
		s.keys("\x03")
		s.ends(0)
	}
}

// TestBrowseDiff chooses the other session, looks at what differs, and opens it there.
func TestBrowseDiff(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t), "browse", "tickets-legacy")
	s.wait("initialize")
	s.keys("d")
	s.wait("with which?", "tickets-modern")
	s.keys("\x1b[B\r")
	s.until(func(screen string) bool {
		return strings.Contains(screen, "B school") || strings.Contains(screen, "B tickets-modern")
	})
	s.keys("\x1b")
	s.wait("─ calls")
	s.keys("d")
	s.wait("with which?", "tickets-modern")
	s.keys("\r")
	s.wait("same work?", "yes: 9 operations on both sides", "what costs what?", "_meta")
	s.keys("jjj")
	s.wait("the same, in other bytes: +301")
	s.keys("O")
	s.wait("frame 8 request tools/call add_comment")
	s.keys("\x1b")
	s.wait("same work?")
	s.keys("\r")
	s.wait("tickets-legacy", "frame 9 request tools/call add_comment")
	s.keys("q")
	s.ends(0)
}

// TestBrowseSearch asks for a tool, key by key, with each engine.
func TestBrowseSearch(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 80, 24, "--dir", sampleStore(t), "browse", "tickets-modern")
	s.wait("server/discover")
	s.keys("Sassign")
	s.wait("“assign” gives the model 1 tool of 3", "✓ yes", "[regex]")
	s.keys("\t")
	s.wait("[bm25]")
	s.keys("\t")
	s.wait("[claude-code]", "BM25 stands in")
	s.keys("\r\r")
	s.wait("─ calls", "result of tools/list")
	s.keys("q")
	s.ends(0)
}

// TestBrowseSave saves what a filter selects to a new file, and never over it.
func TestBrowseSave(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "part.jsonl")
	s := onScreen(t, 200, 24, "--dir", sampleStore(t), "browse", "tickets-modern")
	s.wait("server/discover")
	s.keys("/tool:add_*\rw\x15" + to + "\r")
	s.wait("saved 4 of 21 frames")
	s.keys("w\x15" + to + "\r")
	s.wait("it is there already; choose another name")
	s.keys("\x1b")
	s.until(func(screen string) bool {
		return strings.Contains(screen, "2 of 11") && !strings.Contains(screen, "save as")
	})
	s.keys("q")
	s.ends(0)
	if b, err := os.ReadFile(to); err != nil || !strings.Contains(string(b), "add_comment") || strings.Contains(string(b), "search_tickets") {
		t.Errorf("the file has %q, %v", b, err)
	}
}

// TestBrowseFind searches all recordings, goes to a hit and comes back to it.
func TestBrowseFind(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t))
	s.wait("3 recordings")
	s.keys("FT-999\r")
	s.wait("2 hits, searched 3 recordings", "tickets-modern", "«T-999»", "tickets-legacy")
	s.keys("\x1b[B\x1b[B\r")
	s.wait("─ calls", "request tools/call add_comment", "T-999")
	s.keys("\x1b")
	s.wait("2 hits, searched 3 recordings", "of 20261130T125000Z-tickets-legacy-1a2b")
	s.keys("/\x15no such thing\r")
	s.wait("No recording has it")
	s.keys("\x1b")
	s.wait("3 recordings", "calls")
	s.keys("q")
	s.ends(0)
}
