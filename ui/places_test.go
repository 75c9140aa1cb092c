package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/ui/draw"
)

// lines are the lines of the picture without colours.
func (d *driver) lines() []string { return strings.Split(ansi.Strip(d.screen()), "\n") }

// TestWrongFilterIsSaid: what is wrong with a filter is in view at every size, before what
// it could be instead; and a sign points there.
func TestWrongFilterIsSaid(t *testing.T) {
	store := testStore(t)
	for _, keys := range [][]string{{"enter", "/"}, {"F"}} {
		for _, size := range [][2]int{{40, 10}, {60, 15}, {70, 24}, {80, 24}, {80, 23}, {100, 30}, {120, 40}} {
			d := drive(t, store, colorprofile.NoTTY, size[0], size[1]).keys(append(keys, "+status:faild")...)
			s := strings.Join(strings.Fields(ansi.Strip(d.screen())), " ")
			wrong, list := strings.Index(s, `nothing has status "faild"`), strings.Index(s, "tool-error,")
			if wrong < 0 || list >= 0 && list < wrong || !strings.Contains(s, "▾") {
				t.Errorf("%v at %v: what is wrong is not said first:\n%s", keys, size, d.screen())
			}
			if size[0] >= 80 && !strings.Contains(s, "open, failed") {
				t.Errorf("%v at %v: not all is said:\n%s", keys, size, d.screen())
			}
			if size[0] >= 60 && !strings.Contains(s, "did you mean failed?") {
				t.Errorf("%v at %v: nothing is proposed:\n%s", keys, size, d.screen())
			}
		}
	}
}

// TestReadingMovesAtOnce: a text has no cursor that would have to go to its edge first.
func TestReadingMovesAtOnce(t *testing.T) {
	for _, keys := range [][]string{{"enter", "?"}, {"?"}, {"enter", "H"}} {
		d := drive(t, testStore(t), colorprofile.NoTTY, 60, 7)
		d.app.env.Filters = "a topic\n" + strings.Join(strings.Fields("a1 b2 c3 d4 e5 f6 g7 h8 i9 j0"), "\n\n")
		d.keys(keys...)
		top := func() string { return strings.Join(d.lines()[2:], "\n") }
		d.has("1–4 of ")
		for _, step := range []struct{ key, part string }{{"down", "2–5 of"}, {"up", "1–4 of"}, {"pgdown", "4–7 of"}, {"pgup", "1–4 of"}} {
			before := top()
			d.keys(step.key)
			if top() == before {
				t.Errorf("%v: %s moves nothing", keys, step.key)
			}
			d.has(step.part)
		}
		d.keys("end")
		if h := d.app.top().(*help); h.page.to() != len(h.lines) {
			t.Errorf("%v: end leads to line %d of %d", keys, h.page.to(), len(h.lines))
		}
		d.keys("home")
		d.has("1–4 of ")
	}
	if s := drive(t, testStore(t), colorprofile.NoTTY, 120, 60).keys("?").lines()[0]; strings.Contains(s, " of 4") {
		t.Errorf("all is in view, and yet it counts: %s", s)
	}
}

// TestLongDialog: of a dialog that is longer than the screen every line can be read.
func TestLongDialog(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 40, 8)
	d.app.dialog = &dialog{title: "long", lines: strings.Fields("a1 b2 c3 d4 e5 f6 g7 h8 i9 j0")}
	d.has("a1", "long, 1–5 of 10", "go on")
	d.keys("pgdown")
	d.has("e5", "5–9 of 10", "go on")
	d.keys("end")
	d.has("j0", "6–10 of 10")
	d.keys("home", "down")
	d.has("b2", "2–6 of 10")
}

