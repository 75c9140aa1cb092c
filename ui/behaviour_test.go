package ui

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
)

func open(t *testing.T, keys ...string) *driver {
	t.Helper()
	return drive(t, testStore(t), colorprofile.NoTTY, 100, 30).keys(keys...)
}

func TestDeleteAndKeep(t *testing.T) {
	d := open(t, "*")
	d.has("★", "3 recordings")
	d.keys("D")
	d.has("it is kept")
	d.keys("down", "D")
	d.has("It can't be", "tickets-legacy, 2026-11-30 12:50:00", "10 calls, 5.7 kB, with its marks and notes.", "enter leave it")
	d.keys("x", "enter") // no is what is taken for an answer
	d.has("3 recordings")
	if d.app.dialog != nil {
		t.Error("the question is still there")
	}
	d.keys("D", "y")
	d.has("2 recordings", "deleted 20261130T125000Z-tickets-legacy-1a2b")
	if left, _ := filepath.Glob(filepath.Join(d.app.env.Store.Dir, "*.jsonl")); len(left) != 2 {
		t.Errorf("%v are left", left)
	}
	d.keys("up", "*", "D", "y")
	d.has("1 recording,")
}

// TestDialogAtEverySize: the answers are in view, however small the terminal is.
func TestDialogAtEverySize(t *testing.T) {
	for _, size := range [][2]int{{20, 5}, {40, 10}, {60, 15}, {80, 24}, {200, 60}} {
		d := drive(t, testStore(t), colorprofile.NoTTY, size[0], size[1]).keys("D")
		d.has("─ delete", "y delete it")
		if size[0] >= 40 {
			d.has("tickets-modern", "enter leave it", "brought", "back.")
		}
	}
}

// TestOpenAtOnce: a session that was asked for is there without the list, which comes
// when it is gone back to; and so it does if there is no such session.
func TestOpenAtOnce(t *testing.T) {
	store := testStore(t)
	d := driveOn(t, store, store.Path("20261129T081500Z-school-5e6f"), colorprofile.NoTTY, 100, 30)
	d.has("─ calls", "menu week=49")
	if d.app.screens[0].(*sessionList).listed {
		t.Error("the list was read, though nobody sees it")
	}
	d.keys("esc")
	d.has("3 recordings")
	d = driveOn(t, store, store.Path("nothing"), colorprofile.NoTTY, 100, 30)
	d.has("3 recordings", "opening ")
}

func TestListFilterAndOrder(t *testing.T) {
	d := open(t, "/", "+school")
	d.has("1 of 3 recordings, newest first", "school")
	d.keys("enter", "enter")
	d.has("no end: its tap was killed")
	d.keys("esc", "/", "esc", "o")
	d.has("by label")
	if got := d.app.screens[0].(*sessionList).rows[0].info.Label(); got != "school" {
		t.Errorf("%s is the first by label", got)
	}
}

func TestSwapAndStep(t *testing.T) {
	d := open(t, "enter", "e")
	d.has("frame 11 result")
	d.keys("s")
	d.has("frame 10 request tools/call add_comment", "No ticket T-999")
	d.keys("s")
	d.has("frame 11 result")
	d.keys("]")
	d.has("frame 12 request tools/call close_ticket")
	d.keys("]", "[", "[")
	d.has("frame 11 result")
	d.keys("f")
	d.has("─ frames", "frame 11 result")
}

func TestFindingLeadsToItsFrame(t *testing.T) {
	d := open(t, "enter", "i")
	d.has("TOOL-21", "#15")
	d.keys("enter")
	d.has("─ calls", "frame 15 result of tools/call assign_ticket", "hidden error")
	d.keys("esc")
	d.has("TOOL-21", "#15") // back to where it came from
	d.keys("esc")
	d.has("─ calls")
	d.keys("esc")
	d.has("recordings")
}

func TestSearch(t *testing.T) {
	d := open(t, "end", "enter", "down*3", "tab", "/", "+ラーメン", "enter")
	d.has("path result.content.0.text.@fromstr.days.0.dish")
	d.keys("/", "ctrl+u", "+milk", "enter")
	d.has("path result.content.1.text")
	d.keys("/", "ctrl+u", "+nothing like it", "enter")
	d.has(`the frame has no "nothing like it"`)
}

