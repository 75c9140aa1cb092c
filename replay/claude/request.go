package claude

import (
	"bytes"
	"iter"
	"slices"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
)

// Section is a part of a request.
type Section string

// The sections, in the order in which the model reads them.
const (
	Tools    Section = "tools"
	System   Section = "system"
	Messages Section = "messages"
)

// A Request is what a host sends to the model at one moment.
type Request struct {
	// Turn is the last turn that it has the calls and results of.
	Turn   int
	Moment replay.Moment
	// Pending are calls that had no answer by that moment, as indexes in
	// Timeline.Calls: the host would wait for them.
	Pending  []int
	Tools    []*Block
	System   []*Block
	Messages []*Message
	// LeftOut are definitions that the model does not get; their notes say why.
	LeftOut []*Block

	book  *Book
	offer *offer
}

// Request gives the request after a turn, 0 for the one before the first; a turn
// beyond the last gives the last.
func (b *Book) Request(turn int) *Request {
	turn = min(max(turn, 0), b.Turns())
	return b.assemble(turn, b.momentOf(turn), b.messages[:b.ends[turn]:b.ends[turn]])
}

// momentOf is when the request after a turn is sent: its answers are there, and all
// tools that the next turn calls have been listed.
func (b *Book) momentOf(turn int) replay.Moment {
	if b.moments == nil {
		b.moments = make([]replay.Moment, b.Turns()+1)
		for i := range b.moments {
			b.moments[i] = b.sent(i)
		}
	}
	return b.moments[turn]
}

func (b *Book) sent(turn int) replay.Moment {
	switch {
	case b.Turns() == 0:
		return b.line.Len()
	case turn == 0:
		return b.line.Turns[0].Before
	case turn == b.Turns():
		return b.line.Turns[turn-1].After
	}
	after, next := b.line.Turns[turn-1].After, &b.line.Turns[turn]
	if next.Before > after && slices.ContainsFunc(next.Calls, func(c int) bool { return b.listedBetween(c, after, next.Before) }) {
		return next.Before
	}
	return after
}

// listedBetween reports that the tool of a call was listed after one moment and before
// another.
func (b *Book) listedBetween(call int, after, before replay.Moment) bool {
	c := &b.line.Calls[call]
	old, now := b.line.List(c.Session, decode.Tools, after), b.line.List(c.Session, decode.Tools, before)
	return firstItem(old) != firstItem(now) && !lists(old, c.Tool) && lists(now, c.Tool)
}

func lists(l *decode.List, tool string) bool {
	return l != nil && slices.ContainsFunc(l.Items, func(it decode.Item) bool { return it.Name == tool })
}

// Partial are the sessions whose newest listing was not read to its end when the
// request was sent, as indexes in the timeline: tools may be missing.
func (r *Request) Partial() (out []int) {
	line := r.book.line
	for i := range line.Sessions {
		if l := line.List(i, decode.Tools, r.Moment); l != nil && !l.Complete && !line.IsProbe(i) && !line.Over(i, r.Moment) {
			out = append(out, i)
		}
	}
	return out
}

// Ended are the sessions that had ended when the request was sent, as indexes in the
// timeline: what they listed is in it no more, what they answered is.
func (r *Request) Ended() (out []int) {
	line := r.book.line
	for i := range line.Sessions {
		if !line.IsProbe(i) && line.Over(i, r.Moment) && line.List(i, decode.Tools, r.Moment) != nil {
			out = append(out, i)
		}
	}
	return out
}

func (b *Book) assemble(turn int, m replay.Moment, messages []*Message) *Request {
	o := b.offerAt(m, turn)
	r := &Request{Turn: turn, Moment: m, Tools: o.tools, System: o.system, LeftOut: o.out, Messages: messages, book: b, offer: o}
	if b.profile.Shape == shapeConnector && turn > 0 {
		next := &Message{Role: "user", Turn: turn, Blocks: []*Block{b.block(UserText, turn, wroteNext)}}
		r.Messages = append(r.Messages, next)
	}
	return r
}

