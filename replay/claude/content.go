package claude

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/internal/wire"
)

// Content is what a tool result holds, as the host makes it of the server's answer.
type Content struct {
	Parts   []Part
	IsError bool
	// Joined says that the parts are one text.
	Joined bool
	Fates  []Fate // of the members of the answer
	Notes  []Note
	Cuts   []Cut
	// Placeholder says what of the whole is not on this wire; empty if it is.
	Placeholder string

	id        string
	connector bool
}

// A Part is one block of a tool result.
type Part struct {
	JSON        []byte
	Text        string // of a text
	Links       []Link
	Placeholder string // what of it is not on this wire; empty if all is
}

// Known is what the wire tells of a part: its text without the mark for the rest.
func (p *Part) Known() string {
	if p.Placeholder == "" {
		return p.Text
	}
	return strings.TrimPrefix(strings.TrimPrefix(p.Text, mark(p.Placeholder)), " ")
}

// A Fate is what becomes of a member of an answer.
type Fate struct {
	Path    string // JSON pointer into the frame
	Verdict Verdict
	Why     string
}

// JSON gives the tool_result block.
func (c *Content) JSON() []byte {
	w := object()
	if c.connector {
		w.str("type", "mcp_tool_result").str("tool_use_id", c.id)
	} else {
		w.str("type", "tool_result").str("tool_use_id", c.id)
	}
	if c.IsError {
		w.raw("is_error", []byte("true"))
	}
	switch {
	case c.Joined && len(c.Parts) > 0:
		w.str("content", c.joined())
	default:
		a := array()
		for i := range c.Parts {
			a.add(c.Parts[i].JSON)
		}
		w.raw("content", a.end())
	}
	return w.end()
}

func (c *Content) joined() string {
	texts := make([]string, len(c.Parts))
	for i := range c.Parts {
		texts[i] = c.Parts[i].Text
	}
	return strings.Join(texts, "\n")
}

// Content reads the answer to a call and gives what the host makes of it. It is for
// tool results; of other blocks it is empty. Do not change it: that of the block
// asked last is kept.
func (b *Block) Content() *Content {
	if b.Kind != ToolResult {
		return &Content{}
	}
	if b.book.last == nil || b.book.lastOf != b {
		b.book.last, b.book.lastOf = b.read(), b
	}
	return b.book.last
}

func (b *Block) read() *Content {
	c := &Content{id: b.toolUse, connector: b.book.profile.Shape == shapeConnector}
	call := &b.book.line.Calls[b.Call]
	if b.pending != "" || !call.Answer.There() {
		c.IsError = true
		c.missing(b.pending)
		return c
	}
	body := b.book.line.Sessions[b.Session].Body(call.Answer.Frame)
	if body == nil {
		c.missing("the bytes of the answer are not in the recording")
		c.note(NoteNotAtHand, "the bytes of the answer are not in the recording")
		return c
	}
	r := &reader{Content: c, block: b, profile: b.book.profile, result: b.book.line.ResultValue(call, body), frame: call.Answer.Frame}
	r.result.Path = call.Answer.Path
	r.read(body)
	return c
}

func (c *Content) missing(why string) {
	c.Placeholder = why
	text := mark(why)
	c.Parts = []Part{{JSON: textBlock(text), Text: text, Placeholder: why}}
}

func (c *Content) note(k NoteKind, words string) { c.Notes = append(c.Notes, Note{k, words}) }

// reader turns one answer into a Content.
type reader struct {
	*Content
	block   *Block
	profile *Profile
	result  wire.Value
	frame   int
	raised  string
}

func (r *reader) read(body []byte) {
	if strings.HasSuffix(r.result.Path, "/error") {
		r.protocolError()
		return
	}
	failed := r.result.Get("isError")
	r.IsError = failed.Type == gjson.True
	r.Joined = r.profile.Texts == textsJoined
	if r.IsError {
		r.fate(failed.Path, true, Reads, "as is_error")
	} else {
		r.fate(failed.Path, failed.Exists(), Never, "a success is not marked as one")
	}
	r.content()
	r.structured(body)
	r.judge()
	if r.IsError {
		r.onlyTexts()
	}
	r.limit()
	r.finish()
	if loneSurrogate(r.result.Raw) {
		r.note(NoteAltered, "it holds half a character, which the API refuses; here U+FFFD stands for it")
	}
}

