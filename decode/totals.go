package decode

import "github.com/mcptap/mcptap/tap"

// Totals are the byte accounts of a session, summed up. Options.Bytes asks for
// them.
type Totals struct {
	All     Account
	Dirs    [tap.Stderr + 1]Account
	Methods map[string]*MethodBytes
	Opening Account // frames of the handshake, of discovery, pings and subscriptions, in full
	Copies  Copies
	HTTP    HTTPBytes
	// Packed is by how much more was on the wire, by direction, than the frames have as
	// they are recorded: less than 0 as a rule, where bodies were compressed. Of a
	// compressed event stream it is known when that has ended, and in a session's own
	// totals only.
	Packed   [tap.Stderr + 1]int64
	Unparsed int64 // bytes of frames whose body was not kept; they are in no account
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
	if f.Digest != nil && f.Digest.File == "" {
		t.Unparsed += f.Len()
		return
	}
	a, c := s.accountAt(at, f)
	dir := min(f.Dir, tap.Stderr)
	t.All.Add(&a)
	t.Dirs[dir].Add(&a)
	t.Packed[dir] += Crossed(f) - a.Total()
	t.Copies.Text += c.Text
	t.Copies.Structured += c.Structured
	method := s.methodOf(at)
	t.method(method).Account.Add(&a)
	t.method(method).Frames++
	if opens(method) {
		t.Opening.Add(&a)
	}
}

// accountAt splits the bytes of the frame with index at.
func (s *Session) accountAt(at int, f *tap.Frame) (a Account, c Copies) {
	lineEnd := len(f.EOL.String())
	switch {
	case f.Digest != nil:
		a[PartLong], a[PartLineEnd] = f.Size(), int64(lineEnd)
	case f.HTTP != nil && f.HTTP.Masked: // the bytes at hand are not those that crossed
		a[PartStray] = Crossed(f)
	case f.JSON && s.frames.at(at).kind != kindBody:
		return accountOf(f.Body, lineEnd)
	default:
		a = strayAccount(len(f.Body), lineEnd)
	}
	return a, c
}

// Crossed is how many bytes a frame took on the wire, its end included: not those that
// are recorded, if the body was compressed or secrets in it are masked. Of an event it
// is the data, without what is around that; if its stream was compressed, as it was
// decoded.
func Crossed(f *tap.Frame) int64 {
	switch {
	case f.HTTP == nil || f.HTTP.Wire <= 0:
		return f.Len()
	case f.SSE == nil:
		return f.HTTP.Wire
	case f.HTTP.Masked && f.HTTP.Encoding == "": // a mask may be longer than what it stands for
		return min(f.Len(), f.HTTP.Wire)
	}
	return f.Len()
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
