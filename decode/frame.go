package decode

import (
	"time"

	"github.com/mcptap/mcptap/tap"
)

// A Frame is what a session knows of one frame.
type Frame struct {
	Index  int
	N      uint64 // number in the journal
	Time   time.Duration
	Dir    tap.Dir
	Size   int64 // bytes on the wire, line end included
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
	f := Frame{Index: i, N: at.n, Time: e.t, Dir: e.dir, Size: at.size, Kind: kinds[e.kind], Method: s.methods.name(e.method), Call: -1, Faults: e.faults}
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
	return f
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