// TestSigns: each sign of a screen is explained once, in the second group of its help.
func TestSigns(t *testing.T) {
	for at, want := range map[place]string{
		inSessions: "● ! ★ ╭ │ ╰ ▴ ▾",
		inCalls:    "✓ ✗ ? - ↻ … → ← ≈ ! ▸ ▾ ★ ▌ ╷ dim ░ + ~ ━ ─ ▁ █ ● ◉",
		inFind:     "✓ ✗ ? - ↻ … « » ★ !",
	} {
		var keys []string
		for _, r := range signsAt(at) {
			keys = append(keys, strings.Fields(r.key)...)
			if r.name == "" || r.text == "" {
				t.Errorf("%s means nothing", r.key)
			}
		}
		for _, sign := range strings.Fields(want) {
			if n := len(slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k != sign })); n != 1 {
				t.Errorf("at %d %s is explained %d times", at, sign, n)
			}
		}
		var heads []string
		for _, r := range newHelp(&env{}, at).rows {
			if r.head != "" {
				heads = append(heads, r.head)
			}
		}
		if heads[1] != "Signs" {
			t.Errorf("at %d the groups are %v", at, heads)
		}
	}
	for _, o := range outcomeSigns {
		if !slices.ContainsFunc(outcomeHelp(), func(r helpRow) bool { return r.key == o.sign && strings.Contains(r.name+r.text, o.word) }) {
			t.Errorf("%s is not told of", o.word)
		}
	}
}

// TestListFilterGoes: esc takes the filter away; a filter that leaves nothing says what to
// do, and one in the language of filters where that is understood.
func TestListFilterGoes(t *testing.T) {
	d := open(t, "/", "+school", "enter", "esc")
	d.has("3 recordings, newest first", "tickets-modern")
	if len(d.app.screens) != 1 || d.quit {
		t.Error("esc does more than that")
	}
	d.keys("esc", "/")
	if got := d.app.prompt.line.String(); got != "" {
		t.Errorf("%q is left on the line", got)
	}
	d.keys("+nothing like it", "enter")
	d.has("/ changes them, esc takes them away")
	d.keys("esc", "/", "+status:failed")
	d.has(`F searches all recordings for "status:failed"`)
	d.keys("enter")
	d.has(`F searches all recordings for "status:failed"`, "esc takes them away")
	for text, want := range map[string]string{"tool:add": "tool:add", "acme -status:ok": "-status:ok", "ms>100": "ms>100", "http://x": "", "12:50": "", "school": "", ":": "", "": ""} {
		if got := termIn(text); got != want {
			t.Errorf("in %q the term is %q", text, got)
		}
	}
}

// TestClickOnHead: the list is ordered by the column whose name is clicked on, which is
// marked then.
func TestClickOnHead(t *testing.T) {
	for _, w := range []int{60, 80, 120, 200} {
		d := drive(t, testStore(t), colorprofile.NoTTY, w, 24)
		d.has("started▾")
		for _, c := range []struct{ name, marked, order string }{
			{"label", "label▴", "by label"}, {"calls", "calls▾", "most calls first"}, {"failed", "failed▾", "most failures first"},
			{"size", "size▾", "largest first"}, {"started", "started▾", "newest first"}, {"started", "started▾", "newest first"},
		} {
			head := d.lines()[headLines-1]
			at := draw.Width(head[:strings.Index(head, c.name)])
			d.send(click(at, headLines-1))
			d.has(c.marked, ", "+c.order)
			if n := strings.Count(d.lines()[headLines-1], "▾") + strings.Count(d.lines()[headLines-1], "▴"); n != 1 {
				t.Errorf("%d columns are marked: %s", n, d.lines()[headLines-1])
			}
		}
		d.send(click(w-1, headLines-1)) // nothing is there
		d.has("newest first")
	}
}