func (r *reader) fate(path string, there bool, v Verdict, why string) {
	if there {
		r.Fates = append(r.Fates, Fate{path, v, why})
	}
}

// protocolError is a JSON-RPC error: hosts tell the model of it in words of their
// own.
func (r *reader) protocolError() {
	r.IsError = true
	code, message := r.result.Get("code"), r.result.Get("message")
	why := "how the host words a protocol error"
	text := strings.TrimSpace(mark(why) + " " + strings.TrimSpace(code.Raw+" "+message.Text()))
	r.Parts = []Part{{JSON: textBlock(text), Text: text, Links: []Link{r.link(r.result.Path)}, Placeholder: why}}
	r.fate(message.Path, message.Exists(), Maybe, "most hosts put it into a text with is_error; the wording is theirs")
	r.fate(code.Path, code.Exists(), Maybe, "some hosts name the code")
	data := r.result.Get("data")
	r.fate(data.Path, data.Exists(), Never, "hosts do not pass on the data of an error, as far as is known")
}

func (r *reader) link(path string) Link { return r.block.book.link(r.block.Session, r.frame, path) }

// content takes the blocks of content one by one.
func (r *reader) content() {
	for _, item := range r.result.Get("content").Items() {
		r.item(item)
	}
}

func (r *reader) item(item wire.Value) {
	if r.forUser(item) {
		return
	}
	how, what := r.rule(item)
	switch how {
	case asText, asPrefixed, asLine:
		r.asText(item, how)
	case asImage:
		r.asSource(item, "image")
	case asDocument:
		r.asDocument(item)
	case asJSON:
		r.add(item.Raw, "", Reads, "as JSON text", item.Path)
	case asImageURL:
		source := object().str("type", "url").str("url", item.Get("uri").Text()).end()
		r.block2(object().str("type", "image").raw("source", source).end(), item.Get("uri").Path, "as the address of an image")
	case asSaved:
		r.stand("the path of the file that the host saved "+what+" to", item, "saved to a file: the model reads its path")
	case asRaises:
		r.raised = cmp.Or(r.raised, what)
		r.fate(item.Path, true, Never, "the host raises an exception on "+what)
	case asData:
		r.stand("what the model gets of "+what, item, "as a part that only this host has")
	case asLink:
		r.stand("how this host shows a link to "+linkTarget(item), item, "as a link that the model has to read itself")
	case asDropped:
		r.fate(item.Path, true, Never, "the host drops "+what)
	default:
		r.stand("what this host makes of "+what, item, "not known of this host")
	}
}

func linkTarget(item wire.Value) string {
	if uri := item.Get("uri").Text(); uri != "" {
		return uri
	}
	return item.At("resource", "uri").Text()
}

// forUser takes out what a server meant for the user, if the host obeys.
func (r *reader) forUser(item wire.Value) bool {
	audience := item.At("annotations", "audience")
	items := audience.Items()
	if len(items) == 0 || slices.ContainsFunc(items, func(v wire.Value) bool { return v.Text() == "assistant" }) {
		return false
	}
	if r.profile.Audience {
		r.fate(item.Path, true, Never, "for the user only, and this host obeys")
		return true
	}
	r.note(NoteUserOnly, item.Path+": the server meant it for the user only; the model reads it all the same")
	return false
}

// rule finds what the profile does with a block, and names the block.
func (r *reader) rule(item wire.Value) (how, what string) {
	rules := &r.profile.Blocks
	switch item.Get("type").Text() {
	case "text":
		return rules.Text, "text"
	case "image":
		if r.sendable(item.Get("mimeType").Text()) {
			return rules.Image, "image"
		}
		return rules.ImageOther, "image of type " + shortWord(item.Get("mimeType").Text())
	case "audio":
		return rules.Audio, "audio"
	case "resource_link":
		if rules.LinkedImage != "" && strings.HasPrefix(item.Get("mimeType").Text(), "image/") {
			return rules.LinkedImage, "a link to an image"
		}
		return rules.ResourceLink, "a link to a resource"
	case "resource":
		return r.resourceRule(item.Get("resource"))
	}
	return rules.Other, "a block of type " + shortWord(item.Get("type").Text())
}

