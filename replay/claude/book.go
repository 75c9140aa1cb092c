package claude

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/wire"
)

// Options of a Book. The zero value is a generic host.
type Options struct {
	Profile *Profile // nil: the built-in generic one
	Reason  string   // why this profile, for people
	Model   string   // "": the profiles' default
	// Loading overrides how the profile loads definitions; "": as it says.
	Loading string
	// Tokens estimates the tokens of a text, for limits of hosts; nil: by the
	// number of characters.
	Tokens func(text string) int
}

// A Book holds the requests of one host over a timeline: all blocks in order, from
// which a request is a slice. It is not safe for concurrent use.
type Book struct {
	line    *replay.Timeline
	profile *Profile
	opts    Options
	servers []string // per session, the server's part of names
	said    []saying // per session
	names   map[nameKey]Name

	messages []*Message
	ends     []int // per turn, how many messages its request has; [0] is the opening
	first    []int // per turn, index of its assistant message
	byCall   []place
	loaded   map[string]int   // by a tool's name, the turn that called it first
	strange  map[callKey]bool // calls of tools that no list had
	orphans  []int            // calls of tools that no listing had when they were called, in order

	last   *Content // of lastOf: a long answer is asked for several times in a row
	lastOf *Block

	offers  map[string]*offer
	moments []replay.Moment // by request, when it is sent
}

// callKey names a call of a session.
type callKey struct{ session, index int }

type nameKey struct {
	session int
	tool    string
}

// place is where the two blocks of a call stand.
type place struct{ use, useBlock, result, resultBlock int }

// A Message is one message of a request.
type Message struct {
	Role   string // user or assistant
	Turn   int    // that it belongs to; 0 for the opening
	Blocks []*Block
}

// NewBook indexes a timeline. It reads no bodies but those with instructions. When
// the timeline is refreshed, a new book has to be made.
func NewBook(t *replay.Timeline, o Options) *Book {
	if o.Profile == nil {
		o.Profile, _ = Builtin().Get(Generic)
	}
	b := &Book{line: t, profile: o.Profile, opts: o, names: map[nameKey]Name{}, loaded: map[string]int{}, offers: map[string]*offer{}}
	names := make([]string, len(t.Sessions))
	for i, s := range t.Sessions {
		names[i] = s.Name
	}
	b.servers = b.profile.serverParts(names)
	b.strange = map[callKey]bool{}
	for i := range t.Sessions {
		for _, u := range t.Catalogue(i).Unlisted() {
			if !u.Partial {
				b.strange[callKey{i, u.Call}] = true
			}
		}
	}
	for i := range t.Sessions {
		b.said = append(b.said, b.listen(i))
	}
	b.write()
	return b
}

// Timeline gives what the book was made of.
func (b *Book) Timeline() *replay.Timeline { return b.line }

// Profile gives the host's profile, and why it was chosen.
func (b *Book) Profile() (p *Profile, reason string) { return b.profile, b.opts.Reason }

// Model is what the requests name as their model: a placeholder, since the wire
// does not tell.
func (b *Book) Model() string {
	if b.opts.Model != "" {
		return b.opts.Model
	}
	return b.profile.defaults.Model
}

// Loading is how definitions are loaded.
func (b *Book) Loading() string {
	if b.opts.Loading != "" {
		return b.opts.Loading
	}
	return b.profile.Loading
}

// Turns is how many turns there are, and so the number of the last request.
func (b *Book) Turns() int { return len(b.line.Turns) }

func (b *Book) tokens(text string) int {
	if b.opts.Tokens != nil {
		return b.opts.Tokens(text)
	}
	return int(float64(utf8.RuneCountInString(text)) / b.profile.defaults.CharsPerToken)
}

// name composes the name of a tool, once.
func (b *Book) name(session int, tool string) Name {
	k := nameKey{session, tool}
	n, ok := b.names[k]
	if !ok {
		n = b.profile.compose(b.servers[session], tool)
		b.names[k] = n
	}
	return n
}

// block makes a block that comes from no session.
func (b *Book) block(kind Kind, turn int, placeholder string) *Block {
	return &Block{Kind: kind, Turn: turn, Call: -1, Session: -1, Placeholder: placeholder, text: mark(placeholder), Loaded: -1, book: b}
}

// write lays out all messages.
func (b *Book) write() {
	opening := &Message{Role: "user", Blocks: []*Block{b.block(UserText, 0, "what the user wrote")}}
	b.messages = append(b.messages, opening)
	b.ends = append(b.ends, 1)
	b.first = append(b.first, 0)
	b.byCall = make([]place, len(b.line.Calls))
	for i := range b.line.Turns {
		b.writeTurn(i + 1)
	}
	b.attach()
	b.orphans = b.unlisted()
	b.noteLeftOut()
}

