// Package feed is a session as screens read it: opened at once, read on piece by
// piece while it is shown, and looked at row by row.
//
// It promises that no piece holds its lock for long, so that a screen can draw in
// between, and that it keeps a few bytes a row besides the session's own index. What
// has to be read from a file (what a call is about, a frame's body) is asked for by
// calls of their own, for commands to make: drawing never waits for a disk.
package feed

import (
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/density"
)

// A Row is an operation, or a frame that belongs to none.
type Row uint32

const frameRow = 1 << 31

// Call is the call that leads the row's operation; -1 if it is a frame.
func (r Row) Call() int {
	if r&frameRow != 0 {
		return -1
	}
	return int(r)
}

// Frame is the row's frame; -1 if it is an operation.
func (r Row) Frame() int {
	if r&frameRow == 0 {
		return -1
	}
	return int(r &^ frameRow)
}

// FrameRow is the row of a frame, for lists of frames.
func FrameRow(frame int) Row { return Row(frame) | frameRow }

// A Feed is an open session. Whoever uses what it embeds holds its lock; its methods
// take the lock themselves where they say so.
type Feed struct {
	sync.Mutex
	*sessions.Loaded
	Rows    []Row        // operations and lone frames, by their first frames
	Density density.Line // of frames, and of failures

	session       *sessions.Session
	size          int64 // of the file when it was opened
	calls, frames int   // looked at for Rows
}

// Open opens the recording at path and reads nothing yet. A file that is no recording
// gives an error that says why.
func Open(path string, now time.Time) (*Feed, error) {
	if i, err := sessions.Inspect(path); err == nil && i.Problem != "" && !i.Starting(now) {
		return nil, fmt.Errorf("it is not a recording: %s", i.Problem)
	}
	s, err := sessions.Open(path)
	if err != nil {
		return nil, err
	}
	return &Feed{Loaded: sessions.Begin(s, decode.Options{}), session: s, size: s.Size()}, nil
}

// Close closes the recording. It takes the lock.
func (f *Feed) Close() error {
	f.Lock()
	defer f.Unlock()
	return f.session.Close()
}

// Status is how far a session was read.
type Status struct {
	More   bool // there is more at hand
	Live   bool // its tap is running
	Behind bool // it writes faster than this reads: there is more at hand by now
	Err    error
}

// piece is how many records are read between two looks at the clock.
const piece = 256

// Advance reads on until the end of what there is, or for about budget. It takes the
// lock.
func (f *Feed) Advance(now func() time.Time, budget time.Duration) (st Status) {
	f.Lock()
	defer f.Unlock()
	for start := now(); ; {
		st.More, st.Err = f.Some(piece)
		f.index()
		if !st.More || st.Err != nil {
			break
		}
		if now().Sub(start) <= budget {
			continue
		}
		if f.Read() >= f.size && f.session.Running() {
			st.More, st.Live, st.Behind = false, true, true
		}
		return st
	}
	// A tap that ended since the last read has written its last records before.
	st.Live = f.session.Running() || f.session.Starting(now())
	st.More = !st.Live && st.Err == nil && f.session.Grown()
	return st
}

// Fate looks at what became of the recording's file. It takes the lock.
func (f *Feed) Fate() sessions.Fate {
	f.Lock()
	defer f.Unlock()
	return f.session.Fate()
}

// Cut reports a recording of ours without an end.
func (f *Feed) Cut() bool { return f.Loaded.End == nil && !f.session.Foreign() }

// index adds rows for what was read.
func (f *Feed) index() {
	for f.calls < f.Calls() || f.frames < f.Len() {
		if f.calls < f.Calls() && (f.frames >= f.Len() || f.Call(f.calls).Request <= f.frames) {
			if f.Leads(f.calls) {
				f.Rows = append(f.Rows, Row(f.calls))
			}
			f.calls++
			continue
		}
		f.indexFrame()
		f.frames++
	}
}

func (f *Feed) indexFrame() {
	frame := f.Frame(f.frames)
	bad := false
	if frame.Call >= 0 && (frame.Kind == decode.Result || frame.Kind == decode.Error) {
		bad = Failed(f.Call(frame.Call).Outcome)
	}
	f.Density.Add(frame.Time, bad)
	if frame.Call < 0 && !inBatch(&frame) {
		f.Rows = append(f.Rows, FrameRow(f.frames))
	}
}

