package decode

import "github.com/mcptap/mcptap/tap"

// Totals are the byte accounts of a session, summed up. Options.Bytes asks for
// them.
type Totals struct {
	All      Account
	Dirs     [tap.Stderr + 1]Account
	Methods  map[string]*MethodBytes
	Opening  Account // frames of the handshake, of discovery, pings and subscriptions, in full
	Copies   Copies
	HTTP     HTTPBytes
	Unparsed int64 // bytes of frames whose body was not at hand; they are in no account
}

// MethodBytes is what the requests, responses and notifications of one method
// cost. Messages that belong to no method count as "".
type MethodBytes struct {
	Frames int64
	Account
}

// Metadata is what requests and responses other than those of the opening spend
// on _meta and multi-round-trip members.
func (t *Totals) Metadata() int64 {
	return t.All[PartMeta] + t.All[PartRounds] - t.Opening[PartMeta] - t.Opening[PartRounds]
}

// Totals gives the sums so far. They are the session's own: do not change them.
func (s *Session) Totals() *Totals {
	s.totals.HTTP = s.web.bytes
	return &s.totals
}

func (s *Session) addTotals(f *tap.Frame, at int) { s.AddTo(&s.totals, at, f) }

// AddTo adds the account of the frame with index at, read again, to sums of the
// caller's own: those of a part of the session.
func (s *Session) AddTo(t *Totals, at int, f *tap.Frame) {
	if f.Digest != nil {
		t.Unparsed += f.Len()
		return
	}
	var a Account
	var c Copies
	if f.JSON && s.frames.at(at).kind != kindBody {
		a, c = accountOf(f.Body, len(f.EOL.String()))
	} else {
		a = strayAccount(len(f.Body), len(f.EOL.String()))
	}
	t.All.Add(&a)
	t.Dirs[min(f.Dir, tap.Stderr)].Add(&a)
	t.Copies.Text += c.Text
	t.Copies.Structured += c.Structured
	method := s.methodOf(at)
	t.method(method).Account.Add(&a)
	t.method(method).Frames++
	if opens(method) {
		t.Opening.Add(&a)
	}
}

func (t *Totals) method(name string) *MethodBytes {
	m := t.Methods[name]
	if m == nil {
		if t.Methods == nil {
			t.Methods = map[string]*MethodBytes{}
		}
		m = new(MethodBytes)
		t.Methods[name] = m
	}
	return m
}

// methodOf is the method of a frame, that of its request if it is a response.
func (s *Session) methodOf(at int) string {
	e := s.frames.at(at)
	switch e.kind {
	case kindResult, kindError:
		if e.call > 0 {
			return s.methods.name(s.calls.at(int(e.call) - 1).method)
		}
	case kindRequest, kindNotification:
		return s.methods.name(e.method)
	}
	return ""
}

func opens(method string) bool {
	switch method {
	case "initialize", "notifications/initialized", "server/discover", "ping",
		"subscriptions/listen", "notifications/subscriptions/acknowledged":
		return true
	}
	return false
}