// noteLeftOut tells of calls whose tool the host leaves out: the model can't have
// called it by that name.
func (b *Book) noteLeftOut() {
	if b.profile.Shape == shapeConnector {
		return
	}
	for turn := range b.line.Turns {
		o := b.offerAt(b.momentOf(turn), turn)
		if len(o.out) == 0 {
			continue
		}
		why := map[nameKey]string{}
		for _, t := range o.out {
			why[nameKey{t.Session, t.Name.Tool}] = t.Notes[len(t.Notes)-1].Words
		}
		for _, t := range o.tools { // listed twice: one of them is there
			delete(why, nameKey{t.Session, t.Name.Tool})
		}
		for _, c := range b.line.Turns[turn].Calls {
			call := &b.line.Calls[c]
			if words := why[nameKey{call.Session, call.Tool}]; words != "" {
				use := b.messages[b.byCall[c].use].Blocks[b.byCall[c].useBlock]
				use.Notes = append(use.Notes, Note{NoteLeftOut, "this host would not have offered the tool: " + words})
			}
		}
	}
}

func (b *Book) writeTurn(turn int) {
	t := &b.line.Turns[turn-1]
	if t.Request {
		b.messages = append(b.messages,
			&Message{"assistant", turn, []*Block{b.block(AssistantText, turn, "what the assistant answered before the user's next request")}},
			&Message{"user", turn, []*Block{b.block(UserText, turn, "what the user wrote next")}})
	}
	if b.profile.Shape == shapeConnector && turn > 1 && !t.Request {
		b.messages = append(b.messages, &Message{"user", turn, []*Block{b.block(UserText, turn, wroteNext)}})
	}
	b.search(turn, t.Calls)
	b.first = append(b.first, len(b.messages))
	use := &Message{Role: "assistant", Turn: turn, Blocks: []*Block{b.block(AssistantText, turn, "what the assistant wrote before its calls, if anything")}}
	result := &Message{Role: "user", Turn: turn}
	b.messages = append(b.messages, use)
	connector := b.profile.Shape == shapeConnector
	for _, c := range t.Calls {
		u, r := b.pair(c, turn)
		use.Blocks = append(use.Blocks, u)
		at := place{use: len(b.messages) - 1, useBlock: len(use.Blocks) - 1, result: len(b.messages), resultBlock: len(result.Blocks)}
		if connector {
			use.Blocks = append(use.Blocks, r)
			at.result, at.resultBlock = at.use, len(use.Blocks)-1
		} else {
			result.Blocks = append(result.Blocks, r)
		}
		b.byCall[c] = at
	}
	if !connector {
		b.messages = append(b.messages, result)
	}
	b.ends = append(b.ends, len(b.messages))
}

// search stands for the host's search for tools of a turn that it has not loaded
// before: a request of its own, whose words are not on this wire.
func (b *Book) search(turn int, calls []int) {
	var found []string
	for _, c := range calls {
		name := b.NameOf(c).Sent
		if _, ok := b.loaded[name]; !ok && b.deferredCall(c) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return
	}
	use := b.block(SearchUse, turn, "the host's search for tools that it has not loaded")
	use.Name = b.searchTool().Name
	use.toolUse = "toolu_not_on_this_wire_search_" + itoa(turn)
	result := b.block(SearchResult, turn, "the tool_reference blocks of what the search found, for which the API reads the definitions; by the calls that follow, also those of "+strings.Join(found, ", "))
	result.Name, result.toolUse = use.Name, use.toolUse
	b.messages = append(b.messages, &Message{"assistant", turn, []*Block{use}}, &Message{"user", turn, []*Block{result}})
}

// wroteNext is what stands between two replies of which the API's own client made the
// calls.
const wroteNext = "what the user wrote next, or nothing while the API goes on by itself"

// deferredCall reports that a call is of a tool that this host has to search for.
func (b *Book) deferredCall(call int) bool {
	c := &b.line.Calls[call]
	it, ok := b.line.Catalogue(c.Session).Find(decode.Tools, c.Tool, c.Request.Frame)
	return ok && b.Loading() != LoadUpfront && b.profile.Shape != shapeConnector && b.defers(wire.Root(it.Definition))
}

// pair makes the two blocks of a call.
func (b *Book) pair(call, turn int) (use, result *Block) {
	c := &b.line.Calls[call]
	name := b.name(c.Session, c.Tool)
	if _, ok := b.loaded[name.Sent]; !ok {
		b.loaded[name.Sent] = turn
	}
	base := Block{Turn: turn, Call: call, Session: c.Session, Name: name, Loaded: -1, book: b, toolUse: b.id(call)}
	u, r := base, base
	u.Kind, r.Kind = ToolUse, ToolResult
	if !validID(c.ID) {
		u.Placeholder = "the id of the tool use"
	}
	if b.strange[callKey{c.Session, c.Index}] {
		u.Notes = append(u.Notes, Note{NoteUnlisted, "no listing had this tool when it was called: the model can't have been offered it"})
	}
	if c.Tool == "" {
		u.Notes = append(u.Notes, Note{NoteStandIn, "the call names no tool: " + Shown(name.Sent) + " stands for it"})
	}
	if c.OddInput != "" {
		u.Notes = append(u.Notes, Note{NoteStandIn, "its arguments are " + c.OddInput + ", and the API takes an object only: {} stands for them"})
	}
	if c.Doubt != "" {
		u.Notes = append(u.Notes, Note{NoteMaybe, c.Doubt})
	}
	if !c.Answer.There() {
		r.pending = b.unanswered(call)
		r.Placeholder = r.pending
	} else {
		r.Notes = b.resultNotes(call)
	}
	return &u, &r
}

