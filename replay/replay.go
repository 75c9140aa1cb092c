// Package replay plays recorded sessions again: which calls a model made, in which
// turns, and what was known at any moment.
//
// It promises to be pure (time, bodies and recordings come in from outside), to
// give each guess its reason and its strength, and to build its index once: a
// state at any moment is looked up, not worked out from the start.
//
// It must not decide how a host words what it tells the model (package claude
// does), keep bodies, or judge.
//
// A Timeline takes one session, or several of one host that ran at the same time,
// and puts their frames in one order. A Moment is a place in that order. Turns
// groups calls of tools into replies of the model. A Clock moves through it all.
//
// Sources: what is on the wire comes from package decode. The rules that group
// calls into turns, and which calls are not the model's, are our own, made from
// what hosts are known to do; their numbers are data (thresholds.json).
package replay

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/mcptap/mcptap/decode"
)

// A Session is one recording to play.
type Session struct {
	*decode.Session
	// Name is what the host calls the server: names of tools are made of it.
	Name string
	// Body gives the bytes of a frame by its index, nil if they are not at hand.
	Body func(frame int) []byte
	// Start is when the session began; zero if that is not known. Sessions are
	// merged by it.
	Start time.Time
}

// A Ref names a frame: the session's index in its timeline, and the frame's index
// in that session.
type Ref struct{ Session, Frame int }

// A Moment is how many frames of a timeline have crossed: 0 before the first.
type Moment int

// A Timeline is one session or several in one order, with the calls and turns that
// they hold.
type Timeline struct {
	Sessions []*Session
	// Calls are the model's calls of tools, in the order in which they were sent.
	Calls []Call
	// Apart are the calls of tools that are not the model's.
	Apart []Apart
	// Turns group Calls.
	Turns []Turn
	// Split is how gaps between calls were told apart.
	Split Split

	offsets    []time.Duration
	order      []Ref // frames in order; nil for a single session
	catalogues []*decode.Catalogue
	probes     []int // per session: the session of its sibling probe, -1 if none
	read       []map[int]*asked
	meta       []map[string]bool
	frames     []int // per session, as of the last Refresh
	notModel   []string
	again      map[callKey]callKey // calls that repeat another
	flow       flow
}

// Options of a Timeline.
type Options struct {
	// NotModel names tools whose calls are the host's own, such as the one that
	// asks for permissions.
	NotModel []string
}

// New gives the timeline of some sessions. Recordings of a sibling probe may be
// among them: what a server said there counts for the session it was probed for.
func New(o Options, sessions ...*Session) *Timeline {
	t := &Timeline{Sessions: sessions, notModel: o.NotModel}
	t.read = make([]map[int]*asked, len(sessions))
	t.meta = make([]map[string]bool, len(sessions))
	for i := range sessions {
		t.read[i], t.meta[i] = map[int]*asked{}, map[string]bool{}
	}
	t.align()
	t.findProbes()
	t.Refresh()
	return t
}

// Refresh takes in what sessions have got since they were read last. What was read
// of a call that has its answer is not read again.
func (t *Timeline) Refresh() {
	t.frames = t.frames[:0]
	t.catalogues = t.catalogues[:0]
	for _, s := range t.Sessions {
		t.frames = append(t.frames, s.Len())
		t.catalogues = append(t.catalogues, s.Catalogue())
	}
	t.merge()
	t.findCalls()
	t.group()
}

// align finds how much later than the first each session began. Without a start a
// session is taken to have begun with the first.
func (t *Timeline) align() {
	var first time.Time
	for _, s := range t.Sessions {
		if !s.Start.IsZero() && (first.IsZero() || s.Start.Before(first)) {
			first = s.Start
		}
	}
	t.offsets = make([]time.Duration, len(t.Sessions))
	for i, s := range t.Sessions {
		if !s.Start.IsZero() {
			t.offsets[i] = s.Start.Sub(first)
		}
	}
}

// Unaligned gives the sessions, of several, that do not tell when they began: their
// place among the others is a guess.
func (t *Timeline) Unaligned() (out []int) {
	for i, s := range t.Sessions {
		if len(t.Sessions) > 1 && s.Start.IsZero() {
			out = append(out, i)
		}
	}
	return out
}

