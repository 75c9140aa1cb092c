package claude

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/wire"
	"github.com/mcptap/mcptap/tap"
)

//go:embed reach.json
var reachFile []byte

// reachData is reach.json.
type reachData struct {
	AsOf    string `json:"as_of"`
	Methods map[string]struct {
		Maybe bool
		Why   string
	}
	Tool   map[string]string
	Result map[string]string
}

var theReach = sync.OnceValue(func() *reachData {
	r := new(reachData)
	if err := json.Unmarshal(reachFile, r); err != nil {
		panic(err) // our own file, checked by a test
	}
	return r
})

// Verdict is whether the model reads something.
type Verdict uint8

// The verdicts.
const (
	Never Verdict = iota
	Maybe         // it depends on what this wire does not tell
	Reads
)

func (v Verdict) String() string { return [...]string{"never", "maybe", "reads"}[v] }

// A Reach is what of a frame reaches the model. Members that are not named share
// the fate of the nearest one above them.
type Reach struct {
	Whole Fate   // of all that has no fate of its own
	Parts []Fate // in the order of their paths
	// Turn is the request that has it first, -1 if none has.
	Turn int
}

// At gives the fate of the member that a JSON pointer names: its own, or that of
// the nearest member above it that has one.
func (r *Reach) At(pointer string) Fate {
	for p := pointer; ; {
		if i, ok := slices.BinarySearchFunc(r.Parts, p, func(f Fate, p string) int { return strings.Compare(f.Path, p) }); ok {
			return r.Parts[i]
		}
		cut := strings.LastIndexByte(p, '/')
		if cut < 0 {
			return r.Whole
		}
		p = p[:cut]
	}
}

// Verdict sums a frame up: the best of what its members come to.
func (r *Reach) Verdict() Verdict {
	v := r.Whole.Verdict
	for i := range r.Parts {
		v = max(v, r.Parts[i].Verdict)
	}
	return v
}

func (r *Reach) add(path string, v Verdict, why string) {
	r.Parts = append(r.Parts, Fate{path, v, why})
}

func (r *Reach) addThere(v wire.Value, verdict Verdict, why string) {
	if v.Exists() {
		r.add(v.Path, verdict, why)
	}
}

const envelope = "the envelope of the protocol"

// Reach tells of each member of a frame whether the model reads it, by which way,
// or why not. It reads the frame's body.
func (b *Book) Reach(f replay.Ref) *Reach {
	s := b.line.Sessions[f.Session]
	frame := s.Frame(f.Frame)
	r := &Reach{Whole: Fate{Why: envelope}, Turn: -1}
	switch {
	case frame.Dir == tap.Stderr:
		r.Whole.Why = "the server's standard error: hosts may log it"
	case len(frame.Batch) > 0:
		body := wire.Root(s.Body(f.Frame))
		for i, m := range body.Items() {
			if i < len(frame.Batch) {
				b.reachMessage(r, f, m, frame.Batch[i].Kind, frame.Batch[i].Method, frame.Batch[i].Call)
			}
		}
	default:
		b.reachMessage(r, f, wire.Root(s.Body(f.Frame)), frame.Kind, frame.Method, frame.Call)
	}
	slices.SortStableFunc(r.Parts, func(x, y Fate) int { return strings.Compare(x.Path, y.Path) })
	return r
}

func (b *Book) reachMessage(r *Reach, f replay.Ref, m wire.Value, kind decode.Kind, method string, call int) {
	switch kind {
	case decode.Request:
		b.reachRequest(r, f, m, method, call)
	case decode.Result, decode.Error:
		if call >= 0 {
			b.reachAnswer(r, f, m, call)
			return
		}
		r.Whole.Why = "it answers no request"
	case decode.Notification:
		b.reachMethod(r, m.Path, method)
	default:
		r.Whole.Why = "it is no message of the protocol"
	}
}

func (b *Book) reachMethod(r *Reach, path, method string) {
	known, ok := theReach().Methods[method]
	v, why := Never, "a message between host and server"
	if ok {
		why = known.Why
	}
	if known.Maybe {
		v = Maybe
	}
	if path == "" {
		r.Whole = Fate{Verdict: v, Why: why}
		return
	}
	r.add(path, v, why)
}

func (b *Book) reachRequest(r *Reach, f replay.Ref, m wire.Value, method string, call int) {
	if method != "tools/call" || call < 0 || b.dirOf(f) != tap.C2S {
		b.reachMethod(r, m.Path, method)
		return
	}
	i := b.line.CallOf(f.Session, call)
	switch {
	case i < 0:
		r.add(m.Path, Never, "not the model's: "+b.line.ApartOf(f.Session, call))
	case b.line.Calls[i].Request != f:
		r.add(m.Path, Never, "the same tool use again: the model asked once")
	default:
		c := &b.line.Calls[i]
		r.Turn = c.Turn + 1
		r.addThere(m.At("params", "arguments"), Reads, "the model wrote it: it is the input of its tool use, and is sent again with every later request")
		r.addThere(m.At("params", "name"), Reads, "as "+b.name(c.Session, c.Tool).Sent)
	}
	r.addThere(m.At("params", "_meta"), Never, "for host and server")
}

func (b *Book) dirOf(f replay.Ref) tap.Dir { return b.line.Sessions[f.Session].Frame(f.Frame).Dir }

