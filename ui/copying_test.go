package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/samples"
	"github.com/mcptap/mcptap/tap"
)

func TestCopy(t *testing.T) {
	d := open(t, "enter", "e", "y")
	exact := d.app.top().(*session).frame.body.Bytes
	if d.copied != string(exact) || !strings.HasPrefix(d.copied, `{"jsonrpc":"2.0","id":5,"result":{"content":`) {
		t.Errorf("copied %q", d.copied)
	}
	d.has("copied the frame 11 (250 B) to the clipboard of the terminal")
	d.keys("tab", "/", "+No ticket", "enter", "Y")
	if d.copied != "result.content.0.text" {
		t.Errorf("copied %q", d.copied)
	}
	d.keys("y")
	if d.copied != `"Error executing tool add_comment: No ticket T-999"` {
		t.Errorf("copied %q", d.copied)
	}
	d.keys("tab", "c", "p")
	if d.copied != "result.content.0.text" {
		t.Errorf("copied %q", d.copied)
	}
}

// TestCopyMenu: each item is chosen by its letter, by the cursor, or with the mouse; what
// is no item does nothing.
func TestCopyMenu(t *testing.T) {
	d := open(t, "enter", "e", "c")
	d.has("─ copy ─", "f  frame", "v  value", "p  path", "b  block", "r  whole request", "s  as command")
	d.keys("x", "down", "up*3", "enter")
	d.has("copied the frame 11")
	d.copied = ""
	d.keys("c", "esc", "f")
	d.has("─ frames")
	if d.copied != "" {
		t.Errorf("copied %q", d.copied)
	}
	d.keys("f", "c")
	box := d.app.menu.view(d.app.env.th, d.app.w)
	x, y := corner(box, d.app.w, d.app.h)
	d.send(click(x+4, y+len(box)-2)) // the last
	d.has("copied the shell command")
	d.keys("c")
	d.send(click(0, 0)) // beside it
	if d.app.menu != nil {
		t.Error("the menu is still there")
	}
}

// TestCopyBlock: in what the model reads, the block under the cursor is copied as the
// model reads it; a row that sums others up is none.
func TestCopyBlock(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 140, 40).keys("enter", "e", "tab*2", "y")
	var block struct {
		Type    string
		IsError bool `json:"is_error"`
	}
	if err := json.Unmarshal([]byte(d.copied), &block); err != nil || block.Type != "tool_result" || !block.IsError {
		t.Errorf("copied %s: %v", d.copied, err)
	}
	d.has("copied the block /messages/")
	d.keys("home", "y")
	d.has("this row sums others up")
	d.keys("down", "down", "y")
	var tool struct {
		Name   string
		Schema json.RawMessage `json:"input_schema"`
	}
	if err := json.Unmarshal([]byte(d.copied), &tool); err != nil || !strings.Contains(tool.Name, "search_tickets") || tool.Schema == nil {
		t.Errorf("copied %s: %v", d.copied, err)
	}
	d = open(t, "enter", "c", "b")
	d.has("m shows what the model reads")
}

// TestCopyRequest: the whole request is copied with the pane of the model and without,
// of a recorded and of a live session.
func TestCopyRequest(t *testing.T) {
	store := testStore(t)
	var copies []string
	for _, w := range []int{80, 140} {
		d := drive(t, store, colorprofile.NoTTY, w, 30).keys("enter", "e", "c", "r")
		d.has("copied the request of turn")
		copies = append(copies, d.copied)
	}
	var request struct {
		Tools    []struct{ Name string }
		Messages []struct{ Role string }
	}
	if err := json.Unmarshal([]byte(copies[0]), &request); err != nil || len(request.Tools) != 3 || len(request.Messages) == 0 {
		t.Errorf("%v: %.300s", err, copies[0])
	}
	if copies[0] != copies[1] {
		t.Errorf("beside the pane another request is copied: %s\n%s", copies[0], copies[1])
	}
	write, _ := liveWriter(t, store, "fresh")
	write(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	write(tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"just_now","inputSchema":{"type":"object"}}]}}`)
	d := drive(t, store, colorprofile.NoTTY, 80, 30).keys("enter", "c", "r")
	if !strings.Contains(d.copied, `fresh__just_now"`) {
		t.Errorf("the live session's request is %s", d.copied)
	}
}

