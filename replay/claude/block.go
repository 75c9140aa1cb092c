package claude

import (
	"strconv"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/wire"
)

// Kind is what a block of a request is.
type Kind string

// The kinds of blocks.
const (
	Tool          Kind = "tool"
	Toolset       Kind = "toolset" // all tools of a server, by reference
	SystemPrompt  Kind = "system prompt"
	Instructions  Kind = "instructions"
	DeferredNames Kind = "deferred names"
	UserText      Kind = "user text"
	AssistantText Kind = "assistant text"
	ToolUse       Kind = "tool use"
	ToolResult    Kind = "tool result"
	SearchUse     Kind = "tool search" // the host's own, for what it has not loaded
	SearchResult  Kind = "tool search result"
)

// A Link leads from a block to where it comes from.
type Link struct {
	replay.Ref
	N    uint64 // the frame's number in its journal
	Path string // JSON pointer (RFC 6901) into the frame
}

// A Block is a piece of a request: a tool, a text, a call, a result. It is shared
// by all requests that have it. Its bytes are read when they are asked for.
type Block struct {
	Kind Kind
	// Turn is the turn that brought it; 0 if it was there from the start.
	Turn int
	// Call is the index in Timeline.Calls of a tool use or result; -1 of others.
	Call int
	// Session is the session it comes from; -1 if it comes from none.
	Session int
	// Name is what the model calls a tool; empty of texts.
	Name Name
	// Placeholder says what of it is not on this wire; empty if all is. For a
	// tool result see also Content.
	Placeholder string
	// Notes are what to know about it.
	Notes []Note
	// Deferred says that the model has this definition only from turn Loaded on
	// (-1: not yet): it was called then, and so must have been found before.
	Deferred bool
	Loaded   int

	book     *Book
	toolUse  string // id
	pending  string // of a result: why there is none, at this moment
	text     string // of texts
	link     Link   // of tools and instructions
	def      []byte // of tools
	mended   []byte // of tools: what a host makes of the definition; nil if it leaves it alone
	cutTexts []Cut
}

// A Note is something to know about a block.
type Note struct {
	Kind  NoteKind
	Words string // for people; may hold text from the outside
}

// NoteKind is what a note is about.
type NoteKind string

// The kinds of notes.
const (
	NoteCut         NoteKind = "cut"               // a text is longer than the host sends
	NoteRenamed     NoteKind = "renamed"           // a name was cut, or changed to be allowed
	NoteLeftOut     NoteKind = "left out"          // the model does not get it
	NoteHiddenError NoteKind = "hidden error"      // reads as success, the payload says failure
	NoteLostError   NoteKind = "lost error"        // an error that reads as none, or says nothing
	NoteStructured  NoteKind = "structured"        // content and structuredContent: which the host drops
	NoteUserOnly    NoteKind = "user only"         // the server meant it for the user, the model reads it
	NoteMaybe       NoteKind = "maybe not model"   // it may not be the model's
	NoteGuess       NoteKind = "guess"             // the host's own way is not known here
	NoteBackground  NoteKind = "background"        // the host hands it in later
	NoteUnlisted    NoteKind = "not listed"        // no listing had this tool
	NoteEmpty       NoteKind = "empty"             // an empty text, which the API does not take
	NoteAltered     NoteKind = "altered"           // the host changes it in a way that is not known in full
	NoteDeferred    NoteKind = "deferred"          // the model has its name only, or not even that
	NoteNotAtHand   NoteKind = "bytes not at hand" // the recording does not hold them
	NoteStandIn     NoteKind = "stand-in"          // what is on the wire can't stand in a request
)

// A Cut is a text that the host shortens or replaces.
type Cut struct {
	Link  Link
	Limit int    // that it is over
	Unit  string // characters, or tokens
	// Estimated says that the size was estimated, and so whether it is cut at all.
	Estimated bool
	Size      int    // in Unit
	Lost      string // what the model does not read; text from the outside
}

// Links gives where a block comes from; nil of what is not on this wire. A tool
// result's parts have links of their own.
func (b *Block) Links() []Link {
	switch b.Kind {
	case ToolUse:
		return []Link{b.book.link(b.Session, b.book.line.Calls[b.Call].Request.Frame, b.book.argumentsPath(b.Call))}
	case ToolResult:
		c := &b.book.line.Calls[b.Call]
		if b.pending != "" || !c.Answer.There() {
			return nil
		}
		return []Link{b.book.link(b.Session, c.Answer.Frame, c.Answer.Path)}
	case Tool, Toolset, Instructions, DeferredNames:
		if b.link.N == 0 {
			return nil
		}
		return []Link{b.link}
	}
	return nil
}