// RequestAt gives the request as it stood at a moment: the calls of the turn that is
// going on which had been sent, with the answers that had come.
func (b *Book) RequestAt(m replay.Moment) *Request {
	s := b.line.At(m)
	if s.Turn == 0 || b.line.Turns[s.Turn-1].After <= m {
		if s.Turn == 0 && m < b.momentOf(0) {
			return b.assemble(0, m, b.messages[:1:1])
		}
		r := b.Request(s.Turn)
		if o := b.offerAt(m, s.Turn); o != r.offer {
			return b.assemble(s.Turn, m, r.Messages[:b.ends[s.Turn]:b.ends[s.Turn]])
		}
		return r
	}
	messages := slices.Clone(b.messages[:b.ends[s.Turn]])
	pending := b.soFar(messages, s.Turn, s.Calls, m)
	r := b.assemble(s.Turn, m, messages)
	r.Pending = pending
	return r
}

// soFar replaces the messages of a turn that is going on by what there was of them.
func (b *Book) soFar(messages []*Message, turn, calls int, m replay.Moment) (pending []int) {
	for i := b.first[turn]; i < len(messages); i++ {
		c := *messages[i]
		c.Blocks = nil
		for _, block := range messages[i].Blocks {
			switch {
			case block.Call >= calls, block.Kind == Instructions && b.line.After(block.link.Ref) > m:
				continue
			case block.Kind == ToolResult && !b.line.Answered(block.Call, m):
				pending = append(pending, block.Call)
				block = block.waiting()
			}
			c.Blocks = append(c.Blocks, block)
		}
		messages[i] = &c
	}
	return pending
}

// waiting is a result that has not come yet.
func (b *Block) waiting() *Block {
	c := *b
	c.pending = "no answer by this moment: the host waits for it"
	c.Placeholder, c.Notes = c.pending, nil
	return &c
}

// Placed is a block and where it stands in a request.
type Placed struct {
	*Block
	Section Section
	Path    string // JSON pointer into the request
	Role    string // of a message's block
	New     bool   // the request before did not have it
}

// All gives all blocks of a request in the order in which the model reads them.
func (r *Request) All() iter.Seq[Placed] {
	return func(yield func(Placed) bool) {
		for p := range r.above(r.before()) {
			if !yield(p) {
				return
			}
		}
		r.inMessages(0, yield)
	}
}

// above gives the blocks that stand above the messages.
func (r *Request) above(before *offer) iter.Seq[Placed] {
	return func(yield func(Placed) bool) {
		for i, t := range r.Tools {
			if !yield(Placed{t, Tools, "/tools/" + itoa(i), "", r.newTool(t, before)}) {
				return
			}
		}
		for i, t := range r.System {
			if !yield(Placed{t, System, "/system/" + itoa(i), "", newText(t, before)}) {
				return
			}
		}
	}
}

// firstNew is the first message that the request before did not have.
func (r *Request) firstNew() int {
	if r.Turn == 0 {
		return 0
	}
	return min(r.book.ends[r.Turn-1], len(r.Messages))
}

func (r *Request) inMessages(from int, yield func(Placed) bool) {
	for i := from; i < len(r.Messages); i++ {
		m := r.Messages[i]
		for k, t := range m.Blocks {
			if !yield(Placed{t, Messages, "/messages/" + itoa(i) + "/content/" + itoa(k), m.Role, r.IsNew(t)}) {
				return
			}
		}
	}
}

// before is the offer of the request before; nil if there is none.
func (r *Request) before() *offer {
	if r.Turn == 0 {
		return nil
	}
	return r.book.offerAt(r.book.momentOf(r.Turn-1), r.Turn-1)
}

