package ui

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/internal/calm"
	"github.com/mcptap/mcptap/ui/theme"
)

func init() { calm.Over() }

// Options are what the screens need from outside.
type Options struct {
	Store sessions.Store
	Open  string // path of the session to show first; "" for the list
	Now   func() time.Time
	Zone  *time.Location // for moments; nil: the local one
	Dir   string         // where new files go that are named without a folder
	Home  string         // what ~ means in names of files; "" if that is not known

	// Copy puts text on the clipboards there are, and says which they were.
	Copy func(text string) (where string, err error)
	// Filters is the help topic on the language of filters, its title in the first line.
	Filters string
	// Since compares a session with an earlier one of the same server.
	Since func(*sessions.Loaded) []rules.Finding
	// Sibling finds the other half of a session whose server was probed apart.
	Sibling func(*sessions.Loaded) (id, reason string)
	// Together finds the files of the sessions that make one conversation with a session:
	// those that the same host process had open at that time, and the probes of all.
	Together func(*sessions.Loaded) (paths []string)
	// Side makes a session comparable, with the probe that belongs to its opening.
	Side func(*sessions.Session, *sessions.Loaded) diff.Side
}

// screen is one of the screens. Its methods run in Update and View only.
type screen interface {
	place() place
	// do performs an action; ok is false if the screen has no such thing.
	do(id string) (cmd tea.Cmd, ok bool)
	// update takes what commands brought back. It drops what is for others.
	update(msg tea.Msg) tea.Cmd
	// click takes the mouse, in cells from the screen's upper left corner.
	click(m tea.MouseMsg) tea.Cmd
	// view draws exactly h lines of w cells.
	view(w, h int) []string
	close()
}

// env is what all screens share.
type env struct {
	Options
	th   *theme.Theme
	root *app
	tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// app is the root: it owns the screens, and what lies over them.
type app struct {
	env     *env
	profile colorprofile.Profile
	screens []screen // the last is shown
	w, h    int

	prompt  *prompt
	held    *prompt // that waits while something is read; it comes back with the screens there were
	depth   int     // how many those were
	palette *palette
	menu    *menu
	dialog  *dialog
	note    noteMsg
	noteID  int
	noteAt  time.Time

	ground func() // asks the terminal for its background; nil if it is known
}

func newApp(o Options, profile colorprofile.Profile, dark bool) *app {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	a := &app{env: &env{o, theme.New(profile, dark), nil, tea.Tick}, profile: profile}
	a.env.root = a
	a.screens = []screen{newSessionList(a.env)}
	return a
}

// Init starts the first commands.
func (a *app) Init() tea.Cmd {
	var cmds []tea.Cmd
	if a.env.Open != "" { // the list can wait until it is shown: summing up long sessions takes a while
		cmds = append(cmds, a.env.openSession(a.env.Open, -1))
	} else {
		cmds = append(cmds, a.screens[0].(*sessionList).start())
	}
	if ask := a.ground; ask != nil {
		cmds = append(cmds, func() tea.Msg { ask(); return nil }, a.env.tick(groundTime, func(time.Time) tea.Msg { return groundMsg{dark: true} }))
	}
	return tea.Batch(cmds...)
}

// Update routes a message to whom it concerns.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
		return a, a.everyScreen(msg)
	case tea.KeyMsg:
		return a, a.key(msg)
	case tea.MouseMsg:
		return a, a.mouse(msg)
	case openedMsg:
		return a, a.opened(msg)
	case groundMsg:
		a.setGround(msg.dark)
		return a, nil
	case noteMsg:
		return a, a.say(msg)
	case noteOverMsg:
		if msg.id == a.noteID {
			a.note = noteMsg{}
		}
		return a, nil
	}
	return a, a.everyScreen(msg)
}

// groundTime is how long the first picture waits for the terminal to tell its
// background: one that answers does so at once.
const groundTime = 120 * time.Millisecond

// setGround takes the first answer; the one that stands for silence comes last.
func (a *app) setGround(dark bool) {
	if a.ground != nil {
		a.ground = nil
		*a.env.th = *theme.New(a.profile, dark)
	}
}

// push shows a screen over the one there is, at once: a key that follows is for it.
func (a *app) push(s screen, cmd tea.Cmd) tea.Cmd {
	a.screens = append(a.screens, s)
	return tea.Batch(cmd, a.resize())
}

// replace shows a screen in place of the one on top.
func (a *app) replace(s screen) {
	a.top().close()
	a.screens[len(a.screens)-1] = s
}

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