// TestClickOnTime: a click on a column of the line of time that shows a failure selects a
// call that failed there; on another one, what began there last.
func TestClickOnTime(t *testing.T) {
	store := testStore(t)
	for _, id := range []string{"20261130T125130Z-tickets-modern-3c4d", "20261130T125000Z-tickets-legacy-1a2b", "20261129T081500Z-school-5e6f"} {
		for _, w := range []int{60, 80, 120, 200} {
			for _, keys := range [][]string{nil, {"f"}} {
				d := driveOn(t, store, store.Path(id), colorprofile.NoTTY, w, 30).keys(keys...)
				s := d.app.top().(*session)
				wide := s.clockWidth(s.w)
				failed := 0
				for x := range wide {
					d.send(click(0, s.at.calls.y))
					d.keys("home")
					shows := []rune(d.lines()[s.at.clock.y])[x+1]
					d.send(click(x+1, s.at.clock.y))
					it, ok := s.calls.item(s.calls.list.Cursor())
					if !ok {
						t.Fatal("the cursor is nowhere")
					}
					if shows != '✗' && shows != '◉' {
						continue
					}
					failed++
					frame := s.feed.Main(it.row)
					if !s.calls.failed(it.row) || s.feed.Density.Stands(s.feed.Frame(frame).Time, wide) != x {
						t.Errorf("%s, %d wide: column %d shows a failure, and a click selects frame %d", id, w, x, frame)
					}
				}
				if failed == 0 && !strings.Contains(id, "school") {
					t.Errorf("%s shows no failure", id)
				}
			}
		}
	}
}

// TestClickOnTimeFiltered: of a column one goes to what the filter has of it, also where
// something else failed there.
func TestClickOnTimeFiltered(t *testing.T) {
	var lines []string
	frame := func(at int64, dir, rest string) {
		lines = append(lines, fmt.Sprintf(`{"n":%d,"t":%d,"dir":%q,"msg":{"jsonrpc":"2.0",%s}}`, len(lines)+1, at, dir, rest))
	}
	for i := range int64(12) { // in the middle one fails, and another answers right after it
		frame(i*1e9, "c2s", fmt.Sprintf(`"id":%d,"method":"tools/call","params":{"name":"a"}`, 2*i))
		if i == 6 {
			frame(i*1e9+1e6, "s2c", fmt.Sprintf(`"id":%d,"error":{"code":-32602,"message":"no"}`, 2*i))
		} else {
			frame(i*1e9+1e6, "s2c", fmt.Sprintf(`"id":%d,"result":{"content":[]}`, 2*i))
		}
		frame(i*1e9+2e6, "c2s", fmt.Sprintf(`"id":%d,"method":"tools/call","params":{"name":"b"}`, 2*i+1))
		frame(i*1e9+3e6, "s2c", fmt.Sprintf(`"id":%d,"result":{"content":[]}`, 2*i+1))
	}
	store := storeOf(t, map[string]string{"20261130T120000Z-time-0001": "time"}, lines)
	d := drive(t, store, colorprofile.NoTTY, 100, 30).keys("enter", "/", "+status:ok", "enter")
	s := d.app.top().(*session)
	wide := s.clockWidth(s.w)
	there := map[int][]int{} // the selected rows of a column
	for i := range s.feed.Len() {
		if base := s.feed.RowOf(i); slices.Contains(s.calls.selected, int32(base)) {
			x := s.feed.Density.Stands(s.feed.Frame(i).Time, wide)
			there[x] = append(there[x], base)
		}
	}
	for x := range wide {
		d.keys("home")
		d.send(click(x+1, s.at.clock.y))
		it, ok := s.calls.item(s.calls.list.Cursor())
		if !ok {
			t.Fatal("the cursor is nowhere")
		}
		if base := slices.Index(s.feed.Rows, it.row); len(there[x]) > 0 && !slices.Contains(there[x], base) {
			t.Errorf("a click on column %d leads to row %d, not one of %v", x, base, there[x])
		}
	}
}

