package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
)

// madeStore has a session of messages, a millisecond each: "> " goes to the server, "< "
// to the client.
func madeStore(t testing.TB, messages ...string) sessions.Store {
	t.Helper()
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	if err := os.Mkdir(store.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`{"mcptap":1,"session":"20261130T130000Z-made-0001","start":"2026-11-30T13:00:00Z","transport":"stdio","label":"made"}` + "\n")
	for i, m := range messages {
		dir := map[byte]string{'>': "c2s", '<': "s2c"}[m[0]]
		fmt.Fprintf(&b, `{"n":%d,"t":%d,"dir":%q,"msg":%s}`+"\n", i+1, i*1000000, dir, strings.ReplaceAll(m[2:], "V2", `"jsonrpc":"2.0"`))
	}
	if err := os.WriteFile(store.Path("20261130T130000Z-made-0001"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return store
}

func toolCall(id int, name, arguments string) string {
	return fmt.Sprintf(`> {V2,"id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, arguments)
}

func toolText(id int, text string, failed bool) string {
	return fmt.Sprintf(`< {V2,"id":%d,"result":{"content":[{"type":"text","text":%q}],"isError":%t}}`, id, text, failed)
}

// row is the line of the screen that has a text, without what surrounds it.
func (d *driver) row(has string) string {
	d.t.Helper()
	for line := range strings.SplitSeq(ansi.Strip(d.screen()), "\n") {
		if strings.Contains(line, has) {
			return line
		}
	}
	d.t.Errorf("no line has %q:\n%s", has, ansi.Strip(d.screen()))
	return ""
}

// TestFailedRows: what failed keeps what it was asked with, and leads with the words of
// who failed.
func TestFailedRows(t *testing.T) {
	store := madeStore(t,
		toolCall(1, "detail_anak", `{"id":999}`), toolText(1, `{"error":"Anak dengan id 999 tidak ditemukan","status":404}`, false),
		toolCall(2, "add", `{"text":"`+strings.Repeat("long ", 90)+`"}`), toolText(2, "Error executing tool add: no room", true),
		toolCall(3, "add", `{"n":1}`), `< {V2,"id":3,"error":{"code":-32602,"message":"no tool add"}}`)
	for _, c := range []struct {
		w    int
		want []string
	}{
		{60, []string{"detail_anak id=999  \"Anak", "add n=1  no tool add (-"}},
		{80, []string{`detail_anak id=999  "Anak dengan id 999 …`, `…  no room`}},
		{200, []string{`detail_anak id=999  "Anak dengan id 999 tidak ditemukan"; re`, `long …  no room`, "add n=1  no tool add (-32602 invalid params)"}},
	} {
		d := drive(t, store, colorprofile.NoTTY, c.w, 30).keys("enter")
		d.has(c.want...)
		if s := ansi.Strip(d.screen()); strings.Contains(s, "reads as a success; the p…") {
			t.Errorf("a row leads with our words:\n%s", s)
		}
	}
	drive(t, store, colorprofile.NoTTY, 100, 30).keys("enter", "home").has(`▌ hidden error: "Anak dengan id 999 tidak ditemukan"; reads as a success`)
}

// TestLongNames: calls of tools whose names are longer than what the index keeps have
// rows of their own, with the beginning of the name and what tells it from others.
func TestLongNames(t *testing.T) {
	one, two := strings.Repeat("x", 5000)+"1", strings.Repeat("x", 5000)+"2"
	store := madeStore(t, toolCall(1, one, `{}`), toolText(1, "a", false), toolCall(2, two, `{"n":2}`), toolText(2, "b", true), toolCall(3, one, `{}`), toolText(3, "c", false),
		fmt.Sprintf(`> {V2,"id":4,"method":%q}`, strings.Repeat("m", 600)))
	for _, w := range []int{60, 80, 200} {
		s := ansi.Strip(drive(t, store, colorprofile.NoTTY, w, 30).keys("enter", "m").screen())
		found := map[string]int{}
		for _, name := range regexp.MustCompile(`xxx…#[0-9a-f]{12}`).FindAllString(s, -1) {
			found[name]++
		}
		if len(found) != 2 || !strings.Contains(s, "mmmm") {
			t.Errorf("%d names are there:\n%s", len(found), s)
		}
	}
	d := drive(t, store, colorprofile.NoTTY, 80, 30).keys("enter", "t")
	if n := strings.Count(ansi.Strip(d.screen()), "xxxx"); n < 2 {
		t.Errorf("the tools have %d rows of statistics:\n%s", n, d.screen())
	}
}

// TestTurnLines: they are short enough for every width, and the reason is told in full
// above the frame.
func TestTurnLines(t *testing.T) {
	store := turnStore(t, 1000, 40, 3000, 300)
	for _, w := range []int{40, 60, 80, 200} {
		d := drive(t, store, colorprofile.NoTTY, w, 30).keys("enter")
		for _, turn := range []string{"── turn 1 ──", "── turn 2 · 3.0 s later ──", "╌╌ turn 3? · 0.3 s later"} {
			if line := d.row(turn); strings.Contains(line, "…") {
				t.Errorf("%d columns: %q", w, line)
			}
		}
		if w >= 60 {
			d.has("╌╌ turn 3? · 0.3 s later: maybe one turn, maybe two")
		}
	}
	d := drive(t, store, colorprofile.NoTTY, 120, 40).keys("enter", "down*3")
	d.has("╷ turn 2: 3000 ms after the last answer")
	d.keys("down")
	d.has("╷ turn 3?: 300 ms after the last", "the time does not tell")
	d.keys("up*2")
	if s := ansi.Strip(d.screen()); strings.Contains(s, "╷") {
		t.Errorf("no turn begins here:\n%s", s)
	}
}

// TestModelPane: its title and numbers fit where there is room, and so do the words
// beside its bar.
func TestModelPane(t *testing.T) {
	for _, c := range []struct {
		w     int
		title string
	}{
		{120, "the model reads · turn 1/1 · generic, low confidence"},
		{160, "what the model reads · turn 1/1 · as generic, low confidence"},
		{200, "what the model reads · turn 1/1 · as generic, low confidence"},
		{80, "what the model reads · turn 1/1 · as generic, low confidence"},
	} {
		d := drive(t, testStore(t), colorprofile.NoTTY, c.w, 40).keys("enter", "e")
		if c.w < sideWidth {
			d.keys("m")
		}
		d.has(c.title, "▓ tools ~756  ▙ system ~28  █ messages ~181", "░ not on this wire")
		total := 0
		for _, n := range regexp.MustCompile(`(tools|system|messages) +~(\d+) *\n`).FindAllStringSubmatch(ansi.Strip(d.screen())+"\n", -1) {
			var v int
			_, _ = fmt.Sscan(n[2], &v)
			total += v
		}
		if total < 960 && c.w >= sideWidth {
			t.Errorf("%d columns: the parts add up to %d:\n%s", c.w, total, ansi.Strip(d.screen()))
		}
		if _, line, _ := strings.Cut(d.row("system prompt"), "│"); c.w == 120 && !strings.Contains(line, "its own tools…") || c.w == 200 && strings.Contains(line, "…") {
			t.Errorf("%d columns: a row without a number leaves room for one: %q", c.w, line)
		}
	}
}

// TestModelScreens are pictures of it where it takes the frame's place, and where glyphs
// stand for colours.
func TestModelScreens(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile colorprofile.Profile
		w, h    int
		keys    string
	}{
		{"model-beside-60x15", colorprofile.NoTTY, 60, 15, "enter e m"},
		{"model-beside-80x24", colorprofile.NoTTY, 80, 24, "enter e m"},
		{"model-16-colours", colorprofile.ANSI, 120, 40, "enter e tab*2"},
		// By itself: where there is room for it, it is there unasked.
		{"model-60x15", colorprofile.NoTTY, 60, 15, "enter e m z"},
		{"model-80x24", colorprofile.NoTTY, 80, 24, "enter e m z"},
		{"model-120x40", colorprofile.NoTTY, 120, 40, "enter e tab*2 z"},
		{"model-200x60", colorprofile.NoTTY, 200, 60, "enter e tab*2 z"},
		{"model-60x15-colours", colorprofile.TrueColor, 60, 15, "enter e m z"},
		{"model-80x24-colours", colorprofile.TrueColor, 80, 24, "enter e m z"},
		{"model-120x40-colours", colorprofile.TrueColor, 120, 40, "enter e tab*2 z"},
		{"model-200x60-colours", colorprofile.TrueColor, 200, 60, "enter e tab*2 z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, testStore(t), c.profile, c.w, c.h).keys(strings.Fields(c.keys)...)
			for d.app.note.text != "" { // it has been read
				d.tick()
			}
			compare(t, c.name, d.screen())
		})
	}
}