// Cuts gives what the host cuts off a tool's description or a server's
// instructions. For results see Content.
func (b *Block) Cuts() []Cut { return b.cutTexts }

// ID is the tool-use id of a call or a result.
func (b *Block) ID() string { return b.toolUse }

// Exact reports whether all of a block is known: then its length is that of what the
// host sends, if the profile is right. Of a tool result it reads the answer.
func (b *Block) Exact() bool {
	switch {
	case b.Placeholder != "":
		return false
	case b.Kind == ToolUse || b.Kind == ToolResult:
		return validID(b.book.line.Calls[b.Call].ID) && (b.Kind == ToolUse || len(b.Content().gaps("")) == 0)
	}
	return true
}

// Text gives what a text block says; "" of other kinds.
func (b *Block) Text() string { return b.text }

// JSON gives the block as it stands in the request.
func (b *Block) JSON() []byte { return mendSurrogates(b.json()) }

func (b *Block) json() []byte {
	switch b.Kind {
	case Tool:
		return b.toolJSON()
	case Toolset:
		return object().str("type", "mcp_toolset").str("mcp_server_name", b.Name.Server).end()
	case ToolUse:
		return b.useJSON()
	case ToolResult:
		return b.Content().JSON()
	case SearchUse:
		return object().str("type", "tool_use").str("id", b.toolUse).str("name", b.Name.Sent).raw("input", []byte("{}")).end()
	case SearchResult:
		return object().str("type", "tool_result").str("tool_use_id", b.toolUse).str("content", b.text).end()
	}
	return textBlock(b.text)
}

// Definition gives a tool's definition as the server sent it; nil of other blocks.
func (b *Block) Definition() []byte { return b.def }

func (b *Block) toolJSON() []byte {
	w := object().str("name", b.Name.Sent)
	if b.def == nil {
		return w.str("description", b.text).raw("input_schema", []byte(`{"type":"object"}`)).end()
	}
	d := wire.Root(b.def)
	if b.mended != nil {
		d = wire.Root(b.mended)
	}
	switch text := d.Get("description"); {
	case len(b.cutTexts) > 0:
		w.str("description", b.text)
	case text.Text() != "":
		w.raw("description", []byte(text.Raw))
	}
	w.raw("input_schema", []byte(d.Get("inputSchema").Raw))
	if b.Deferred {
		w.raw("defer_loading", []byte("true"))
	}
	return w.end()
}

// Input gives the arguments of a tool use, as they were sent.
func (b *Block) Input() []byte {
	if b.Kind != ToolUse {
		return nil
	}
	args := b.book.arguments(b.Call)
	if !args.IsObject() {
		return []byte("{}")
	}
	return []byte(args.Raw)
}

func (b *Block) useJSON() []byte {
	if b.book.profile.Shape == shapeConnector {
		return object().str("type", "mcp_tool_use").str("id", b.toolUse).str("name", b.Name.Tool).
			str("server_name", b.Name.Server).raw("input", b.Input()).end()
	}
	return object().str("type", "tool_use").str("id", b.toolUse).str("name", b.Name.Sent).raw("input", b.Input()).end()
}

// arguments reads the arguments of a call.
func (b *Book) arguments(call int) wire.Value { return b.params(call).Get("arguments") }

func (b *Book) params(call int) wire.Value {
	c := &b.line.Calls[call]
	s := b.line.Sessions[c.Session]
	return wire.Message(s.Body(c.Request.Frame), string(s.Call(c.Index).ID), false).Get("params")
}

// argumentsPath is where the arguments stand in the request's frame. Only a batch
// has to be read for it.
func (b *Book) argumentsPath(call int) string {
	c := &b.line.Calls[call]
	if b.line.Sessions[c.Session].Call(c.Index).Batch {
		return b.arguments(call).Path
	}
	return "/params/arguments"
}

func (b *Book) link(session, frame int, path string) Link {
	r := replay.Ref{Session: session, Frame: frame}
	return Link{r, b.line.Number(r), path}
}

func itoa(n int) string { return strconv.Itoa(n) }
