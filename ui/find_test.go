package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/feed"
)

// find starts the program and searches all recordings.
func find(t testing.TB, store sessions.Store, text string) *driver {
	t.Helper()
	return drive(t, store, colorprofile.NoTTY, 100, 30).keys("F", "+"+text, "enter")
}

func theFind(d *driver) *findScreen {
	for _, s := range d.app.screens {
		if f, ok := s.(*findScreen); ok {
			return f
		}
	}
	d.t.Fatal("no search is open")
	return nil
}

// TestFind: hits are grouped by recording, the newest first, lead to their frames, and
// are there as they were when one comes back.
func TestFind(t *testing.T) {
	d := find(t, testStore(t), "T-999")
	d.has("search all recordings  T-999", "2 hits, searched 3 recordings", "tickets-modern  acme-tickets 1.0.0", "2026-11-30 12:51", "1 hit",
		`"ticket_id":"«T-999»"`, "frame 10 of 20261130T125130Z-tickets-modern-3c4d")
	if s := d.screen(); strings.Index(s, "tickets-modern  acme") > strings.Index(s, "tickets-legacy  acme") {
		t.Errorf("the newest is not the first:\n%s", s)
	}
	d.keys("down*2")
	before, at := d.screen(), theFind(d).list.Cursor()
	d.keys("enter")
	d.has("tickets-legacy", "─ calls", "frame 11 request tools/call add_comment")
	d.keys("esc")
	if got := d.screen(); got != before || theFind(d).list.Cursor() != at {
		t.Errorf("one comes back to\n%s\nnot\n%s", got, before)
	}
	d.keys("esc")
	d.has("3 recordings")
}

// TestFindByMeaning: what is no text shows what it is about, and why it failed.
func TestFindByMeaning(t *testing.T) {
	d := find(t, testStore(t), "status:hidden-error")
	d.has("2 hits, searched 3 recordings", "assign_ticket \"No user robin\"; reads as a success", "? hidden")
	d.keys("enter")
	d.has("frame 15 result of tools/call assign_ticket")
	d.keys("esc", "/", "ctrl+u", "+tool:menu", "enter")
	d.has("1 hit, searched 3 recordings", "school", "menu week=49")
}

// TestFindOpensWithItsFilter: from the heading of a recording one comes to all that was
// searched for in it, marks as well.
func TestFindOpensWithItsFilter(t *testing.T) {
	d := find(t, testStore(t), "tool:add_*").keys("up", "enter")
	d.has("─ calls tool:add_*: 2 of 11")
	d.keys("down", "b", "N", "+ask why", "enter", "esc", "esc")
	d = find(t, d.app.env.Store, "mark:yes")
	d.has("1 hit,", "★", "add_comment ask why")
	d.keys("up", "enter")
	d.has("─ calls mark:yes: 1 of 11", "★")
}

// TestFindPrompt: the prompt completes, refuses what can't be searched for, and leaves
// the screen if nothing was asked.
func TestFindPrompt(t *testing.T) {
	d := open(t, "F")
	d.has("search all for", "status:hidden-error")
	d.keys("+stat")
	d.has("tab status:")
	d.keys("tab", "+hid")
	d.has("tab hidden-error")
	d.keys("tab", "ctrl+u", "+tool:add_", "enter") // not known yet
	d.has("0 hits")
	d.keys("/", "ctrl+u", "+tool:add_", "tab", "enter")
	d.has("tool:add_comment", "4 hits")
	d.keys("/", "ctrl+u", "+ms>x", "enter")
	d.has("a number", "search all for ms>x")
	d.keys("ctrl+u", "enter")
	d.has("nothing to search for")
	d.keys("+turn:2", "enter")
	d.has("1 hit,", "book_room")
	d.keys("esc", "esc")
	d.has("3 recordings")
	d.keys("F", "esc")
	d.has("3 recordings")
	d.keys("F", "+T-999", "enter", "/", "ctrl+u", "+other", "esc")
	d.has("search all recordings  T-999", "2 hits")
	d.keys("esc", "F", "up", "enter") // what was searched for before
	d.has("search all recordings  T-999", "2 hits")
	if d.screen(); d.app.prompt != nil {
		t.Error("the prompt is still there")
	}
}