// TestToggleModel: all three panes stand at 120 columns; where one takes the place of
// another, the screen says so, and the same key undoes it.
func TestToggleModel(t *testing.T) {
	for _, c := range []struct {
		w, h               int
		keys               string
		calls, frame, side bool
		note               string
	}{
		{120, 40, "", true, true, true, ""},
		{120, 40, "m", true, true, false, "is hidden; m shows it"},
		{120, 40, "m m", true, true, true, ""},
		{120, 40, "z m", true, true, true, ""},
		{80, 24, "m", true, false, true, "m brings the frame back"},
		{80, 24, "m m", true, true, false, "is hidden"},
		{80, 24, "m tab", true, true, false, ""},
		{80, 24, "m tab*2 m", true, false, true, "m brings the frame back"},
		{60, 14, "m", false, false, true, "m brings the frame back"},
		{60, 14, "m m", true, false, false, "is hidden"},
	} {
		d := drive(t, testStore(t), colorprofile.NoTTY, c.w, c.h).keys("enter").keys(strings.Fields(c.keys)...)
		s := ansi.Strip(d.screen())
		if calls, frame, side := strings.Contains(s, "─ calls"), strings.Contains(s, "─ frame"), strings.Contains(s, "the model reads · turn"); calls != c.calls || frame != c.frame || side != c.side {
			t.Errorf("%dx%d, %q: calls %t frame %t model %t:\n%s", c.w, c.h, c.keys, calls, frame, side, s)
		}
		if !strings.Contains(s, c.note) {
			t.Errorf("%dx%d, %q does not say %q:\n%s", c.w, c.h, c.keys, c.note, s)
		}
	}
}

