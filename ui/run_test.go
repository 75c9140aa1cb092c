//go:build unix

package ui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestPanic: a program that breaks down gives the terminal back.
func TestPanic(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		st, err := term.GetState(int(tty.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%+v", *st)
	}
	before := state()
	var written lockedBuffer
	go func() { _, _ = io.Copy(&written, master) }()
	stdout, stderr := os.Stdout, os.Stderr // bubbletea prints there what happened
	os.Stdout, os.Stderr = tty, tty
	err = Run(Options{Store: testStore(t), Now: func() time.Time { panic("broken on purpose") }}, Terminal{In: tty, Out: tty, Environ: []string{"TERM=xterm-256color", "COLORFGBG=15;0"}})
	os.Stdout, os.Stderr = stdout, stderr
	if err == nil || !strings.Contains(err.Error(), "a mistake in mcptap: broken on purpose") || !strings.Contains(err.Error(), "sessionlist.go") {
		t.Errorf("the error does not say what went wrong, and where: %v", err)
	}
	if after := state(); after != before {
		t.Errorf("the terminal is in another state:\n%s\n%s", after, before)
	}
	for !strings.Contains(written.String(), "\x1b[?1049l") {
		time.Sleep(time.Millisecond)
	}
	if w := written.String(); strings.LastIndex(w, "\x1b[?25h") < strings.LastIndex(w, "\x1b[?25l") || strings.LastIndex(w, "\x1b[?1002l") < strings.LastIndex(w, "\x1b[?1002h") {
		t.Errorf("the cursor or the mouse is not given back: %q", w)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestInputFilter: answers of a terminal are taken out of what is typed, however they
// are cut.
func TestInputFilter(t *testing.T) {
	const in = "a\x1b]11;rgb:ffff/ffff/ffff\x07b\x1b[?62;4cc\x1b[A\x1b]d\x1bP>|term 1.0\x1b\\e\x1b[<0;1;1Mf\x1b[?2026;2$yg"
	const want = "abc\x1b[A\x1b]de\x1b[<0;1;1Mfg"
	for cut := range len(in) {
		grounds := make(chan bool, 1)
		f := &inputFilter{ground: func(dark bool) { grounds <- dark }}
		got := string(f.filter([]byte(in[:cut]))) + string(f.filter([]byte(in[cut:])))
		lone := cut > 0 && in[cut-1] == 0x1b || cut > 1 && in[cut-2:cut] == "\x1b]" || cut > 1 && in[cut-2:cut] == "\x1bP" || cut > 1 && in[cut-2:cut] == "\x1b["
		if got != want && !lone { // an escape at the end of a read is the key of that name
			t.Errorf("cut at %d: %q, want %q", cut, got, want)
		}
		if !lone && <-grounds {
			t.Error("white is dark")
		}
	}
}

func FuzzInputFilter(f *testing.F) {
	f.Add([]byte("a\x1b]11;rgb:ffff/ffff/ffff\x07b\x1b[?62;4cc"), 5)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		filter := &inputFilter{}
		cut = min(max(cut, 0), len(b))
		for _, piece := range [][]byte{b[:cut], b[cut:]} {
			if got := filter.filter(bytes.Clone(piece)); len(got) > len(piece) {
				t.Fatalf("%d bytes from %d", len(got), len(piece))
			}
		}
	})
}

func TestGroundFromEnv(t *testing.T) {
	for env, want := range map[string][2]bool{"COLORFGBG=15;0": {true, true}, "COLORFGBG=0;15": {false, true}, "COLORFGBG=0;default;15": {false, true}, "COLORFGBG=": {true, false}, "X=1": {true, false}} {
		if dark, known := groundFromEnv([]string{env}); dark != want[0] && known || known != want[1] {
			t.Errorf("%s: dark %v, known %v", env, dark, known)
		}
	}
}

var _ tea.Model = (*app)(nil)
