package ui

import (
	"slices"
	"sort"
	"strings"
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
	words    string // may hold text from the outside
}

// turnWatch is how far a session was looked at for turns.
type turnWatch struct {
	frames int // that there were
	busy   bool
	at     time.Time
	took   time.Duration
}

// findTurns looks for turns in a reading of its own of the session, up to as many frames
// as what the model reads is shown unasked. Of a live session it does so as seldom as
// its calls are counted anew.
func (s *session) findTurns() tea.Cmd {
	n, now := s.feed.Len(), s.env.Now
	switch {
	case s.status.More || s.turns.busy || n == s.turns.frames || n > modelFrames:
		return nil
	case s.status.Live && now().Sub(s.turns.at) < sumPause*s.turns.took:
		return nil
	}
	s.turns.busy = true
	f, path := s.feed, s.path
	return func() tea.Msg {
		start := now()
		turns := turnsOf(path)
		return turnsMsg{f, n, turns, now().Sub(start)}
	}
}

// turnsOf reads a session; of one that can't be read it gives none, and whoever shows
// the session says so.
func turnsOf(path string) (out []turnStart) {
	s, err := sessions.Open(path)
	if err != nil {
		return nil
	}
	defer s.Close()
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		return nil
	}
	line := replay.New(replay.Options{}, playedSession(l))
	for i := range line.Turns {
		t := &line.Turns[i]
		out = append(out, turnStart{frame: line.Calls[t.Calls[0]].Request.Frame, turn: i + 1, strength: t.Reason.Strength, words: t.Reason.Words})
	}
	return out
}

func (s *session) tookTurns(m turnsMsg) {
	s.turns = turnWatch{m.frames, false, s.env.Now(), m.took}
	s.feed.Lock()
	defer s.feed.Unlock()
	s.calls.setTurns(m.turns)
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

// turnLine draws the line of a turn; dotted if the calls may as well be of one turn with
// those before.
func (c *calls) turnLine(t *turnStart, w int) string {
	th := c.env.th
	stroke, words := "─", "turn "+itoa(t.turn)
	if t.strength == replay.Unknown {
		stroke, words = "┄", "turn "+itoa(t.turn)+"?"
	}
	l := draw.NewLine(w, "").Gap(3).Raw(th.Line, strings.Repeat(stroke, 2)).Gap(1).Raw(th.Dim, words)
	l.Text(th.Faint, " · "+t.words)
	l.Gap(1)
	return l.Raw(th.Line, strings.Repeat(stroke, max(0, l.Left()-1))).Gap(1).String()
}
