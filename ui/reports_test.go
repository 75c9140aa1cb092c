package ui

import (
	"encoding/json"
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
	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/theme"
)

// growing opens a session that is being recorded.
func growing(t *testing.T, w, h int) (d *driver, write func(dir tap.Dir, body string), end func()) {
	t.Helper()
	store := changedStore(t)
	write, end = liveWriter(t, store, "growing")
	write(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}`)
	write(tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"growing","version":"1"}}}`)
	write(tap.C2S, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	write(tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	write(tap.S2C, `{"jsonrpc":"2.0","id":2,"result":{"tools":[`+toolJSON("look", "Looks.")+`,`+toolJSON("take", "Takes.")+`]}}`)
	write(tap.C2S, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"take"}}`)
	write(tap.S2C, `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"taken"}]}}`)
	return drive(t, store, colorprofile.NoTTY, w, h).keys("enter"), write, end
}

func toolJSON(name, description string) string {
	b, err := json.Marshal(map[string]any{"name": name, "description": description, "inputSchema": map[string]any{"type": "object"}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// later lets time pass until a live session is looked at again, and read again.
func (d *driver) later() {
	d.pass(reportEvery + 2*followEvery)
}

// TestReportsOfALiveSession: each report that is open has what was recorded since, with
// the cursor on the row that it was on.
func TestReportsOfALiveSession(t *testing.T) {
	for _, c := range []struct {
		keys   string
		before string
		grow   []string // messages, the client's first, in turns
		after  []string
	}{
		{"t down*2 o*5", "tools/call take", []string{
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"take"}}`, `{"jsonrpc":"2.0","id":4,"result":{"content":[],"isError":true}}`,
		}, []string{"tools/call take                     2       1"}},
		{"r", "look", []string{
			`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":4,"result":{"tools":[` + toolJSON("look", "Looks.") + `,` + toolJSON("take", "Takes.") + `,` + toolJSON("write_a_long_letter", strings.Repeat("Writes a letter. ", 9)) + `]}}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"take"}}`, `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"again"}]}}`,
		}, []string{"3 tools", "write_a_long_letter"}},
		{"S", "look", []string{
			`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":4,"result":{"tools":[` + toolJSON("another", "Other.") + `,` + toolJSON("look", "Looks.") + `,` + toolJSON("take", "Takes.") + `]}}`,
		}, []string{"mcp__growing__another"}},
		{"i", "", []string{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"take"}}`, `{"jsonrpc":"1.0","id":4,"result":{}}`}, []string{"error"}},
		{"p", "client", []string{
			`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":4,"result":{"tools":[` + toolJSON("look", "Looks.") + `]}}`,
		}, []string{"offers       1 tool"}},
		{"d enter", "tools/list", []string{
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"quite_new"}}`, `{"jsonrpc":"2.0","id":4,"result":{"content":[]}}`,
		}, []string{"quite_new"}},
	} {
		t.Run(c.keys, func(t *testing.T) {
			d, write, end := growing(t, 100, 40)
			defer end()
			d.keys(strings.Fields(c.keys)...)
			if c.keys == "S" {
				d.keys("esc")
			}
			d.has(c.before, "● live")
			r := d.app.top().(*reportScreen)
			r.list.Go(r.list.Len() / 2)
			var at rowKey
			if r.list.Len() > 0 {
				at = r.page.key(r.list.Cursor())
			}
			for i, body := range c.grow {
				write([]tap.Dir{tap.C2S, tap.S2C}[i%2], body)
			}
			d.later()
			d.has(append(c.after, "● live")...)
			if at != (rowKey{}) && r.page.key(r.list.Cursor()) != at {
				t.Errorf("the cursor was on %v and is on %v", at, r.page.key(r.list.Cursor()))
			}
			end()
			d.later()
			if s := d.screen(); strings.Contains(s, "live") {
				t.Errorf("it has ended:\n%s", s)
			}
		})
	}
}

// TestLiveQuery: a query stays asked while the tools change, and its rows belong to the
// tools that it was asked of.
func TestLiveQuery(t *testing.T) {
	d, write, end := growing(t, 100, 30)
	defer end()
	d.keys("S", "+take", "enter")
	d.has("“take” gives the model 1 tool of 2")
	write(tap.C2S, `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
	write(tap.S2C, `{"jsonrpc":"2.0","id":4,"result":{"tools":[`+toolJSON("take_more", "Takes more.")+`]}}`)
	d.later()
	d.has("“take” gives the model 1 tool of 1", "✓ yes", "take_more")
	r := d.app.top().(*reportScreen)
	p := r.page.(*searchPage)
	r.update(explainMsg{page: p, id: p.id - 1, tool: 7})
	if p.told.tool == 7 {
		t.Error("an old answer was taken")
	}
}

