package decode

import (
	"cmp"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// A Frame is what a session knows of one frame.
type Frame struct {
	Index  int
	N      uint64 // number in the journal
	Time   time.Duration
	Dir    tap.Dir
	Size   int64 // bytes on the wire, line end included, as [Crossed] tells
	EOL    tap.EOL
	Kind   Kind
	Method string
	Call   int // call it belongs to, -1 if none
	Faults Faults
	Stray  StrayKind // of a stray

	Orphan   bool // RPC-08: a response that no request asked for
	WrongID  bool // RPC-08: a response whose id fits an open request but for its JSON type (Call)
	Second   bool // RPC-09: a response to a request that was answered (Call)
	Unjoined bool // a progress, cancellation or subscription id that names no call
	Digest   bool // the body is not in the journal itself
	Batch    []BatchMember

	Exchange int    // HTTP exchange that it came in, -1 if none
	Event    string // its name, of an event of a stream ("message" if it has none)
	EventID  bool   // the event has an id
	Framing  int64  // bytes of the event besides the frame's own
	Replay   bool   // the event was sent before, and counts once
	SameID   bool   // HTTP-14: another event of the session had its id
}

// A BatchMember is one message of a batch.
type BatchMember struct {
	Kind                              Kind
	Method                            string
	Call                              int
	Faults                            Faults
	Orphan, WrongID, Second, Unjoined bool
}

// Len is how many frames there are.
func (s *Session) Len() int { return s.frames.n }

// Frame gives the frame of that index as it stands now.
func (s *Session) Frame(i int) Frame {
	e := s.frames.at(i)
	at := s.placeOf(i)
	f := Frame{Index: i, N: at.n, Time: e.t, Dir: e.dir, Size: at.size, Kind: kinds[e.kind], Method: s.methods.name(e.method), Call: -1, Faults: e.faults, Exchange: -1}
	switch e.kind {
	case kindBatch:
		f.Batch = s.batch(e)
	case kindStray:
		f.Stray = strays[e.stray]
	default:
		f.Call = int(e.call) - 1
	}
	switch {
	case e.bits&bitCRLF != 0:
		f.EOL = tap.CRLF
	case e.bits&bitNoEOL != 0:
		f.EOL = tap.NoEOL
	}
	f.Orphan, f.WrongID, f.Second, f.Unjoined = e.bits.joins()
	f.Digest = e.bits&bitDigest != 0
	if c := s.web.at(i); c != nil {
		f.setCarried(c, s.web.words.name(c.name))
	}
	return f
}

func (f *Frame) setCarried(c *carried, event string) {
	f.Exchange, f.Framing = int(c.exchange)-1, int64(c.framing)
	f.EventID, f.Replay, f.SameID = c.bits&carriedID != 0, c.bits&carriedReplay != 0, c.bits&carriedTwice != 0
	if c.bits&carriedEvent != 0 {
		f.Event = cmp.Or(event, "message")
	}
}

func (b frameBits) joins() (orphan, wrongID, second, unjoined bool) {
	return b&bitOrphan != 0, b&bitWrongID != 0, b&bitSecond != 0, b&bitUnjoined != 0
}

func (s *Session) batch(e *frame) []BatchMember {
	members := s.batches[e.call]
	out := make([]BatchMember, members.to-members.from)
	for i := range out {
		m := s.parts.at(members.from + i)
		out[i] = BatchMember{Kind: kinds[m.kind], Method: s.methods.name(m.method), Call: int(m.call) - 1, Faults: m.faults}
		out[i].Orphan, out[i].WrongID, out[i].Second, out[i].Unjoined = m.bits.joins()
	}
	return out
}