func mouse(x, y int, button tea.MouseButton, action tea.MouseAction) tea.MouseMsg {
	return tea.MouseMsg{X: x, Y: y, Button: button, Action: action}
}

func click(x, y int) tea.MouseMsg { return mouse(x, y, tea.MouseButtonLeft, tea.MouseActionPress) }

func TestMouse(t *testing.T) {
	d := open(t)
	d.send(click(20, headLines+2)) // the third session
	d.send(click(20, headLines+2)) // once more opens it
	d.has("school", "menu week=49")
	s := d.app.top().(*session)
	d.send(click(20, s.at.calls.y+4))
	d.has("frame 10 result of tools/call menu")
	d.send(click(20, s.at.calls.y+4))
	d.has("progress notifications/progress")
	at := s.at.across.y
	d.send(click(30, at))
	d.send(mouse(30, at+4, tea.MouseButtonLeft, tea.MouseActionMotion))
	d.send(mouse(30, at+4, tea.MouseButtonLeft, tea.MouseActionRelease))
	if got := s.at.across.y; got != at+4 && got != at+3 {
		t.Errorf("the line between the panes was drawn from %d to %d, and is at %d", at, at+4, got)
	}
	d.send(click(1, s.at.clock.y))
	d.has("frame 2 result of initialize")
	d.send(click(s.clockWidth(s.w), s.at.clock.y))
	d.has("frame 13 request tools/call book_room")
	d.send(mouse(5, s.at.calls.y, tea.MouseButtonWheelUp, tea.MouseActionPress))
	for _, h := range d.app.hints() {
		if h.id == "help" {
			d.send(click(h.from, d.app.h-1))
		}
	}
	d.has("the keys that work here")
}

// TestPasteIsNoCommand: text that lands outside a prompt does nothing.
func TestPasteIsNoCommand(t *testing.T) {
	d := open(t)
	before := d.screen()
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("Dy"), Paste: true})
	if d.screen() != before {
		t.Error("a paste did something")
	}
	d.keys("/")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("le\ngacy"), Paste: true})
	d.has("filter le gacy")
}

// TestKeysThatComeTogether: what is typed fast arrives as one message.
func TestKeysThatComeTogether(t *testing.T) {
	d := open(t, "enter")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jj/tool:assign*")})
	d.has("filter tool:assign*", "1 of 11")
	d.keys("enter")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("?q")})
	if !d.quit {
		t.Error("the second of two keys was lost")
	}
}

// TestFilter: the list follows a filter while it is typed, says what is wrong with it,
// and completes it.
func TestFilter(t *testing.T) {
	d := open(t, "enter", "/", "+stat")
	d.has("tab status:")
	d.keys("tab", "+fail")
	d.has("tab failed")
	d.keys("tab")
	d.has("status:failed: 3 of 11")
	d.keys("+ and ms>")
	d.has("3 of 11") // what is not finished selects by its beginning
	d.keys("+x")
	d.has("a number")
	d.keys("enter") // it can't stay like this
	d.has("a number", "ms>x")
	d.keys("ctrl+u", `+"No ticket"`)
	d.has(`"No ticket": 1 of 11`, "✗ tool")
	d.keys("ctrl+u", "+turn:1")
	d.has("turn")
	d.keys("ctrl+u", "enter")
	d.has("server/discover", "prompts/get")
	d.keys("/", "+nothing like it", "enter")
	d.has("the filter selects nothing")
	d.keys("esc")
	d.has("server/discover", "prompts/get")
	d.keys("f", "/", "+status:tool-error", "enter")
	d.has("─ frames status:tool-error: 2 of 21")
	d.keys("f")
	d.has("─ calls status:tool-error: 1 of 11")
}

