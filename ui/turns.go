package ui

import (
	"slices"
	"sort"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
)

// turnStart is where a turn of the model begins: with which call, and why it is taken
// to be a turn of its own.
type turnStart struct {
	frame    int // of its first request
	turn     int // from 1
	base     int // row of its first call, as if nothing were unfolded
	strength replay.Strength
	pause    time.Duration // since the last answer of the turn before
	rule     replay.Rule
	words    string // the reason in full; may hold text from the outside
}

// turnWatch is how far a session was looked at for turns.
type turnWatch struct {
	frames int // that there were
	busy   bool
	at     time.Time
	took   time.Duration
}

// findTurns looks for turns in a reading of its own of the session: unasked, up to as many
// frames as what the model reads is shown of. Of a live session it does so as seldom as
// its calls are counted anew.
func (s *session) findTurns() tea.Cmd {
	n, now := s.feed.Len(), s.env.Now
	switch {
	case s.status.More || s.turns.busy || n == s.turns.frames || n > modelFrames && !s.calls.asksTurns:
		return nil
	case s.status.Live && now().Sub(s.turns.at) < sumPause*s.turns.took:
		return nil
	}
	s.turns.busy = true
	f, path := s.feed, s.path
	return func() tea.Msg {
		start := now()
		turns, of := turnsOf(path)
		return turnsMsg{f, n, turns, of, now().Sub(start)}
	}
}

// turnsOf reads a session; of one that can't be read it gives none, and whoever shows
// the session says so.
func turnsOf(path string) (out []turnStart, of map[int]int) {
	s, err := sessions.Open(path)
	if err != nil {
		return nil, nil
	}
	defer s.Close()
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		return nil, nil
	}
	line := replay.New(replay.Options{}, playedSession(l))
	for i := range line.Turns {
		t := &line.Turns[i]
		start := turnStart{frame: line.Calls[t.Calls[0]].Request.Frame, turn: i + 1, strength: t.Reason.Strength, rule: t.Reason.Rule, words: t.Reason.Words}
		if i > 0 {
			start.pause = max(0, t.Start-max(line.Turns[i-1].Start, line.Turns[i-1].End))
		}
		out = append(out, start)
	}
	return out, line.CallTurns(0)
}

func (s *session) tookTurns(m turnsMsg) tea.Cmd {
	s.turns = turnWatch{m.frames, false, s.env.Now(), m.took}
	s.feed.Lock()
	defer s.feed.Unlock()
	c := &s.calls
	c.setTurns(m.turns)
	if c.turnOf = m.of; c.turnOf == nil {
		c.turnOf = map[int]int{} // it can't be read: there are none
	}
	if !c.asksTurns {
		return nil
	}
	text := c.filter // what it selects is another now
	c.filter = ""
	return c.setFilter(text)
}

// setTurns draws a line before the first call of each turn. The cursor stays on its row.
func (c *calls) setTurns(turns []turnStart) {
	turns = slices.DeleteFunc(turns, func(t turnStart) bool { return t.frame >= c.feed.Len() }) // the file was ahead of us
	for i := range turns {
		turns[i].base = c.feed.RowOf(turns[i].frame)
	}
	slices.SortStableFunc(turns, func(a, b turnStart) int { return a.base - b.base })
	turns = slices.CompactFunc(turns, func(a, b turnStart) bool { return a.base == b.base })
	it, ok := c.item(c.list.Cursor())
	part := 0
	if ok {
		part = c.list.Cursor() - c.rowOfBase(it.base)
	}
	top := c.list.Cursor() - c.list.Top()
	c.turns = turns
	c.changed()
	if ok {
		row := c.rowOfBase(it.base) + max(0, part)
		c.list.Place(row, top)
	}
}

// turnLines are the turns that have a line: rows that are filtered, and frames, have
// none.
func (c *calls) turnLines() []turnStart {
	if c.frames || c.matcher != nil {
		return nil
	}
	return c.turns
}

// turnsUpTo counts the lines above a row, that right above it included.
func (c *calls) turnsUpTo(base int) int {
	turns := c.turnLines()
	return sort.Search(len(turns), func(i int) bool { return turns[i].base > base })
}

// turnAt is the turn that begins with a row; nil if none does.
func (c *calls) turnAt(base int) *turnStart {
	turns := c.turnLines()
	if n := c.turnsUpTo(base); n > 0 && turns[n-1].base == base {
		return &turns[n-1]
	}
	return nil
}

// offLine moves the cursor off the line of a turn, on in the direction it came.
func (c *calls) offLine(up bool) {
	at := c.list.Cursor()
	if it, ok := c.item(at); !ok || it.turn == nil {
		return
	}
	if up && at > 0 {
		c.list.Go(at - 1)
		return
	}
	c.list.Go(at + 1)
}

// turnLine draws the line of a turn; dashed if the calls may as well be of one turn with
// those before. Why is said in full above the frame, when the cursor is on the turn's
// first call.
func (c *calls) turnLine(t *turnStart, w int) string {
	th := c.env.th
	stroke, name := "──", "turn "+itoa(t.turn)
	if t.strength == replay.Unknown {
		stroke, name = "╌╌", name+"?"
	}
	l := draw.NewLine(w, "").Gap(3).Raw(th.Line, stroke).Gap(1).Raw(th.Dim, name)
	for _, words := range t.short() {
		if draw.Width(words) > l.Left()-draw.Width(" ── ") {
			break
		}
		l.Raw(th.Faint, words)
	}
	if t.strength != replay.Unknown {
		l.Gap(1).Raw(th.Line, stroke)
	}
	return l.String()
}

// short is why a turn begins, in pieces of which the first say most.
func (t *turnStart) short() []string {
	later := " · " + pauseWords(t.pause) + " later"
	switch {
	case t.rule == replay.RuleFirst:
		return nil
	case t.strength == replay.Unknown:
		return []string{later, ": maybe one turn, maybe two"}
	case t.rule == replay.RuleFlow:
		return []string{later, ", with words of an answer"}
	case t.rule == replay.RuleRequest:
		return []string{later, ", another request of the user"}
	}
	return []string{later}
}

// pauseWords is a pause as a person would say it.
func pauseWords(d time.Duration) string {
	switch {
	case d < time.Second/10:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return strconv.FormatFloat(d.Minutes(), 'f', 0, 64) + " min"
	}
	return strconv.FormatFloat(d.Hours(), 'f', 1, 64) + " h"
}

// turnReason is why a turn begins with the row that the cursor is on; empty if none
// does.
func (c *calls) turnReason() string {
	it, ok := c.item(c.list.Cursor())
	if !ok || it.part != nil {
		return ""
	}
	t := c.turnAt(it.base)
	switch {
	case t == nil || t.rule == replay.RuleFirst:
		return ""
	case t.strength == replay.Unknown:
		return "turn " + itoa(t.turn) + "?: " + t.words
	}
	return "turn " + itoa(t.turn) + ": " + t.words
}
