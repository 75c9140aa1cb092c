package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/sessions"
)

// turnStore has a session of calls that were sent so many milliseconds after the answer
// before.
func turnStore(t testing.TB, pauses ...int) sessions.Store {
	t.Helper()
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	if err := os.Mkdir(store.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`{"mcptap":1,"session":"20261130T130000Z-turns-0001","start":"2026-11-30T13:00:00Z","transport":"stdio","label":"turns"}` + "\n")
	at, n := int64(0), 0
	frame := func(dir, msg string) {
		n++
		fmt.Fprintf(&b, `{"n":%d,"t":%d,"dir":"%s","msg":%s}`+"\n", n, at, dir, msg)
	}
	frame("c2s", `{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
	at += 1e6
	frame("s2c", `{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"look","description":"looks at something","inputSchema":{"type":"object"}}]}}`)
	for i, pause := range pauses {
		at += int64(pause) * 1e6
		frame("c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look","arguments":{"i":%d}}}`, i+1, i))
		at += 5e6
		frame("s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"seen"}]}}`, i+1))
	}
	if err := os.WriteFile(store.Path("20261130T130000Z-turns-0001"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestTurns: a line stands where a turn of the model probably begins, dotted where that
// could as well be otherwise; the cursor passes over it.
func TestTurns(t *testing.T) {
	d := drive(t, turnStore(t, 1000, 40, 3000, 300), colorprofile.NoTTY, 80, 24).keys("enter")
	d.has("── turn 1 ──", "── turn 2 · 3.0 s later ──", "╌╌ turn 3? · 0.3 s later")
	compare(t, "turns-80x24", d.screen())
	s := d.app.top().(*session)
	var seen []string
	for range 8 {
		it, _ := s.calls.item(s.calls.list.Cursor())
		if it.turn != nil {
			t.Error("the cursor is on a line")
		}
		seen = append(seen, s.feed.Operation(it.row.Call()).Method+s.frame.verdict.text)
		d.keys("down")
	}
	if got := strings.Count(strings.Join(seen[:5], " "), "tools/call"); got != 4 || seen[0] != "tools/list" {
		t.Errorf("down leads to %v", seen)
	}
	d.keys("home")
	if it, _ := s.calls.item(s.calls.list.Cursor()); it.row.Call() != 0 {
		t.Error("home leads elsewhere than to the first row")
	}
	d.keys("down*2", "right")
	it, _ := s.calls.item(s.calls.list.Cursor() + 1)
	if it.part == nil {
		t.Error("the row does not unfold below itself")
	}
	d.keys("down*3", "up*3")
	if again, _ := s.calls.item(s.calls.list.Cursor()); again.base != it.base || again.part != nil {
		t.Errorf("down and up again lead to row %d, not %d", again.base, it.base)
	}
	d.keys("f")
	if strings.Contains(ansi.Strip(d.screen()), "turn 2") {
		t.Error("frames have lines of turns")
	}
	d.keys("f", "/", "+tool:look", "enter")
	if strings.Contains(ansi.Strip(d.screen()), "── turn 2") {
		t.Error("what a filter selects has lines of turns")
	}
}

// TestEveryRowHasItsPlace: with turns and unfolded rows, each row of the list is found
// again where it says it is.
func TestEveryRowHasItsPlace(t *testing.T) {
	pauses := make([]int, 40)
	for i := range pauses {
		pauses[i] = []int{10, 2000, 300}[i%3]
	}
	d := drive(t, turnStore(t, pauses...), colorprofile.NoTTY, 80, 40).keys("enter")
	for range 9 {
		d.keys("down*4", "right")
	}
	c := &d.app.top().(*session).calls
	rows, parts, lines := 0, 0, 0
	for i := range c.count() {
		it, ok := c.item(i)
		switch {
		case !ok:
			t.Fatalf("row %d of %d is none", i, c.count())
		case it.part != nil:
			parts++
		case it.turn != nil:
			lines++
			if c.rowOfBase(it.base) != i+1 {
				t.Errorf("the line at %d is not above its row", i)
			}
		default:
			rows++
			if c.rowOfBase(it.base) != i {
				t.Errorf("row %d says it is at %d", i, c.rowOfBase(it.base))
			}
		}
	}
	if rows != 41 || lines != len(c.turns) || lines < 10 || parts == 0 {
		t.Errorf("%d rows, %d lines of %d turns, %d parts", rows, lines, len(c.turns), parts)
	}
}

// TestTurnsAhead: who looks for turns reads the file anew, and may find a live session
// further on than what was read for the screen.
func TestTurnsAhead(t *testing.T) {
	s := drive(t, turnStore(t, 1000, 3000), colorprofile.NoTTY, 80, 24).keys("enter").app.top().(*session)
	s.feed.Lock()
	defer s.feed.Unlock()
	s.calls.setTurns([]turnStart{{frame: 2, turn: 1}, {frame: s.feed.Len(), turn: 2}, {frame: s.feed.Len() + 7, turn: 3}})
	if len(s.calls.turns) != 1 {
		t.Errorf("%d turns", len(s.calls.turns))
	}
}

// TestFilterByTurn: a turn of the model can be filtered by, also before the turns are known,
// in a session too long for them to be looked for unasked, and what is saved is the same.
func TestFilterByTurn(t *testing.T) {
	d := open(t, "end", "enter", "/", "+turn:2", "enter")
	d.has("turn:2: 1 of ", "book_room")
	d.keys("w", "ctrl+u", "+second.jsonl", "enter")
	d.has("saved 1 of 13 frames")
	d = open(t, "end", "enter", "/", "+turn<9", "enter")
	d.has("menu week=49", "book_room")

	s := d.app.top().(*session)
	d.keys("esc")
	s.calls.turnOf, s.turns = nil, turnWatch{} // as if they had not been looked for
	d.keys("/", "+turn:1")
	d.has("turn:1: 1 of ", "menu week=49")
}
