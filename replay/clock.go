package replay

import (
	"math"
	"sort"
	"time"
)

// A State is what was known at a moment.
type State struct {
	Moment Moment
	Time   time.Duration // since the first session's start
	Last   Ref           // the frame that crossed last; Frame is -1 before the first
	// Turn is how many turns had begun; the calls of the last of them may still
	// be running.
	Turn int
	// Calls is how many of the model's calls had been sent, Running those of
	// them without an answer.
	Calls   int
	Running []int
}

// Complete reports whether all that was asked had been answered: the next request
// to the model could be made.
func (s *State) Complete() bool { return len(s.Running) == 0 }

// At gives the state at a moment.
func (t *Timeline) At(m Moment) State {
	m = min(max(m, 0), t.Len())
	s := State{Moment: m, Time: t.Time(m), Last: Ref{0, -1}}
	if m > 0 {
		s.Last = t.Frame(m - 1)
	}
	s.Calls = sort.Search(len(t.Calls), func(i int) bool { return t.After(t.Calls[i].Request) > m })
	s.Turn = sort.Search(len(t.Turns), func(i int) bool { return t.Turns[i].Before >= m })
	if s.Turn == 0 {
		return s
	}
	for _, i := range t.Turns[s.Turn-1].Calls {
		if i < s.Calls && !t.Answered(i, m) {
			s.Running = append(s.Running, i)
		}
	}
	return s
}

// Answered reports whether a call had its answer by a moment.
func (t *Timeline) Answered(call int, m Moment) bool {
	c := &t.Calls[call]
	return c.Answer.There() && t.After(c.Ref()) <= m
}

// A Unit is what a Clock steps by.
type Unit uint8

// The units of a step.
const (
	ByFrame Unit = iota
	ByCall       // to where the next call was sent
	ByTurn       // to the next turn
)

// A Track is what a Clock moves along: a timeline, or a session on the screen. It may
// grow while the clock runs.
type Track interface {
	Len() Moment                     // the last moment; the first is 0, before any frame
	Time(m Moment) time.Duration     // when it was, since the first session's start
	MomentAt(t time.Duration) Moment // the last one up to a time
	// Stops are the moments that a step may lead to, in order: how many, and each.
	Stops(by Unit) (n int, at func(i int) Moment)
}

// Stops are the moments of a timeline that a step may lead to; that of a turn is where
// it was complete.
func (t *Timeline) Stops(by Unit) (n int, at func(i int) Moment) {
	switch by {
	case ByCall:
		return len(t.Calls), func(i int) Moment { return t.After(t.Calls[i].Request) }
	case ByTurn:
		return len(t.Turns), func(i int) Moment { return t.Turns[i].After }
	}
	return int(t.Len()), func(i int) Moment { return Moment(i + 1) }
}

// A Clock moves along a track: step by step, by a jump, or at the session's own pace,
// slower or faster. It reads no time: whoever plays tells it what time it is.
type Clock struct {
	t     Track
	at    Moment
	pos   time.Duration // between at's time and the next frame's
	speed float64       // 0 while it stands still
	since time.Time     // when pos was brought up to date
}

// NewClock gives a clock that stands before the first frame.
func NewClock(t Track) *Clock { return &Clock{t: t} }

// Moment gives where the clock stands.
func (c *Clock) Moment() Moment { return c.at }

// Time gives the time it shows, since the first session's start.
func (c *Clock) Time() time.Duration { return c.pos }

// Seek sets the clock to a moment.
func (c *Clock) Seek(m Moment) {
	c.at = min(max(m, 0), c.t.Len())
	c.pos = c.t.Time(c.at)
}

// SeekTime sets the clock to a time since the first session's start.
func (c *Clock) SeekTime(at time.Duration) {
	c.at, c.pos = c.t.MomentAt(at), max(at, 0)
}

// Step moves by n units, backwards if n is negative, and reports whether it moved.
// Ahead of the last stop is the end, before the first one the beginning.
func (c *Clock) Step(by Unit, n int) bool {
	was := c.at
	count, stop := c.t.Stops(by)
	after := sort.Search(count, func(i int) bool { return stop(i) > was })   // the first stop ahead
	before := sort.Search(count, func(i int) bool { return stop(i) >= was }) // stops behind
	switch ahead, back := after+n-1, before+n; {
	case n > 0 && ahead < count:
		c.Seek(stop(ahead))
	case n > 0:
		c.Seek(c.t.Len())
	case n < 0 && back >= 0:
		c.Seek(stop(back))
	case n < 0:
		c.Seek(0)
	}
	return c.at != was
}

// Play lets the clock run from now on: 1 is the session's own pace.
func (c *Clock) Play(now time.Time, speed float64) {
	c.Tick(now)
	if !(speed > 0) || math.IsInf(speed, 0) {
		speed = 0
	}
	c.speed, c.since = speed, now
}

// Pause stops the clock.
func (c *Clock) Pause(now time.Time) {
	c.Tick(now)
	c.speed = 0
}

// Speed is how fast the clock runs; 0 while it stands still.
func (c *Clock) Speed() float64 { return c.speed }

// Tick tells a running clock what time it is, and reports whether frames have
// crossed since. At the end of a session the clock waits there.
func (c *Clock) Tick(now time.Time) (moved bool) {
	if c.speed == 0 {
		return false
	}
	elapsed := now.Sub(c.since)
	c.since = now
	if elapsed <= 0 {
		return false
	}
	end := c.t.Time(c.t.Len())
	ahead := float64(elapsed) * c.speed
	if left := float64(end - c.pos); ahead > left {
		ahead = max(left, 0)
	}
	before := c.at
	c.pos += time.Duration(ahead)
	c.at = max(c.at, c.t.MomentAt(c.pos))
	return c.at != before
}

// Wait gives how long a running clock takes to the next frame; ok is false if it
// stands still or there is none.
func (c *Clock) Wait() (d time.Duration, ok bool) {
	if c.speed == 0 || c.at >= c.t.Len() {
		return 0, false
	}
	d = time.Duration(float64(c.t.Time(c.at+1)-c.pos) / c.speed)
	return max(d, 0), true
}
