package ui

import (
	"slices"
	"sort"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/ui/density"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/feed"
)

// player plays a session: the cursor goes through it at the pace at which it was
// recorded, or some times faster or slower.
type player struct {
	clock *replay.Clock
	id    int     // of the playing that ticks are for
	speed float64 // to play at; 0 stands for 1
}

func newPlayer(c *calls) player { return player{clock: replay.NewClock(track{c})} }

const (
	playEvery = 33 * time.Millisecond
	maxSpeed  = 1024
	minSpeed  = 1.0 / 64
)

func (p *player) on() bool { return p.clock.Speed() > 0 }

func (p *player) stop(now time.Time) { p.clock.Pause(now) }

func (p *player) rate() float64 {
	if p.speed == 0 {
		return 1
	}
	return p.speed
}

// setRate changes the speed, or says that it goes no further.
func (p *player) setRate(now time.Time, rate float64) tea.Cmd {
	switch {
	case rate > maxSpeed:
		return send(noteMsg{rateWords(p.rate()) + " is as fast as it plays", false})
	case rate < minSpeed:
		return send(noteMsg{rateWords(p.rate()) + " is as slow as it plays; ] and [ step by frames", false})
	}
	p.speed = rate
	if p.on() {
		p.clock.Play(now, rate)
		return nil // the line of time shows it
	}
	return send(noteMsg{"space plays at " + rateWords(rate), false})
}

// rateWords is a speed as a multiple of the session's own.
func rateWords(rate float64) string {
	if rate < 1 {
		return "×1/" + strconv.FormatFloat(1/rate, 'f', 0, 64)
	}
	return "×" + strconv.FormatFloat(rate, 'f', 0, 64)
}

func (s *session) playTick() tea.Cmd {
	id := s.play.id
	return s.env.tick(playEvery, func(t time.Time) tea.Msg { return playMsg{id, t} })
}

func (s *session) playKey(id string) tea.Cmd {
	s.feed.Lock()
	defer s.feed.Unlock()
	p, now := &s.play, s.env.Now()
	switch {
	case id == "faster":
		return p.setRate(now, p.rate()*2)
	case id == "slower":
		return p.setRate(now, p.rate()/2)
	case p.on():
		p.stop(now)
		return nil
	}
	if s.calls.list.AtEnd() {
		s.calls.goTime(0)
	}
	p.clock.SeekTime(s.calls.moment())
	p.clock.Play(now, p.rate())
	p.id++
	return s.playTick()
}

// playOn moves the cursor to where the session was at the moment that is played.
func (s *session) playOn(m playMsg) tea.Cmd {
	p := &s.play
	if !p.on() || m.id != p.id {
		return nil
	}
	s.feed.Lock()
	defer s.feed.Unlock()
	p.clock.Tick(m.at)
	s.calls.goTime(p.clock.Time())
	if _, more := p.clock.Wait(); !more {
		p.stop(m.at)
		return nil
	}
	return s.playTick()
}

// step goes on or back by a frame, a call or a turn.
func (s *session) step(by replay.Unit, n int) tea.Cmd {
	s.feed.Lock()
	defer s.feed.Unlock()
	c, clock := &s.calls, s.play.clock
	s.play.stop(s.env.Now())
	if count, _ := (track{c}).Stops(by); count == 0 {
		return send(noteMsg{map[replay.Unit]string{replay.ByTurn: "no turns are known here", replay.ByCall: "there are no calls"}[by], false})
	}
	at := c.frameAtCursor()
	if it, ok := c.item(c.list.Cursor()); ok && by != replay.ByFrame && !c.frames {
		at = c.feed.First(it.row)
	}
	clock.Seek(replay.Moment(at + 1))
	clock.Step(by, n)
	c.goFrame(int(clock.Moment()) - 1)
	if by != replay.ByFrame {
		c.pinned = -1 // of a call its answer is shown
	}
	return nil
}

// stepUnits are what the actions step by.
var stepUnits = map[string]replay.Unit{"step": replay.ByFrame, "step-call": replay.ByCall, "step-turn": replay.ByTurn}

// track is a session on the screen as a clock moves along it: a moment is how many
// frames had crossed. The session's lock is held while it is used.
type track struct{ *calls }

