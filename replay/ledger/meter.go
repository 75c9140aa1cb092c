package ledger

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/tokens"
)

// A Meter estimates the blocks of requests, each once. It is not safe for concurrent
// use.
type Meter struct {
	e     *tokens.Estimator
	known map[*claude.Block]Weight
}

// NewMeter gives a meter for one book.
func NewMeter(e *tokens.Estimator) *Meter {
	return &Meter{e: e, known: map[*claude.Block]Weight{}}
}

// Estimator gives what it estimates with.
func (m *Meter) Estimator() *tokens.Estimator { return m.e }

// A Weight is what is known of a block's tokens.
type Weight struct {
	Tokens tokens.Count
	// Images is how many images, and documents in binary form, are not in Tokens.
	Images int
	// AtLeast reports that something of the block is not on this wire.
	AtLeast bool
}

// Block estimates a block as it stands in a request, whole: of a tool also where its
// host defers it (see Held).
func (m *Meter) Block(b *claude.Block) Weight {
	w, ok := m.known[b]
	if !ok {
		w = m.weigh(b)
		m.known[b] = w
	}
	return w
}

func (m *Meter) weigh(b *claude.Block) Weight {
	w := Weight{AtLeast: b.Placeholder != ""}
	switch b.Kind {
	case claude.Tool:
		if b.Definition() != nil {
			t := plain(b)
			w.Tokens = m.e.Tool(&t).Sum
		}
	case claude.Toolset:
		w.AtLeast = true
	case claude.Instructions:
		w.Tokens = m.e.Text(b.Text())
	case claude.DeferredNames:
		_, names, _ := strings.Cut(b.Text(), "\n") // after the mark for the host's own words
		for name := range strings.SplitSeq(names, "\n") {
			w.Tokens = w.Tokens.Plus(m.e.Text(name)) // as rent adds them up
		}
	case claude.ToolUse:
		w.Tokens = m.e.Text(b.Name.Sent).Plus(m.e.Bytes(b.Input()))
	case claude.ToolResult:
		m.result(&w, b.Content())
	}
	return w
}

func plain(b *claude.Block) tokens.Tool {
	d := definition(b)
	return tokens.Tool{Name: d.Name, Description: d.Description, InputSchema: d.Schema}
}

func (m *Meter) result(w *Weight, c *claude.Content) {
	w.AtLeast = w.AtLeast || c.Placeholder != ""
	for i := range c.Parts {
		p := &c.Parts[i]
		w.AtLeast = w.AtLeast || p.Placeholder != ""
		if isMedia(p.JSON) {
			w.Images++
			w.AtLeast = true
			continue
		}
		w.Tokens = w.Tokens.Plus(m.e.Text(p.Known()))
	}
}

// isMedia reports an image or a document whose bytes the model does not read as text.
func isMedia(part []byte) bool {
	p := gjson.ParseBytes(part)
	switch p.Get("type").String() {
	case "image":
		return true
	case "document":
		return p.Get("source.type").String() != "text"
	}
	return false
}

// Held reports whether the model has all of a block in a request after a turn, and not
// just the name of a tool that it could search for.
func Held(b *claude.Block, turn int) bool {
	return !b.Deferred || b.Loaded >= 0 && b.Loaded <= turn
}

// A Sum is what is known of a request's tokens.
type Sum struct {
	Total    tokens.Count
	Preamble tokens.Count // of having tools
	Tools    tokens.Count // the definitions that the model holds
	System   tokens.Count
	Messages tokens.Count // with what stands around their texts
	AtLeast  bool         // something of it is not on this wire
	Images   int          // and documents in binary form, that are not in it
}

// Request sums a request up.
func (m *Meter) Request(r *claude.Request) (s Sum) {
	var held []tokens.Tool
	for p := range r.All() {
		if p.Section == claude.Tools && p.Definition() != nil {
			if Held(p.Block, r.Turn) {
				held = append(held, plain(p.Block))
			}
			continue
		}
		w := m.Block(p.Block)
		s.AtLeast, s.Images = s.AtLeast || w.AtLeast, s.Images+w.Images
		if p.Section == claude.System {
			s.System = s.System.Plus(w.Tokens)
		} else {
			s.Messages = s.Messages.Plus(w.Tokens)
		}
	}
	_, s.Tools = m.e.List(held)
	if len(r.Tools) > 0 {
		s.Preamble, _ = m.e.Preamble(tokens.Auto)
	}
	s.Messages = s.Messages.Plus(m.e.Framing(len(r.Messages)))
	s.Total = tokens.Sum(s.Preamble, s.Tools, s.System, s.Messages)
	return s
}