// TestMarks: marks and notes are kept beside the recording, shown, and found.
func TestMarks(t *testing.T) {
	d := open(t, "enter", "e", "b")
	d.has("marked frame 11", "★", "★ marked")
	d.keys("N", "+ask why", "enter")
	d.has("★ ask why")
	d.keys("/", "+mark:yes", "enter")
	d.has("mark:yes: 1 of 11")
	again := drive(t, d.app.env.Store, colorprofile.NoTTY, 100, 30).keys("enter", "e")
	again.has("★ ask why")
	again.keys("b")
	if s := again.screen(); strings.Contains(s, "ask why") {
		t.Errorf("the mark is still there:\n%s", s)
	}
	if left, _ := filepath.Glob(filepath.Join(d.app.env.Store.Dir, "*.marks.json")); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// TestPlay: the cursor goes through the session at the pace at which it was recorded.
func TestPlay(t *testing.T) {
	d := open(t, "end", "enter", "space")
	s := d.app.top().(*session)
	for d.clock.Sub(now) < 1400*time.Millisecond {
		d.tick()
	}
	d.has("▶", "frame 5 result of tools/list")
	for d.clock.Sub(now) < 1700*time.Millisecond {
		d.tick()
	}
	d.has("frame 10 result of tools/call menu")
	d.keys(">")
	d.has("×2")
	for n := 0; s.play.on() && n < 100; n++ {
		d.tick()
	}
	d.has("frame 13 request", "3.000 / 3.000 s")
	if s.play.on() {
		t.Error("it plays on after the end")
	}
}

// TestResize draws every screen at many sizes while keys are pressed.
func TestResize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := open(t)
	keys := []string{"enter", "tab", "down", "up", "right", "left", "f", "v", "z", "r", "esc", "d", "enter", "o", "O", "esc", "S", "tab", "esc", "T", "+", "-", "i", "esc", "t", "esc", "p", "esc", "?", "esc", ":", "esc", "e", "s", "end", "home", "/", "x", "enter", "]", "E", "C", "m", "x", "b", "y", "tab", "c", "s", "c", "r", "H", "esc", "c", "esc", "/", "+tool:", "tab", "esc", "t", "z", "R", "pgdown", "esc"}
	for range 600 {
		d.send(tea.WindowSizeMsg{Width: leastWidth + r.IntN(220), Height: leastHeight + r.IntN(70)})
		d.screen()
		d.keys(keys[r.IntN(len(keys))])
		d.screen()
	}
}

// writer makes a live session in a store.
func liveWriter(t *testing.T, store sessions.Store, label string) (write func(dir tap.Dir, body string), end func()) {
	t.Helper()
	start := now
	rec, err := store.Create(sessions.NewID(label, start))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Duration(0)
	w := tap.NewWriter(tap.Header{Session: label, Label: label, Start: start, Transport: "stdio"}, tap.WriterOptions{
		Open: func() (tap.File, error) { return rec, nil }, Since: func() time.Duration { at += time.Millisecond; return at },
		Warn: func(s string) { t.Error(s) },
	})
	return func(dir tap.Dir, body string) {
			w.Record([]tap.Frame{{Dir: dir, JSON: true, Body: []byte(body)}})
		}, func() {
			w.End(tap.End{}) // closes the file
		}
}

// TestLive: a session that begins while the list is open appears in it, is followed
// to its end, and not once the cursor has moved up.
func TestLive(t *testing.T) {
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	d := drive(t, store, colorprofile.NoTTY, 100, 30)
	d.has("Nothing is recorded yet")
	write, end := liveWriter(t, store, "fresh")
	write(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	d.tick()
	d.has("●", "fresh")
	d.keys("enter")
	d.has("● live", "tools/list", "… open")
	d.clock = now.Add(2450 * time.Millisecond)
	d.tick()
	d.has("2400.0") // an open call counts up
	write(tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
	write(tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"second"}}`)
	d.tick()
	d.has("second", "frame 3 request")
	write(tap.S2C, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}`)
	d.tick()
	d.has("1 proto", "2 calls")
	d.keys("up")
	write(tap.C2S, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"third"}}`)
	d.tick()
	d.has("third", "frame 2 result of tools/list")
	d.keys("end")
	for range 40 {
		write(tap.C2S, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"later"}}`)
	}
	d.tick()
	d.has("frame 45 request")
	end()
	d.tick()
	if strings.Contains(d.screen(), "● live") {
		t.Error("it has ended, and is shown as live")
	}
	if got := d.app.top().(*session).feed.Len(); got != 45 {
		t.Errorf("%d frames, want 45", got)
	}
}

// TestStaleAnswers: what comes too late is dropped.
func TestStaleAnswers(t *testing.T) {
	d := open(t, "enter")
	s := d.app.top().(*session)
	old := s.feed.Look(1, 80)
	d.keys("e")
	before := d.screen()
	d.send(bodyMsg{s.feed, old})
	d.send(filteredMsg{feed: s.feed, id: s.calls.filterID - 1, rows: []int32{1}, upto: 100})
	d.send(playMsg{id: s.play.id - 1, at: now.Add(time.Hour)})
	d.send(groundMsg{dark: false})
	if got := d.screen(); got != before {
		t.Errorf("%s\nbecame\n%s", before, got)
	}
}

