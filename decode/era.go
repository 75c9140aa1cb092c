package decode

import (
	"slices"

	"github.com/mcptap/mcptap/tap"
)

// Era is the generation of the protocol that a message belongs to.
type Era uint8

// The eras. A session is Mixed when requests of both kinds succeeded in it.
const (
	EraUnknown Era = iota
	Legacy         // opened by initialize: up to revision 2025-11-25
	Modern         // every request names its revision: from 2026-07-28
	Mixed
)

var eraNames = [...]string{"unknown", "legacy", "modern", "mixed"}

func (e Era) String() string { return nameOf(eraNames[:], int(e)) }

// negotiation is what a session's messages told about its era.
type negotiation struct {
	scopes    map[Scope]*agreed
	legacyOK  bool // a request of that era was answered with a result
	modernOK  bool
	work      bool   // a modern request other than a probe succeeded
	probed    bool   // a probe succeeded
	probe     uint32 // first server/discover, call + 1
	init      uint32 // first initialize, call + 1
	openedOK  bool   // it succeeded
	ready     bool   // notifications/initialized was seen
	legacyRev uint32 // that initialize agreed upon
	modernRev uint32 // that the newest modern request named
	features  string // revision that legacy features in use ask for at least
	supported []string
}

// agreed is the era of a scope so far.
type agreed struct {
	era      Era
	revision uint32
}

func (n *negotiation) of(sc Scope) *agreed {
	if n.scopes == nil {
		n.scopes = map[Scope]*agreed{}
	}
	a := n.scopes[sc]
	if a == nil {
		a = new(agreed)
		n.scopes[sc] = a
	}
	return a
}

// requestEra decides the era of one request (basic/versioning): what it says
// about itself first, then its method, then the HTTP headers, then what its
// scope has agreed upon so far.
func (s *Session) requestEra(p *peek, q *params, in incoming) (Era, uint32) {
	if in.dir == tap.S2C {
		return Legacy, s.legacyRevision(in.where.scope)
	}
	if v, ok := plain(p.body, q.meta.version); ok && string(v) >= rev2026 {
		rev := s.strs.id(v)
		s.era.modernRev = rev
		s.seen(in.where.scope, Modern)
		return Modern, rev
	}
	method, _ := plain(p.body, p.method)
	switch e := methodEra(string(method)); {
	case string(method) == "initialize":
		return Legacy, 0 // the answer tells
	case e == Modern:
		return Modern, 0
	case e == Legacy:
		return Legacy, s.legacyRevision(in.where.scope)
	}
	return s.headerEra(in)
}

// methodEra is the era that a method exists in, if it is only one.
func methodEra(method string) Era {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result", "tasks/list":
		return Legacy
	case "server/discover", "subscriptions/listen", "tasks/update":
		return Modern
	}
	return EraUnknown
}

func (s *Session) headerEra(in incoming) (Era, uint32) {
	w := in.where
	switch {
	case w.version >= rev2026:
		return Modern, s.strs.id([]byte(w.version))
	case w.session && w.version == "" || w.version != "" && s.agreedOn(w.scope):
		return Legacy, s.legacyRevision(w.scope)
	case isRevision(w.version):
		rev := s.strs.id([]byte(w.version))
		if !s.era.openedOK {
			s.era.legacyRev = rev
		}
		return Legacy, rev
	}
	if a := s.era.scopes[w.scope]; a != nil && a.era != EraUnknown {
		return a.era, a.revision
	}
	return EraUnknown, 0
}

// agreedOn reports a scope that a handshake gave its revision: a header can't change
// that.
func (s *Session) agreedOn(sc Scope) bool {
	a := s.era.scopes[sc]
	return a != nil && a.revision != 0
}

// isRevision knows the legacy revisions: a header may say anything.
func isRevision(v string) bool {
	return slices.Contains([]string{"2024-11-05", "2025-03-26", "2025-06-18", rev2025Nov}, v)
}

func (s *Session) legacyRevision(sc Scope) uint32 {
	if a := s.era.scopes[sc]; a != nil && a.era == Legacy {
		return a.revision
	}
	return s.era.legacyRev
}

// seen notes that a scope has a modern request. A legacy handshake that succeeded
// outlives it: the era of what names none stays legacy then.
func (s *Session) seen(sc Scope, e Era) {
	if sc != 0 {
		return // an exchange needs no memory of its own
	}
	if a := s.era.of(sc); a.era == EraUnknown {
		a.era = e
	}
}

