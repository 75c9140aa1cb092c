package decode

import (
	"slices"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// An Opening is what tells whether two sessions belong together.
type Opening struct {
	Header    tap.Header
	Last      time.Duration // of the last record
	OnlyProbe bool          // the client asked for server/discover and nothing else
	Eras      Eras
}

// Opening sums up how the session began. It is meaningful once Record has been
// given the header.
func (s *Session) Opening() Opening {
	o := Opening{OnlyProbe: s.onlyProbe(), Eras: s.Eras(), Last: s.life.last}
	if s.life.header != nil {
		o.Header = *s.life.header
	}
	if s.frames.n > 0 {
		o.Last = max(o.Last, s.frames.at(s.frames.n-1).t)
	}
	return o
}

// maxProbes is how often a probe may be tried again and still be no session.
const maxProbes = 8

func (s *Session) onlyProbe() bool {
	for i := range min(s.calls.n, maxProbes) {
		if s.methods.name(s.calls.at(i).method) != "server/discover" {
			return false
		}
	}
	return 0 < s.calls.n && s.calls.n <= maxProbes
}

// siblingGap is the longest pause between the end of a probe process and the
// start of the session it was for: a client may wait a second before it kills the
// one, and its probe may take up to a minute.
const siblingGap = 5 * time.Second

// IsProbeOf reports whether session probe was the sibling probe of session main,
// and what says so. Clients may start a stdio server once for server/discover
// alone, end it, and start it again for the work (basic/transports/stdio).
func IsProbeOf(probe, main Opening) (reason string, ok bool) {
	p, m := &probe.Header, &main.Header
	gap := m.Start.Sub(p.Start) - probe.Last
	switch {
	case !probe.OnlyProbe || p.Transport == "http": // there it needs no process of its own
		return "", false
	case main.Eras.ProbeCall >= 0:
		return "", false
	case !slices.Equal(p.Command, m.Command) || p.Cwd != m.Cwd:
		return "", false
	case p.Host != nil && m.Host != nil && p.Host.PID != m.Host.PID:
		return "", false
	case gap > siblingGap || m.Start.Before(p.Start):
		return "", false
	}
	reason = "same command, started right after the probe ended"
	if p.Host != nil && m.Host != nil {
		reason = "same command and host process, started right after the probe ended"
	}
	return reason, true
}

// Revision gives the revision of a session whose own wire does not tell it, from
// the probe that it was opened by: the newest modern one the server named.
func (p *Opening) Revision() string {
	best := ""
	for _, v := range p.Eras.Supported {
		best = max(best, v)
	}
	return best
}
