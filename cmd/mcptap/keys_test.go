//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// Scripts of keys in a terminal, of which the cells are looked at.

// framesOf are the frames of a recording, in their order.
func framesOf(t testing.TB, path string) (out []*tap.Frame) {
	t.Helper()
	for _, r := range taptest.Records(t, readFile(t, path)) {
		if r.Frame != nil {
			out = append(out, r.Frame)
		}
	}
	return out
}

func sampleOf(t testing.TB, store, label string) (path string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(store, "*-"+label+"-*.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d recordings of %s, %v", len(found), label, err)
	}
	return found[0]
}

var clipboardSequence = regexp.MustCompile(`\x1b\]52;c;([A-Za-z0-9+/=]*)(?:\x07|\x1b\\)`)

// copies are the texts that the program has put on the terminal's clipboard.
func (s *screenTest) copies() (out []string) {
	s.t.Helper()
	for _, m := range clipboardSequence.FindAllStringSubmatch(s.written(), -1) {
		b, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			s.t.Fatalf("what was copied is no base64: %v", err)
		}
		out = append(out, string(b))
	}
	return out
}

// copied presses a key that copies, and gives what it copied. If the key asks what is to
// be copied, it is the first thing offered.
func (s *screenTest) copied(key string) string {
	s.t.Helper()
	n, boxes := len(s.copies()), strings.Count(s.text(), "╭")
	s.keys(key)
	s.until(func(screen string) bool { return len(s.copies()) > n || strings.Count(screen, "╭") > boxes })
	if len(s.copies()) == n {
		s.keys("\r")
	}
	s.until(func(string) bool { return len(s.copies()) > n })
	return s.copies()[n]
}

// split is the row of the line between the upper and the lower pane.
func (s *screenTest) split() int {
	for y := 2; y < s.emu.Height()-2; y++ {
		if s.cell(0, y) == "─" {
			return y
		}
	}
	return -1
}

// pillar is the column of the line between the left and the right panes.
func (s *screenTest) pillar() int {
	return slices.IndexFunc(slices.Collect(func(yield func(string) bool) {
		for x := range s.emu.Width() {
			if !yield(s.cell(x, 1)) {
				return
			}
		}
	}), func(c string) bool { return c == "┬" })
}

// TestKeysFold unfolds a call into its frames, a frame's tree to its leaves, and folds
// them again: the cells are as before.
func TestKeysFold(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t), "browse", "tickets-legacy")
	s.wait("add_comment", "frame 3 ", "listChanged")
	s.fence()
	before, answers := s.picture(), strings.Count(s.text(), "←")
	s.keys("l")
	s.until(func(screen string) bool { return strings.Count(screen, "←") == answers+1 }) // its two frames
	s.keys("h")
	s.until(func(string) bool { return s.picture() == before })

	s.keys("\t")
	s.until(func(string) bool { return s.picture() != before })
	inFrame, leaf := s.picture(), regexp.MustCompile(`(?m)^ +(listChanged|subscribe) false`)
	if !leaf.MatchString(s.text()) {
		t.Errorf("no leaf is in view:\n%s", s.text())
	}
	s.keys("C")
	s.until(func(screen string) bool { return !leaf.MatchString(screen) })
	s.keys("E")
	s.until(func(screen string) bool { return leaf.MatchString(screen) && strings.Contains(screen, "▾") })
	s.keys("Cg")
	s.until(func(screen string) bool { return !leaf.MatchString(screen) && strings.Contains(screen, "▸") })
	if inFrame == s.picture() {
		t.Error("folding changed nothing")
	}
	s.keys("q")
	s.ends(0)
}