func (r *reader) resourceRule(resource wire.Value) (how, what string) {
	rules := &r.profile.Blocks
	mime := resource.Get("mimeType").Text()
	switch {
	case resource.Get("text").Exists():
		return rules.ResourceText, "an embedded text"
	case mime == "application/pdf":
		return rules.ResourcePDF, "an embedded PDF"
	case r.sendable(mime) && rules.Image == asImage && rules.ResourceBlob != asSaved:
		return asImage, "an embedded image"
	}
	return rules.ResourceBlob, "an embedded file"
}

func (r *reader) sendable(mime string) bool {
	return slices.Contains(r.profile.defaults.ImageTypes, mime)
}

func shortWord(s string) string { return fmt.Sprintf("%q", cut(s, 40)) }

// asText adds a text, or what the host says in place of a block.
func (r *reader) asText(item wire.Value, how string) {
	text := item.Get("text")
	switch {
	case how == asLine:
		r.add(r.line(item), "", Never, "hosts make one line of name, address and description", item.Path)
		for _, name := range []string{"name", "uri", "description"} {
			r.fate(item.Get(name).Path, item.Get(name).Exists(), Reads, "in one line: name, address, description")
		}
		return
	case item.Get("type").Text() == "resource":
		text = item.At("resource", "text")
	}
	said := text.Text()
	switch {
	case how == asPrefixed:
		r.add(fill(r.profile.Prefix, "{server}", r.block.Name.Server, "{uri}", item.At("resource", "uri").Text())+said, "", Reads, "after a prefix with server and address", text.Path)
	case said == "":
		r.fate(text.Path, true, Never, "the API takes no empty text")
		r.note(NoteEmpty, item.Path+": an empty text, which the API does not take")
	case blank(said):
		r.fate(text.Path, true, Never, "the API takes no text of blanks only")
		r.note(NoteEmpty, item.Path+": a text of blanks only, which the API does not take")
	default:
		r.Parts = append(r.Parts, Part{
			JSON: object().str("type", "text").raw("text", []byte(text.Raw)).end(), Text: said, Links: []Link{r.link(text.Path)},
		})
		r.fate(text.Path, true, Reads, "as text")
	}
}

// blank reports a text without anything but white space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (r *reader) line(item wire.Value) string {
	description := item.Get("description").Text()
	if description != "" {
		description = " (" + description + ")"
	}
	return fill(r.profile.Line, "{name}", item.Get("name").Text(), "{uri}", item.Get("uri").Text(), "{description}", description)
}

func fill(template string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(template)
}

// add adds a text that the host makes.
func (r *reader) add(text, placeholder string, v Verdict, why, path string) {
	r.Parts = append(r.Parts, Part{JSON: textBlock(text), Text: text, Links: []Link{r.link(path)}, Placeholder: placeholder})
	r.fate(path, true, v, why)
}

// stand adds a mark for what is not known.
func (r *reader) stand(what string, item wire.Value, why string) {
	r.add(mark(what), what, Maybe, why, item.Path)
}

func (r *reader) block2(json []byte, path, why string) {
	r.Parts = append(r.Parts, Part{JSON: json, Text: string(json), Links: []Link{r.link(path)}})
	r.fate(path, true, Reads, why)
}

// asSource adds an image with its bytes.
func (r *reader) asSource(item wire.Value, kind string) {
	data, mime := item.Get("data"), item.Get("mimeType")
	if item.Get("type").Text() == "resource" {
		data, mime = item.At("resource", "blob"), item.At("resource", "mimeType")
	}
	if data.Text() == "" {
		r.stand("what this host makes of an image without data", item, "it has no data")
		return
	}
	if !isBase64(data.Text()) {
		r.noBase64(item, "an image")
		return
	}
	source := object().str("type", "base64").raw("media_type", []byte(mime.Raw)).raw("data", []byte(data.Raw)).end()
	r.block2(object().str("type", kind).raw("source", source).end(), data.Path, "as an image")
	r.fate(mime.Path, true, Reads, "as the image's type")
}