// merge puts the frames of several sessions in order of time; those of one session
// keep theirs.
func (t *Timeline) merge() {
	t.order = nil
	if len(t.Sessions) == 1 {
		return
	}
	next := make([]int, len(t.Sessions))
	for {
		best := -1
		for i := range t.Sessions {
			if next[i] < t.frames[i] && (best < 0 || t.timeOf(Ref{i, next[i]}) < t.timeOf(Ref{best, next[best]})) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		t.order = append(t.order, Ref{best, next[best]})
		next[best]++
	}
}

func (t *Timeline) findProbes() {
	t.probes = make([]int, len(t.Sessions))
	for i, s := range t.Sessions {
		t.probes[i] = -1
		for j, p := range t.Sessions {
			if i == j {
				continue
			}
			if _, ok := decode.IsProbeOf(p.Opening(), s.Opening()); ok {
				t.probes[i] = j
			}
		}
	}
}

// ProbeOf gives the session that is the sibling probe of a session, -1 if there is
// none here.
func (t *Timeline) ProbeOf(session int) int { return t.probes[session] }

// IsProbe reports a session that is the sibling probe of another one.
func (t *Timeline) IsProbe(session int) bool { return slices.Contains(t.probes, session) }

// Len is how many frames there are, and so the last Moment.
func (t *Timeline) Len() Moment {
	if t.order != nil {
		return Moment(len(t.order))
	}
	if len(t.frames) == 0 {
		return 0
	}
	return Moment(t.frames[0])
}

// Frame gives the frame that crossed as number i, from 0.
func (t *Timeline) Frame(i Moment) Ref {
	if t.order != nil {
		return t.order[i]
	}
	return Ref{0, int(i)}
}

// After gives the moment right after a frame.
func (t *Timeline) After(r Ref) Moment {
	if t.order == nil {
		return Moment(r.Frame) + 1
	}
	at := t.timeOf(r)
	i := sort.Search(len(t.order), func(i int) bool { return t.timeOf(t.order[i]) >= at })
	for i < len(t.order) && t.order[i] != r {
		i++
	}
	return Moment(min(i+1, len(t.order)))
}

// Number gives the number that a frame has in its journal.
func (t *Timeline) Number(r Ref) uint64 { return t.Sessions[r.Session].Frame(r.Frame).N }

// Label names a frame for people: by its number, and of several sessions also by
// its session. It may hold text from the outside.
func (t *Timeline) Label(r Ref) string {
	name := "frame " + strconv.FormatUint(t.Number(r), 10)
	if len(t.Sessions) > 1 {
		name += " of " + t.Sessions[r.Session].Name
	}
	return name
}

// Offset is how much later than the first session a session began.
func (t *Timeline) Offset(session int) time.Duration { return t.offsets[session] }

func (t *Timeline) timeOf(r Ref) time.Duration {
	return t.offsets[r.Session] + t.Sessions[r.Session].Frame(r.Frame).Time
}

// Time gives the time of a moment's last frame, since the first session's start.
func (t *Timeline) Time(m Moment) time.Duration {
	if m <= 0 || t.Len() == 0 {
		return 0
	}
	return t.timeOf(t.Frame(min(m, t.Len()) - 1))
}

// MomentAt gives the moment of a time: all frames until then have crossed.
func (t *Timeline) MomentAt(at time.Duration) Moment {
	return Moment(sort.Search(int(t.Len()), func(i int) bool { return t.timeOf(t.Frame(Moment(i))) > at }))
}

// upto gives how many frames of a session have crossed by a moment.
func (t *Timeline) upto(session int, m Moment) int {
	if t.order == nil {
		return int(m)
	}
	at := t.Time(m)
	n := sort.Search(t.frames[session], func(i int) bool { return t.timeOf(Ref{session, i}) > at })
	for n > 0 && t.After(Ref{session, n - 1}) > m { // frames of the same time
		n--
	}
	return n
}

// Catalogue gives what a session's server offered, over time.
func (t *Timeline) Catalogue(session int) *decode.Catalogue { return t.catalogues[session] }

// List gives the newest list of a kind that the host had read by a moment: one
// whose pages were all there, else, of a first one, the pages there will be; nil if
// there was none.
func (t *Timeline) List(session int, kind decode.ListKind, m Moment) *decode.List {
	frame := t.upto(session, m)
	c := t.catalogues[session]
	first := c.At(kind, frame)
	l := first
	for range maxWalks {
		if l == nil || l.Upto < frame {
			return l
		}
		l = c.At(kind, l.From)
	}
	return first
}

// maxWalks is how many listings that were going on are passed over.
const maxWalks = 8

// Over reports whether a session had ended by a moment.
func (t *Timeline) Over(session int, m Moment) bool {
	end := t.Sessions[session].Ends().Process
	return end >= 0 && t.offsets[session]+end < t.Time(m)
}

// compareRefs orders frames as they crossed.
func (t *Timeline) compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(t.timeOf(a), t.timeOf(b)), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Frame, b.Frame))
}