// answerEra learns from the response to a request.
func (s *Session) answerEra(c uint32, p *peek, r *result) {
	e := s.calls.at(int(c))
	ok := p.kind == kindResult
	switch s.methods.name(e.method) {
	case "initialize":
		s.opened(c, p, r)
		return
	case "server/discover":
		s.probed(p, r)
	}
	if !ok {
		return
	}
	switch e.era {
	case Legacy:
		s.era.legacyOK = true
	case Modern:
		isProbe := s.methods.name(e.method) == "server/discover"
		s.era.work = s.era.work || !isProbe
		s.era.modernOK = s.era.modernOK || !isProbe || s.era.offersModern()
	}
	if e.dir == tap.C2S {
		s.era.feature(r)
	}
}

// opened takes the answer to initialize: the version in it is the session's. A
// second handshake breaks a rule, but what both agreed upon last is what they
// go by.
func (s *Session) opened(c uint32, p *peek, r *result) {
	if p.kind != kindResult {
		return
	}
	s.era.openedOK, s.era.legacyOK = true, true
	e := s.calls.at(int(c))
	e.revision = s.strs.of(p.body, r.version)
	s.era.legacyRev = e.revision
	*s.era.of(e.scope) = agreed{Legacy, e.revision}
}

func (s *Session) probed(p *peek, r *result) {
	if p.kind != kindResult {
		return
	}
	s.era.probed = true
	s.era.supported = s.era.supported[:0]
	for w := walk(p.body, r.versions); r.versions.there() && w.next() && len(s.era.supported) < 32; {
		s.era.supported = append(s.era.supported, text(p.body, w.value))
	}
}

// offersModern reports whether the answer to a probe names a modern revision: a
// server may answer it and list legacy ones only.
func (n *negotiation) offersModern() bool {
	return slices.ContainsFunc(n.supported, func(v string) bool { return v >= rev2026 })
}

// feature raises the least revision that a session without a handshake can have.
func (n *negotiation) feature(r *result) {
	atLeast := func(rev string) { n.features = max(n.features, rev) }
	if r.structured.there() {
		atLeast("2025-06-18")
	}
	if r.task.there() {
		atLeast(rev2025Nov)
	}
}

// A Probe is what became of a client's server/discover.
type Probe string

// The fates of a probe.
const (
	ProbeNone    Probe = ""         // there was none
	ProbeOK      Probe = "answered" // with versions
	ProbeRefused Probe = "refused"  // with an error
	ProbeSilent  Probe = "silent"   // not at all
)

// Eras is the era of a session and how it came to it.
type Eras struct {
	Era       Era
	Revision  string // "" if unknown; of a mixed session the legacy one
	AtLeast   string // when Revision is unknown: what the features in use ask for
	Probe     Probe
	ProbeCall int      // -1 if none
	Supported []string // versions that the server answered the probe with
	Fallback  bool     // initialize followed a probe
	InitCall  int      // first initialize, -1 if none
	InitOK    bool
	Ready     bool // notifications/initialized was seen
	NoOpening bool // neither probe nor handshake: another process was probed, or the capture began late
}

// Eras tells the session's era so far.
func (s *Session) Eras() Eras {
	n := &s.era
	e := Eras{Probe: s.probeFate(), ProbeCall: int(s.era.probe) - 1, InitCall: int(s.era.init) - 1,
		InitOK: n.openedOK, Ready: n.ready, Supported: append([]string(nil), n.supported...)}
	e.Era, e.Revision = s.sessionEra()
	if e.Revision == "" && e.Era != Modern {
		e.AtLeast = n.features
	}
	e.Fallback = s.fellBack()
	e.NoOpening = e.ProbeCall < 0 && e.InitCall < 0 && s.calls.n > 0
	return e
}

// fellBack reports that initialize followed a probe.
func (s *Session) fellBack() bool { return s.era.probe > 0 && s.era.init > s.era.probe }

// sessionEra counts success, since a probe that failed and a handshake that was
// refused decide nothing. The probe itself is no request of the session.
func (s *Session) sessionEra() (Era, string) {
	n := &s.era
	legacy, modern := n.legacyOK, n.modernOK
	if n.openedOK && !n.work {
		modern = false
	}
	switch {
	case legacy && modern:
		return Mixed, s.strs.name(n.legacyRev)
	case legacy:
		return Legacy, s.strs.name(n.legacyRev)
	case modern:
		return Modern, s.strs.name(n.modernRev)
	}
	return EraUnknown, ""
}

func (s *Session) probeFate() Probe {
	i := int(s.era.probe) - 1
	switch {
	case i < 0:
		return ProbeNone
	case s.era.probed:
		return ProbeOK
	case s.calls.at(i).response != 0 || s.calls.at(i).code >= 400: // an HTTP status
		return ProbeRefused
	}
	return ProbeSilent
}

// opening remembers the calls that open a session.
func (n *negotiation) opening(c uint32, method string) {
	switch {
	case method == "server/discover" && n.probe == 0:
		n.probe = c + 1
	case method == "initialize" && n.init == 0:
		n.init = c + 1
	}
}