// TestKeysPlay plays a session: slowed down the cursor moves on by itself, and at full
// speed it comes to the last row, as the key for that does.
func TestKeysPlay(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t), "browse", "tickets-legacy")
	s.wait("add_comment", "frame 3 ")
	s.fence()
	cursor := func() int {
		if rows := s.lit(50); len(rows) > 0 {
			return rows[0]
		}
		return -1
	}
	first, split := cursor(), s.split()
	if first < 2 || first >= split {
		t.Fatalf("the cursor is in row %d, and the frame begins in row %d:\n%s", first, split, s.text())
	}
	s.keys("G")
	s.until(func(string) bool { return cursor() > first && cursor() < split })
	s.fence()
	last, end := cursor(), s.text()
	s.keys("g")
	s.until(func(string) bool { return cursor() == first })
	s.keys(strings.Repeat("<", 9) + " ")
	s.until(func(string) bool { return cursor() > first })
	s.keys(" ")
	s.fence()
	if at := cursor(); at <= first || at >= split {
		t.Errorf("stopped in row %d", at)
	}
	s.keys(strings.Repeat(">", 9) + " ")
	s.until(func(screen string) bool {
		return cursor() == last && strings.Split(screen, "\n")[last] == strings.Split(end, "\n")[last]
	})
	s.keys("q")
	s.ends(0)
}

// TestKeysMark marks a frame with a note, which is there after a restart, and which a
// filter finds.
func TestKeysMark(t *testing.T) {
	t.Parallel()
	store := sampleStore(t)
	const note = "look at 漢字 here"
	open := func() *screenTest {
		s := onScreen(t, 100, 30, "--dir", store, "browse", "tickets-legacy")
		s.wait("add_comment", "frame 3 ")
		s.keys("ee") // a protocol error, which fails at frame 14
		s.wait("frame 14 ")
		return s
	}
	s := open()
	if strings.Contains(s.text(), "★") {
		t.Fatal("there is a mark already")
	}
	s.keys("N" + note)
	s.wait(note)
	s.keys("\r")
	s.wait("★ " + note)
	s.keys("q")
	s.ends(0)

	s = open()
	s.wait("★ " + note)
	s.keys("/mark:yes\r")
	s.until(func(screen string) bool {
		return strings.Contains(screen, "close_ticket") && !strings.Contains(screen, "assign_ticket")
	})
	s.keys("b") // takes it away
	s.until(func(screen string) bool { return !strings.Contains(screen, "★") })
	s.fence()
	s.keys("q")
	s.ends(0)

	s = open()
	s.fence()
	if strings.Contains(s.text(), "★") {
		t.Errorf("the mark came back:\n%s", s.text())
	}
	s.keys("q")
	s.ends(0)
}

// TestKeysCopy copies every frame of a session, and values and their paths: what the
// terminal's clipboard gets are the bytes that crossed.
func TestKeysCopy(t *testing.T) {
	t.Parallel()
	store := sampleStore(t)
	s := onScreen(t, 100, 30, "--dir", store, "browse", "tickets-legacy")
	s.wait("add_comment", "frame 3 ")
	s.keys("fg")
	frames := framesOf(t, sampleOf(t, store, "tickets-legacy"))
	for i, f := range frames {
		s.wait(fmt.Sprintf("─ frame %d ", f.N))
		if got := s.copied("y"); got != string(f.Body) {
			t.Errorf("frame %d was copied as\n%s\nand is\n%s", f.N, got, f.Body)
		}
		if i < len(frames)-1 {
			s.keys("j")
		}
	}
	s.keys("g\t")
	s.wait("─ frame 1 ")
	s.keys("E")
	for range 6 {
		s.keys("j")
		s.fence()
		path, value := s.copied("Y"), s.copied("y")
		if want := gjson.GetBytes(frames[0].Body, path); !want.Exists() || value != want.Raw {
			t.Errorf("at %s the value %s was copied; it is %s", path, value, want.Raw)
		}
	}
	s.keys("q")
	s.ends(0)
}