// TestCopyCommand: what came over HTTP is copied as curl, what came over stdio as a pipe,
// with the handshake in its era; an answer's command sends its request.
func TestCopyCommand(t *testing.T) {
	d := open(t, "enter", "e", "c", "s")
	if want := `cd -- /srv/tickets && printf '%s\n' '{"jsonrpc":"2.0","id":5,"method":"tools/call"`; !strings.HasPrefix(d.copied, want) || !strings.HasSuffix(d.copied, `' | python server.py`) {
		t.Errorf("copied %s", d.copied)
	}
	d = open(t, "down", "enter", "e", "c", "s")
	d.has("copied the shell command, with the handshake")
	if parts := strings.Split(d.copied, `' '{"`); len(parts) != 4 || !strings.Contains(parts[1], `"initialize"`) || !strings.Contains(parts[2], `notifications/initialized`) || !strings.Contains(parts[3], `"add_comment"`) {
		t.Errorf("copied %s", d.copied)
	}
	store, err := samples.Store(filepath.Join(t.TempDir(), "samples"))
	if err != nil {
		t.Fatal(err)
	}
	d = driveOn(t, store, store.Path("20261130T103140Z-http-e509"), colorprofile.NoTTY, 100, 30).keys("/", "+tool:echo", "enter", "c", "s")
	d.has("copied the curl command", "put your own secrets in place of")
	for _, part := range []string{"curl -sgN -X POST -H 'Accept: application/json, text/event-stream'", "-H 'Mcp-Session-Id: «redacted:10cb7b»'", `--data-raw '{`, `"name":"echo"`, "--url http://127.0.0.1:8100/mcp"} {
		if !strings.Contains(d.copied, part) {
			t.Errorf("%s has no %s", d.copied, part)
		}
	}
	if strings.Contains(d.copied, "Content-Length") || strings.Contains(d.copied, "Host:") {
		t.Errorf("curl makes these headers itself: %s", d.copied)
	}
}

// TestCopyHidden: what would drive a terminal is written so that it can be seen, and that
// is said.
func TestCopyHidden(t *testing.T) {
	d := drive(t, hostileStore(t), colorprofile.NoTTY, 100, 30).keys("enter", "f", "end", "y")
	if want := `\x1b]other\x07\xff\x1b[2J`; d.copied != want {
		t.Errorf("copied %q, want %q", d.copied, want)
	}
	d.has(`4 hidden characters written as \x1b`)
}

// TestCopyText: which clipboards took it is said, and what is too long for a terminal is
// not given to it.
func TestCopyText(t *testing.T) {
	for _, c := range []struct {
		name        string
		text        int
		put         func(string) error
		where, fail string
		sequence    bool
	}{
		{"terminal", 10, nil, "the terminal", "", true},
		{"both", 10, func(string) error { return nil }, "the terminal and of the system (wl-copy)", "", true},
		{"terminal only", 10, func(string) error { return errors.New("no display") }, "the terminal only (no display)", "", true},
		{"long", 80_000, func(string) error { return nil }, "the system (wl-copy) only: it is more than a terminal takes", "", false},
		{"too long", 80_000, nil, "", "80000 bytes are more than a terminal's clipboard takes", false},
		{"nothing", 80_000, func(string) error { return errors.New("no display") }, "", "no display", false},
	} {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		system := Clipboard{}
		if c.put != nil {
			system = Clipboard{"wl-copy", func(s string) error { got = s; return c.put(s) }}
		}
		text := strings.Repeat("x", c.text)
		where, err := copyText(&screenWriter{File: f}, system, text)
		if where != c.where || (err != nil) != (c.fail != "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%s: %q, %v", c.name, where, err)
		}
		b, _ := os.ReadFile(f.Name())
		if wrote := strings.Contains(string(b), "\x1b]52;c;"); wrote != c.sequence || c.put != nil && got != text {
			t.Errorf("%s: a sequence: %v; the system got %d bytes", c.name, wrote, len(got))
		}
		_ = f.Close()
	}
}

// TestCopyFile: in the list the name of the file is copied.
func TestCopyFile(t *testing.T) {
	d := open(t, "y")
	if want := d.app.env.Store.Path("20261130T125130Z-tickets-modern-3c4d"); d.copied != want {
		t.Errorf("copied %s, want %s", d.copied, want)
	}
}

