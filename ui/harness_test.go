package ui

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
)

var update = flag.Bool("update", false, "write the screens anew")

// now is the moment of all tests.
var now = time.Date(2026, 11, 30, 13, 15, 2, 0, time.UTC)

// A driver plays the part of bubbletea: it runs commands one after the other and
// brings back what they give. Ticks wait until they are called for.
type driver struct {
	t      testing.TB
	app    *app
	ticks  []tick
	copied string
	quit   bool
	clock  time.Time
}

// drive starts the program on a store.
func drive(t testing.TB, store sessions.Store, profile colorprofile.Profile, w, h int) *driver {
	t.Helper()
	return driveOn(t, store, "", profile, w, h)
}

// driveOn is drive that opens a session at once.
func driveOn(t testing.TB, store sessions.Store, path string, profile colorprofile.Profile, w, h int) *driver {
	t.Helper()
	d := &driver{t: t, clock: now}
	d.app = newApp(Options{Store: store, Open: path, Zone: time.UTC, Dir: t.TempDir(),
		Now:     func() time.Time { return d.clock },
		Copy:    func(s string) (string, error) { d.copied = s; return "the terminal", nil },
		Filters: "the language of filters\nA filter is made of terms.\n\n    tool:add_*    calls of tools whose name begins with add_\n",
	}, profile, true)
	d.app.env.tick = func(after time.Duration, f func(time.Time) tea.Msg) tea.Cmd {
		d.ticks = append(d.ticks, tick{d.clock.Add(after), f})
		return nil
	}
	d.run(d.app.Init())
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

func (d *driver) send(msg tea.Msg) {
	d.t.Helper()
	_, cmd := d.app.Update(msg)
	d.app.View()
	d.run(cmd)
	d.app.View()
}

func (d *driver) run(cmd tea.Cmd) {
	d.t.Helper()
	queue := []tea.Cmd{cmd}
	for n := 0; len(queue) > 0; n++ {
		if n > 100000 {
			d.t.Fatal("the commands come to no end")
		}
		cmd, rest := queue[0], queue[1:]
		queue = rest
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			queue = append(queue, msg...)
		case tea.QuitMsg:
			d.quit = true
		default:
			_, next := d.app.Update(msg)
			queue = append(queue, next)
		}
	}
}

// tick is a command that waits for its moment.
type tick struct {
	due time.Time
	f   func(time.Time) tea.Msg
}

// tick lets the ticks happen that were asked for so far, each at its moment.
func (d *driver) tick() {
	ticks := d.ticks
	d.ticks = nil
	slices.SortStableFunc(ticks, func(a, b tick) int { return a.due.Compare(b.due) })
	for _, t := range ticks {
		if t.due.After(d.clock) {
			d.clock = t.due
		}
		d.send(t.f(d.clock))
	}
}

// pass lets so much time pass, with the ticks that fall into it in their order.
func (d *driver) pass(of time.Duration) {
	for end := d.clock.Add(of); ; {
		next := slices.IndexFunc(d.ticks, func(t tick) bool {
			return !t.due.After(end) && !slices.ContainsFunc(d.ticks, func(o tick) bool { return o.due.Before(t.due) })
		})
		if next < 0 {
			if d.clock.Before(end) {
				d.clock = end
			}
			return
		}
		t := d.ticks[next]
		d.ticks = slices.Delete(d.ticks, next, next+1)
		if t.due.After(d.clock) {
			d.clock = t.due
		}
		d.send(t.f(d.clock))
	}
}

// keys presses keys by name, "down*3" three times; a name that starts with + is text
// that is typed.
func (d *driver) keys(names ...string) *driver {
	d.t.Helper()
	for _, name := range names {
		if text, typed := strings.CutPrefix(name, "+"); typed && text != "" {
			for _, r := range text {
				d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
			continue
		}
		times := 1
		if key, n, ok := strings.Cut(name, "*"); ok && key != "" {
			name, times = key, int(n[0]-'0')
		}
		for range times {
			d.send(keyMsg(d.t, name))
		}
	}
	return d
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "delete": tea.KeyDelete, "backspace": tea.KeyBackspace,
	"ctrl+c": tea.KeyCtrlC, "ctrl+u": tea.KeyCtrlU, "ctrl+l": tea.KeyCtrlL, "f1": tea.KeyF1, "shift+tab": tea.KeyShiftTab,
}

func keyMsg(t testing.TB, name string) tea.KeyMsg {
	if typ, ok := keyTypes[name]; ok {
		return tea.KeyMsg{Type: typ}
	}
	if name == "space" {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	if len([]rune(name)) != 1 {
		t.Fatalf("no key %q", name)
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// screen is the picture; each line of it must be as wide as the terminal.
func (d *driver) screen() string {
	d.t.Helper()
	s := d.app.View()
	lines := strings.Split(s, "\n")
	if len(lines) != d.app.h {
		d.t.Errorf("%d lines on a terminal of %d", len(lines), d.app.h)
	}
	for i, l := range lines {
		if w := draw.Width(l); w != d.app.w {
			d.t.Errorf("line %d is %d cells wide, not %d: %q", i, w, d.app.w, l)
		}
	}
	return s
}

func (d *driver) has(what ...string) {
	d.t.Helper()
	s := ansi.Strip(d.screen())
	for _, w := range what {
		if !strings.Contains(s, w) {
			d.t.Errorf("the screen does not have %q:\n%s", w, s)
		}
	}
}

// testStore is a copy of the sessions in testdata, made at a fixed time.
func testStore(t testing.TB) sessions.Store {
	t.Helper()
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "sessions")}
	if err := os.Mkdir(store.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/store/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no sessions", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(store.Dir, filepath.Base(f))
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(to, now, now); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// TestActions: every action is done at each place where the table says that it works,
// and no key means two things at one place.
func TestActions(t *testing.T) {
	for at, open := range map[place][]string{
		inSessions: nil, inCalls: {"enter"}, inFrame: {"enter", "tab"}, inReport: {"enter", "i"}, inSearch: {"enter", "S", "esc"}, inChoice: {"enter", "d"}, inDiff: {"enter", "d", "enter"}, inHelp: {"?"}, inFind: {"F", "+ticket", "enter"},
	} {
		seen := map[string]string{}
		for _, a := range actionsAt(at) {
			for _, k := range a.Keys {
				if seen[k] != "" {
					t.Errorf("%q is both %s and %s", k, seen[k], a.ID)
				}
				seen[k] = a.ID
			}
			d := drive(t, testStore(t), colorprofile.NoTTY, 100, 30).keys(open...)
			if got := d.app.top().place(); got != at {
				t.Fatalf("the keys %v lead to place %d, not %d", open, got, at)
			}
			if _, ok := d.app.top().do(a.ID); !ok && !rootDoes[a.ID] {
				t.Errorf("%s is not done at place %d", a.ID, at)
			}
		}
	}
}

var rootDoes = map[string]bool{"quit": true, "back": true, "help": true, "palette": true, "filter-help": true, "redraw": true, "copy-menu": true}

func TestEveryActionHasHelp(t *testing.T) {
	for _, a := range Actions() {
		v := reflect.ValueOf(a)
		for _, field := range []string{"ID", "Name", "Help", "Group"} {
			if v.FieldByName(field).String() == "" {
				t.Errorf("action %q has no %s", a.ID, field)
			}
		}
	}
}