// TestKeysDrag moves the lines between panes with the mouse, as a terminal reports it.
func TestKeysDrag(t *testing.T) {
	t.Parallel()
	mouse := func(button, x, y int, end string) string {
		return fmt.Sprintf("\x1b[<%d;%d;%d%s", button, x+1, y+1, end)
	}
	near := func(a, b int) bool { return a-b <= 2 && b-a <= 2 }
	for _, w := range []int{100, 150} { // panes above, and beside each other
		s := onScreen(t, w, 40, "--dir", sampleStore(t), "browse", "tickets-legacy")
		s.wait("add_comment", "frame 3 ")
		s.fence()
		drag := func(where func() int, at func(n int) (x, y int), by int) {
			t.Helper()
			from := where()
			if from < 0 {
				t.Fatalf("there is no such line at %d columns:\n%s", w, s.text())
			}
			x, y := at(from)
			s.keys(mouse(0, x, y, "M"))
			for step := 1; step <= max(by, -by); step++ {
				x, y = at(from + step*by/max(by, -by))
				s.keys(mouse(32, x, y, "M"))
			}
			s.until(func(string) bool { return near(where(), from+by) && where() != from })
			s.keys(mouse(0, x, y, "m"))
			s.fence()
			put := where()
			x, y = at(from)
			s.keys(mouse(35, x, y, "M")) // moved without a button: nothing holds the line any more
			s.fence()
			if where() != put {
				t.Errorf("the line moved from %d to %d after it was let go", put, where())
			}
		}
		row, column := func(n int) (x, y int) { return 5, n }, func(n int) (x, y int) { return n, 1 + 20 }
		if w == 100 {
			drag(s.split, row, -7)
			drag(s.split, row, 9)
		} else {
			drag(s.pillar, column, -12)
			drag(s.pillar, column, 20)
		}
		s.keys("q")
		s.ends(0)
	}
}

// TestKeysLeave: every way out gives the terminal back; TestBrowseSignals has signals.
func TestKeysLeave(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"q": "q", "ctrl+c": "\x03", "in help": "?q", "in a prompt": "/tool\x03", "in the palette": ":\x03", "in a report": "rq", "while it plays": " q"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onScreen(t, 80, 24, "--dir", sampleStore(t), "browse", "school")
			s.wait("menu week=49")
			if !s.emu.IsAltScreen() {
				t.Error("it is not on the alternate screen")
			}
			s.keys(keys)
			s.ends(0)
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.emu.IsAltScreen() || s.emu.CursorHidden() {
				t.Errorf("alternate screen: %v, hidden cursor: %v", s.emu.IsAltScreen(), s.emu.CursorHidden())
			}
		})
	}
}

// TestKeysSuspend: where no shell could take the program up again, it goes on.
func TestKeysSuspend(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 80, 24, "--dir", sampleStore(t), "browse", "school")
	s.wait("menu week=49")
	s.keys("\x1a")
	s.fence()
	s.keys("q")
	s.ends(0)
}

// TestKeysClosedTerminal: a program whose terminal is gone ends, whether it hears of
// that by a signal or only when it reads.
func TestKeysClosedTerminal(t *testing.T) {
	t.Parallel()
	for name, leader := range map[string]bool{"with a signal": true, "without a signal": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
				t.Fatal(err)
			}
			c := exec.Command("mcptap", "--dir", sampleStore(t), "browse", "school")
			c.Env = append(c.Environ(), "TERM=xterm-256color", "COLORFGBG=15;0")
			c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: leader, Setctty: leader}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Process.Kill() })
			if err := tty.Close(); err != nil {
				t.Fatal(err)
			}
			// Nobody may be reading when the terminal is closed: that would keep it open.
			var shown []byte
			for b := make([]byte, 4096); !bytes.Contains(shown, []byte("menu")); {
				n, err := master.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				shown = append(shown, b[:n]...)
			}
			if err := master.Close(); err != nil {
				t.Fatal(err)
			}
			closed := time.Now()
			_ = c.Wait() // for ever, if it does not end: the limit of the whole test
			t.Logf("ended after %v: %v", time.Since(closed).Round(time.Millisecond), c.ProcessState)
		})
	}
}

