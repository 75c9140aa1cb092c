package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/wire"
)

// An offer is what stands under tools and system at some moment. Requests share it
// as long as no server lists anew.
type offer struct {
	tools  []*Block
	system []*Block
	out    []*Block // definitions that the model does not get, with the reason in Notes
	byName map[string]*Block
}

// offerAt gives the offer as of a moment, for a request of that turn.
func (b *Book) offerAt(m replay.Moment, turn int) *offer {
	lists := make([]*decode.List, len(b.line.Sessions))
	var key strings.Builder
	for i := range b.line.Sessions {
		if !b.line.Over(i, m) {
			lists[i] = b.line.List(i, decode.Tools, m)
		}
		fmt.Fprintf(&key, "%p %v,", firstItem(lists[i]), b.opened(i, m))
	}
	orphans := b.orphansBy(turn)
	fmt.Fprintf(&key, "%d", orphans)
	if o := b.offers[key.String()]; o != nil {
		return o
	}
	if len(b.offers) >= maxOffers {
		clear(b.offers)
	}
	o := b.makeOffer(lists, m, b.orphans[:orphans])
	b.offers[key.String()] = o
	return o
}

// maxOffers bounds what is kept of servers that list something else all the time.
const maxOffers = 256

// firstItem tells lists apart: those that say the same share their items.
func firstItem(l *decode.List) unsafe.Pointer {
	if l == nil || len(l.Items) == 0 {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(l.Items))
}

// opened reports whether a server's instructions were there by a moment.
func (b *Book) opened(session int, m replay.Moment) bool {
	s := &b.said[session]
	return s.there && b.line.After(s.link.Ref) <= m
}

// orphansBy is how many of the unlisted calls were made up to a turn.
func (b *Book) orphansBy(turn int) (n int) {
	for n < len(b.orphans) && b.line.Calls[b.orphans[n]].Turn < turn {
		n++
	}
	return n
}

func (b *Book) makeOffer(lists []*decode.List, m replay.Moment, orphans []int) *offer {
	o := &offer{byName: map[string]*Block{}}
	if b.profile.Shape != shapeConnector && b.Loading() != LoadUpfront {
		o.add(b.searchTool())
	}
	for i, l := range lists {
		b.offerList(o, i, l)
	}
	for _, c := range orphans {
		b.offerOrphan(o, c)
	}
	if b.profile.ToolsMax > 0 && len(o.tools) > b.profile.ToolsMax {
		o.tools[b.profile.ToolsMax].Notes = append(o.tools[b.profile.ToolsMax].Notes,
			Note{NoteGuess, fmt.Sprintf("from here on over the %d tools that this host sends or advises", b.profile.ToolsMax)})
	}
	b.offerSystem(o, m)
	return o
}

func (o *offer) add(t *Block) {
	o.tools = append(o.tools, t)
	o.byName[t.Name.Sent] = t
}

func (o *offer) leaveOut(t *Block, why string) {
	t.Notes = append(t.Notes, Note{NoteLeftOut, why})
	o.out = append(o.out, t)
}

// searchTool stands for the tool by which a host finds what it has not loaded.
func (b *Book) searchTool() *Block {
	t := b.block(Tool, 0, "the definition of the host's own tool search")
	t.Name = Name{Sent: b.profile.defaults.SearchTool, Tool: b.profile.defaults.SearchTool}
	return t
}

func (b *Book) offerList(o *offer, session int, l *decode.List) {
	if l == nil || len(l.Items) == 0 {
		return
	}
	if b.profile.Shape == shapeConnector {
		t := b.block(Toolset, 0, "")
		t.Session, t.Name.Server = session, b.line.Sessions[session].Name
		t.link = b.link(session, l.From, "/result/tools")
		if o.byName[t.Name.Server] != nil {
			o.leaveOut(t, "another server has its name, and the API takes each name once")
			return
		}
		o.tools = append(o.tools, t)
		o.byName[t.Name.Server] = t
		return
	}
	pages := b.pages(session, l)
	for i := range l.Items {
		t := b.tool(session, &l.Items[i], pages.of(i))
		switch why := b.refused(t, o); {
		case why != "":
			o.leaveOut(t, why)
		default:
			o.add(t)
		}
	}
}