// TestBars: without enough colours the parts of a bar have glyphs of their own, and what
// does not fit beside it is counted together.
func TestBars(t *testing.T) {
	for _, p := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII, colorprofile.ANSI} {
		drive(t, testStore(t), p, 120, 40).keys("enter", "e").has("▓ _meta 113  █ payload 101  ▒ other 37")
	}
	drive(t, testStore(t), colorprofile.TrueColor, 120, 40).keys("enter", "e").has("▄ _meta 113  ▄ payload 101  ▄ other 37")
	th := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).app.env.th
	seen := map[string]bool{}
	for i := range th.Parts {
		seen[th.Fill(i)] = true
	}
	if len(seen) != len(th.Parts) {
		t.Errorf("%d glyphs for %d parts", len(seen), len(th.Parts))
	}
	for w := range 120 {
		parts := []portion{{1, "one", 900, "900"}, {2, "two", 90, "90"}, {3, "three", 10, "10"}, {4, "none", 0, "0"}}
		line := barLine(th, w, parts, func(n float64) string { return fmt.Sprint(n) })
		if got := len([]rune(line)); got != w {
			t.Fatalf("%d cells, want %d: %q", got, w, line)
		}
		if w >= 40 && strings.Contains(line, "…") || strings.Contains(line, "none") {
			t.Errorf("%q", line)
		}
	}
}