func (b *Book) reachAnswer(r *Reach, f replay.Ref, m wire.Value, call int) {
	c := b.line.Sessions[f.Session].Call(call)
	i := -1
	if c.Dir == tap.C2S {
		i = b.line.CallOf(f.Session, call)
	}
	switch {
	case i >= 0:
		b.reachResult(r, f, m, i)
	case c.Method == "tools/call" && c.Dir == tap.C2S:
		r.add(m.Path, Never, "not the model's: "+b.line.ApartOf(f.Session, call))
	case c.Method == "tools/list" && c.Dir == tap.C2S:
		b.reachList(r, f, m)
	case c.Method == "initialize" || c.Method == "server/discover":
		b.reachMethod(r, m.Path, c.Method)
		b.reachInstructions(r, f, m)
	default:
		b.reachMethod(r, m.Path, c.Method)
	}
}

func (b *Book) reachResult(r *Reach, f replay.Ref, m wire.Value, call int) {
	c := &b.line.Calls[call]
	if !c.Answer.There() || c.Ref() != f {
		r.add(m.Path, Never, "a step on the way: the model reads what the call came to")
		return
	}
	block := b.messages[b.byCall[call].result].Blocks[b.byCall[call].resultBlock]
	content := block.Content()
	r.Turn = block.Turn
	r.Parts = append(r.Parts, content.Fates...)
	v := b.line.ResultValue(c, b.line.Sessions[f.Session].Body(f.Frame))
	names, _ := v.Members()
	for _, n := range names {
		if why := theReach().Result[n]; why != "" {
			r.add(c.Answer.Path+"/"+wire.Escape(n), Never, why)
		}
	}
	if v.Get("content").Exists() {
		r.add(c.Answer.Path+"/content", Never, "the frame around the blocks, with their types and annotations")
	}
}

// reachInstructions tells where a server's instructions go.
func (b *Book) reachInstructions(r *Reach, f replay.Ref, m wire.Value) {
	text := m.At("result", "instructions")
	if text.Text() == "" {
		return
	}
	used := slices.ContainsFunc(b.said, func(s saying) bool { return s.there && s.link.Ref == f })
	rule := &b.profile.Instructions
	switch {
	case !used:
		r.add(text.Path, Never, "another answer's instructions are used")
		return
	case rule.Lane == laneNone:
		r.add(text.Path, Never, "this host does not pass instructions on")
		return
	case rule.Lane == laneUnknown:
		r.add(text.Path, Maybe, "whether this host passes instructions on is not known")
	case rule.Lane == laneAttachment:
		r.add(text.Path, Reads, "in the messages; "+rule.Note)
	default:
		r.add(text.Path, Reads, "in the system prompt")
	}
	r.Turn = 0
	if rule.Max > 0 && len([]rune(text.Text())) > rule.Max {
		r.Parts[len(r.Parts)-1].Why += fmt.Sprintf("; only its first %d characters", rule.Max)
	}
}

// reachList tells of the definitions of a listing.
func (b *Book) reachList(r *Reach, f replay.Ref, m wire.Value) {
	turn := b.firstAfter(f)
	if turn < 0 {
		r.add(m.Path, Maybe, "no request was made after it in this recording")
		return
	}
	r.Turn = turn
	o := b.offerAt(b.momentOf(turn), turn)
	for _, t := range m.At("result", "tools").Items() {
		if block := o.find(f, t); block != nil {
			b.reachTool(r, t, block)
			continue
		}
		why := "no request was made with this definition: it was replaced before"
		if b.profile.Shape == shapeConnector {
			r.add(t.Path, Reads, "by way of the toolset: the API makes the definition itself")
			continue
		}
		r.add(t.Path, Never, why)
	}
}

// firstAfter gives the first request that was made after a frame, -1 if none was.
func (b *Book) firstAfter(f replay.Ref) int {
	after := b.line.After(f)
	n := sort.Search(b.Turns()+1, func(n int) bool { return b.momentOf(n) >= after })
	if n > b.Turns() {
		return -1
	}
	return n
}

// find gives the block that an offer has for a definition of a listing: made of
// it, or of an earlier listing that says the same.
func (o *offer) find(f replay.Ref, t wire.Value) *Block {
	for _, blocks := range [][]*Block{o.tools, o.out} {
		for _, block := range blocks {
			if block.link.Ref == f && block.link.N != 0 && block.link.Path == t.Path {
				return block
			}
		}
	}
	for _, blocks := range [][]*Block{o.tools, o.out} {
		for _, block := range blocks {
			if block.Session == f.Session && string(block.def) == t.Raw {
				return block
			}
		}
	}
	return nil
}

func (b *Book) reachTool(r *Reach, t wire.Value, block *Block) {
	names, _ := t.Members()
	v, how := Reads, "under tools"
	for _, n := range block.Notes {
		if n.Kind == NoteLeftOut {
			r.add(t.Path, Never, n.Words)
			return
		}
	}
	if block.Deferred {
		v, how = Maybe, "not before the model searches for the tool: no sign that it did"
		if block.Loaded >= 0 {
			v, how = Reads, fmt.Sprintf("from turn %d on, where the tool was called: until then this host sends no definition", block.Loaded)
		}
	}
	for _, n := range names {
		path := t.Path + "/" + wire.Escape(n)
		switch n {
		case "name":
			if block.Deferred && b.Loading() == LoadDeferredHidden {
				r.add(path, v, how)
				continue
			}
			r.add(path, Reads, "as "+block.Name.Sent)
		case "description", "inputSchema":
			r.add(path, v, how+cutWords(block, n))
		default:
			why := theReach().Tool[n]
			if why == "" {
				why = "no host that was checked sends it"
			}
			r.add(path, Never, why)
		}
	}
}

func cutWords(block *Block, member string) string {
	if member == "description" && len(block.cutTexts) > 0 {
		return fmt.Sprintf("; only its first %d characters", block.cutTexts[0].Limit)
	}
	return ""
}