func TestFindNothing(t *testing.T) {
	d := find(t, testStore(t), "no such thing")
	d.has("0 hits, searched 3 recordings", "No recording has it; try less of the word")
	d.keys("down", "enter", "end", "pgup") // there is nothing to go to
	d.has("No recording has it")
	find(t, sessions.Store{Dir: filepath.Join(t.TempDir(), "none")}, "x").has("There are no recordings to search yet")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	find(t, sessions.Store{Dir: file}, "x").has("reading " + file)
}

// TestFindIsStopped: esc and another query end a search at once, and what its command
// brings afterwards is dropped.
func TestFindIsStopped(t *testing.T) {
	d := open(t, "F", "+x", "enter")
	f := theFind(d)
	old := f.start("ticket")
	listed := old()
	_, one := d.app.Update(listed)
	msg := runOne(t, one)
	f.start("menu")
	d.app.Update(msg)
	d.app.Update(listed)
	if f.hits != 0 || len(f.rows) != 0 || f.listed {
		t.Errorf("a search has what another found: %d hits", f.hits)
	}

	_, one = d.app.Update(f.start("ticket")())
	f.halt()
	if msg := runOne(t, one); msg != nil {
		t.Errorf("a search that was stopped goes on and finds %+v", msg)
	}

	_, one = d.app.Update(f.start("ticket")())
	_, two := d.app.Update(runOne(t, one))
	d.has("searched 1 of 3 recordings…", "11 hits")
	d.keys("esc")
	d.has("stopped at 1 of 3 recordings; R searches again", "11 hits")
	if msg := runOne(t, two); msg != nil {
		t.Errorf("a search that was stopped goes on and finds %+v", msg)
	}
	d.keys("R")
	d.has("22 hits, searched 3 recordings")

	_, one = d.app.Update(f.start("ticket")())
	d.keys("esc")
	d.has("Nothing was found before the search was stopped")
	d.keys("esc")
	d.has("3 recordings")
	if msg := runOne(t, one); msg != nil {
		t.Errorf("a search that was left goes on and finds %+v", msg)
	}
}

// runOne runs the one command there is.
func runOne(t *testing.T, cmd tea.Cmd) tea.Msg {
	t.Helper()
	for cmd != nil {
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			cmd = nil
			for _, c := range msg {
				if c != nil {
					cmd = c
				}
			}
		default:
			return msg
		}
	}
	t.Fatal("there is no command")
	return nil
}

// TestFindCloses: a search leaves no file open, however it ends.
func TestFindCloses(t *testing.T) {
	open := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0 // a system without it; what is tested is the same on all
		}
		return len(fds)
	}
	store := testStore(t)
	infos, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	before := open()
	for _, text := range []string{"ticket", "no such thing", "status:failed", "turn:1"} {
		ctx, cancel := context.WithCancel(context.Background())
		query, err := filter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		// The clock is asked while a recording is open: it is stopped there.
		for _, now := range []func() time.Time{time.Now, func() time.Time { cancel(); return time.Now() }} {
			f := finding{ctx: ctx, now: now, most: 5, query: query}
			for _, i := range infos {
				f.in(i)
			}
		}
		cancel()
	}
	if after := open(); after > before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// record writes a recording of so many calls with the same text.
func record(t *testing.T, store sessions.Store, id string, calls int) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"mcptap":1,"session":%q,"start":"2026-11-30T12:00:00Z","transport":"stdio","label":%q}`+"\n", id, id)
	for i := range calls {
		fmt.Fprintf(&b, `{"n":%d,"t":%d,"dir":"c2s","msg":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"q":"needle"}}}}`+"\n", 2*i+1, 2*i+1, i)
		fmt.Fprintf(&b, `{"n":%d,"t":%d,"dir":"s2c","msg":{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}}`+"\n", 2*i+2, 2*i+2, i)
	}
	if err := os.MkdirAll(store.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store.Path(id), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFindIsBounded: so many hits of a recording and so many in all, and it is said that
// there are more.
func TestFindIsBounded(t *testing.T) {
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	record(t, store, "exact", maxHitsEach)
	record(t, store, "a-long-one", maxHitsEach+1)
	d := find(t, store, "needle")
	d.has("400 hits, searched 2 recordings")
	f := theFind(d)
	for _, g := range f.groups {
		if len(g.hits) != maxHitsEach || g.more != (g.info.ID == "a-long-one") {
			t.Errorf("%s has %d hits and more: %v", g.info.ID, len(g.hits), g.more)
		}
	}
	d.keys("end")
	d.has("more than 200 here: enter opens it with this filter")
	d.keys("enter")
	d.has("needle: 201 of 201")
	d.keys("esc", "esc")
	for i := range 10 {
		record(t, store, fmt.Sprint("more", i), maxHitsEach)
	}
	d.keys("R")
	d.has("2,000 hits, more are not shown: searched 10 of 12 recordings; search for less")
	if f.hits != maxHits || f.running {
		t.Errorf("%d hits, running %v", f.hits, f.running)
	}
}

// TestFindInBrokenFiles: what can't be read is said in its place, and stops nothing.
func TestFindInBrokenFiles(t *testing.T) {
	store := testStore(t)
	for id, content := range map[string]string{
		"20261130T125959Z-garbage-0001": "T-999 is here\nand \x00\xff\x1b[2J here T-999\n",
		"20261130T125958Z-half-0002": `{"mcptap":1,"session":"half","start":"2026-11-30T12:59:58Z","transport":"stdio","label":"half"}