func inBatch(f *decode.Frame) bool {
	for i := range f.Batch {
		if f.Batch[i].Call >= 0 {
			return true
		}
	}
	return false
}

// Failed reports an outcome that counts as a failure.
func Failed(o decode.Outcome) bool {
	switch o {
	case decode.ToolError, decode.ProtocolError, decode.TransportError, decode.HiddenError:
		return true
	}
	return false
}

// Time is when a row begins.
func (f *Feed) Time(r Row) time.Duration {
	if c := r.Call(); c >= 0 {
		return f.Call(c).Start
	}
	return f.Frame(r.Frame()).Time
}

// Main is the frame that a row is about: the response of its last leg, or else what
// there is.
func (f *Feed) Main(r Row) int {
	c := r.Call()
	if c < 0 {
		return r.Frame()
	}
	legs := f.Operation(c).Legs
	last := f.Call(legs[len(legs)-1].Call)
	if last.Response >= 0 {
		return last.Response
	}
	return last.Request
}

// Counterpart is the response to a request, or the request of a response; -1 if
// there is none.
func (f *Feed) Counterpart(frame int) int {
	i := f.callOf(frame)
	if i < 0 {
		return -1
	}
	c := f.Call(i)
	if frame == c.Request {
		return c.Response
	}
	return c.Request
}

// Parts are the frames of an operation in the order in which they crossed, with what
// each is in it.
func (f *Feed) Parts(call int) []Part {
	o := f.Operation(call)
	var parts []Part
	for i, leg := range o.Legs {
		c := f.Call(leg.Call)
		kinds := map[int]string{}
		for _, n := range f.Notes(leg.Call) {
			kinds[n.Frame] = n.Kind.String()
		}
		for _, frame := range leg.Frames {
			parts = append(parts, Part{frame, role(&c, frame, i, leg.Role, kinds)})
		}
	}
	return parts
}

// A Part is a frame of an operation.
type Part struct {
	Frame int
	Role  string
}

func role(c *decode.Call, frame, leg int, name string, notes map[int]string) string {
	switch {
	case frame == c.Request && leg == 0:
		return "request"
	case frame == c.Request:
		return name
	case frame == c.Response:
		return "response"
	case notes[frame] != "":
		return notes[frame]
	}
	return "nested"
}

// Arrow shows a direction.
func Arrow(d tap.Dir) string {
	switch d {
	case tap.C2S:
		return "→"
	case tap.S2C:
		return "←"
	}
	return "·"
}

// First is the frame that a row begins with.
func (f *Feed) First(r Row) int {
	if c := r.Call(); c >= 0 {
		return f.Call(c).Request
	}
	return r.Frame()
}

// RowOf is the index in Rows of what a frame belongs to.
func (f *Feed) RowOf(frame int) int {
	row, first := FrameRow(frame), frame
	if c := f.callOf(frame); c >= 0 {
		for p := f.Call(c).Parent; p >= 0; p = f.Call(c).Parent {
			c = p
		}
		lead := f.Operation(c).Legs[0].Call
		row, first = Row(lead), f.Call(lead).Request
	}
	after := sort.Search(len(f.Rows), func(i int) bool { return f.First(f.Rows[i]) > first })
	for i := after - 1; i >= 0 && f.First(f.Rows[i]) == first; i-- { // a batch begins several
		if f.Rows[i] == row {
			return i
		}
	}
	return max(0, after-1)
}

// callOf is the call of a frame, or of the first message in a batch that has one.
func (f *Feed) callOf(frame int) int {
	fr := f.Frame(frame)
	for i := range fr.Batch {
		if c := fr.Batch[i].Call; c >= 0 {
			return c
		}
	}
	return fr.Call
}

// RowAt is the index of the last row that had begun at a moment.
func (f *Feed) RowAt(t time.Duration) int {
	return max(0, sort.Search(len(f.Rows), func(i int) bool { return f.Time(f.Rows[i]) > t })-1)
}

// FrameAt is the last frame that had crossed at a moment.
func (f *Feed) FrameAt(t time.Duration) int {
	return max(0, sort.Search(f.Len(), func(i int) bool { return f.Frame(i).Time > t })-1)
}
