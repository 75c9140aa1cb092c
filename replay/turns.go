package replay

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcptap/mcptap/decode"
)

// A Turn is one reply of the model: the calls that it asked for at once, which are
// answered together.
type Turn struct {
	Calls  []int  // indexes in Timeline.Calls, in the order they were sent
	Reason Reason // why it is a turn of its own, and not part of the one before
	// Request is set where the host says that another request of the user began.
	Request bool
	Start   time.Duration
	End     time.Duration // of the last answer so far
	Open    bool          // not all calls have their answers
	Before  Moment        // right before its first call
	After   Moment        // when its last answer was there; of an open turn, before the next one
}

// A Rule is what a grouping rests on.
type Rule string

// The rules, in the order in which they are tried.
const (
	RuleFirst   Rule = "first call"
	RuleRequest Rule = "request id" // the host names another request of the user
	RuleOverlap Rule = "overlap"    // it was sent before the answer to an earlier one
	RuleFlow    Rule = "data flow"  // its arguments say what an answer said first
	RuleGap     Rule = "gap"        // the time since the last answer
)

// Strength is how much a reason is worth.
type Strength string

// The strengths. Unknown: it could as well be otherwise; draw the boundary dotted.
const (
	Exact   Strength = "exact"
	Strong  Strength = "strong"
	Likely  Strength = "likely"
	Unknown Strength = "unknown"
)

// A Reason is why two calls are of one turn, or of two.
type Reason struct {
	Rule     Rule
	Strength Strength
	Words    string // for people; may hold text from the outside
	With     int    // index in Calls of the call it refers to, -1 if none
}

// Split is the gap between calls from which on they count as two turns.
type Split struct {
	Same, New  time.Duration // between the two it is unknown
	Calibrated bool          // from this session's own gaps
	Gaps       int           // that there were
}

// group makes turns of the calls.
func (t *Timeline) group() {
	t.follow()
	t.Split = calibrate(t.gaps())
	t.Turns = nil
	g := grouper{t: t}
	for i := range t.Calls {
		g.take(i)
	}
	t.bound()
}

// grouper holds the turn that is being made.
type grouper struct {
	t       *Timeline
	members map[callKey]int
	until   time.Duration // when its last answer came, or would have
	last    int           // the call that until is of
	patient time.Duration // until when a host waits for one of its calls
}

func (g *grouper) take(i int) {
	t := g.t
	c := &t.Calls[i]
	same, reason := g.judge(i)
	c.Join = reason
	if !same {
		t.Turns = append(t.Turns, Turn{Reason: reason, Start: c.Start, Request: reason.Rule == RuleRequest})
		g.members, g.until, g.patient = map[callKey]int{}, -1, -1
	}
	c.Turn = len(t.Turns) - 1
	turn := &t.Turns[c.Turn]
	turn.Calls = append(turn.Calls, i)
	g.members[callKey{c.Session, c.Index}] = i
	u := t.busyUntil(c)
	if u > g.until {
		g.until, g.last = u, i
	}
	g.patient = max(g.patient, min(u, c.Start+theThresholds().Background.duration()))
	if c.Answer.There() {
		turn.End = max(turn.End, c.Answer.End)
	} else {
		turn.Open = true
	}
}

// judge decides whether a call belongs to the turn that is being made.
func (g *grouper) judge(i int) (same bool, r Reason) {
	t := g.t
	if len(t.Turns) == 0 {
		return false, Reason{RuleFirst, Exact, "the first call", -1}
	}
	c, before := &t.Calls[i], &t.Calls[i-1]
	if c.hostRequest != "" && before.hostRequest != "" && c.hostRequest != before.hostRequest {
		return false, Reason{RuleRequest, Exact, "the host says that it belongs to another request of the user", i - 1}
	}
	if c.Start < g.until {
		if c.Start >= g.patient {
			return true, Reason{RuleOverlap, Unknown, fmt.Sprintf("sent while %s was running, for so long that its host may have moved it to the background", t.Label(t.Calls[g.last].Request)), g.last}
		}
		return true, Reason{RuleOverlap, Strong, fmt.Sprintf("sent before the answer to %s was there", t.Label(t.Calls[g.last].Request)), g.last}
	}
	gap := c.Start - g.until
	if from, text, weak := t.flowsFrom(c, g.members); from >= 0 && (!weak || gap >= t.Split.Same) {
		s := Strong
		if weak {
			s = Likely
		}
		return false, Reason{RuleFlow, s, fmt.Sprintf("its arguments say %q, which %s said first", short(text), t.Label(t.Calls[from].Ref())), from}
	}
	return g.byGap(gap)
}