func TestPaletteWithoutMatch(t *testing.T) {
	for _, size := range [][2]int{{20, 5}, {60, 15}, {80, 24}} {
		d := drive(t, testStore(t), colorprofile.NoTTY, size[0], size[1]).keys(":", "+zzz")
		d.has("no action has")
		box := len(d.app.palette.view(d.app.env.th, size[0], size[1]))
		d.keys("enter", "down", "up")
		d.send(mouse(10, 3, tea.MouseButtonWheelDown, tea.MouseActionPress))
		d.has("no action has")
		d.keys("backspace*3")
		if got := len(d.app.palette.view(d.app.env.th, size[0], size[1])); got != box {
			t.Errorf("the box has %d lines, and %d without a match", got, box)
		}
	}
}

// TestUnfoldedIsInView: what is unfolded in the last row of a pane comes into view.
func TestUnfoldedIsInView(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys("enter", "home")
	s := d.app.top().(*session)
	_, to := s.calls.list.Range()
	s.calls.list.Go(to - 1)
	at := s.calls.list.Cursor()
	d.keys("right")
	from, to := s.calls.list.Range()
	if to <= at+2 || from > at {
		t.Errorf("row %d was unfolded, rows %d to %d are in view:\n%s", at, from, to, d.screen())
	}
	d.has("▾", "request", "response")
}

// TestOverlayStandsApart: around what lies over a screen there is a free cell, and no scrap
// of what it covers.
func TestOverlayStandsApart(t *testing.T) {
	for _, w := range []int{60, 76, 78, 80, 84, 100, 120} {
		for _, key := range []string{"c", ":"} {
			d := drive(t, testStore(t), colorprofile.NoTTY, w, 24).keys("enter", "e", key)
			lines := d.lines()
			top := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "╭─ co") })
			end := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "╰──") })
			edge := strings.Index(lines[top], "╭─ co")
			x, to := draw.Width(lines[top][:edge]), draw.Width(lines[top][:strings.LastIndex(lines[top], "╮")])+1
			for i := top; i <= end; i++ {
				before, after := ansi.Cut(lines[i], 0, x), ansi.Cut(lines[i], to, w)
				if before != "" && !strings.HasSuffix(before, " ") || after != "" && !strings.HasPrefix(after, " ") {
					t.Errorf("%s at %d: line %d touches: %q", key, w, i, lines[i])
				}
				for _, beside := range []string{before, after} {
					if draw.Width(strings.TrimSpace(beside)) < leastScrap && draw.Width(beside) <= leastScrap && strings.TrimSpace(beside) != "" {
						t.Errorf("%s at %d: a scrap beside line %d: %q", key, w, i, lines[i])
					}
				}
			}
			for _, i := range []int{top - 1, end + 1} {
				if i > 0 && strings.TrimSpace(ansi.Cut(lines[i], x, to)) != "" {
					t.Errorf("%s at %d: line %d touches: %q", key, w, i, lines[i])
				}
			}
		}
	}
}

// TestSaveNameIsCutWithASign: of a name that has no room the front is an ellipsis.
func TestSaveNameIsCutWithASign(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 40, 15).keys("enter", "w")
	d.has("save as …", "-part.jsonl")
	drive(t, testStore(t), colorprofile.NoTTY, 80, 15).keys("enter", "w").has("save as 20261130T125130Z-tickets-modern-3c4d-part.jsonl")
}

// TestReachSaysWhatItDid: also where there is nothing to see of it.
func TestReachSaysWhatItDid(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys("enter", "x")
	d.has("what the model never reads is not known here; m shows")
	d.keys("m", "x")
	d.has("all is shown alike")
	d.keys("x")
	d.has("what the model never reads is dim")
}

// TestStartedStandsApart: the moment does not touch the column beside it.
func TestStartedStandsApart(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 80, 24)
	d.has("23 min ago  tickets-modern", " size ")
	if s := d.screen(); strings.Contains(s, "bytes") {
		t.Errorf("the size of a file is no bytes on a wire:\n%s", s)
	}
}
