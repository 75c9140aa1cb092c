package diff

import (
	"slices"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/tap"
)

// A Side is one session to compare.
type Side struct {
	Name    string // what to call it
	Session *decode.Session
	Body    func(frame int) []byte // the bytes of a frame by its index; nil if they are not at hand
	// Findings gives what rules.Check finds in the session. Nil has it checked, which
	// takes longer than all else: who compares a session often checks it once.
	Findings func() []rules.Finding
	// Probe is the session of the process that was probed for this one; nil if there
	// was none. What it cost belongs to the opening.
	Probe *Side
}

// Options say how to compare.
type Options struct {
	// Ignore are places whose differences don't count: result.structuredContent.time,
	// params.arguments.token.
	Ignore []Path
	// Tokens estimates how many tokens a text costs a model. Without it the model's
	// side is told in bytes.
	Tokens func(text []byte) (low, mid, high int)
}

// A Diff is what two sessions differ in.
type Diff struct {
	A, B        About
	Rows        []Row        // everything that crossed, in the order of both
	Bill        Bill         // what the two ways of speaking cost
	Server      []Difference // identity, revisions, capabilities, instructions; the client's as well
	Definitions []Definition
	Findings    []Finding
	Times       []Times
	Model       Model
	Volatile    []Volatile
}

// About is what a session is.
type About struct {
	Name           string
	Transport      string
	Era            decode.Era
	Revision       string
	Client, Server string // name and version; text from the outside
	Opening        bool   // its opening is in the capture
	Operations     int
	NotAtHand      int64 // bytes of frames whose body is not at hand: what they say is not compared
}

// RowKind is what a row compares.
type RowKind uint8

// The kinds of rows.
const (
	RowOperation     RowKind = iota
	RowOpening               // handshake or discovery, probes included
	RowSubscriptions         // listen streams against subscriptions and what came unasked
	RowMessages              // messages of one kind that belong to no call
	RowExchanges             // HTTP requests of one kind that carry no message: streams, ends of sessions, look-ups
)

var rowNames = [...]string{"operation", "opening", "subscriptions", "messages", "exchanges"}

func (k RowKind) String() string { return rowNames[k] }

// A Row is one piece of work, and what it was on either side.
type Row struct {
	Kind   RowKind
	Dir    tap.Dir // of the request
	Method string
	Name   string // tool, prompt or URI; text from the outside
	A, B   *Part  // nil if it is not on that side
	// Reason says why it stands on one side only, if that is an era's doing or a
	// repetition's: then the work is the same.
	Reason  string
	Moved   bool    // both have it, at another place among calls that did not run at once
	Details []Inner // what belongs to it: questions, steps of an opening, notifications
	Changes []Difference
	More    int // changes beyond those that are kept
}

// OneSided reports a row that only one session has.
func (r *Row) OneSided() bool { return r.A == nil || r.B == nil }

// otherwise reports operations that ask for other things: the same method and target,
// but not the same work.
func (r *Row) otherwise() bool {
	return slices.ContainsFunc(r.Changes, func(c Difference) bool { return c.What == WhatArguments })
}

// SameWork reports a row that both sides have, and asked for in the same way.
func (r *Row) SameWork() bool { return !r.OneSided() && !r.otherwise() }

// A Part is one side of a row.
type Part struct {
	Call   int    // the first, by its index; -1 if it is none
	N      uint64 // number of its first frame in the journal, 0 if it has none of its own
	Frames []int  // by index, those that count here
	// Exchanges are those whose heads count here, by index.
	Exchanges []int
	Count     int // calls, or messages
	Outcome   decode.Outcome
	Code      int64         // of a protocol error
	Took      time.Duration // the server's part; negative if it was not timed
	Bytes     Cost
}

// An Inner is a thing that belongs to a row, and how often it is there on either side.
type Inner struct {
	What   string // text from the outside
	A, B   int
	Reason string // as of a Row
}

// What is the kind of a difference.
type What string

// The kinds of differences of a row and of the two servers.
const (
	WhatOutcome   What = "outcome"
	WhatArguments What = "arguments"
	WhatResult    What = "result"
	WhatError     What = "error"
	WhatQuestion  What = "question" // what a server asked the client
	WhatServer    What = "server"
	WhatClient    What = "client"
)

// A Difference is a place where two sides differ.
type Difference struct {
	What What
	Path string // within the message; empty for an outcome
	A, B string // JSON cut to a line, or words; empty if the side has nothing there
}

// Volatile is a place whose values vary by themselves: they were taken as equal.
type Volatile struct {
	Kind   string // uuid, time, token, duration, handle, process, temporary path
	Method string
	Name   string
	Path   string
	Count  int
	A, B   string // the first two values
}

// Same reports two sessions that nothing tells apart: the same work, at the same
// cost, with the same behaviour.
func (d *Diff) Same() bool {
	if len(d.Server)+len(d.Definitions)+len(d.Findings) > 0 || d.Bill.A != d.Bill.B {
		return false
	}
	for i := range d.Times {
		if t := &d.Times[i]; t.Changed && !t.All() {
			return false
		}
	}
	for i := range d.Rows {
		if r := &d.Rows[i]; r.OneSided() || r.Moved || len(r.Changes) > 0 || r.A.Bytes != r.B.Bytes {
			return false
		}
	}
	return true
}

// Compare compares two sessions.
func Compare(a, b Side, o Options) *Diff {
	w := newWork(a, b, o)
	w.compare()
	w.findings()
	return w.d
}

// compare finds all but the findings: what crossed, and what it says.
func (w *work) compare() {
	w.opening()
	w.subscriptions()
	w.operations()
	w.exchanges()
	w.messages()
	w.sortRows()
	w.bill()
	w.definitions()
	w.times()
	w.model()
}