func TestErrorsAreShownWhereTheyConcern(t *testing.T) {
	d := open(t)
	path := d.app.screens[0].(*sessionList).current().Path
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	d.keys("enter")
	d.has("opening "+path[:20], "no such file or directory")
	d.keys("enter")
	d.tick()
	d.has("2 recordings")
}

// TestStep: by frames, by calls and by turns, on and back.
func TestStep(t *testing.T) {
	d := open(t, "end", "enter", "home")
	for _, c := range []struct{ key, frame string }{
		{")", "frame 5 result of tools/list"},
		{")", "frame 10 result of tools/call menu"},
		{"(", "frame 5 result of tools/list"},
		{"}", "frame 10 result of tools/call menu"},
		{"}", "frame 13 request"},
		{"}", "frame 13 request"},
		{"{", "frame 10 result of tools/call menu"},
		{"]", "frame 11 "},
		{"[", "frame 10 result of tools/call menu"},
	} {
		d.keys(c.key)
		d.has(c.frame)
	}
}

// TestNotesGiveWay: a note has the place of the keys until the next key, unless that comes
// before anybody can have read it.
func TestNotesGiveWay(t *testing.T) {
	d := open(t, "enter", "e*4")
	d.has("the top")
	d.keys("down")
	d.has("the top")
	d.clock = d.clock.Add(noteLeast + time.Millisecond)
	d.keys("down")
	if s := d.screen(); strings.Contains(s, "the top") || !strings.Contains(s, "? help") {
		t.Errorf("the note is still there:\n%s", s)
	}
}

// TestKeysFromEveryPane: what is done to the session is done whichever pane has the focus.
func TestKeysFromEveryPane(t *testing.T) {
	for _, pane := range [][]string{{}, {"tab"}, {"m"}} {
		d := open(t, append([]string{"enter"}, pane...)...)
		d.keys("e")
		if s := d.app.top().(*session); s.feed.Frame(s.calls.frameAtCursor()).N != 11 {
			t.Errorf("%v, e: frame %d", pane, s.feed.Frame(s.calls.frameAtCursor()).N)
		}
	}
	d := open(t, "enter", "m", "/", "+tool:add_*", "enter")
	d.has("2 of 11")
}

// TestClockThatJumpsBack: a time below zero is none.
func TestClockThatJumpsBack(t *testing.T) {
	store := testStore(t)
	const journal = `{"mcptap":1,"session":"back","start":"2026-11-30T12:00:00Z","transport":"stdio","label":"back"}
{"n":1,"t":5000000,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}}
{"n":2,"t":1000000,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
`
	path := store.Path("back")
	if err := os.WriteFile(path, []byte(journal), 0o600); err != nil {
		t.Fatal(err)
	}
	d := driveOn(t, store, path, colorprofile.NoTTY, 100, 30)
	if s := d.screen(); !strings.Contains(s, " <0 ") || strings.Contains(s, "-4.00") {
		t.Errorf("the call took:\n%s", s)
	}
	d.keys("t")
	if s := d.screen(); !strings.Contains(s, "tools/call add") || strings.Contains(s, "-4.00") {
		t.Errorf("statistics:\n%s", s)
	}
}

// TestTooSmallToClick: where there is no room for a picture, a click does nothing,
// whatever was open when the window shrank.
func TestTooSmallToClick(t *testing.T) {
	for _, open := range [][]string{{":"}, {"enter", "c"}, {"enter", ":"}, {"D"}, {"?"}} {
		for _, size := range [][2]int{{1, 1}, {3, 10}, {10, 1}, {leastWidth - 1, 40}} {
			d := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys(open...)
			d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for y := range size[1] {
				d.send(tea.MouseMsg{X: size[0] / 2, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
			}
		}
	}
}

// TestTextThatComesAtOnce: what a terminal gives of a long text in one piece is one text for
// a prompt, also if it is the name of a key.
func TestTextThatComesAtOnce(t *testing.T) {
	d := open(t, "enter", "/")
	for _, text := range []string{"enter", "esc", "q? "} {
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
	}
	d.has("filter enterescq?")
}
