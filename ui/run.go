package ui

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"
)

// Terminal is what the program runs on.
type Terminal struct {
	In, Out *os.File
	Environ []string
	// Clipboard is the system's; its Put is nil if there is none at hand.
	Clipboard Clipboard
}

// Clipboard is a program that puts text on a clipboard.
type Clipboard struct {
	Name string
	Put  func(text string) error
}

// owner says whose clipboard it is.
func (c *Clipboard) owner() string {
	if c.Name == "tmux" { // its own, and none of the desktop's
		return c.Name
	}
	return "the system (" + c.Name + ")"
}

// SignalError is the error of a program that a signal ended.
type SignalError struct{ os.Signal }

func (s SignalError) Error() string { return "ended by signal: " + s.Signal.String() }

// Run shows the screens until the user leaves. The terminal is as it was afterwards,
// whatever happens.
func Run(o Options, t Terminal) error {
	out := &screenWriter{File: t.Out}
	in := &inputFilter{File: t.In}
	if o.Copy == nil {
		o.Copy = func(text string) (string, error) { return copyText(out, t.Clipboard, text) }
	}
	dark, known := groundFromEnv(t.Environ)
	a := newApp(o, colorprofile.Detect(t.Out, t.Environ), dark || !known)
	if !known && a.profile > colorprofile.ASCII {
		a.ground = func() { _, _ = out.Write([]byte("\x1b]11;?\x1b\\")) }
	}
	g := &guard{app: a}
	p := tea.NewProgram(g, tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(maxFPS), tea.WithEnvironment(t.Environ), tea.WithoutSignalHandler())
	g.quit = p.Quit
	in.ground = func(dark bool) { p.Send(groundMsg{dark}) }
	in.ended = p.Quit
	told := make(chan os.Signal, 1)
	stop := quitOn(p, told)
	forget := (&stops{p: p, in: t.In}).watch()
	_, err := p.Run()
	forget()
	stop()
	select {
	case sig := <-told:
		return SignalError{sig}
	default:
	}
	if g.err != nil {
		return g.err
	}
	return err
}

// quitOn ends the program in its own way when a signal comes, which it puts into told.
func quitOn(p *tea.Program, told chan<- os.Signal) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endSignals...)
	go func() {
		if sig, ok := <-signals; ok {
			told <- sig
			p.Quit()
		}
	}()
	return func() { signal.Stop(signals) }
}

// guard is the program as bubbletea runs it. After a panic the program leaves as it does
// when it is told to: bubbletea's own way closes the terminal while it is being read.
type guard struct {
	app  *app
	quit func()
	err  error // what went wrong; nothing is done or drawn after it
}

func (g *guard) Init() tea.Cmd { return guarded(g.app.Init()) }

func (g *guard) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	defer g.catch()
	m = g
	if broken, ok := msg.(brokenMsg); ok && g.err == nil {
		g.err = broken.err
		return m, tea.Quit
	}
	if g.err == nil {
		_, cmd = g.app.Update(msg)
	}
	return m, guarded(cmd)
}

// guarded is a command whose panic is a message: bubbletea would leave in its own way
// there too, and not say what went wrong.
func guarded(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = brokenMsg{mistake(r)}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guarded(batch[i])
			}
		}
		return msg
	}
}

// mistake is a panic as an error. It ends with the cause: on a small terminal the stack would push it out of sight.
func mistake(r any) error {
	return fmt.Errorf("a mistake in mcptap, what led to it:\n%s\na mistake in mcptap: %v; please report it with the lines above", debug.Stack(), r)
}

func (g *guard) View() (picture string) {
	defer g.catch()
	if g.err == nil {
		picture = g.app.View()
	}
	return picture
}

func (g *guard) catch() {
	if r := recover(); r != nil {
		g.err = mistake(r)
		go g.quit() // it waits for the loop that is here now
	}
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
	// Within a picture lines don't wrap: a row that a terminal takes for longer than we
	// do, by some script's joined characters, then spoils no other row.
	beginPicture = "\x1b[?2026h\x1b[?7l"
	endPicture   = "\x1b[?7h\x1b[?2026l"
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
// own also over ssh, and the system's. It says which took it. Whether a terminal does,
// it does not tell.
func copyText(out *screenWriter, system Clipboard, text string) (where string, err error) {
	var took []string
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	fits := len(encoded) <= maxOSC52
	if fits {
		if _, err = out.Write([]byte("\x1b]52;c;" + encoded + "\x07")); err == nil {
			took = append(took, "the terminal")
		}
	}
	if system.Put != nil {
		if failed := system.Put(text); failed == nil {
			took = append(took, system.owner())
		} else {
			err = failed
		}
	}
	switch {
	case len(took) == 0 && err != nil:
		return "", err
	case len(took) > 0:
		return strings.Join(took, " and of ") + onlyWords(fits, err), nil
	}
	return "", fmt.Errorf("%d bytes are more than a terminal's clipboard takes, and there is no program for the system's (wl-copy, xclip, xsel, pbcopy or tmux)", len(text))
}

// onlyWords say why not all clipboards took a text; "" if they did.
func onlyWords(fits bool, err error) string {
	switch {
	case err != nil:
		return " only (" + err.Error() + ")"
	case !fits:
		return " only: it is more than a terminal takes"
	}
	return ""
}
