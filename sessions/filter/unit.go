package filter

import (
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// unit is the frame or the call that is being judged. What terms ask of it is
// looked up when the first one asks.
type unit struct {
	src *Source

	isFrame bool
	index   int

	has     parts
	frame   decode.Frame
	call    decode.Call // the call itself; of a frame with one, its call
	op      decode.Operation
	calls   []int
	frames  []int
	members []decode.Call

	bodyOf int
	body   []byte
	looked int // bytes of all bodies since a scan set it to 0

	servers    []string
	serversFor int // length of the session when they were looked up, plus one
}

type parts uint8

const (
	hasFrame parts = 1 << iota
	hasCall
	hasOp
	hasCalls
	hasFrames
	hasMembers
)

func (u *unit) set(isFrame bool, i int) { u.isFrame, u.index, u.has, u.bodyOf = isFrame, i, 0, -1 }

func (u *unit) once(p parts) bool {
	if u.has&p != 0 {
		return false
	}
	u.has |= p
	return true
}

func (u *unit) theFrame() *decode.Frame {
	if u.once(hasFrame) {
		u.frame = u.src.Session.Frame(u.index)
	}
	return &u.frame
}

func (u *unit) theCall() *decode.Call {
	if u.once(hasCall) {
		u.call = u.src.Session.Call(u.index)
	}
	return &u.call
}

// alone reports a call that is to be judged by itself: it leads no operation, or
// it is all of it.
func (u *unit) alone() bool {
	s := u.src.Session
	return s.Alone(u.index) || !s.Leads(u.index)
}

func (u *unit) operation() *decode.Operation {
	if u.once(hasOp) {
		u.op = u.src.Session.Operation(u.index)
	}
	return &u.op
}

// callIndexes are the calls of the unit: those that a frame belongs to, or those of
// an operation with what the server asked meanwhile.
func (u *unit) callIndexes() []int {
	if !u.once(hasCalls) {
		return u.calls
	}
	u.calls = u.calls[:0]
	switch {
	case u.isFrame:
		f := u.theFrame()
		if f.Call >= 0 {
			u.calls = append(u.calls, f.Call)
		}
		for i := range f.Batch {
			if c := f.Batch[i].Call; c >= 0 {
				u.calls = append(u.calls, c)
			}
		}
	case u.alone():
		u.calls = append(u.calls, u.index)
	default:
		for _, leg := range u.operation().Legs {
			u.calls = append(u.calls, leg.Call)
			for _, n := range u.src.Session.Notes(leg.Call) {
				if n.Call >= 0 {
					u.calls = append(u.calls, n.Call)
				}
			}
		}
	}
	return u.calls
}

// allCalls are the calls of callIndexes themselves.
func (u *unit) allCalls() []decode.Call {
	if u.once(hasMembers) {
		u.members = u.members[:0]
		for _, c := range u.callIndexes() {
			u.members = append(u.members, u.src.Session.Call(c))
		}
	}
	return u.members
}

// allFrames are the frames of the unit, the first one first.
func (u *unit) allFrames() []int {
	if !u.once(hasFrames) {
		return u.frames
	}
	u.frames = u.frames[:0]
	switch {
	case u.isFrame:
		u.frames = append(u.frames, u.index)
	case u.alone():
		c := u.theCall()
		u.frames = append(u.frames, c.Request)
		if c.Response >= 0 {
			u.frames = append(u.frames, c.Response)
		}
	default:
		for _, leg := range u.operation().Legs {
			u.frames = append(u.frames, leg.Frames...)
		}
	}
	return u.frames
}

// first is the unit's first frame.
func (u *unit) first() int {
	if u.isFrame {
		return u.index
	}
	return u.theCall().Request
}

// bodyAt gives the bytes of a frame, which are valid until it is asked for others.
func (u *unit) bodyAt(frame int) []byte {
	if u.bodyOf != frame {
		u.body, u.bodyOf = u.src.Body(frame), frame
		u.looked += len(u.body)
	}
	return u.body
}

// anyBody reports whether a test holds of the bytes of one of the unit's frames.
func (u *unit) anyBody(holds func([]byte) bool) bool {
	for _, f := range u.allFrames() {
		if b := u.bodyAt(f); b != nil && holds(b) {
			return true
		}
	}
	return false
}

// took is the time from the request to the answer, that of its call for a frame;
// ok is false while there is no answer. Listens are pending for their whole life.
func (u *unit) took() (d time.Duration, ok bool) {
	if !u.isFrame && !u.alone() {
		o := u.operation()
		return o.End - o.Start, o.End > 0 && o.Kind != decode.OpListen
	}
	for i := range u.allCalls() {
		c := &u.members[i]
		if c.Response >= 0 && !c.Listen {
			return c.End - c.Start, true
		}
	}
	return 0, false
}

func (u *unit) bytes() (sum int64) {
	for _, f := range u.allFrames() {
		sum += u.src.Session.Frame(f).Size
	}
	return sum
}

func (u *unit) dir() tap.Dir {
	if u.isFrame {
		return u.theFrame().Dir
	}
	return u.theCall().Dir
}

// serverNames are what the session's server is called.
func (u *unit) serverNames() []string {
	if n := u.src.Session.Len() + 1; u.serversFor != n {
		u.serversFor, u.servers = n, u.servers[:0]
		if u.src.Label != "" {
			u.servers = append(u.servers, u.src.Label)
		}
		for _, p := range u.src.Session.Servers() {
			u.servers = append(u.servers, p.Name, p.Name+" "+p.Version)
		}
	}
	return u.servers
}