// resultNotes are what can be told of a result without reading it.
func (b *Book) resultNotes(call int) (out []Note) {
	c := &b.line.Calls[call]
	if h := c.Answer.Hidden; h != nil && c.Answer.Outcome == decode.HiddenError {
		out = append(out, Note{NoteHiddenError, "reads as success to the model; " + h.Reason})
	}
	if limit := b.profile.BackgroundAfter; limit > 0 && (c.Answer.End-c.Start).Milliseconds() > int64(limit) {
		out = append(out, Note{NoteBackground, "it ran longer than this host waits: the model got a task id first, and this text in a later message"})
	}
	return out
}

var idPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func validID(id string) bool { return idPattern.MatchString(id) }

// id is the host's own id of a tool use where the wire tells it, else a visible
// stand-in that the API would take.
func (b *Book) id(call int) string {
	if id := b.line.Calls[call].ID; validID(id) {
		return id
	}
	if b.profile.Shape == shapeConnector {
		return "mcptoolu_not_on_this_wire_" + itoa(call+1)
	}
	return "toolu_not_on_this_wire_" + itoa(call+1)
}

// unlisted finds the first calls of tools where no listing had any tool by then
// that could be sent: the API wants tools to be defined where tools are used.
func (b *Book) unlisted() (out []int) {
	known := map[nameKey]bool{}
	usable := map[*decode.List]bool{}
	for i := range b.line.Calls {
		c := &b.line.Calls[i]
		k := nameKey{c.Session, c.Tool}
		if known[k] {
			continue
		}
		known[k] = true
		l := b.line.List(c.Session, decode.Tools, b.line.After(c.Request))
		if _, looked := usable[l]; !looked {
			usable[l] = l != nil && slices.ContainsFunc(l.Items, func(it decode.Item) bool {
				return schemaRefused(wire.Root(it.Definition).Get("inputSchema")) == ""
			})
		}
		if !usable[l] {
			out = append(out, i)
		}
	}
	return out
}

// A saying is what a server said of itself for the model.
type saying struct {
	text  string
	link  Link
	there bool
}

// listen finds the instructions of a session's server: in the answer to
// initialize, or to the probe, which may have gone to a process of its own.
func (b *Book) listen(session int) saying {
	for _, s := range []int{session, b.line.ProbeOf(session)} {
		if s < 0 {
			continue
		}
		e := b.line.Sessions[s].Eras()
		for _, call := range []int{e.InitCall, e.ProbeCall} {
			if said := b.listenTo(s, call); said.there {
				return said
			}
		}
	}
	return saying{}
}

func (b *Book) listenTo(session, call int) saying {
	if call < 0 {
		return saying{}
	}
	s := b.line.Sessions[session]
	c := s.Call(call)
	if c.Outcome != decode.OK || c.Response < 0 {
		return saying{}
	}
	text := wire.Message(s.Body(c.Response), string(c.ID), true).At("result", "instructions")
	return saying{text.Text(), b.link(session, c.Response, text.Path), strings.TrimSpace(text.Text()) != ""}
}

// instructions makes the block of a server's instructions. first: the heading
// stands before it.
func (b *Book) instructions(session int, first bool) *Block {
	rule := &b.profile.Instructions
	said := &b.said[session]
	if !said.there || rule.Lane == laneNone {
		return nil
	}
	block := b.block(Instructions, 0, "")
	block.Session, block.link = session, said.link
	block.Name.Server = b.line.Sessions[session].Name
	words := said.text
	if short := cut(words, rule.Max); short != words {
		block.cutTexts = []Cut{{Link: said.link, Limit: rule.Max, Unit: "characters", Size: utf8.RuneCountInString(words), Lost: words[len(short):]}}
		block.Notes = append(block.Notes, Note{NoteCut, "the instructions are longer than this host sends"})
		words = short + b.profile.CutMark
	}
	each := rule.Each
	if each == "" {
		each = "{text}"
	}
	block.text = fill(each, "{server}", block.Name.Server, "{text}", words)
	if first && rule.Heading != "" {
		block.text = rule.Heading + "\n\n" + block.text
	}
	if rule.Note != "" {
		block.Notes = append(block.Notes, Note{NoteGuess, rule.Note})
	}
	return block
}

// attach puts instructions into the messages, where the host has them there: each
// with the first request after its server was opened.
func (b *Book) attach() {
	if b.profile.Instructions.Lane != laneAttachment || b.profile.Shape == shapeConnector {
		return
	}
	count := 0
	for i := range b.line.Sessions {
		block := b.instructions(i, count == 0)
		if block == nil || b.line.IsProbe(i) {
			continue
		}
		count++
		at := b.firstAfter(block.link.Ref)
		if at < 0 {
			continue
		}
		block.Turn = at
		m := b.messages[b.ends[at]-1]
		if at == 0 {
			m.Blocks = append([]*Block{block}, m.Blocks...)
			continue
		}
		m.Blocks = append(m.Blocks, block)
	}
}