// storeOfOddFiles has what can lie in a store and is no recording.
func storeOfOddFiles(t *testing.T) sessions.Store {
	t.Helper()
	store := testStore(t)
	for name, text := range map[string]string{
		"empty": "", "words": "this is no recording\n", "torn": `{"mcptap":1`, "array": "[1]\n", "future": `{"mcptap":99}` + "\n",
		"nostart": `{"mcptap":1,"session":"x","transport":"stdio","label":"nostart"}` + "\n" + `{"n":1,"t":5,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}` + "\n",
	} {
		if err := os.WriteFile(store.Path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(store.Path(name), now, now.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// TestOddFiles: each has a row with its file's time and says why it is no recording; what
// is opened says so too.
func TestOddFiles(t *testing.T) {
	store := storeOfOddFiles(t)
	d := drive(t, store, colorprofile.NoTTY, 120, 30)
	d.has("9 recordings", "not a recording: the journal has format version 99", "not a recording: the file is empty", "not a recording: its first line is not JSON", "not a recording: its first line has no end", "not a recording: its first line is JSON, but no record of mcptap", "1 h ago     nostart", "1 h ago     words")
	d.keys("/", "+words", "enter", "enter")
	d.has("it can't be opened", "it is not a recording: its first line is not JSON")
	d.keys("enter", "D")
	d.has("not a recording: its first line is not JSON; 21 B")
	d.keys("y")
	d.has("deleted words")
	for _, name := range []string{"empty", "torn", "array"} {
		d := driveOn(t, store, store.Path(name), colorprofile.NoTTY, 60, 15)
		d.has("it can't be opened", "not a recording")
	}
	driveOn(t, store, store.Path("nostart"), colorprofile.NoTTY, 80, 24).has("ping")
}

// TestGone: a session whose file is deleted, replaced or cut while it is open says so in
// a sentence that stays, also on a report, and ends with it.
func TestGone(t *testing.T) {
	for name, c := range map[string]struct {
		harm     func(path string) error
		sentence string
	}{
		"deleted": {os.Remove, "the recording was deleted; what was read stays here until you leave"},
		"replaced": {func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("x"), 0o600))
		}, "the recording was replaced by another file"},
		"cut short": {func(path string) error { return os.Truncate(path, 100) }, "the recording was cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, "enter", "e")
			path := d.app.top().(*session).path
			d.keys("i")
			if err := c.harm(path); err != nil {
				t.Fatal(err)
			}
			d.tick()
			d.has(c.sentence, "TOOL-21")
			d.keys("esc")
			d.has(c.sentence, "✗ "+name, "frame 11 result")
			for range 100 {
				d.tick()
			}
			d.keys("home", "down*4", "y", "r", "v", "tab", "E", "m", "m", "c", "s")
			d.has(c.sentence)
			d.keys("esc*3")
			if s := d.screen(); strings.Contains(s, c.sentence) {
				t.Errorf("the sentence is still there:\n%s", s)
			}
		})
	}
}