// TestKeysPanic: a mistake in the program gives the terminal back and says what it was,
// whether it is made where messages are taken or in what reads beside that.
func TestKeysPanic(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"(*app).Update", "(*Feed).Advance"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			c := exec.Command("broken-mcptap", "--dir", sampleStore(t))
			c.Env = append(c.Environ(), "BROKEN_IN="+where)
			s := commandOnScreen(t, 100, 120, false, c) // so that all of a stack is in view
			s.wait("school")
			s.keys("\r") // from then on something is broken
			s.ends(1)
			s.wait("mcptap: ", "broken on purpose")
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.emu.IsAltScreen() || s.emu.CursorHidden() {
				t.Errorf("alternate screen: %v, hidden cursor: %v", s.emu.IsAltScreen(), s.emu.CursorHidden())
			}
			_, said, _ := strings.Cut(s.raw.String(), "\x1b[?1049l")
			for line := range strings.Lines(said) { // a terminal in raw mode would draw stairs
				if !strings.HasSuffix(line, "\r\n") {
					t.Errorf("this line does not end as lines on a terminal do: %q", line)
				}
			}
		})
	}
}

// storm are keys that move about and look around; none leaves the session.
var storm = []string{"j", "k", "J", "\x1b[B", "\x1b[A", "\x06", "\x02", "g", "G", "e", "ff", "s", "l", "h", "E", "C", "]", "[", "\t",
	"?\x7f", "r\x7f", "t\x7f", "i\x7f", "p\x7f", "\x1b[<64;9;9M", "\x1b[<65;9;9M"}

// TestKeysResizeStorm resizes the terminal again and again while keys are pressed. When
// it is over, every cell is as on a terminal that always had that size.
func TestKeysResizeStorm(t *testing.T) {
	t.Parallel()
	const w, h = 118, 33
	settle := func(s *screenTest) {
		s.keys("\x1b[<0;4;4M\x1b[<0;4;4m") // the calls have the focus
		s.fence()
		s.keys("mmffGg") // what is unfolded, and the other panes, begin anew
		s.fence()
	}
	store := sampleStore(t)
	fresh := onScreen(t, w, h, "--dir", store, "browse", "tickets-modern")
	fresh.wait("server/discover", "frame 3 ")
	settle(fresh)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := onScreen(t, w, h, "--dir", store, "browse", "tickets-modern")
			s.wait("server/discover", "frame 3 ")
			s.fence()
			r := rand.New(rand.NewPCG(seed, 5))
			for range 120 {
				s.resize(20+r.IntN(200), 5+r.IntN(60))
				s.keys(storm[r.IntN(len(storm))])
			}
			s.resize(w, h)
			s.fence()
			settle(s)
			s.untilSame(fresh)
			s.keys("q")
			s.ends(0)
		})
	}
	fresh.keys("q")
	fresh.ends(0)
}

// untilSame waits until every cell of two terminals is the same.
func (s *screenTest) untilSame(other *screenTest) {
	s.t.Helper()
	s.orElse(func(string) bool { return s.picture() == other.picture() }, func() {
		s.t.Fatalf("the cells differ (- is as it should be):\n%s", cmp.Diff(strings.Split(other.picture(), "\n"), strings.Split(s.picture(), "\n")))
	})
}

// TestKeysEscTwice: two escapes that come in one piece are two.
func TestKeysEscTwice(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 30, "--dir", sampleStore(t), "browse", "tickets-modern")
	s.wait("server/discover")
	s.keys("/tool:add_*\r")
	s.wait("2 of 11")
	s.keys("\t")
	s.fence()
	s.keys("\x1b\x1b") // from the frame to the calls, and the filter away
	s.wait("search_tickets")
	s.keys("q")
	s.ends(0)
}
