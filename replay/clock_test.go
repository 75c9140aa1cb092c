package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/decode"
)

func played() *told {
	k := newTalk("s")
	k.List(0, `{"name":"a","inputSchema":{"type":"object"}}`)
	id := k.Ask(1000, "a", "{}", "")
	k.Answer(1100, id, "x")
	k.Ask(2000, "b", "{}", "")
	k.Ask(2001, "c", "{}", "")
	k.Answer(2500, 3, "x")
	k.List(2600, `{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}`)
	k.Answer(3000, 4, "x")
	return k
}

func TestStates(t *testing.T) {
	tl := line(t, played())
	type row struct {
		Turn, Calls, Running, Tools int
	}
	var got []row
	for m := range tl.Len() + 1 {
		s := tl.At(m)
		r := row{s.Turn, s.Calls, len(s.Running), -1}
		if l := tl.List(0, decode.Tools, m); l != nil {
			r.Tools = len(l.Items)
		}
		got = append(got, r)
	}
	want := []row{
		{0, 0, 0, -1}, {0, 0, 0, -1}, {0, 0, 0, 1}, // listing
		{1, 1, 1, 1}, {1, 1, 0, 1}, // the first call
		{2, 2, 1, 1}, {2, 3, 2, 1}, {2, 3, 1, 1}, // two at once
		{2, 3, 1, 1}, {2, 3, 1, 2}, // another listing
		{2, 3, 0, 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSteps(t *testing.T) {
	tl := line(t, played())
	c := NewClock(tl)
	moments := func(by Unit, n int) (out []Moment) {
		for c.Step(by, n) {
			out = append(out, c.Moment())
		}
		return out
	}
	for _, s := range []struct {
		by   Unit
		n    int
		want []Moment
	}{
		{ByCall, 1, []Moment{3, 5, 6, 10}},
		{ByCall, -1, []Moment{6, 5, 3, 0}},
		{ByTurn, 1, []Moment{4, 10}},
		{ByTurn, -1, []Moment{4, 0}},
		{ByCall, 2, []Moment{5, 10}},
		{ByFrame, -4, []Moment{6, 2, 0}},
	} {
		if diff := cmp.Diff(s.want, moments(s.by, s.n)); diff != "" {
			t.Errorf("step %d by %d: %s", s.n, s.by, diff)
		}
	}
	if c.SeekTime(1050 * time.Millisecond); c.Moment() != 3 {
		t.Errorf("at 1.05 s the moment is %d", c.Moment())
	}
}

func TestPlay(t *testing.T) {
	c := NewClock(line(t, played()))
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	if _, ok := c.Wait(); ok || c.Tick(now) {
		t.Error("a clock that stands still runs")
	}
	c.Play(now, 2)
	c.Tick(now)
	if d, ok := c.Wait(); !ok || d != 0 {
		t.Errorf("the first frame comes in %v", d)
	}
	if !c.Tick(now.Add(time.Millisecond)) || c.Moment() != 2 {
		t.Errorf("after a moment it stands at %d", c.Moment())
	}
	if d, _ := c.Wait(); d != 499*time.Millisecond {
		t.Errorf("at double speed the call comes in %v", d)
	}
	if c.Tick(now.Add(500 * time.Millisecond)); c.Moment() != 3 || c.Time() != time.Second {
		t.Errorf("it stands at %d, %v", c.Moment(), c.Time())
	}
	if c.Tick(now.Add(400 * time.Millisecond)); c.Time() != time.Second {
		t.Error("a clock that is told an earlier time goes back")
	}
	c.Pause(now.Add(500 * time.Millisecond))
	if c.Tick(now.Add(time.Hour)) || c.Speed() != 0 {
		t.Error("a clock that was stopped runs")
	}
	c.Play(now.Add(time.Hour), 0.5)
	if c.Tick(now.Add(2 * time.Hour)); c.Moment() != 10 || c.Time() != 3*time.Second {
		t.Errorf("the end is at %d, %v", c.Moment(), c.Time())
	}
}

// someTalk makes up a session: calls and answers in any order.
func someTalk(r *rapid.T, name string) *told {
	k := newTalk(name)
	at := 0
	var open []int
	for range rapid.IntRange(0, 30).Draw(r, "frames") {
		at += rapid.SampledFrom([]int{0, 1, 60, 300, 1000}).Draw(r, "gap")
		switch what := rapid.IntRange(0, 5).Draw(r, "what"); {
		case what == 0:
			k.List(at, rapid.SampledFrom([]string{"", `{"name":"a","inputSchema":{"type":"object"}}`}).Draw(r, "tools"))
		case what < 3 && len(open) > 0:
			i := rapid.IntRange(0, len(open)-1).Draw(r, "which")
			k.Answer(at, open[i], rapid.SampledFrom([]string{"x", "T-1042", "word and id-99"}).Draw(r, "text"))
			open = append(open[:i], open[i+1:]...)
		default:
			open = append(open, k.Ask(at, "a", rapid.SampledFrom([]string{"{}", `{"id":"T-1042"}`, `{"q":"id-99"}`}).Draw(r, "arguments"), ""))
		}
	}
	return k
}

// TestOrder: several sessions keep their own order, times never go back, every
// frame is there once, and every moment is found by its frame and its time.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		var talks []*told
		total := 0
		for range rapid.IntRange(1, 3).Draw(r, "sessions") {
			k := someTalk(r, "s")
			k.start = start.Add(time.Duration(rapid.IntRange(0, 3000).Draw(r, "start")) * time.Millisecond)
			talks = append(talks, k)
			total += k.Len()
		}
		tl := line(t, talks...)
		if int(tl.Len()) != total {
			r.Fatalf("%d frames of %d", tl.Len(), total)
		}
		last := map[int]int{}
		for i := range tl.Len() {
			f := tl.Frame(i)
			if want, seen := last[f.Session]; seen && f.Frame != want+1 {
				r.Fatalf("frame %v comes after %d", f, want)
			}
			last[f.Session] = f.Frame
			if tl.After(f) != i+1 {
				r.Fatalf("frame %v is at %d, not %d", f, tl.After(f), i+1)
			}
			if m := tl.MomentAt(tl.Time(i + 1)); m < i+1 || tl.Time(m) != tl.Time(i+1) {
				r.Fatalf("moment %d is found at %d", i+1, m)
			}
		}
		checkTurns(r, tl)
	})
}