func (a *app) everyScreen(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(a.screens))
	for _, s := range a.screens {
		cmds = append(cmds, s.update(msg))
	}
	return tea.Batch(cmds...)
}

func (a *app) resize() tea.Cmd {
	return a.top().update(tea.WindowSizeMsg{Width: a.w, Height: a.h})
}

func (a *app) top() screen { return a.screens[len(a.screens)-1] }

func (a *app) opened(msg openedMsg) tea.Cmd {
	if msg.err != nil {
		why := msg.err
		var known *fs.PathError
		if errors.As(why, &known) { // its path is said already
			why = known.Err
		}
		a.dialog = &dialog{title: "it can't be opened", lines: []string{"opening " + msg.path, " ", why.Error()}}
		return a.screens[0].(*sessionList).start()
	}
	s, cmd := newSession(a.env, msg.path, msg.feed, msg.goal)
	s.spot = msg.spot
	return a.push(s, tea.Batch(cmd, s.begin(msg.filter)))
}

// noteTime is how long a note stays, and for each byte of it.
const (
	noteTime    = 3 * time.Second
	noteReading = 40 * time.Millisecond
	// noteLeast is how long a note stays that a key comes upon.
	noteLeast = 700 * time.Millisecond
)

func (a *app) say(n noteMsg) tea.Cmd {
	a.note, a.noteAt = n, a.env.Now()
	a.noteID++
	id := a.noteID
	return a.env.tick(noteTime+time.Duration(len(n.text))*noteReading, func(time.Time) tea.Msg { return noteOverMsg{id} })
}

// key gives a key to what lies on top. Keys that come quickly arrive together: each is
// a key of its own, unless they are pasted.
func (a *app) key(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyEsc && k.Alt { // as a terminal writes it, that is the key twice
		esc := tea.KeyMsg{Type: tea.KeyEsc}
		return tea.Batch(a.oneKey(esc), a.oneKey(esc))
	}
	if k.Type != tea.KeyRunes || k.Paste || len(k.Runes) < 2 {
		return a.oneKey(k)
	}
	if a.prompt != nil && a.dialog == nil { // as one text: looking at it after each character would take too long
		return a.oneKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: k.Runes, Paste: true})
	}
	cmds := make([]tea.Cmd, len(k.Runes))
	for i, r := range k.Runes {
		cmds[i] = a.oneKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt})
	}
	return tea.Batch(cmds...)
}

func (a *app) oneKey(k tea.KeyMsg) tea.Cmd {
	name := k.String()
	if a.env.Now().Sub(a.noteAt) > noteLeast { // whoever goes on has read it
		a.note = noteMsg{}
	}
	switch name {
	case "ctrl+c":
		return a.quit()
	case "ctrl+z":
		return suspend()
	case "ctrl+l": // what spoils a screen may come while something lies over it
		return tea.ClearScreen
	}
	switch {
	case a.dialog != nil:
		return a.dialogKey(k)
	case a.menu != nil:
		return a.menuKey(k)
	case a.palette != nil:
		return a.paletteKey(k)
	case a.prompt != nil:
		return a.promptKey(k)
	case k.Paste: // text that was meant for a prompt is no string of commands
		return nil
	}
	if act := actionFor(k, a.top().place()); act != nil {
		return a.do(act.ID)
	}
	return nil
}

// do performs an action: the screen's, or the program's.
func (a *app) do(id string) tea.Cmd {
	if cmd, ok := a.top().do(id); ok {
		if a.prompt != nil {
			a.prompt.look()
		}
		return cmd
	}
	switch id {
	case "quit":
		return a.quit()
	case "back":
		a.back()
		if list, ok := a.top().(*sessionList); ok {
			return tea.Batch(list.start(), a.resize())
		}
		return a.resize()
	case "help":
		if _, open := a.top().(*help); open {
			a.back()
			return nil
		}
		return a.push(newHelp(a.env, a.top().place()), nil)
	case "filter-help":
		if h, open := a.top().(*help); open && h.title != helpTitle {
			return nil // it is this page
		}
		if a.env.Filters == "" {
			return a.say(noteMsg{"'mcptap help filters' has it", false})
		}
		return a.push(newTopic(a.env, a.env.Filters), nil)
	case "copy-menu":
		a.menu = newMenu("copy", "c", a.top().place())
	case "redraw":
		return tea.ClearScreen
	case "palette":
		a.palette = newPalette(a.top().place())
	}
	return nil
}

