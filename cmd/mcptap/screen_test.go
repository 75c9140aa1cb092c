//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// screenTest is the program on a terminal: a pseudo-terminal, and behind it an emulator
// whose cells the tests look at.
type screenTest struct {
	t     testing.TB
	cmd   *exec.Cmd
	pty   *os.File
	tty   *os.File
	state string // of the terminal before
	light bool   // the terminal's background

	fences int // that there were

	mu      sync.Mutex
	emu     *vt.Emulator
	raw     bytes.Buffer // all that was written to the terminal
	undrawn []byte       // the beginning of a picture
	onDrawn func(screen string)
	drawn   chan struct{}
	closed  chan struct{}
}

// onScreen starts mcptap on a terminal of w by h cells.
func onScreen(t testing.TB, w, h int, args ...string) *screenTest {
	t.Helper()
	return startOnScreen(t, w, h, false, args...)
}

func startOnScreen(t testing.TB, w, h int, light bool, args ...string) *screenTest {
	t.Helper()
	return commandOnScreen(t, w, h, light, exec.Command("mcptap", args...))
}

// commandOnScreen starts a command in a session of its own, with the terminal that it is
// on as its controlling one.
func commandOnScreen(t testing.TB, w, h int, light bool, cmd *exec.Cmd) *screenTest {
	t.Helper()
	return onScreenOf(t, w, h, light, true, cmd)
}

// onScreenOf is commandOnScreen for a command that leads a session of its own, or not.
func onScreenOf(t testing.TB, w, h int, light, leader bool, cmd *exec.Cmd) *screenTest {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &screenTest{t: t, pty: master, tty: tty, light: light, emu: vt.NewEmulator(w, h), drawn: make(chan struct{}, 1), closed: make(chan struct{})}
	if err := pty.Setsize(master, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		t.Fatal(err)
	}
	s.state = s.termios()
	s.cmd = cmd
	s.cmd.Env = append(s.cmd.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=", "COLORFGBG=", "TMUX=")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: leader, Setctty: leader} // a leader hears of a new size
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.pump()
	go s.discard()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = tty.Close()
		_ = master.Close()
		<-s.closed
	})
	return s
}

// resize makes the terminal another size.
func (s *screenTest) resize(w, h int) {
	s.t.Helper()
	s.mu.Lock()
	s.emu.Resize(w, h)
	s.mu.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screenTest) termios() string {
	st, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%+v", *st)
}

// pump draws what the program writes, and answers what it asks.
func (s *screenTest) pump() {
	defer close(s.closed)
	b := make([]byte, 64<<10)
	for {
		n, err := s.pty.Read(b)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.raw.Write(b[:n])
		s.undrawn = append(s.undrawn, b[:n]...)
		whole := wholePictures(s.undrawn)
		_, _ = s.emu.Write(s.undrawn[:whole])
		s.undrawn = s.undrawn[whole:]
		if s.onDrawn != nil {
			s.onDrawn(s.emu.String())
		}
		s.mu.Unlock()
		if s.light && bytes.Contains(b[:n], []byte("\x1b]11;?")) {
			_, _ = s.pty.WriteString("\x1b]11;rgb:ffff/ffff/f0f0\x1b\\")
		}
		select {
		case s.drawn <- struct{}{}:
		default:
		}
	}
}

// wholePictures is how much of what a terminal was sent it draws now: synchronized output
// is drawn when all of it is there.
func wholePictures(b []byte) int {
	begin, end := []byte("\x1b[?2026h"), []byte("\x1b[?2026l")
	if at := bytes.LastIndex(b, begin); at > bytes.LastIndex(b, end) {
		return at
	}
	if at := bytes.LastIndexByte(b, 0x1b); at >= 0 && bytes.HasPrefix(begin, b[at:]) {
		return at
	}
	return len(b)
}

// discard takes the emulator's own answers, which nobody waits for.
func (s *screenTest) discard() {
	b := make([]byte, 4096)
	for {
		if _, err := s.emu.Read(b); err != nil {
			return
		}
	}
}

func (s *screenTest) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emu.String()
}

// picture is every cell with its colours.
func (s *screenTest) picture() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emu.Render()
}

// cell is what stands in a cell.
func (s *screenTest) cell(x, y int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.emu.CellAt(x, y); c != nil {
		return c.Content
	}
	return ""
}

func (s *screenTest) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// patience is how long a picture may take, on the slowest machine.
const patience = time.Minute

// wait waits for a picture that has all of this.
func (s *screenTest) wait(what ...string) {
	s.t.Helper()
	s.until(func(screen string) bool {
		for _, w := range what {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	})
}

// fence waits until all keys before it have been taken: it opens the palette, types a
// word there that occurs nowhere else, and closes it again.
func (s *screenTest) fence() {
	s.t.Helper()
	s.keys(":")
	s.fences++
	word := fmt.Sprintf("zq%dqz", s.fences)
	s.keys(word)
	s.wait(word)
	s.keys("\x1b")
	s.until(func(screen string) bool { return !strings.Contains(screen, word) })
}

// lit gives the rows, from 0, whose cells in a column have a background.
func (s *screenTest) lit(x int) (rows []int) {
	for y := range s.emu.Height() {
		if s.ground(x, y) != "" {
			rows = append(rows, y)
		}
	}
	return rows
}

func (s *screenTest) until(good func(screen string) bool) {
	s.t.Helper()
	s.orElse(good, func() { s.t.Fatalf("the picture never came; the screen is\n%s", s.text()) })
}

// orElse waits for a picture; if it never comes, it does something about it.
func (s *screenTest) orElse(good func(screen string) bool, never func()) {
	s.t.Helper()
	give := time.After(patience)
	for !good(s.text()) {
		select {
		case <-s.drawn:
		case <-give:
			never()
			return
		case <-s.closed:
			s.t.Fatalf("the terminal is closed, and the screen is\n%s", s.text())
		}
	}
}

func (s *screenTest) keys(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// row is the line of the screen that has a text, from 0; -1 if none has it.
func (s *screenTest) row(text string) int {
	for i, l := range strings.Split(s.text(), "\n") {
		if strings.Contains(l, text) {
			return i
		}
	}
	return -1
}

// ground is the background of a cell, as text.
func (s *screenTest) ground(x, y int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.emu.CellAt(x, y)
	if c == nil || c.Style.Bg == nil {
		return ""
	}
	r, g, b, _ := c.Style.Bg.RGBA()
	return fmt.Sprintf("%02x%02x%02x", r>>8, g>>8, b>>8)
}

// ends waits for the program's end and checks that the terminal is as it was.
func (s *screenTest) ends(status int) {
	s.t.Helper()
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("exit status %d, want %d", got, status)
	}
	if now := s.termios(); now != s.state {
		s.t.Errorf("the terminal is in another state:\n%s\n%s", now, s.state)
	}
	s.until(func(string) bool { return strings.Contains(s.written(), "\x1b[?1049l") })
	w := s.written()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?1006h": "\x1b[?1006l", "\x1b[?2004h": "\x1b[?2004l"} {
		if strings.LastIndex(w, off) < strings.LastIndex(w, on) {
			s.t.Errorf("%q was written, and not %q after it", on, off)
		}
	}
}