// TestLiveReportIsBounded: what takes long to work out is not worked out again and again;
// the screen says how old it is, and R works it out now. The end of the session is always
// taken.
func TestLiveReportIsBounded(t *testing.T) {
	d, write, end := growing(t, 100, 30)
	defer end()
	read := 0
	d.app.env.Since = func(*sessions.Loaded) []rules.Finding { // a report that takes two seconds
		read++
		d.clock = d.clock.Add(2 * time.Second)
		return nil
	}
	d.keys("t")
	call := func(id int) {
		write(tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"call_%d"}}`, id, id))
	}
	for id := 4; id < 14; id++ {
		call(id)
		d.later()
	}
	if read != 1 {
		t.Errorf("read %d times in six seconds", read)
	}
	d.has("as of frame 7, R reads again")
	d.send(tea.WindowSizeMsg{Width: 40, Height: 20})
	d.has("to frame 7, R: anew")
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	d.keys("R")
	d.has("call_13", "● live")
	call(14)
	d.clock = d.clock.Add(reportPause * 2 * time.Second)
	d.later()
	d.has("call_14")
	call(15)
	end()
	d.later()
	d.keys("end")
	d.has("call_15")
	if read != 4 {
		t.Errorf("read %d times", read)
	}
}

// TestStaleReport: an answer that comes after a newer question is dropped, also one that
// comes when the user has gone to a frame and come back; and a session that can't be read
// again stays on the screen, with the reason.
func TestStaleReport(t *testing.T) {
	d, write, end := growing(t, 100, 30)
	defer end()
	d.keys("i", "esc", "t")
	r := d.app.top().(*reportScreen)
	old := reportMsg{of: r, id: r.id - 1, review: &review{stats: &statsReview{}}}
	d.send(old)
	d.has("tools/call take")
	late := r.start()
	d.keys("esc")
	r.leave()
	d.app.push(r, nil)
	write(tap.C2S, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"new"}}`)
	d.later()
	d.has("new")
	old = late().(reportMsg)
	old.review = &review{stats: &statsReview{}}
	d.send(old)
	d.has("tools/call take")
	r.work = func() (*review, error) { return nil, errors.New("the disk is gone") }
	d.keys("R")
	d.has("tools/call take", "✗ not read again: the disk is gone")
}

// TestOtherSideIsLive: a comparison says that the other session goes on, and reads it again
// when it is told to.
func TestOtherSideIsLive(t *testing.T) {
	d, write, end := growing(t, 100, 40)
	defer end()
	d.keys("esc", "end", "enter", "d")
	r := d.app.top().(*reportScreen)
	p := r.page.(*choicePage)
	r.list.Go(slices.IndexFunc(p.rows, func(o otherSession) bool { return o.info.Label() == "growing" }))
	d.keys("enter")
	d.has("B is live, R reads again")
	write(tap.C2S, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"quite_new"}}`)
	d.keys("R")
	d.has("quite_new")
}

// TestBackToTheReport: a row leads to its frame, and esc leads back to the row.
func TestBackToTheReport(t *testing.T) {
	for _, key := range []string{"r", "i", "p", "S", "d"} {
		d := open(t, "end", "enter", key)
		if key == "S" {
			d.keys("esc")
		}
		if key == "d" {
			d.keys("enter")
		}
		r := d.app.top().(*reportScreen)
		for i := range r.page.len() {
			if r.page.frame(i) >= 0 {
				r.list.Go(i)
			}
		}
		row, frame := r.list.Cursor(), r.page.frame(r.list.Cursor())
		if frame < 0 {
			t.Fatalf("%s: no row leads to a frame", key)
		}
		d.keys("enter")
		if s, ok := d.app.top().(*session); !ok || s.calls.frameAtCursor() != frame {
			t.Fatalf("%s: enter does not lead to frame %d:\n%s", key, frame, d.screen())
		}
		d.keys("esc")
		if d.app.top() != screen(r) || r.list.Cursor() != row {
			t.Errorf("%s: esc does not lead back", key)
		}
	}
}

// oddStore has two sessions of long, wide and backward names, with tools that hosts leave out.
func oddStore(t *testing.T, label string) sessions.Store {
	t.Helper()
	long := strings.Repeat("a_very_long_name_", 18) + "end"
	wide := strings.Repeat("漢字", 60)
	back := strings.Repeat("שלום_", 40)
	var lines []string
	n := 0
	message := func(dir, body string) {
		n++
		lines = append(lines, fmt.Sprintf(`{"n":%d,"t":%d,"dir":%q,"msg":%s}`, n, n*1000000, dir, body))
	}
	message("c2s", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.0.1"}}}`)
	message("s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"},"instructions":%q}}`, wide, strings.Repeat("Do it well. ", 40)))
	message("c2s", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	message("c2s", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	tools := []string{toolJSON(long, strings.Repeat("Says a lot. ", 60)), toolJSON(wide, wide), toolJSON(back, back), `{"name":"no_schema","description":"It has none."}`, toolJSON("short", "")}
	message("s2c", `{"jsonrpc":"2.0","id":2,"result":{"tools":[`+strings.Join(tools, ",")+`]}}`)
	for i, name := range []string{long, wide, back, "no_schema", "short", long} {
		message("c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"a":%q}}}`, 3+i, name, strings.Repeat("x", 3000)))
		message("s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}`, 3+i, strings.Repeat("word ", 900)))
	}
	return storeOf(t, map[string]string{"20261130T120000Z-odd-0001": label, "20261130T110000Z-odd-0002": label}, lines)
}

