// Package ledger reads off a host's requests what each of them holds, in tokens: the
// columns that package rent adds up.
//
// It promises that every figure is an estimate that says so, and that what a request
// holds and this wire does not tell is named and never guessed: sums of it say at
// least.
//
// It must not price anything, nor decide what a host sends: that is for the packages
// rent and claude.
package ledger

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tokens"
)

// A Ledger is a session as package rent takes it, with where everything is from. Turn
// n of it is Book.Request(n-1): the n-th request to the model.
type Ledger struct {
	Session rent.Session
	Tools   []Definition // those of Session.Tools
	Carried []Source     // those of Session.Carried
	// Lists are the frames that brought a new list of tools, by the turn that was the
	// first to hold it.
	Lists map[int][]claude.Link
	// LeftOut are definitions that the host does not send, with the reason in their
	// notes.
	LeftOut []*claude.Block
	// Doubts are what is missing in the figures, for people.
	Doubts []string
}

// A Source is where a carried text is from.
type Source struct {
	Call  int         // index in Timeline.Calls; -1 of instructions
	Frame replay.Ref  // Frame is -1 if there is none
	Kind  claude.Kind // of the block
}

// Of reads a book. It reads the body of every call and answer once.
func Of(b *claude.Book, m *Meter) *Ledger {
	r := reader{
		book: b, meter: m, l: &Ledger{Lists: map[int][]claude.Link{}},
		known: map[key]int{}, byTool: map[tool]int{}, leftOut: map[tool]bool{}, ended: map[int]bool{},
	}
	r.turns()
	r.lateCalls()
	r.carried()
	r.doubts()
	return r.l
}

// key tells definitions apart: a tool whose definition changed is another one.
type key struct {
	session                   int
	name, description, schema string
}

type reader struct {
	book  *claude.Book
	meter *Meter
	l     *Ledger
	known map[key]int

	last    *claude.Block // that the newest offer begins with
	count   int           // of its tools
	offer   []int
	byTool  map[tool]int        // the newest definition of each
	sources map[replay.Ref]bool // lists of that offer
	byCall  []int               // index of the tool that each call of the timeline calls; -1 if none was offered
	images  int
	framing tokens.Count
	leftOut map[tool]bool
	ended   map[int]bool // sessions that are no part of a request any more
}

// A tool is one of a server, whatever its definition says.
type tool struct {
	session int
	bare    string
}

// requests is how many requests were made: that after a turn in which nothing was
// answered has not been.
func requests(b *claude.Book) int {
	n := b.Turns()
	if n > 0 && answered(b.Timeline(), n-1) == 0 {
		return n
	}
	return n + 1
}

// answered counts the calls of a turn that have their answer.
func answered(line *replay.Timeline, turn int) (n int) {
	for _, c := range line.Turns[turn].Calls {
		if line.Calls[c].Answer.There() {
			n++
		}
	}
	return n
}

func (r *reader) turns() {
	line := r.book.Timeline()
	r.byCall = make([]int, len(line.Calls))
	base, ok := begun(line)
	var at time.Duration
	for n := range requests(r.book) {
		at = max(at, startOf(line, n))
		q := r.book.Request(n)
		t := rent.Turn{Tools: r.offerOf(n, q), Since: at}
		t.OtherTools = len(q.Tools) > 0 && len(t.Tools) == 0
		if ok {
			t.Start = base.Add(at)
		}
		r.framing = r.framing.Plus(r.meter.Estimator().Framing(len(q.Messages)))
		r.leave(n, q)
		r.l.Session.Turns = append(r.l.Session.Turns, t)
		if n < len(line.Turns) {
			r.calls(n)
		}
	}
}

// begun is the moment from which a timeline counts.
func begun(line *replay.Timeline) (time.Time, bool) {
	for i, s := range line.Sessions {
		if !s.Start.IsZero() {
			return s.Start.Add(-line.Offset(i)), true
		}
	}
	return time.Time{}, false
}