// TestClock: a line over the whole width tells without colours where the cursor is and
// where something failed; the speed is shown while it counts.
func TestClock(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys("end", "enter", "home")
	line := func() string { return strings.Split(ansi.Strip(d.screen()), "\n")[22] }
	if got := line(); !regexp.MustCompile(`^ ●[─▁-█]+ 0\.020 / 3\.000 s $`).MatchString(got) || strings.ContainsAny(got, " ") && strings.Contains(strings.TrimSpace(got)[:50], " ") {
		t.Errorf("%q", got)
	}
	d.keys("end")
	if got := line(); !regexp.MustCompile(`^ [━▁-█]+● +\d\.\d+ / 3\.000 s $`).MatchString(got) {
		t.Errorf("%q", got)
	}
	d.keys("<")
	d.has("space plays at ×1/2")
	d.keys("space")
	d.has("▶ ×1/2 ")
	d.keys("<")
	d.has("▶ ×1/4 ")
	for range 8 {
		d.keys("<")
	}
	d.has("×1/64 is as slow as it plays")
	for range 20 {
		d.keys(">")
	}
	d.has("▶ ×1024 ", "×1024 is as fast as it plays")
	failed := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys("enter", "home")
	failed.has("✗ 0.05")
	failed.keys("e").has("◉")
}

// TestFollowing: a live session says whether the cursor follows its end.
func TestFollowing(t *testing.T) {
	for _, w := range []int{40, 100} {
		store := sessions.Store{Dir: filepath.Join(t.TempDir(), fmt.Sprint("store", w))}
		write, end := liveWriter(t, store, "fresh")
		write(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		write(tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
		write(tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		d := drive(t, store, colorprofile.NoTTY, w, 20).keys("enter")
		d.has("● live, following")
		d.keys("up")
		d.has("paused", "G follows")
		d.keys("G")
		d.has("● live, following")
		d.keys("e")
		d.has("paused", "no failures")
		end()
	}
}

// TestUnfoldAll: what is large unfolds as well.
func TestUnfoldAll(t *testing.T) {
	big := strings.TrimSuffix(strings.Repeat(`{"a":{"b":1}},`, 3000), ",")
	d := drive(t, madeStore(t, `> {V2,"id":1,"method":"x"}`, `< {V2,"id":1,"result":{"rows":[`+big+`],"after":{"c":{"d":2}}}}`), colorprofile.NoTTY, 80, 24).keys("enter", "tab", "E", "end")
	d.has("path result.after.c.d")
	if n := d.app.top().(*session).frame.rows(); n < 9000 {
		t.Errorf("%d rows", n)
	}
}

// TestCounts: calls are requests with an id, operations what belongs together; the words
// say which, here and in lists.
func TestCounts(t *testing.T) {
	store := madeStore(t, `> {V2,"id":1,"method":"tools/list"}`, `< {V2,"id":1,"result":{"tools":[],"nextCursor":"a"}}`,
		`> {V2,"id":2,"method":"tools/list","params":{"cursor":"a"}}`, `< {V2,"id":2,"result":{"tools":[]}}`, `> {V2,"method":"notifications/x"}`)
	d := drive(t, store, colorprofile.NoTTY, 100, 30).keys("enter")
	d.has("1 operation of 2 calls")
	d.keys("/", "+tools", "enter")
	d.has("tools: 1 of 2 rows")
	drive(t, testStore(t), colorprofile.NoTTY, 100, 30).keys("enter").has("10 calls  ")
	drive(t, testStore(t), colorprofile.NoTTY, 60, 15).keys("enter").has("✗ 3 failed  10 calls")
}

// TestHints: the hints that are worth most are there, and help always is.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		w    int
		want string
	}{
		{20, "enter open  ? help"},
		{40, "enter open  esc back  / find  ? help"},
		{60, "enter open  esc back  / find  e failure  m model  ? help"},
		{120, "enter open  esc back  / find  e failure  m model  space play  d compare  r rent  i findings  t stats  tab pane  ? help"},
		{200, "tab pane  c copy  v raw  s swap  f frames  p peers  H filters  ? help"},
	} {
		drive(t, testStore(t), colorprofile.NoTTY, c.w, 20).keys("enter").has(c.want)
	}
	for _, id := range slices.Concat(hintOrder, hintsLast) {
		if !slices.ContainsFunc(actions, func(a Action) bool { return a.ID == id && a.Hint != "" }) {
			t.Errorf("%s is no action with a hint", id)
		}
	}
}

// TestFrameOpens: the cursor begins on what a frame is there for, and the first line
// stays in sight.
func TestFrameOpens(t *testing.T) {
	store := madeStore(t, `> {V2,"id":1,"method":"x","params":{"a":1}}`, `< {V2,"id":1,"result":{"b":2}}`,
		`> {V2,"id":2,"method":"x"}`, `< {V2,"id":2,"error":{"code":1,"message":"no"}}`, `> {V2,"id":3,"method":"y"}`, `< {V2,"id":3,"error":"odd"}`, `< [1]`)
	for _, c := range []struct{ keys, path string }{
		{"", "result"}, {"s", "params"}, {"down", "error.message"}, {"down s", "jsonrpc"}, {"down*2", "error"},
	} {
		d := drive(t, store, colorprofile.NoTTY, 80, 24).keys("enter", "home").keys(strings.Fields(c.keys)...)
		d.has("path "+c.path+" ", `   jsonrpc "2.0"`)
	}
	small := drive(t, store, colorprofile.NoTTY, 60, 11).keys("enter", "home", "down")
	if s := small.app.top().(*session); s.frame.list.Top() != 0 {
		t.Error("the first line is out of sight")
	}
}

// TestNextFailure: it says when it begins anew, and when there is nothing to go to.
func TestNextFailure(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 100, 30).keys("enter", "e*3")
	if s := ansi.Strip(d.screen()); strings.Contains(s, "from the top") {
		t.Errorf("it is at the third failure:\n%s", s)
	}
	d.keys("e")
	d.has("from the top again", "frame 11")
	d.keys("/", "+status:ok", "enter", "e")
	d.has("no failures among the rows")
	drive(t, turnStore(t, 10), colorprofile.NoTTY, 100, 30).keys("enter", "e").has("no failures")
	one := madeStore(t, toolCall(1, "a", `{}`), toolText(1, "no", true))
	drive(t, one, colorprofile.NoTTY, 100, 30).keys("enter", "e").has("the only failure")
}