func (t track) Len() replay.Moment { return replay.Moment(t.feed.Len()) }

func (t track) Time(m replay.Moment) time.Duration {
	if m <= 0 {
		return 0
	}
	return t.feed.Frame(int(m) - 1).Time
}

func (t track) MomentAt(at time.Duration) replay.Moment {
	return replay.Moment(sort.Search(t.feed.Len(), func(i int) bool { return t.feed.Frame(i).Time > at }))
}

// Stops are the beginnings of calls and of turns.
func (t track) Stops(by replay.Unit) (n int, at func(i int) replay.Moment) {
	switch by {
	case replay.ByCall:
		return t.feed.Calls(), func(i int) replay.Moment { return replay.Moment(t.feed.Call(i).Request + 1) }
	case replay.ByTurn:
		return len(t.turns), func(i int) replay.Moment { return replay.Moment(t.turns[i].frame + 1) }
	}
	return t.feed.Len(), func(i int) replay.Moment { return replay.Moment(i + 1) }
}

// clock draws the line of time: when much happened, when something failed, and where
// the cursor is.
func (s *session) clock(w int) string {
	th := s.env.th
	at := s.calls.moment()
	if s.play.on() {
		at = s.play.clock.Time()
	}
	words := s.clockWords(at)
	l := s.clockWidth(w)
	if l < leastClock {
		return draw.NewLine(w, "").Gap(1).Raw(th.Dim, words).String()
	}
	line := s.feed.Density.Draw(l, at, density.Styles{Past: th.Dim, Future: th.Line, Cursor: th.Title, Bad: th.Bad})
	return " " + line + draw.NewLine(w-l-1, "").Gap(1).Raw(th.Dim, words).String()
}

func (s *session) clockWords(at time.Duration) string {
	words := seconds(at) + " / " + seconds(s.feed.Density.Last()) + " s"
	switch rate := s.play.rate(); {
	case s.play.on():
		words = "▶ " + rateWords(rate) + " " + words
	case rate != 1:
		words = rateWords(rate) + " " + words
	}
	return words
}

// leastClock is the shortest line of time that is worth having.
const leastClock = 8

// clockWidth is the part of the line of time that stands for time. It is the same
// wherever the cursor is.
func (s *session) clockWidth(w int) int {
	return w - 3 - draw.Width(s.clockWords(s.feed.Density.Last()))
}

// goColumn goes to what a column of the line of time stands for, w columns wide: the first
// call that failed there, or else the last row that began there, or ended. Where nothing
// crossed, it goes to what had begun by then.
func (c *calls) goColumn(column, w int) {
	d := &c.feed.Density
	column = max(0, min(column, w-1))
	at := func(over int) int { // the first frame that stands at a column or after it
		return sort.Search(c.feed.Len(), func(i int) bool { return d.Stands(c.feed.Frame(i).Time, w) >= over })
	}
	from := at(column)
	to := min(at(column+1), from+clickFrames)
	goal, began := -1, false
	for i := from; i < to; i++ {
		base := c.baseOf(i)
		if !c.shows(base) {
			continue
		}
		if c.failed(feed.FrameRow(i)) {
			goal = base
			break
		}
		if begins := c.begins(i); begins || !began {
			goal, began = base, begins
		}
	}
	if goal < 0 {
		c.goTime(d.Moment(column, w))
		return
	}
	c.follow, c.pinned = false, -1
	c.goBase(goal)
}

// clickFrames is how many frames of a column are looked at: in a session that is one burst
// all of them stand in one.
const clickFrames = 50000

// baseOf is the row that a frame is in, as if nothing were unfolded.
func (c *calls) baseOf(frame int) int {
	if c.frames {
		return frame
	}
	return c.feed.RowOf(frame)
}

// begins reports that a row begins with a frame.
func (c *calls) begins(frame int) bool {
	return c.frames || c.feed.First(c.feed.Rows[c.feed.RowOf(frame)]) == frame
}

// shows reports that the filter, if there is one, selects a row.
func (c *calls) shows(base int) bool {
	if c.matcher == nil {
		return true
	}
	_, found := slices.BinarySearch(c.selected, int32(base))
	return found
}