func (r *reader) asDocument(item wire.Value) {
	resource := item.Get("resource")
	text := resource.Get("text")
	if text.Exists() {
		if blank(text.Text()) {
			r.fate(text.Path, true, Never, "the API takes no empty text")
			r.note(NoteEmpty, item.Path+": a document without a text, which the API does not take")
			return
		}
		source := object().str("type", "text").str("media_type", "text/plain").raw("data", []byte(text.Raw)).end()
		r.block2(object().str("type", "document").raw("source", source).end(), text.Path, "as a document")
		return
	}
	blob := resource.Get("blob")
	if !isBase64(blob.Text()) {
		r.noBase64(item, "a PDF")
		return
	}
	source := object().str("type", "base64").str("media_type", "application/pdf").raw("data", quote(blob.Text())).end()
	r.block2(object().str("type", "document").raw("source", source).end(), blob.Path, "as a document")
}

// noBase64 stands for data that the API can't read.
func (r *reader) noBase64(item wire.Value, what string) {
	r.stand("what this host makes of "+what+" whose data is no base64", item, "its data is no base64, which the API does not take")
	r.note(NoteStandIn, item.Path+": the data of "+what+" is no base64, which the API does not take")
}

var base64Text = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)

// isBase64 reports whether a text is base64 as the API takes it: with padding, and
// without white space.
func isBase64(s string) bool { return len(s)%4 == 0 && base64Text.MatchString(s) }

// onlyTexts sees to what is no text in a failed result: the API takes texts only there.
func (r *reader) onlyTexts() {
	for i := range r.Parts {
		p := &r.Parts[i]
		kind := gjson.GetBytes(p.JSON, "type").Str
		if kind == "text" {
			continue
		}
		what := "what this host makes of a block of type " + kind + " in a failed result"
		text := mark(what)
		*p = Part{JSON: textBlock(text), Text: text, Links: p.Links, Placeholder: what}
		r.note(NoteStandIn, "a failed result holds a block of type "+kind+": the API takes only texts there, and what this host makes of it is not known")
		for _, l := range p.Links {
			r.maybe(l.Path)
		}
	}
}

// maybe takes back that the model reads a member.
func (r *reader) maybe(path string) {
	for i := range r.Fates {
		if r.Fates[i].Path == path {
			r.Fates[i].Verdict, r.Fates[i].Why = Maybe, "the API takes only texts in a failed result"
		}
	}
}

// structured applies the host's choice between content and structuredContent, and
// says whether the two say the same.
func (r *reader) structured(body []byte) {
	v := r.result.Get("structuredContent")
	rule := r.profile.Structured
	if r.IsError {
		rule = r.profile.StructuredOnError
	}
	if !v.There() {
		return
	}
	same := compareHalves(body)
	alone := len(r.Parts) == 0 && len(r.result.Get("content").Items()) == 0
	switch {
	case rule == structuredPrefer || rule == structuredIfEmpty && alone:
		r.replaceTexts(v, same)
	case rule == structuredBoth:
		r.add(compact(v.Raw), "", Reads, "as JSON text, after the content", v.Path)
	default:
		r.fate(v.Path, true, Never, "this host drops it; "+same.words())
		r.noteDropped("structuredContent", same)
	}
}

// replaceTexts puts the structured content in place of all texts.
func (r *reader) replaceTexts(v wire.Value, same sameness) {
	kept := r.Parts[:0:0]
	dropped := false
	for _, p := range r.Parts {
		if gjson.GetBytes(p.JSON, "type").Str == "text" {
			dropped = true
			r.refate(p.Links, same)
			continue
		}
		kept = append(kept, p)
	}
	text := compact(v.Raw)
	r.Parts = append([]Part{{JSON: textBlock(text), Text: text, Links: []Link{r.link(v.Path)}}}, kept...)
	r.fate(v.Path, true, Reads, "as JSON text, in place of all texts")
	if dropped {
		r.noteDropped("the text", same)
	}
}

func (r *reader) refate(links []Link, same sameness) {
	for _, l := range links {
		for i := range r.Fates {
			if r.Fates[i].Path == l.Path {
				r.Fates[i].Verdict, r.Fates[i].Why = Never, "this host sends structuredContent in place of texts; "+same.words()
			}
		}
	}
}

func (r *reader) noteDropped(what string, same sameness) {
	if same != saysSame {
		r.note(NoteStructured, "this host drops "+what+"; "+same.words())
	}
}

// sameness is whether text and structured content say the same.
type sameness uint8

const (
	saysOther sameness = iota
	saysPart
	saysSame
)