func (a *app) back() {
	if len(a.screens) == 1 {
		return
	}
	a.top().close()
	a.screens = a.screens[:len(a.screens)-1]
	if a.held != nil && len(a.screens) == a.depth {
		a.prompt, a.held = a.held, nil
	}
}

// lookUp shows the language of filters; the prompt waits for the way back.
func (a *app) lookUp() tea.Cmd {
	a.held, a.depth = a.prompt, len(a.screens)
	a.prompt = nil
	return a.do("filter-help")
}

func (a *app) quit() tea.Cmd {
	for len(a.screens) > 1 {
		a.back()
	}
	return tea.Quit
}

func (a *app) mouse(m tea.MouseMsg) tea.Cmd {
	switch {
	case a.tooSmall(): // there is nothing to click on
		return nil
	case a.dialog != nil, a.prompt != nil:
		return nil
	case a.palette != nil:
		return a.paletteClick(m)
	case a.menu != nil:
		return a.menuClick(m)
	case m.Y == a.h-1 && m.Action == tea.MouseActionPress && m.Button == tea.MouseButtonLeft:
		return a.footClick(m.X)
	}
	return a.top().click(m)
}

// Small terminals get a word instead of a screen.
const (
	leastWidth  = 20
	leastHeight = 5
)

func (a *app) tooSmall() bool { return a.w < leastWidth || a.h < leastHeight }

// View draws the screen on top, what lies over it, and the line at the bottom.
func (a *app) View() string {
	if a.w == 0 || a.h == 0 || a.ground != nil {
		return ""
	}
	if a.tooSmall() {
		return draw.Cut("mcptap: enlarge this window", a.w)
	}
	foot := a.foot()
	h := a.h - 1
	if words := a.lasting(); words != "" {
		h--
		foot = append([]string{draw.NewLine(a.w, "").Gap(1).Text(a.env.th.Warn, words).String()}, foot...)
	}
	lines := draw.Fill(a.top().view(a.w, h), a.w, h)
	lines = append(lines[:min(h, a.h-len(foot))], foot...)
	if a.menu != nil {
		overlay(lines, a.menu.view(a.env.th, a.w), a.w)
	}
	if a.palette != nil {
		overlay(lines, a.palette.view(a.env.th, a.w, a.h), a.w)
	}
	if a.dialog != nil {
		overlay(lines, a.dialog.view(a.env.th, a.w, a.h), a.w)
	}
	return strings.Join(lines, "\n")
}

// hint is a key at the bottom, and where it stands.
type hint struct {
	id, key, word string
	from, to      int
}

// hints are the keys that fit at the bottom.
func (a *app) hints() (out []hint) {
	at := 1
	help := hint{id: "help", key: "?", word: "help"}
	room := a.w - len("? help") - 2
	for _, act := range hintedAt(a.top().place()) {
		if act.ID == "help" || act.ID == "back" && len(a.screens) == 1 {
			continue
		}
		h := hint{id: act.ID, key: KeyName(act.Keys[0]), word: act.Hint, from: at}
		h.to = at + draw.Width(h.key) + 1 + draw.Width(h.word)
		if h.to > room {
			continue
		}
		out = append(out, h)
		at = h.to + 2
	}
	help.from, help.to = at, at+6
	return append(out, help)
}

// foot is what stands at the bottom: a prompt with what there is to say of it, a note,
// or the keys.
func (a *app) foot() []string {
	th := a.env.th
	switch {
	case a.prompt != nil:
		return a.prompt.view(th, a.w, a.h/3)
	case a.note.text != "":
		style := th.Accent
		if a.note.bad {
			style = th.Bad
		}
		return noteLines(style, a.note.text, a.w, a.h/3)
	}
	l := draw.NewLine(a.w, "")
	for _, h := range a.hints() {
		l.To(h.from).Raw(th.Accent, h.key).Gap(1).Raw(th.Dim, h.word)
	}
	return []string{l.String()}
}

// noteLines breaks a note, so that the end of a sentence can be read too.
func noteLines(style draw.Style, text string, w, most int) (lines []string) {
	parts := wrapText(text, w-2)
	if most = max(1, most); len(parts) > most {
		parts = append(parts[:most-1], strings.Join(parts[most-1:], " "))
	}
	for _, p := range parts {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text(style, p).String())
	}
	return lines
}

func (a *app) footClick(x int) tea.Cmd {
	if a.note.text != "" { // the keys are not in view
		a.note = noteMsg{}
		return nil
	}
	for _, h := range a.hints() {
		if x >= h.from && x < h.to {
			return a.do(h.id)
		}
	}
	return nil
}