// startOf is the latest moment at which a request can have been sent: the first before
// its calls came, a later one when the answers before it were there.
func startOf(line *replay.Timeline, request int) time.Duration {
	switch {
	case len(line.Turns) == 0:
		return line.Time(line.Len())
	case request == 0:
		return line.Turns[0].Start
	}
	t := &line.Turns[request-1]
	return max(t.Start, t.End)
}

// offerOf gives the tools that a request offers. Most requests share theirs.
func (r *reader) offerOf(request int, q *claude.Request) []int {
	var first *claude.Block
	if len(q.Tools) > 0 {
		first = q.Tools[0]
	}
	if r.offer != nil && first == r.last && len(q.Tools) == r.count {
		return r.offer
	}
	r.last, r.count = first, len(q.Tools)
	r.offer = []int{}
	sources := map[replay.Ref]bool{}
	for _, d := range Definitions(r.book, q) {
		i := r.toolIndex(&d)
		r.offer = append(r.offer, i)
		r.byTool[tool{d.Session, d.Bare}] = i
		if !sources[d.From.Ref] && !r.sources[d.From.Ref] {
			r.l.Lists[request+1] = append(r.l.Lists[request+1], d.From)
		}
		sources[d.From.Ref] = true
	}
	r.sources, r.l.LeftOut = sources, q.LeftOut
	for _, t := range q.LeftOut {
		r.leftOut[tool{t.Session, t.Name.Tool}] = true
	}
	return r.offer
}

// leave notes the sessions whose tools left with this request.
func (r *reader) leave(request int, q *claude.Request) {
	for _, s := range q.Ended() {
		if !r.ended[s] {
			r.ended[s] = true
			r.doubt("%s had ended before request %d: its tools are in no request since then, what it answered is", r.book.Timeline().Sessions[s].Name, request)
		}
	}
}

func (r *reader) toolIndex(d *Definition) int {
	k := key{d.Session, d.Name, d.Description, string(d.Schema)}
	i, ok := r.known[k]
	if !ok {
		i = len(r.l.Tools)
		r.known[k] = i
		r.l.Tools = append(r.l.Tools, *d)
		r.l.Session.Tools = append(r.l.Session.Tools, rent.Tool{
			Server: d.Server, Name: d.Name, Description: d.Description, InputSchema: d.Schema,
			WireBytes: len(d.Raw), Deferred: d.Deferred,
		})
	}
	return i
}

// calls notes which tools the answer to a request called.
func (r *reader) calls(request int) {
	line := r.book.Timeline()
	for _, c := range line.Turns[request].Calls {
		i, ok := r.byTool[toolOf(&line.Calls[c])]
		if !ok {
			i = -1
		}
		r.byCall[c] = i
		r.l.Session.Calls = append(r.l.Session.Calls, rent.Call{Tool: i, Turn: request + 1})
	}
}

func toolOf(c *replay.Call) tool { return tool{c.Session, c.Tool} }

// lateCalls sees to calls of tools that were offered only after they were called.
func (r *reader) lateCalls() {
	line, n := r.book.Timeline(), 0
	for t := range line.Turns[:min(len(line.Turns), len(r.l.Session.Turns))] {
		for _, c := range line.Turns[t].Calls {
			if i, ok := r.byTool[toolOf(&line.Calls[c])]; ok && r.byCall[c] < 0 {
				r.byCall[c], r.l.Session.Calls[n].Tool = i, i
			}
			n++
		}
	}
}

