package ui

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"
)

// Terminal is what the program runs on.
type Terminal struct {
	In, Out *os.File
	Environ []string
	// Clipboard puts text on the system's clipboard; nil if there is none at hand.
	Clipboard func(text string) error
}

// Run shows the screens until the user leaves. The terminal is as it was afterwards,
// whatever happens.
func Run(o Options, t Terminal) error {
	out := &screenWriter{File: t.Out}
	in := &inputFilter{File: t.In}
	if o.Copy == nil {
		o.Copy = func(text string) error { return copyText(out, t.Clipboard, text) }
	}
	dark, known := groundFromEnv(t.Environ)
	a := newApp(o, colorprofile.Detect(t.Out, t.Environ), dark || !known)
	if !known && a.profile > colorprofile.ASCII {
		a.ground = func() { _, _ = out.Write([]byte("\x1b]11;?\x1b\\")) }
	}
	p := tea.NewProgram(a, tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(maxFPS), tea.WithEnvironment(t.Environ))
	in.ground = func(dark bool) { p.Send(groundMsg{dark}) }
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, hangupSignals...)
	defer signal.Stop(hangup)
	go func() {
		if _, ok := <-hangup; ok {
			p.Quit()
		}
	}()
	_, err := p.Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// maxFPS is how many pictures a second are drawn at most. A picture waits for its turn:
// with bubbletea's 60 that alone would be 16 ms after a key.
const maxFPS = 120

// groundFromEnv reads COLORFGBG, by which some terminals tell their colours.
func groundFromEnv(environ []string) (dark, known bool) {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, "COLORFGBG="); ok {
			bg := v[strings.LastIndexByte(v, ';')+1:]
			return bg != "7" && bg != "15", bg != "" && bg != "default"
		}
	}
	return true, false
}

// screenWriter hands each picture to the terminal as one, so that it is not seen half
// drawn (synchronized output; terminals that don't know it pass over it).
type screenWriter struct {
	*os.File
	mu sync.Mutex
}

const (
	beginPicture = "\x1b[?2026h"
	endPicture   = "\x1b[?2026l"
	// long is from which length on a write is a picture.
	longWrite = 64
)

func (w *screenWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(b) < longWrite {
		return w.File.Write(b)
	}
	all := make([]byte, 0, len(b)+len(beginPicture)+len(endPicture))
	all = append(append(append(all, beginPicture...), b...), endPicture...)
	if _, err := w.File.Write(all); err != nil {
		return 0, err
	}
	return len(b), nil
}

// maxOSC52 is what terminals take of a clipboard sequence.
const maxOSC52 = 100_000

// copyText puts text on the clipboards there are: the terminal's, which is the user's
// own also over ssh, and the system's.
func copyText(out *screenWriter, system func(string) error, text string) error {
	var err error
	if system != nil {
		err = system(text)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	if len(encoded) > maxOSC52 {
		if system == nil {
			return fmt.Errorf("%d bytes are more than a terminal's clipboard takes, and there is no program for the system's (wl-copy, xclip, xsel or pbcopy)", len(text))
		}
		return err
	}
	if _, writeErr := out.Write([]byte("\x1b]52;c;" + encoded + "\x07")); writeErr != nil {
		return writeErr
	}
	return nil
}