// checkTurns: every call is in one turn, turns are in order, and each has reasons.
func checkTurns(r *rapid.T, tl *Timeline) {
	next := 0
	for i, turn := range tl.Turns {
		for _, c := range turn.Calls {
			if c != next || tl.Calls[c].Turn != i || tl.Calls[c].Join.Words == "" {
				r.Fatalf("turn %d has call %d, and %d is due", i, c, next)
			}
			next++
		}
		if turn.Before >= turn.After || i > 0 && turn.Before < tl.Turns[i-1].After {
			r.Fatalf("turn %d lies from %d to %d", i, turn.Before, turn.After)
		}
	}
	if next != len(tl.Calls) {
		r.Fatalf("%d calls of %d are in turns", next, len(tl.Calls))
	}
}

// TestRefresh: a session that was read as it grew is the same as one read at the end.
func TestRefresh(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		whole := someTalk(r, "s")
		growing := newTalk("s")
		tl := line(t, growing)
		for i, body := range whole.Bodies {
			f := whole.Frame(i)
			growing.Say(int(f.Time.Milliseconds()), f.Dir, string(body))
			if rapid.Bool().Draw(r, "refresh") {
				tl.Refresh()
			}
		}
		tl.Refresh()
		if got, want := turns(tl), turns(line(t, whole)); got != want {
			r.Fatalf("it became %s, not %s", got, want)
		}
	})
}
