package rent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/tokens"
)

// A Report is the rent of a session.
type Report struct {
	Model string
	AsOf  tokens.Date // of the prices; print it beside each amount
	Turns int

	Upfront Rent // all definitions in every request
	Sent    Rent // as the host is taken to do it
	// Deferred: all definitions are held back until a search finds them. Only tools
	// that were called are taken as found; a search also loads others, up to five.
	Deferred Rent

	Unused []int // tools that were never called
	// Doubts are what speaks against figures that were used, with their source.
	Doubts []string

	search tokens.Count // the tool that searches, in all requests that have it
}

// Saves is what deferred loading would save over the session, in tokens read. What both
// ways read takes no part in its range.
func (r *Report) Saves() tokens.Count {
	less, more := tokens.Count{}, r.search
	for i := range r.Deferred.Tools {
		t := &r.Deferred.Tools[i]
		less = less.Plus(t.PerTurn.Times(r.Upfront.Tools[i].Turns - t.Turns))
		more = more.Plus(t.Parts.Name.Times(t.Named))
	}
	return less.Minus(more)
}

// Costs are amounts by mode of caching: [cost.Uncached], [cost.FiveMinutes],
// [cost.OneHour].
type Costs [3]Money

// A Rent is what one way of loading costs.
type Rent struct {
	// The newest request: its preamble, the names of deferred tools with the tool that
	// finds them, and all that it holds of tools, these included.
	Preamble, Names, LastTurn tokens.Count

	Session tokens.Count // all that requests held of tools
	Costs   Costs        // of Session
	Servers []Server
	Tools   []ToolRent    // in the session's order
	Carried []CarriedRent // in the session's order
	// CarriedSession is what results and calls add to all requests.
	CarriedSession tokens.Count
	CarriedCosts   Costs
	// Misses are the requests in which the cache was missed, by mode.
	Misses [3][]Miss
}

// A Miss is a request that had to pay again for what was cached.
type Miss struct {
	Turn int
	cost.Miss
}

// A Server is the sum of its tools.
type Server struct {
	Name      string
	Tools     int
	Unused    int
	WireBytes int
	PerTurn   tokens.Count // of all its definitions together
	Session   tokens.Count
	Costs     Costs
}

// A ToolRent is what one definition costs.
type ToolRent struct {
	Server, Name string
	WireBytes    int
	Parts        tokens.ToolCount // estimates, even if the sum was counted
	PerTurn      tokens.Count     // of the whole definition, while it is in a request
	Turns        int              // requests that hold it
	Named        int              // requests that hold its name only
	Calls        int
	Session      tokens.Count
	Costs        Costs
}

// A CarriedRent is what one text costs after it entered.
type CarriedRent struct {
	Carried
	Reads   int // requests that held it
	Session tokens.Count
	Costs   Costs
}

// String says it as a sentence.
func (c *CarriedRent) String() string {
	size := humanize.Bytes(uint64(max(0, c.Bytes)))
	what, verb := "this "+size+" "+string(c.Kind), "has"
	if c.Kind == Instructions {
		what, verb = "these "+size+" of instructions", "have"
	}
	switch c.Reads {
	case 0:
		return what + " " + verb + " not been read"
	case 1:
		return what + " " + verb + " been read once"
	}
	return fmt.Sprintf("%s %s been read %s times", what, verb, humanize.Comma(int64(c.Reads)))
}

// Of makes the report of a session.
func Of(s *Session, o Options) (*Report, error) {
	if err := errors.Join(o.check(s), s.check()); err != nil {
		return nil, fmt.Errorf("reckoning the rent: %w", err)
	}
	m := newMeter(s, &o)
	r := &Report{Model: o.Estimator.Model().ID, AsOf: o.Table.AsOf, Turns: len(s.Turns)}
	for _, way := range []struct {
		to       *Rent
		deferred func(tool int) bool
	}{
		{&r.Upfront, func(int) bool { return false }},
		{&r.Sent, func(i int) bool { return s.Tools[i].Deferred }},
		{&r.Deferred, func(int) bool { return true }},
	} {
		if err := m.fill(way.to, way.deferred); err != nil {
			return nil, fmt.Errorf("reckoning the rent: %w", err)
		}
	}
	for i, used := range m.used {
		if !used {
			r.Unused = append(r.Unused, i)
		}
	}
	r.Doubts, r.search = m.doubts, m.searches
	return r, nil
}

// doubt notes each thing once.
func (m *meter) doubt(format string, args ...any) {
	if d := fmt.Sprintf(format, args...); !slices.Contains(m.doubts, d) {
		m.doubts = append(m.doubts, d)
	}
}