// TestGoneLive: of a live session that is deleted nothing more is read, and it is not
// live any more, though its tap writes on.
func TestGoneLive(t *testing.T) {
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	write, end := liveWriter(t, store, "fresh")
	defer end()
	write(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	d := drive(t, store, colorprofile.NoTTY, 100, 30).keys("D")
	d.has("it is live, and can't be deleted; end its server first")
	d.keys("enter")
	d.has("● live")
	if err := os.Remove(d.app.top().(*session).path); err != nil {
		t.Fatal(err)
	}
	d.tick()
	d.has("the recording was deleted", "✗ deleted")
	write(tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"later"}}`)
	for range 20 {
		d.tick()
	}
	if s := d.screen(); strings.Contains(s, "later") || strings.Contains(s, "● live") {
		t.Errorf("it is read on:\n%s", s)
	}
	d.keys("esc")
	d.tick()
	d.has("Nothing is recorded yet")
}

// TestHelpAtEveryWidth: no line of help is cut, at any width; it scrolls to its end, names
// the place, and leads to the language of filters.
func TestHelpAtEveryWidth(t *testing.T) {
	for _, w := range []int{40, 60, 80, 100, 120, 200} {
		for place, keys := range map[string][]string{"the list of recordings": nil, "the calls of a recording": {"enter"}, "a frame": {"enter", "tab"}} {
			d := drive(t, testStore(t), colorprofile.NoTTY, w, 20).keys(append(keys, "?")...)
			if w >= 60 {
				d.has("in " + place)
			}
			whole := ""
			for range 40 {
				s := d.screen()
				for i, l := range strings.Split(s, "\n") {
					if i > 0 && strings.Contains(strings.ReplaceAll(l, "…              open", ""), "…") && !strings.Contains(l, "copy…") && !strings.Contains(l, "…                ") {
						t.Errorf("cut at %d: %q", w, l)
					}
				}
				whole += s
				d.keys("pgdown")
			}
			for _, a := range actionsAt(d.app.screens[len(d.app.screens)-2].place()) {
				last := a.Help[strings.LastIndexByte(a.Help, ' ')+1:]
				if !strings.Contains(whole, a.Name) && w >= 80 && len(a.Name) <= helpNames || !strings.Contains(whole, last) {
					t.Errorf("help of %d cells does not say %s: %s", w, a.Name, a.Help)
				}
			}
			d.keys("H")
			d.has("the language of filters", "tool:add_*")
			d.keys("esc", "?", "esc")
		}
	}
}

// TestHideZoomedModel: what the model reads is hidden while it has the whole screen.
func TestHideZoomedModel(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 140, 40).keys("enter", "tab*2", "z")
	d.has("what the model reads")
	d.keys("m")
	d.has("─ calls", "─ frame")
}

// TestRedraw: ctrl-l clears the screen and draws it anew, whatever lies over it.
func TestRedraw(t *testing.T) {
	for _, keys := range [][]string{nil, {"enter"}, {"enter", ":"}, {"/"}, {"D"}, {"enter", "c"}, {"?"}} {
		d := open(t, keys...)
		_, cmd := d.app.Update(keyMsg(t, "ctrl+l"))
		if cmd == nil || fmt.Sprintf("%T", cmd()) != "tea.clearScreenMsg" {
			t.Errorf("after %v the screen is not cleared", keys)
		}
	}
	if cmd := open(t).app.do("redraw"); cmd == nil {
		t.Error("the palette does not clear the screen")
	}
}

// TestPrompt: what is said of a filter stands above it in full, a sign points to what is
// wrong, and tab goes through the ways to go on.
func TestPrompt(t *testing.T) {
	for _, w := range []int{40, 60, 80, 120} {
		d := drive(t, testStore(t), colorprofile.NoTTY, w, 24).keys("enter", "/")
		if s := strings.Join(strings.Fields(d.screen()), " "); !strings.Contains(s, "(f1 lists all)") {
			t.Errorf("the hint is cut at %d:\n%s", w, s)
		}
		if s := d.screen(); strings.Contains(s, "… …") {
			t.Errorf("an ellipsis of an ellipsis at %d:\n%s", w, s)
		}
		d.keys("+tool:add_* and staus:failed")
		lines := strings.Split(d.screen(), "\n")
		sign, line := lines[len(lines)-2], lines[len(lines)-1]
		at, wrong := strings.Index(sign, "▾"), strings.Index(line, "staus")
		if at < 0 || at != wrong {
			t.Errorf("at %d the sign points to cell %d, not %d:\n%s\n%s", w, at, wrong, sign, line)
		}
		d.keys("f1")
		d.has("filters", "tool:add_*")
		d.keys("?")
		d.has("staus:failed") // it was only to look something up
		d.keys("esc", "/", "+status:", "tab")
		first := d.app.prompt.line.String()
		d.keys("tab")
		second := d.app.prompt.line.String()
		if first == "status:" || second == first || !strings.HasPrefix(second, "status:") {
			t.Errorf("tab made %q, then %q", first, second)
		}
		d.keys("shift+tab")
		if got := d.app.prompt.line.String(); got != first {
			t.Errorf("shift+tab made %q, not %q", got, first)
		}
	}
}

// TestNoteIsNoKey: a click on a note takes it away, and does not what is under it.
func TestNoteIsNoKey(t *testing.T) {
	d := open(t, "y")
	d.has("copied the file name")
	d.send(click(2, d.app.h-1))
	d.has("3 recordings", "enter open")
	d.send(click(2, d.app.h-1))
	d.has("─ calls")
}

// TestRuns: the sessions of one run of a host stand together, also when another host's
// began between them, and a process with the same number much later is another run.
func TestRuns(t *testing.T) {
	store := sessions.Store{Dir: t.TempDir()}
	for name, c := range map[string][2]string{
		"a1": {"2026-11-30T10:00:00Z", `{"pid":7,"name":"claude"}`}, "a2": {"2026-11-30T10:10:00Z", `{"pid":7,"name":"claude"}`}, "old": {"2026-11-28T10:00:00Z", `{"pid":7,"name":"claude"}`},
		"b1": {"2026-11-30T10:05:00Z", `{"pid":8,"name":"code"}`}, "b2": {"2026-11-30T10:15:00Z", `{"pid":8,"name":"code"}`},
	} {
		line := fmt.Sprintf(`{"mcptap":1,"session":%q,"start":%q,"transport":"stdio","label":%q,"host":%s}`+"\n", name, c[0], name, c[1])
		if err := os.WriteFile(store.Path(name), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drive(t, store, colorprofile.NoTTY, 100, 30)
	var got []string
	for _, r := range d.app.screens[0].(*sessionList).rows {
		got = append(got, r.bracket+r.info.Label())
	}
	if want := "╭b2 ╰b1 ╭a2 ╰a1 old"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	d.has("started by code, with 1 other of the same run")
	d.keys("?", "end")
	d.has("one process of a host started these")
}