func (s sameness) words() string {
	return [...]string{"it says what the other half does not", "it says a part of what the other half says, or the reverse", "the other half says the same"}[s]
}

// compareHalves compares content and structuredContent, by value.
func compareHalves(body []byte) sameness {
	a, c := decode.AccountCopies(body, 0)
	switch {
	case c.Structured > 0:
		return saysSame
	case a[decode.PartDuplicate] > 0:
		return saysPart
	}
	return saysOther
}

// judge sees to hosts that keep an error to themselves.
func (r *reader) judge() {
	if r.IsError && r.profile.IsError == "dropped" {
		r.IsError = false
		r.note(NoteLostError, "this host keeps isError to itself: the model reads the text without it")
		for i := range r.Fates {
			if strings.HasSuffix(r.Fates[i].Path, "/isError") {
				r.Fates[i].Verdict, r.Fates[i].Why = Never, "this host keeps it to itself"
			}
		}
	}
}

// limit replaces what is too long for the host.
func (r *reader) limit() {
	limit := r.profile.ResultMaxTokens
	text := r.allText()
	if limit == 0 || text == "" || r.raisedLimit(text) {
		return
	}
	size := r.block.book.tokens(text)
	if size <= limit {
		return
	}
	r.Cuts = append(r.Cuts, Cut{Link: r.link(r.result.Path), Limit: limit, Unit: "tokens", Estimated: true, Size: size, Lost: text})
	r.note(NoteCut, fmt.Sprintf("~%d tokens by estimate, over this host's limit of %d: %s", size, limit, r.profile.ResultOver))
	for i := range r.Fates {
		if r.Fates[i].Verdict == Reads && !strings.HasSuffix(r.Fates[i].Path, "/isError") {
			r.Fates[i].Verdict, r.Fates[i].Why = Maybe, "by estimate too long for this host: "+r.profile.ResultOver
		}
	}
	r.missing(r.profile.ResultOver)
	r.Parts[0].Links = []Link{r.link(r.result.Path)}
}

func (r *reader) allText() string {
	var b strings.Builder
	for i := range r.Parts {
		if gjson.GetBytes(r.Parts[i].JSON, "type").Str == "text" {
			b.WriteString(r.Parts[i].Text)
		}
	}
	return b.String()
}

// raisedLimit reports that the tool's own definition allows a text of this length.
func (r *reader) raisedLimit(text string) bool {
	if r.profile.ResultMaxMeta == "" {
		return false
	}
	c := &r.block.book.line.Calls[r.block.Call]
	it, ok := r.block.book.line.Catalogue(c.Session).Find(decode.Tools, c.Tool, c.Request.Frame)
	if !ok {
		return false
	}
	allowed := wire.Root(it.Definition).At("_meta", r.profile.ResultMaxMeta)
	return allowed.Type == gjson.Number && utf8.RuneCountInString(text) <= min(int(allowed.Num), r.profile.ResultMaxMetaLimit)
}

// finish sees to what the API does not take.
func (r *reader) finish() {
	switch {
	case r.raised != "":
		r.IsError, r.Joined = true, false
		for i := range r.Fates {
			if r.Fates[i].Verdict == Reads {
				r.Fates[i].Verdict, r.Fates[i].Why = Never, "the host raises an exception on another block of this result"
			}
		}
		r.note(NoteLostError, "the host raises an exception on "+r.raised+": the whole result is lost")
		r.missing("what the caller sends after the exception that the host raises on " + r.raised)
	case len(r.Parts) == 0 && r.IsError:
		r.note(NoteLostError, "an error without a text: the model gets nothing to act on")
		r.missing("what the host says in place of an error without a text, which the API does not take")
	case len(r.Parts) == 0:
		r.note(NoteEmpty, "the result holds nothing for the model")
	}
}

// unanswered says why a call has no answer, in words that go into a mark.
func (b *Book) unanswered(call int) string {
	c := &b.line.Calls[call]
	end := b.line.Sessions[c.Session].Operation(c.Index)
	made := "; the API demands a result, so hosts make one up"
	switch {
	case c.Answer.Outcome == decode.InputRequired:
		return "the question that the server asked was not answered" + made
	case c.Answer.Outcome == decode.Cancelled:
		return "the call was cancelled" + made
	case end.Why != "":
		return "no answer: " + end.Why + made
	}
	return "no answer was recorded" + made
}