// refused says why a definition does not get into a request; "" if it does.
func (b *Book) refused(t *Block, o *offer) string {
	if t.Name.Tool == "" {
		return "it has no name"
	}
	if replay.AppOnly(t.def) {
		return "it is for the server's own user interface"
	}
	if b.profile.Name.ToolAsIs && notInNames.MatchString(t.Name.Tool) {
		return fmt.Sprintf("this host sends its name as it is, %q: the API refuses the whole request for it", cut(t.Name.Tool, 80))
	}
	if t.Name.Pair {
		return fmt.Sprintf("the names of server and tool together are longer than the %d characters of this host", b.profile.Name.PairMax)
	}
	if t.Name.Over {
		return fmt.Sprintf("its name is longer than the %d characters of this host", b.profile.Name.Max)
	}
	if taken := o.byName[t.Name.Sent]; taken != nil {
		return fmt.Sprintf("its name is that of tool %q of server %q: the API takes each name once", cut(taken.Name.Tool, 80), cut(taken.Name.Server, 80))
	}
	def := t.def
	if t.mended != nil {
		def = t.mended
	}
	return schemaRefused(wire.Root(def).Get("inputSchema"))
}

// tool makes the block of a definition.
func (b *Book) tool(session int, it *decode.Item, link Link) *Block {
	t := b.block(Tool, 0, "")
	t.text = ""
	t.Session, t.def, t.link = session, it.Definition, link
	t.Name = b.name(session, it.Name)
	if t.Name.Whole != "" || t.Name.Refused != "" {
		t.Notes = append(t.Notes, Note{NoteRenamed, "by the host's rule its name is " + Shown(cmp.Or(t.Name.Refused, t.Name.Whole))})
	}
	d := wire.Root(it.Definition)
	b.flatten(t, d)
	b.cutDescription(t)
	if b.defers(d) {
		t.Deferred = true
		if turn, ok := b.loaded[t.Name.Sent]; ok {
			t.Loaded = turn
		}
		t.Notes = append(t.Notes, Note{NoteDeferred, "the model has the definition only once it has searched for it"})
	}
	return t
}

// defers reports that the host searches for a tool before it sends its definition.
func (b *Book) defers(d wire.Value) bool {
	return b.Loading() != LoadUpfront && (b.profile.AlwaysLoadMeta == "" || d.At("_meta", b.profile.AlwaysLoadMeta).Type != gjson.True)
}

var combinators = [...]string{"anyOf", "oneOf", "allOf"}

// flatten takes alternatives out of a schema's root, if the host does: it says them
// in the description, in words that are not known.
func (b *Book) flatten(t *Block, d wire.Value) {
	schema := d.Get("inputSchema")
	if b.profile.RootCombinators != "flatten" || !schema.IsObject() {
		return
	}
	raw, changed := without(schema, combinators[:])
	if !changed {
		return
	}
	why := "how the host words the alternatives at the schema's root"
	description := mark(why) + " " + d.Get("description").Text()
	t.mended = object().raw("description", quote(description)).raw("inputSchema", raw).end()
	t.Placeholder = why
	t.Notes = append(t.Notes, Note{NoteAltered, "the host takes anyOf, oneOf and allOf out of the schema's root and says them in the description"})
}

// without gives an object less some members.
func without(v wire.Value, drop []string) (raw []byte, changed bool) {
	w := object()
	names, values := v.Members()
	for i, n := range names {
		if slices.Contains(drop, n) {
			changed = true
			continue
		}
		w.raw(n, []byte(values[i].Raw))
	}
	return w.end(), changed
}

func (b *Book) cutDescription(t *Block) {
	def := t.def
	if t.mended != nil {
		def = t.mended
	}
	text := wire.Root(def).Get("description").Text()
	short := cut(text, b.profile.DescriptionMax)
	if short == text {
		return
	}
	link := t.link
	link.Path += "/description"
	t.cutTexts = []Cut{{Link: link, Limit: b.profile.DescriptionMax, Unit: "characters", Size: utf8.RuneCountInString(text), Lost: text[len(short):]}}
	t.text = short + b.profile.CutMark
	t.Notes = append(t.Notes, Note{NoteCut, "the description is longer than this host sends"})
}