no record T-999
{"n":1,"t":5,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"T-999"}}
`,
		"20261130T125957Z-foreign-0003": `{"meta":{"started":"2026-11-30T12:59:57Z"}}
{"t":5,"dir":"c2s","raw":"{\"jsonrpc\":\"2.0\",\"method\":\"foreign/T-999\"}"}
`,
		"20261130T125956Z-empty-0004": "",
	} {
		if err := os.WriteFile(store.Path(id), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(time.Duration(len(content)) * time.Second) // for those that don't tell when they began
		if err := os.Chtimes(store.Path(id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	d := find(t, store, "T-999")
	d.has("searched 7 recordings", "✗ garbage  it is not a recording: its first line is not JSON", "0 hits",
		"! half  1 line can't be read", "1 hit", "foreign/«T-999»", "tickets-legacy")
	f := theFind(d)
	infos := f.infos
	_ = f.start("T-999")
	infos[0].Path = filepath.Join(store.Dir, "gone.jsonl")
	_, err := os.Stat(infos[0].Path)
	reason := new(os.PathError)
	if !errors.As(err, &reason) {
		t.Fatal(err)
	}
	d.send(findListMsg{of: f, id: f.id, infos: infos})
	d.has("✗ "+infos[0].Label()+"  "+reason.Err.Error(), "searched 7 recordings", "tickets-legacy")
	d.keys("home", "enter") // it says so again
	d.has("opening", "gone.jsonl")
}

// TestFindInLive: a session that is being recorded is searched as it is by now.
func TestFindInLive(t *testing.T) {
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	write, end := liveWriter(t, store, "fresh")
	defer end()
	write(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"first"}}`)
	d := find(t, store, "method:tools/call")
	d.has("● fresh", "1 hit, searched 1 recording", "… open")
	write(tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	write(tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"second"}}`)
	d.keys("R")
	d.has("● fresh", "2 hits, searched 1 recording", "second")
}

// TestFindAgrees: a recording has those hits that its own screen selects by the same
// filter, in the same order, and each is at a frame that has the text.
func TestFindAgrees(t *testing.T) {
	var files []string
	for _, dir := range []string{"../decode/testdata/corpus", "testdata/store", "../sessions/samples/recordings"} {
		some, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(some) == 0 {
			t.Fatal(dir, err)
		}
		files = append(files, some...)
	}
	hits := 0
	for _, path := range files {
		for _, text := range []string{"ticket", "status:failed", "ü or error", "not ticket", "tool:* and id", "/[0-9]{4}-[0-9]{2}/", "kind:log"} {
			query, err := filter.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			f := finding{ctx: context.Background(), now: time.Now, most: 1 << 30, query: query}
			g, ok := f.in(sessions.Info{Path: path})
			if !ok || g.err {
				t.Fatalf("%s: %+v", path, g)
			}
			s := wholeFeed(t, path)
			want := selected(t, s, query)
			hits += len(g.hits)
			if len(g.hits) != len(want) {
				t.Errorf("%s: %s has %d hits, and selects %d rows", path, text, len(g.hits), len(want))
				continue
			}
			for i := range g.hits {
				if h := &g.hits[i]; !slices.Contains(framesOf(s, want[i]), h.frame) {
					t.Errorf("%s: hit %d of %s is at frame %d, which is not in its row", path, i, text, h.frame)
				}
			}
		}
	}
	if hits == 0 {
		t.Error("nothing was found anywhere")
	}
}

func framesOf(s *feed.Feed, r feed.Row) (frames []int) {
	if r.Call() < 0 {
		return []int{r.Frame()}
	}
	for _, p := range s.Parts(r.Call()) {
		frames = append(frames, p.Frame)
	}
	return frames
}

func wholeFeed(t *testing.T, path string) *feed.Feed {
	t.Helper()
	s, err := feed.Open(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for s.Advance(time.Now, time.Hour).More {
	}
	return s
}

func selected(t *testing.T, s *feed.Feed, query *filter.Filter) (rows []feed.Row) {
	t.Helper()
	m, err := query.On(filter.Source{Session: s.Session, Body: s.Body, Label: s.Name()})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Rows {
		if c := r.Call(); c >= 0 && m.Call(c) || c < 0 && m.Frame(r.Frame()) {
			rows = append(rows, r)
		}
	}
	return rows
}

// TestFindHostile: what a hostile server says is harmless here too, at every size, and
// rows keep their width.
func TestFindHostile(t *testing.T) {
	store := hostileStore(t)
	for _, size := range [][2]int{{leastWidth, leastHeight}, {40, 10}, {60, 15}, {120, 40}, {200, 60}} {
		d := drive(t, store, colorprofile.TrueColor, size[0], size[1])
		for _, text := range []string{"link", "漢", "long", "status:failed", "dir:c2s", "/./", "mother or another"} {
			d.keys("F", "+"+text)
			harmless(t, "the prompt", d.screen())
			d.keys("enter")
			if f := theFind(d); f.running {
				t.Error("it goes on")
			}
			for range 12 {
				harmless(t, text, d.screen())
				d.keys("down")
			}
			d.keys("enter")
			harmless(t, "the session from "+text, d.screen())
			d.keys("esc", "esc", "esc")
		}
		d.keys("F")
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(evil), Paste: true})
		harmless(t, "a paste", d.screen())
		d.keys("enter")
		harmless(t, "a paste that is searched for", d.screen())
	}
}

// TestFindMouse: a click chooses, another opens, the wheel scrolls.
func TestFindMouse(t *testing.T) {
	d := find(t, testStore(t), "ticket")
	d.send(click(20, findHeadLines+3))
	if got := theFind(d).list.Cursor(); got != 3 {
		t.Errorf("the cursor is on row %d", got)
	}
	d.send(tea.WindowSizeMsg{Width: 100, Height: 15})
	d.send(mouse(5, 5, tea.MouseButtonWheelDown, tea.MouseActionPress))
	if got := theFind(d).list.Top(); got != wheelRows {
		t.Errorf("the first row in view is %d", got)
	}
	d.has("searched 3 recordings", "tickets-modern") // whose heading is not in view any more
	d.send(click(20, findHeadLines+1))
	d.send(click(20, findHeadLines+1))
	d.has("─ calls", "search_tickets")
	d.keys("esc")
	d.send(click(20, 1))
	d.send(click(20, 14)) // the line of keys
}

// TestFindResize draws the results at many sizes.
func TestFindResize(t *testing.T) {
	d := find(t, testStore(t), "ticket or ラーメン")
	for w := leastWidth; w < 140; w += 3 {
		for h := leastHeight; h < 40; h += 3 {
			d.send(tea.WindowSizeMsg{Width: w, Height: h})
			d.screen()
			d.keys("down")
			d.screen()
		}
		d.keys("home")
	}
}

// BenchmarkFind searches a recording of 200,000 frames: for a text that is nowhere, which
// takes no decoding, for one that is at its end, and by meaning.
func BenchmarkFind(b *testing.B) {
	store := generate(b, 200_000)
	infos, err := store.List()
	if err != nil {
		b.Fatal(err)
	}
	for _, text := range []string{"no such text", "number 95238 of", "status:hidden-error"} {
		query, err := filter.Parse(`"` + text + `"`)
		if strings.Contains(text, ":") {
			query, err = filter.Parse(text)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			b.SetBytes(infos[0].Size)
			for b.Loop() {
				f := finding{ctx: b.Context(), now: time.Now, most: maxHitsEach, query: query}
				if _, ok := f.in(infos[0]); !ok {
					b.Fatal("it was stopped")
				}
			}
		})
	}
}