// TestWords: what ended badly is told in words that are no abbreviations.
func TestWords(t *testing.T) {
	drive(t, testStore(t), colorprofile.NoTTY, 80, 30).keys("enter", "e").has("✗ protocol")
	store := madeStore(t, `> {V2,"id":1,"method":"x"}`, `< {V2,"id":9,"result":{}}`, `< {"foo":1}`)
	drive(t, store, colorprofile.NoTTY, 80, 30).keys("enter").has("unasked", "no JSON-RPC message")
	for _, s := range outcomeSigns {
		if len(s.row) > wordCells {
			t.Errorf("%q does not fit its column", s.row)
		}
	}
}

// TestClickOnTheClock: the whole line can be clicked on, and words are no part of it.
func TestClickOnTheClock(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys("end", "enter")
	s := d.app.top().(*session)
	d.send(click(s.clockWidth(s.w), s.at.clock.y))
	if s.calls.moment() < 2*time.Second {
		t.Errorf("the end of the line is the moment %v", s.calls.moment())
	}
	d.send(click(1, s.at.clock.y))
	d.send(click(78, s.at.clock.y)) // on the words
	if s.calls.moment() > time.Second {
		t.Errorf("its beginning is the moment %v", s.calls.moment())
	}
	d.send(tea.WindowSizeMsg{Width: 24, Height: 12})
	d.send(click(20, s.at.clock.y))
	if s.calls.moment() > time.Second {
		t.Error("a click on the words leads somewhere")
	}
}