// carried reads the texts that stay in the conversation.
func (r *reader) carried() {
	n := len(r.l.Session.Turns)
	seen := map[*claude.Block]bool{}
	for p := range r.book.Request(n - 1).All() {
		b := p.Block
		if seen[b] {
			continue
		}
		seen[b] = true
		c := rent.Carried{Tool: -1, From: min(b.Turn+1, n), Label: b.Name.Sent}
		s := Source{Call: b.Call, Frame: replay.Ref{Frame: -1}, Kind: b.Kind}
		switch b.Kind {
		case claude.ToolUse:
			c.Kind = rent.Arguments
		case claude.ToolResult:
			c.Kind = rent.Result
		case claude.Instructions:
			c.Kind, c.Label = rent.Instructions, b.Name.Server
		default:
			continue
		}
		for _, l := range b.Links() {
			s.Frame = l.Ref
		}
		c.Bytes = r.wireBytes(b, s.Frame)
		if b.Call >= 0 {
			c.Tool = r.byCall[b.Call]
		}
		w := r.meter.Block(b)
		c.Tokens = w.Tokens
		r.images += w.Images
		r.l.Session.Carried = append(r.l.Session.Carried, c)
		r.l.Carried = append(r.l.Carried, s)
	}
}

// wireBytes is how long a text was as it crossed: the frame of an answer, the
// arguments of a call, the instructions.
func (r *reader) wireBytes(b *claude.Block, f replay.Ref) int {
	switch {
	case b.Kind == claude.ToolUse:
		return len(b.Input())
	case b.Kind == claude.Instructions:
		return len(b.Text())
	case f.Frame < 0:
		return 0
	}
	return int(r.book.Timeline().Sessions[f.Session].Frame(f.Frame).Size)
}

func (r *reader) doubts() {
	line := r.book.Timeline()
	if len(line.Turns) == 0 {
		r.doubt("no call crossed, so nobody knows whether the model was asked: one request is reckoned")
	} else if requests(r.book) == len(line.Turns) {
		r.doubt("the last calls have no answer yet: the request that would hold them is not reckoned")
	}
	silent := 0
	for i := range line.Turns[:max(0, requests(r.book)-1)] {
		silent += len(line.Turns[i].Calls) - answered(line, i)
	}
	if silent > 0 {
		r.doubt("%d of the calls had no answer: what the host told the model instead is in no sum", silent)
	}
	if r.images > 0 {
		r.doubt("images and PDF documents are in no sum: how many tokens they take depends on their size in pixels")
	}
	r.doubtCalls()
	r.doubt("what stands around the texts of messages is in no sum here: %s tokens in all requests; request has it", r.framing)
	if r.book.Loading() != claude.LoadUpfront {
		r.doubtSearches()
	}
	for _, i := range r.book.Request(r.book.Turns()).Partial() {
		r.doubt("%s: its newest listing was not read to its end: tools may be missing", line.Sessions[i].Name)
	}
	for i := range line.Sessions {
		if !line.IsProbe(i) && line.List(i, decode.Tools, line.Len()) == nil {
			r.doubt("%s: no complete list of its tools crossed", line.Sessions[i].Name)
		}
	}
}

// doubtCalls tells of calls whose tools no request offered.
func (r *reader) doubtCalls() {
	unlisted, left := 0, 0
	for i, t := range r.byCall {
		switch {
		case t >= 0:
		case r.leftOut[toolOf(&r.book.Timeline().Calls[i])]:
			left++
		default:
			unlisted++
		}
	}
	if unlisted > 0 {
		r.doubt("%s went to tools that were never listed: their definitions are in no sum", english.Plural(unlisted, "call", ""))
	}
	if left > 0 {
		r.doubt("definitions that this host leaves out are in no sum, though %s of such crossed", english.Plural(left, "call", ""))
	}
}

// doubtSearches tells what searching for tools adds that is not reckoned.
func (r *reader) doubtSearches() {
	r.doubt("the host's own search tool is in no sum: its definition is not on this wire; and a search may have loaded more tools than were called")
	found := map[string]bool{}
	for _, t := range r.byCall {
		if t >= 0 && r.l.Tools[t].Deferred {
			found[r.l.Tools[t].Name] = true
		}
	}
	if n := len(found); n > 0 {
		r.doubt("a search is a request of its own, which reads all that came before it, and is in no count: %s had to be found before the call, with one search each or together", english.Plural(n, "tool", ""))
	}
}

func (r *reader) doubt(format string, args ...any) {
	r.l.Doubts = append(r.l.Doubts, fmt.Sprintf(format, args...))
}