func (g *grouper) byGap(gap time.Duration) (same bool, r Reason) {
	r = Reason{RuleGap, Likely, "", g.last}
	ms := gap.Milliseconds()
	switch s := &g.t.Split; {
	case gap < s.Same:
		r.Words = fmt.Sprintf("%d ms after the last answer: too soon for a reply of the model", ms)
		return true, r
	case gap > s.New || s.Same == s.New:
		r.Words = fmt.Sprintf("%d ms after the last answer: time for a reply of the model", ms)
		return false, r
	}
	r.Strength, r.Words = Unknown, fmt.Sprintf("%d ms after the last answer: one turn or two, the time does not tell; taken as two", ms)
	return false, r
}

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// busyUntil is until when a call was running: until its answer, its cancellation,
// or as long as hosts wait as a rule.
func (t *Timeline) busyUntil(c *Call) time.Duration {
	s := t.Sessions[c.Session]
	for _, n := range s.Notes(c.Index) {
		if n.Kind == decode.NoteCancel {
			return t.offsets[c.Session] + s.Frame(n.Frame).Time
		}
	}
	if c.Answer.There() {
		return c.Answer.End
	}
	return c.Start + theThresholds().Open.duration()
}

// gaps gives the times between the last answer and the next call, where nothing
// was running.
func (t *Timeline) gaps() (out []time.Duration) {
	until := time.Duration(-1)
	for i := range t.Calls {
		c := &t.Calls[i]
		if i > 0 && c.Start >= until {
			out = append(out, c.Start-until)
		}
		until = max(until, t.busyUntil(c))
	}
	return out
}

// calibrate finds where the gaps of a session part in two, if they do.
func calibrate(gaps []time.Duration) Split {
	th := theThresholds()
	s := Split{Same: th.Gap.Same.duration(), New: th.Gap.New.duration(), Gaps: len(gaps)}
	k := &th.Calibrate
	if len(gaps) < k.Gaps {
		return s
	}
	at := emptiest(gaps)
	low := 0
	for _, g := range gaps {
		if g < at {
			low++
		}
	}
	if low < k.Sides || len(gaps)-low < k.Sides {
		return s
	}
	s.Same, s.New, s.Calibrated = at, at, true
	return s
}

// emptiest gives the middle of the emptiest bucket of a histogram on a logarithmic
// scale; of several in a row, the middle of the longest row.
func emptiest(gaps []time.Duration) time.Duration {
	k := &theThresholds().Calibrate
	from, to := float64(k.From.duration()), float64(k.To.duration())
	step := math.Log(to/from) / float64(k.Buckets)
	counts := make([]int, k.Buckets)
	for _, g := range gaps {
		b := int(math.Floor(math.Log(max(float64(g), 1)/from) / step))
		if b >= 0 && b < len(counts) {
			counts[b]++
		}
	}
	least, first, length := slices.Min(counts), 0, 0
	for i := 0; i < len(counts); i++ {
		n := 0
		for i+n < len(counts) && counts[i+n] == least {
			n++
		}
		if n > length {
			first, length = i, n
		}
		i += n
	}
	return time.Duration(from * math.Exp(step*(float64(first)+float64(length)/2)))
}

// bound finds the moments between which each turn lies.
func (t *Timeline) bound() {
	for i := range t.Turns {
		turn := &t.Turns[i]
		turn.Before = t.After(t.Calls[turn.Calls[0]].Request) - 1
	}
	for i := range t.Turns {
		turn, next := &t.Turns[i], t.Len()
		if i+1 < len(t.Turns) {
			next = t.Turns[i+1].Before
		}
		if turn.Open {
			turn.After = next
			continue
		}
		for _, c := range turn.Calls {
			turn.After = max(turn.After, t.After(t.Calls[c].Ref()))
		}
		turn.After = min(turn.After, next) // an answer to a cancelled call may come late
	}
}