// IsNew reports whether the request before did not have this block. Of tools and
// system texts it compares what is sent.
func (r *Request) IsNew(t *Block) bool {
	switch t.Kind {
	case Tool, Toolset:
		return r.newTool(t, r.before())
	case SystemPrompt, DeferredNames:
		return newText(t, r.before())
	case Instructions:
		if r.book.profile.Instructions.Lane != laneAttachment {
			return newText(t, r.before())
		}
	}
	return t.Turn == r.Turn
}

func (r *Request) newTool(t *Block, before *offer) bool {
	switch {
	case before == nil:
		return true
	case t.Deferred && t.Loaded == r.Turn: // its definition is
		return true
	case before == r.offer:
		return false
	}
	old := before.byName[t.Name.Sent]
	return old == nil || !bytes.Equal(old.JSON(), t.JSON())
}

func newText(t *Block, before *offer) bool {
	if before == nil {
		return true
	}
	return !slices.ContainsFunc(before.system, func(o *Block) bool { return o == t || o.Kind == t.Kind && o.text == t.text })
}

// Changes is what a request has that the one before had not, and the reverse.
type Changes struct {
	New    []Placed
	Gone   []*Block // tools and system texts
	Resent int      // blocks
	// Reordered says that the tools are the same in another order: to a cache
	// that is another prefix.
	Reordered bool
}

// Changes compares a request with the one before.
func (r *Request) Changes() Changes {
	var c Changes
	before := r.before()
	take := func(p Placed) bool {
		if p.New {
			c.New = append(c.New, p)
		}
		return true
	}
	blocks := len(r.Tools) + len(r.System)
	r.above(before)(take)
	r.inMessages(r.firstNew(), take)
	for _, m := range r.Messages {
		blocks += len(m.Blocks)
	}
	c.Resent = blocks - len(c.New)
	if before == nil || before == r.offer {
		return c
	}
	for _, t := range before.tools {
		if r.offer.byName[t.Name.Sent] == nil {
			c.Gone = append(c.Gone, t)
		}
	}
	now := &offer{system: r.System}
	for _, t := range before.system {
		if newText(t, now) {
			c.Gone = append(c.Gone, t)
		}
	}
	c.Reordered = reordered(before.tools, r.Tools)
	return c
}

// reordered reports whether tools that both have stand in another order.
func reordered(a, b []*Block) bool {
	at := map[string]int{}
	for i, t := range a {
		at[t.Name.Sent] = i
	}
	last := -1
	for _, t := range b {
		i, ok := at[t.Name.Sent]
		if ok && i < last {
			return true
		}
		if ok {
			last = i
		}
	}
	return false
}

// Find gives the blocks of a request that come from a frame.
func (r *Request) Find(f replay.Ref) (out []Placed) {
	before := r.before()
	for i, t := range r.Tools {
		if t.link.N != 0 && t.link.Ref == f {
			out = append(out, Placed{t, Tools, "/tools/" + itoa(i), "", r.newTool(t, before)})
		}
	}
	for i, t := range r.System {
		if t.link.N != 0 && t.link.Ref == f {
			out = append(out, Placed{t, System, "/system/" + itoa(i), "", newText(t, before)})
		}
	}
	return append(out, r.findInMessages(f)...)
}

// findInMessages looks at the messages that a frame's call has, and at attached
// instructions.
func (r *Request) findInMessages(f replay.Ref) (out []Placed) {
	b := r.book
	for i, m := range r.Messages {
		for k, t := range m.Blocks {
			if t.Kind == Instructions && t.link.Ref == f {
				out = append(out, Placed{t, Messages, "/messages/" + itoa(i) + "/content/" + itoa(k), m.Role, r.IsNew(t)})
			}
		}
		if t := m.Turn; t > 0 && b.profile.Instructions.Lane != laneAttachment {
			break // only the opening is left to look at
		}
	}
	for _, call := range b.callsOf(f) {
		at := b.byCall[call]
		c := &b.line.Calls[call]
		if f == c.Request {
			out = r.take(out, at.use, ToolUse, call)
		}
		if c.Answer.There() && f == c.Ref() {
			out = r.take(out, at.result, ToolResult, call)
		}
	}
	return out
}

