package filter

import (
	"errors"
	"slices"

	"github.com/mcptap/mcptap/decode"
)

// A Source is what a filter looks at. Only Session is needed by every filter.
type Source struct {
	Session *decode.Session
	// Body gives the bytes of a frame by its index, nil if they are not at hand:
	// then the frame says nothing. They need be valid until the next call only.
	Body func(frame int) []byte
	// Label is the session's, another name for its server.
	Label string
	// TurnOf gives the turn that a call belongs to, 0 if it belongs to none.
	TurnOf func(call int) int
	// MarkOf gives the note on the frame with that number in the journal, and
	// whether it is marked.
	MarkOf func(n uint64) (note string, marked bool)
}

var (
	errNoBodies = errors.New("text: and path: look into frames, and their bytes are not at hand here")
	errNoTurns  = errors.New("turn: needs the turns of the model, and they are not at hand here; leave it out, or choose frames by their number (n>10)")
	errNoMarks  = errors.New("mark: and note: need the marks of a recording, and there is no place for any here; open it by its path or id")
)

// test answers one question about a unit.
type test func(*unit) bool

// compiler makes the test of a term.
type compiler func(*term, *Source) (test, error)

// A Matcher is a filter joined to a session. It sees the session as it stands: what
// was said of a call that was open then may change when the session grows, all else
// stays. It is as little safe for concurrent use as the session is.
type Matcher struct {
	root test
	unit unit
}

// On joins a filter to a session. The error is that of a term that the source has
// nothing for.
func (f *Filter) On(src Source) (*Matcher, error) {
	m := &Matcher{unit: unit{src: &src, bodyOf: -1}}
	if f == nil || f.root == nil {
		m.root = func(*unit) bool { return true }
		return m, nil
	}
	var err error
	m.root, err = compile(f.root, &src)
	return m, err
}

// Frame reports whether the frame with that index is selected.
func (m *Matcher) Frame(i int) bool {
	m.unit.set(true, i)
	return m.root(&m.unit)
}

// Call reports whether a call is selected: with its whole operation if it leads one
// (decode.Session.Leads), else by itself.
func (m *Matcher) Call(c int) bool {
	m.unit.set(false, c)
	return m.root(&m.unit)
}

// Whole tells of each frame whether it is part of what is selected: all those of an
// operation that is, and those that belong to none and are selected themselves.
func (m *Matcher) Whole() []bool {
	s := m.unit.src.Session
	in := make([]bool, s.Len())
	for c := range s.Calls() {
		if !s.Leads(c) || !m.Call(c) {
			continue
		}
		for _, leg := range s.Operation(c).Legs {
			for _, f := range leg.Frames {
				in[f] = true
			}
		}
	}
	for i := range in {
		if f := s.Frame(i); StandsAlone(&f) {
			in[i] = m.Frame(i)
		}
	}
	return in
}

// StandsAlone reports a frame that belongs to no call: a batch with a request or a
// response in it belongs to those.
func StandsAlone(f *decode.Frame) bool {
	return f.Call < 0 && !slices.ContainsFunc(f.Batch, func(m decode.BatchMember) bool { return m.Call >= 0 })
}

// Frames looks at frames from index from on, up to index to (excluded), until stop
// says so; nil never does. It appends the indexes of those selected to rows, and
// gives where to go on. So a list has its first rows at once and the others later.
func (m *Matcher) Frames(rows []int, from, to int, stop func() bool) (found []int, next int) {
	return m.scan(rows, from, min(to, m.unit.src.Session.Len()), stop, m.Frame)
}

// Calls is to operations what Frames is to frames: it looks at the calls that lead one.
func (m *Matcher) Calls(rows []int, from, to int, stop func() bool) (found []int, next int) {
	s := m.unit.src.Session
	return m.scan(rows, from, min(to, s.Calls()), stop, func(c int) bool { return s.Leads(c) && m.Call(c) })
}

// Between two questions whether to stop lie so many rows, or so many bytes that were
// looked into: a question may read a clock, and a few frames may be megabytes.
const (
	stepRows  = 64
	stepBytes = 1 << 20
)

func (m *Matcher) scan(rows []int, from, to int, stop func() bool, selected func(int) bool) (found []int, next int) {
	m.unit.looked = 0
	for i, asked := from, from; i < to; i++ {
		if stop != nil && (i-asked >= stepRows || m.unit.looked >= stepBytes) {
			if stop() {
				return rows, i
			}
			asked, m.unit.looked = i, 0
		}
		if selected(i) {
			rows = append(rows, i)
		}
	}
	return rows, max(from, to)
}

// compile makes the test of a node. Parts that look into frames come last.
func compile(n node, src *Source) (test, error) {
	switch n := n.(type) {
	case *negation:
		of, err := compile(n.of, src)
		return func(u *unit) bool { return !of(u) }, err
	case *join:
		return n.compile(src)
	}
	t := n.(*term)
	if t.field.body && src.Body == nil {
		return nil, errNoBodies
	}
	return t.field.get(t, src)
}

func (j *join) compile(src *Source) (test, error) {
	parts := slices.Clone(j.parts)
	slices.SortStableFunc(parts, func(a, b node) int { return cost(a) - cost(b) })
	tests := make([]test, len(parts))
	for i, p := range parts {
		var err error
		if tests[i], err = compile(p, src); err != nil {
			return nil, err
		}
	}
	or := j.or
	return func(u *unit) bool {
		for _, t := range tests {
			if t(u) == or {
				return or
			}
		}
		return !or
	}, nil
}

func cost(n node) int {
	if looksInside(n) {
		return 1
	}
	return 0
}
