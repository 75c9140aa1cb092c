package decode

import (
	"time"

	"github.com/mcptap/mcptap/tap"
)

// call is the index entry of one call.
type call struct {
	id       ident
	code     int32  // of an error; a larger number is cut to the range
	request  uint32 // frame
	response uint32 // frame + 1; 0 while open
	method   uint32
	name     uint32 // tool, prompt or URI
	link     uint32 // see queue
	scope    Scope
	notes    uint32 // newest note
	args     uint32 // hash of the arguments
	group    uint32
	revision uint32
	bits     callBits
	dir      tap.Dir
	era      Era
	outcome  Outcome
	hidden   hiddenSign
}

type callBits uint16

const (
	callReused    callBits = 1 << iota // its id was used before in this scope
	callInFlight                       // its id was in use by another open request
	callAmbiguous                      // so that which answer is whose is not known
	callCancelled                      // a cancellation came before its answer
	callLate                           // its answer came after its cancellation
	callAnswered2                      // it was answered more than once
	callWrongID                        // an answer came whose id has another type
	callLogs                           // it asked for log messages (modern)
	callTask                           // it asked for a task (2025-11-25)
	callRetry                          // it carries inputResponses or requestState
	callGuessed                        // parent is a guess
	callCut                            // a body of it was not at hand
	callBatch                          // it was asked in a batch
	callToken                          // it has a progress token
	callListen                         // subscriptions/listen
	callAsTask                         // its result was a task
)

// A NoteKind is how a message belongs to a call other than as its request or its
// response.
type NoteKind uint8

// The kinds of notes.
const (
	NoteProgress     NoteKind = iota + 1 // notifications/progress with the call's token
	NoteLateProgress                     // the same after the response
	NoteCancel                           // notifications/cancelled
	NoteLateCancel                       // the same after the response
	NoteLog                              // notifications/message (a guess on stdio)
	NoteNested                           // a request of the server while the call was running
	NoteStream                           // a notification of a listen stream
	NoteTask                             // a message of the task that the call created
	NoteSecond                           // a second response
	NoteWrongID                          // a response whose id has another JSON type
	NoteURLDone                          // notifications/elicitation/complete
	NoteReplay                           // an event that was sent once more, over HTTP
)

var noteNames = [...]string{"", "progress", "late progress", "cancel", "late cancel", "log", "nested request", "stream", "task",
	"second response", "response with another id type", "url elicitation complete", "replay"}

func (k NoteKind) String() string { return nameOf(noteNames[:], int(k)) }

// note hangs a frame on a call; the notes of a call are chained, newest first.
type note struct {
	frame uint32
	prev  uint32
	call  uint32 // of NoteNested: index of the nested call
	kind  NoteKind
}

// A Note is a message that belongs to a call.
type Note struct {
	Kind  NoteKind
	Frame int
	Call  int // of NoteNested: the nested call; else -1
}

func (s *Session) hang(c int, n note) {
	e := s.calls.at(c)
	n.prev = e.notes
	e.notes = uint32(s.notes.add(n))
}

// ID is an id as it was sent: "7", "7.0" and `"7"` are three ids.
type ID string

// A Call is a request with all that belongs to it. Times are since the start of
// the session.
type Call struct {
	Index    int
	Dir      tap.Dir // of the request
	Scope    Scope
	ID       ID
	Method   string
	Name     string // tool, prompt or URI; see Shortened for long ones
	Request  int    // frame
	Response int    // frame, -1 while there is none
	Start    time.Duration
	End      time.Duration // of the response

	Era      Era
	Revision string // "" if unknown
	Outcome  Outcome
	Code     int64   // of a protocol error; the HTTP status of a transport error, if there was one
	Exchange int     // HTTP exchange that it was asked in, -1 if none
	Hidden   *Hidden // why a success looks like a failure
	Why      string  // what Outcome rests on, where the response alone does not say

	Parent  int  // call that was running when the server asked this; -1 if none
	Guessed bool // Parent is a guess: the wire does not name it
	Listen  bool // subscriptions/listen: pending for its whole life, no matter for latency

	// Faults of the exchange.
	Reused        bool // RPC-05: the id had been used before
	InFlight      bool // RPC-06: the id was in use by an open request
	Ambiguous     bool // so that which response belongs to which is not known
	Late          bool // the response came after the cancellation
	Second        bool // RPC-09: there is more than one response
	WrongID       bool // RPC-08: a response came whose id has another JSON type
	Cancelled     bool // a cancellation came while it was open
	Batch         bool // it was asked in a batch
	Cut           bool // a body of it was not at hand: what it says is less than it could be
	WantsLogs     bool // its _meta names a log level (modern)
	WantsTask     bool // it asks for a task (2025-11-25)
	WantsProgress bool // its _meta has a progress token
	Retry         bool // it carries inputResponses or requestState
	MadeTask      bool // it was answered with a task
}

// Calls is how many calls there are.
func (s *Session) Calls() int { return s.calls.n }

// Call gives the call of that index as it stands now.
func (s *Session) Call(i int) Call {
	e := s.calls.at(i)
	c := Call{
		Index: i, Dir: e.dir, Scope: e.scope, ID: ID(s.ids.raw(e.id)), Method: s.methods.name(e.method), Name: s.names.name(e.name),
		Request: int(e.request), Response: int(e.response) - 1, Start: s.frames.at(int(e.request)).t,
		Era: e.era, Revision: s.strs.name(e.revision), Code: int64(e.code),
		Parent: s.parent(i), Listen: e.bits&callListen != 0, Exchange: -1,
	}
	if carried := s.web.at(c.Request); carried != nil {
		c.Exchange = int(carried.exchange) - 1
	}
	if c.Response >= 0 {
		c.End = s.frames.at(c.Response).t
	}
	c.setBits(e.bits)
	s.judge(e, &c)
	return c
}

func (c *Call) setBits(b callBits) {
	has := func(bit callBits) bool { return b&bit != 0 }
	c.Guessed, c.Reused, c.InFlight = has(callGuessed), has(callReused), has(callInFlight)
	c.Ambiguous, c.Late, c.Second = has(callAmbiguous), has(callLate), has(callAnswered2)
	c.WrongID, c.Cancelled, c.Batch = has(callWrongID), has(callCancelled), has(callBatch)
	c.Cut, c.WantsLogs, c.WantsTask = has(callCut), has(callLogs), has(callTask)
	c.WantsProgress, c.Retry, c.MadeTask = has(callToken), has(callRetry), has(callAsTask)
}

// Notes gives what hangs on a call, in order of appearance.
func (s *Session) Notes(c int) []Note {
	var out []Note
	for i := s.calls.at(c).notes; i != 0; i = s.notes.at(int(i)).prev {
		n := s.notes.at(int(i))
		note := Note{Kind: n.kind, Frame: int(n.frame), Call: -1}
		if n.kind == NoteNested {
			note.Call = int(n.call)
		}
		out = append(out, note)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// parent gives the call that was running when the server made request c.
func (s *Session) parent(c int) int {
	if p, ok := s.parents[uint32(c)]; ok {
		return int(p)
	}
	return -1
}