// schemaRefused says why the API refuses a schema, and with it the whole request.
func schemaRefused(schema wire.Value) string {
	if !schema.IsObject() {
		return "it has no input schema, which the API demands"
	}
	if schema.Get("type").Text() != "object" {
		return "its input schema has no type object at the root: the API refuses the whole request for it"
	}
	for _, name := range combinators {
		if schema.Get(name).Exists() {
			return "its input schema has " + name + " at the root: the API refuses the whole request for it"
		}
	}
	names, _ := schema.Get("properties").Members()
	for _, n := range names {
		if !propertyName.MatchString(n) {
			return fmt.Sprintf("its input schema has a property %q: the API refuses the whole request for it", cut(n, 80))
		}
	}
	if schema.Get("properties").Exists() && !schema.Get("properties").IsObject() {
		return "its input schema has properties that are no object"
	}
	if !json.Valid([]byte(schema.Raw)) || loneSurrogate(schema.Raw) {
		return "its input schema holds half a character, which the API does not read"
	}
	return ""
}

// offerOrphan stands for a tool that was called and of which the wire has no list.
func (b *Book) offerOrphan(o *offer, call int) {
	c := &b.line.Calls[call]
	name := b.name(c.Session, c.Tool)
	if o.byName[name.Sent] != nil || len(o.tools) > 0 && b.line.Catalogue(c.Session).At(decode.Tools, c.Request.Frame) != nil {
		return
	}
	what := Shown(name.Sent)
	if strings.TrimSpace(c.Tool) == "" {
		what = "a tool without a name"
	}
	t := b.block(Tool, 0, "the definition of "+what+": no listing that could be sent crossed before it was called")
	if b.profile.Shape == shapeConnector {
		t = b.block(Toolset, 0, "")
		name = Name{Sent: b.servers[c.Session], Server: b.line.Sessions[c.Session].Name}
		if o.byName[name.Sent] != nil {
			return
		}
	}
	t.Session, t.Name = c.Session, name
	t.Notes = append(t.Notes, Note{NoteUnlisted, "it was called, and no listing had it"})
	o.add(t)
}

// offerSystem lays out the system prompt.
func (b *Book) offerSystem(o *offer, m replay.Moment) {
	o.system = append(o.system, b.block(SystemPrompt, 0, "the host's system prompt, its own tools, and servers without a tap"))
	lane := b.profile.Instructions.Lane
	if lane == laneSystem || lane == laneUnknown || lane == laneAttachment && b.profile.Shape == shapeConnector {
		count := 0
		for i := range b.line.Sessions {
			if b.line.IsProbe(i) || !b.opened(i, m) {
				continue
			}
			if block := b.instructions(i, count == 0); block != nil {
				count++
				if lane == laneUnknown {
					block.Notes = append(block.Notes, Note{NoteGuess, "whether and where this host gives instructions to the model is not known"})
				}
				o.system = append(o.system, block)
			}
		}
	}
	if b.Loading() == LoadDeferredNames {
		b.nameDeferred(o)
	}
}

// nameDeferred lists the names that the model has without definitions.
func (b *Book) nameDeferred(o *offer) {
	var names []string
	var from Link
	for _, t := range o.tools {
		if t.Deferred {
			names = append(names, t.Name.Sent)
			from = t.link
		}
	}
	if len(names) == 0 {
		return
	}
	why := "how and where the host lists the names of tools that it has not loaded"
	block := b.block(DeferredNames, 0, why)
	from.Path = strings.TrimRight(from.Path, "0123456789")
	from.Path = strings.TrimSuffix(from.Path, "/")
	block.link = from
	block.text = mark(why) + "\n" + strings.Join(names, "\n")
	o.system = append(o.system, block)
}

// pages tells where the items of a list stand.
type pages struct {
	book    *Book
	session int
	frames  []int
	paths   []string
	ends    []int // index after the last item of each page
}

// pages reads how many items each page of a list had; a list of one page is not
// read.
func (b *Book) pages(session int, l *decode.List) pages {
	p := pages{book: b, session: session}
	s := b.line.Sessions[session]
	sum := 0
	for _, call := range l.Calls {
		c := s.Call(call)
		path, count := "/result/tools", len(l.Items)
		if len(l.Calls) > 1 || c.Batch {
			tools := wire.Message(s.Body(c.Response), string(c.ID), true).At("result", "tools")
			path, count = tools.Path, len(tools.Items())
		}
		sum += count
		p.frames, p.paths, p.ends = append(p.frames, c.Response), append(p.paths, path), append(p.ends, sum)
	}
	return p
}

func (p *pages) of(item int) Link {
	before := 0
	for i, end := range p.ends {
		if item < end {
			return p.book.link(p.session, p.frames[i], p.paths[i]+"/"+itoa(item-before))
		}
		before = end
	}
	return p.book.link(p.session, p.frames[len(p.frames)-1], p.paths[len(p.paths)-1])
}