// storeOf makes a store of sessions that have the same frames, by their labels.
func storeOf(t *testing.T, labels map[string]string, lines []string) sessions.Store {
	t.Helper()
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	if err := os.Mkdir(store.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for id, label := range labels {
		head := fmt.Sprintf(`{"mcptap":1,"session":%q,"start":"2026-11-30T12:00:00Z","transport":"stdio","command":["x"],"label":%q}`, id, label)
		if err := os.WriteFile(store.Path(id), []byte(strings.Join(append([]string{head}, lines...), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

var reportKeys = []string{"r", "S esc", "t", "i", "p", "d", "d enter"}

// TestReportsFit: no report overflows or panics at any size, in any row, with long, wide
// and backward names, with colours and without.
func TestReportsFit(t *testing.T) {
	stores := map[string]sessions.Store{"odd": oddStore(t, "odd"), "odd label": oddStore(t, strings.Repeat("漢字", 60)+strings.Repeat("label", 40)), "empty": storeOf(t, map[string]string{"20261130T120000Z-none-0001": "none"}, nil)}
	for name, store := range stores {
		for _, size := range [][2]int{{20, 5}, {40, 10}, {60, 15}, {80, 24}, {120, 40}, {200, 60}} {
			for _, profile := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII, colorprofile.ANSI} {
				d := drive(t, store, profile, size[0], size[1]).keys("enter")
				for _, keys := range reportKeys {
					if name == "empty" && keys == "d enter" {
						continue
					}
					d.keys(strings.Fields(keys)...)
					for range 25 {
						harmless(t, keys, d.screen())
						d.keys("down")
					}
					d.keys("z", "pgdown", "pgdown", "up", "o", "end")
					harmless(t, keys, d.screen())
					for d.app.top() != d.app.screens[1] {
						d.keys("esc")
					}
				}
			}
		}
	}
}

// TestReportScreens compares what the other tests of screens have no session for: long
// names, tools that are left out, many places in a search, and each report in full.
func TestReportScreens(t *testing.T) {
	for _, c := range []struct{ name, keys string }{
		{"rent-odd", "enter r"},
		{"rent-carried", "enter r pgdown*2"},
		{"rent-whole", "enter r down*3 z"},
		{"search-odd", "enter S +s.o enter end"},
		{"statistics-odd", "enter t o down*2"},
		{"findings-odd", "enter i down*4"},
		{"peers-odd", "enter p down*5"},
		{"diff-odd", "enter d enter down*2"},
	} {
		for _, size := range [][2]int{{40, 10}, {60, 15}, {80, 24}, {120, 40}} {
			name := fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := drive(t, oddStore(t, "odd"), colorprofile.NoTTY, size[0], size[1]).keys(strings.Fields(c.keys)...)
				compare(t, name, d.screen())
			})
		}
	}
	for name, profile := range map[string]colorprofile.Profile{"16-colours": colorprofile.ANSI, "no-colours": colorprofile.ASCII} {
		for _, key := range []string{"r", "S", "t", "i"} {
			d := open(t, "end", "enter")
			*d.app.env.th = *theme.New(profile, true)
			d.keys(key)
			if key == "S" {
				d.keys("+menu", "enter")
			}
			compare(t, "report-"+key+"-"+name, d.screen())
		}
	}
}

// TestReportsOfNothing: of a session without calls each report says so in a sentence.
func TestReportsOfNothing(t *testing.T) {
	store := storeOf(t, map[string]string{"20261130T120000Z-none-0001": "none"}, nil)
	for _, size := range [][2]int{{60, 15}, {120, 40}} {
		d := drive(t, store, colorprofile.NoTTY, size[0], size[1]).keys("enter")
		for key, words := range map[string]string{
			"r": "no list of tools crossed", "t": "no request has crossed yet", "i": "nothing found that breaks the specification",
			"p": "it did not say", "d": "there is no other recording", "S": "nothing to search",
		} {
			d.keys(key)
			if key == "S" {
				d.keys("esc")
			}
			d.has(words)
			if s := d.screen(); strings.Contains(s, "p50 ms") || strings.Contains(s, "gets it?") || strings.Contains(s, "tokens▾") {
				t.Errorf("%s: a table without rows:\n%s", key, s)
			}
			d.keys("esc")
		}
	}
}

// TestLeftOut: a tool that was listed and that the model does not get is named with the
// reason, in the rent and in the search.
func TestLeftOut(t *testing.T) {
	d := drive(t, oddStore(t, "odd"), colorprofile.NoTTY, 120, 40).keys("enter", "r")
	d.has("left out of the requests", "✗ no_schema", "it has no input schema")
	v := d.app.top().(*reportScreen).page.(*rentPage).v
	shown := map[string]bool{}
	for i := range v.tools {
		shown[v.tools[i].name] = true
	}
	for i := range v.lines {
		if l := v.lines[i].left; l != nil {
			shown[l.name] = true
		}
	}
	if len(shown) != 5 {
		t.Errorf("%d of 5 tools are shown", len(shown))
	}
	d.keys("esc", "S", "+schema", "enter", "end")
	d.has("no search finds these", "✗ never", "never: it has no input schema")
}

// TestOverTheLimit: a host that advises fewer tools than there are is named with the tool
// from which on there are too many.
func TestOverTheLimit(t *testing.T) {
	tools := make([]string, 130)
	for i := range tools {
		tools[i] = toolJSON(fmt.Sprintf("tool_%d", i), "One of many.")
	}
	lines := []string{
		`{"n":1,"t":1000,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"Visual Studio Code","version":"1"}}}}`,
		`{"n":2,"t":2000,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"many","version":"1"}}}}`,
		`{"n":3,"t":3000,"dir":"c2s","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}`,
		`{"n":4,"t":4000,"dir":"s2c","msg":{"jsonrpc":"2.0","id":2,"result":{"tools":[` + strings.Join(tools, ",") + `]}}}`,
	}
	d := drive(t, storeOf(t, map[string]string{"20261130T120000Z-many-0001": "many"}, lines), colorprofile.NoTTY, 120, 40).keys("enter", "r")
	d.has("130 tools, as vscode sends them")
	if said := rentText(d.app.top().(*reportScreen).page.(*rentPage)); !strings.Contains(said, "tool_128: from here on over the 128 tools") {
		t.Error(said)
	}
}

// TestHeldBack: a host that searches holds definitions back, and the rent says so.
func TestHeldBack(t *testing.T) {
	d := drive(t, oddStore(t, "odd"), colorprofile.NoTTY, 120, 40).keys("enter", "r")
	p := d.app.top().(*reportScreen).page.(*rentPage)
	if p.v.host != "claude-code" {
		t.Fatalf("the host is taken for %s", p.v.host)
	}
	held := slices.ContainsFunc(p.v.tools, func(t rentTool) bool { return t.deferred })
	if said := strings.Contains(rentText(p), "held back until a search finds"); said != held || !held {
		t.Errorf("held back: %v, said: %v", held, said)
	}
}

func rentText(p *rentPage) string {
	var b strings.Builder
	for i := range p.v.lines {
		b.WriteString(p.v.lines[i].text + "\n")
	}
	return b.String()
}

// TestCarriedTable: what is carried along is a table whose numbers stand below one
// another and are never cut, whatever the names are.
func TestCarriedTable(t *testing.T) {
	for _, w := range []int{40, 60, 80, 120, 200} {
		d := drive(t, oddStore(t, "odd"), colorprofile.NoTTY, w, 40).keys("enter", "r")
		p := d.app.top().(*reportScreen).page.(*rentPage)
		rows := 0
		for i := range p.v.lines {
			l := &p.v.lines[i]
			if l.carried == nil {
				continue
			}
			rows++
			row := strings.TrimRight(ansi.Strip(p.row(len(p.v.tools)+i, w, "")), " ")
			cells := strings.Fields(row)
			if c := l.carried; cells[0] != c.total.Short() || cells[len(cells)-1] != fmt.Sprint(c.n) || cells[len(cells)-2] != fmt.Sprint(c.reads) {
				t.Errorf("%d cells: %q", w, row)
			}
			if w == 80 && !strings.Contains(row, l.carried.each.Short()) {
				t.Errorf("80 cells have no room for a time: %q", row)
			}
		}
		if rows < 10 {
			t.Errorf("%d rows", rows)
		}
	}
}

// TestOrderIsMarked: which column the order is can be seen without colours.
func TestOrderIsMarked(t *testing.T) {
	d := open(t, "enter", "r")
	for _, want := range []string{"tokens▾", "in all▾", "calls▾", "tool▴", "tokens▾"} {
		d.has(want)
		d.keys("o")
	}
	narrow := drive(t, testStore(t), colorprofile.NoTTY, 40, 20).keys("enter", "r", "o")
	narrow.has("ordered by in all")
	d.keys("esc", "t")
	for _, want := range []string{"order: as they came, o changes it", "count▾", "failed▾", "p95 ms▾", "← bytes▾", "order: as they came"} {
		d.has(want)
		d.keys("o")
	}
	p := d.app.top().(*reportScreen).page.(*statsPage)
	for range len(statOrders) - 1 {
		d.keys("o")
	}
	if p.order != 0 || !slices.Equal(p.groups, p.v.groups) {
		t.Error("the order in which they came does not come back")
	}
}

// TestStatColumns: names of columns stand apart, and the most important ones are there at
// every width.
func TestStatColumns(t *testing.T) {
	for _, w := range []int{40, 60, 80, 100, 120, 200} {
		d := drive(t, oddStore(t, "odd"), colorprofile.NoTTY, w, 30).keys("enter", "t")
		d.has(" p50 ms")
		head := strings.Split(ansi.Strip(d.screen()), "\n")[2]
		for _, name := range []string{" count ", " failed ", " p50 ms "} {
			if !strings.Contains(head+" ", name) {
				t.Errorf("%d cells: %q has no %q", w, head, name)
			}
		}
		if w >= 60 && !strings.Contains(head, " p95 ms") || w >= 120 && !strings.Contains(head, " max ms  → bytes  ← bytes") {
			t.Errorf("%d cells: %q", w, head)
		}
	}
}

// TestWholeText: what is cut below the rows is all there in full, to its last word.
func TestWholeText(t *testing.T) {
	last := "the_very_last_word"
	lines := []string{
		`{"n":1,"t":1000,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}`,
		`{"n":2,"t":2000,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{"tools":[` + toolJSON("talk", strings.Repeat("Talks and talks. ", 250)+last) + `]}}}`,
	}
	d := drive(t, storeOf(t, map[string]string{"20261130T120000Z-talk-0001": "talk"}, lines), colorprofile.NoTTY, 60, 15).keys("enter", "S", "esc")
	d.has("more lines, z shows all")
	d.keys("z")
	for n := 0; !strings.Contains(d.screen(), last); n++ {
		if n > 20 {
			t.Fatalf("its end does not come:\n%s", d.screen())
		}
		d.keys("pgdown")
	}
	d.keys("esc")
	d.has("z shows all")
	d.send(tea.MouseMsg{Y: 4, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	d.screen()
}

// TestMatchIsMarked: what a query matches in a description is marked, with colours and
// without.
func TestMatchIsMarked(t *testing.T) {
	d := open(t, "enter", "S", "+assign", "enter")
	d.has("[Assign] a ticket", "yes: place 1 of 1")
	d = drive(t, testStore(t), colorprofile.ASCII, 100, 30).keys("enter", "S", "+assign", "enter")
	if s := d.screen(); !strings.Contains(s, "\x1b[7mAssign\x1b[m a ticket") {
		t.Errorf("%q", s)
	}
}

// TestAnswersWrap: the answers of a comparison are there to their last word where there
// is room, and in full below where there is none.
func TestAnswersWrap(t *testing.T) {
	for _, size := range [][2]int{{60, 40}, {80, 34}, {120, 24}, {60, 15}} {
		d := drive(t, testStore(t), colorprofile.NoTTY, size[0], size[1]).keys("down", "enter", "d", "enter")
		d.has("A tickets-legacy", "B tickets-modern")
		if size[1] < 20 {
			d.keys("end", "up")
		}
		if s := strings.Join(strings.Fields(ansi.Strip(d.screen())), " "); !strings.Contains(s, "B costs more at any number of calls") {
			t.Errorf("%v:\n%s", size, d.screen())
		}
	}
}