func (r *Request) take(out []Placed, message int, kind Kind, call int) []Placed {
	if message >= len(r.Messages) {
		return out
	}
	m := r.Messages[message]
	for k, t := range m.Blocks {
		if t.Kind == kind && t.Call == call {
			out = append(out, Placed{t, Messages, "/messages/" + itoa(message) + "/content/" + itoa(k), m.Role, r.IsNew(t)})
		}
	}
	return out
}

// callsOf gives the model's calls that a frame belongs to.
func (b *Book) callsOf(f replay.Ref) (out []int) {
	s := b.line.Sessions[f.Session]
	frame := s.Frame(f.Frame)
	calls := []int{frame.Call}
	for _, m := range frame.Batch {
		calls = append(calls, m.Call)
	}
	for _, c := range calls {
		if c < 0 {
			continue
		}
		if i := b.line.CallOf(f.Session, c); i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// A Placeholder is a part of a request that is not on this wire.
type Placeholder struct {
	Path string `json:"path"` // JSON pointer into the request
	What string `json:"what"`
}

// Placeholders gives all that this wire does not tell. It reads every result.
func (r *Request) Placeholders() []Placeholder {
	out := []Placeholder{{"/model", "the model"}, {"/max_tokens", "the limit of the answer"}}
	if r.book.profile.Shape == shapeConnector {
		for i := range r.Tools {
			out = append(out, Placeholder{"/mcp_servers/" + itoa(i) + "/url", "the address by which the API reaches the server"})
		}
	}
	for p := range r.All() {
		switch {
		case p.Kind == ToolResult:
			out = append(out, p.Content().gaps(p.Path)...)
		case p.Kind == ToolUse && p.Placeholder != "":
			out = append(out, Placeholder{p.Path + "/id", p.Placeholder})
		case p.Placeholder != "":
			out = append(out, Placeholder{p.Path, p.Placeholder})
		}
	}
	return out
}

func (c *Content) gaps(path string) (out []Placeholder) {
	if c.Placeholder != "" {
		return []Placeholder{{path + "/content", c.Placeholder}}
	}
	for i := range c.Parts {
		if what := c.Parts[i].Placeholder; what != "" {
			at := path + "/content"
			if !c.Joined {
				at += "/" + itoa(i)
			}
			out = append(out, Placeholder{at, what})
		}
	}
	return out
}

// JSON gives the body of the request: one JSON text, in which everything that a
// server said has the bytes it was sent with. It reads every body it needs.
func (r *Request) JSON() []byte {
	b := r.book
	w := object().str("model", b.Model()).raw("max_tokens", []byte(itoa(b.profile.defaults.MaxTokens)))
	if b.profile.Shape == shapeConnector {
		w.raw("mcp_servers", r.servers())
	}
	if len(r.Tools) > 0 {
		w.raw("tools", blocksJSON(r.Tools))
	}
	w.raw("system", blocksJSON(r.System))
	messages := array()
	for _, m := range r.Messages {
		messages.add(object().str("role", m.Role).raw("content", blocksJSON(m.Blocks)).end())
	}
	return w.raw("messages", messages.end()).end()
}

func blocksJSON(blocks []*Block) []byte {
	w := array()
	for _, t := range blocks {
		w.add(t.JSON())
	}
	return w.end()
}

// servers names the servers of a connector; a tap does not know their addresses.
func (r *Request) servers() []byte {
	w := array()
	for _, t := range r.Tools {
		w.add(object().str("type", "url").str("url", "https://not-on-this-wire.invalid/mcp").str("name", t.Name.Server).end())
	}
	return w.end()
}
