package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/tokens"
)

func itoa(n int) string { return strconv.Itoa(n) }

// requestPage prints a request for people: what is new in full, what is sent again
// in a line each.
type requestPage struct {
	*table
	book  *claude.Book
	meter *ledger.Meter
	error tokens.Tolerance // of its estimates
	out   *bufio.Writer
}

func (a *app) requestPage(r *reading) *requestPage {
	t := a.table(column{name: "", width: 0})
	return &requestPage{table: t, book: r.book, meter: r.meter, error: r.table.Tolerance, out: t.out}
}

// maxTextLines is how many lines of one text are shown.
const maxTextLines = 12

func (p *requestPage) request(r *claude.Request, changes bool) {
	p.header(r)
	var at claude.Section
	role := ""
	for b := range r.All() {
		if changes && !b.New {
			continue
		}
		if b.Section != at || b.Role != role {
			at, role = b.Section, b.Role
			p.title(r, at, role)
		}
		p.block(r, &b)
	}
	p.rest(r, changes)
	p.line(normal, 0, "")
}

// line prints a line, made safe and broken where the terminal ends.
func (p *requestPage) line(s style, indent int, text string) {
	for _, l := range p.broken(text, indent) {
		p.write(strings.Repeat(" ", indent) + p.paint(s, l) + "\n")
	}
}

func (p *requestPage) broken(text string, indent int) []string {
	return wrap(text, p.width-indent)
}

func (p *requestPage) header(r *claude.Request) {
	host, reason := p.book.Profile()
	p.line(normal, 0, fmt.Sprintf("request %d of %d   host %s (%s; confidence %s, %s)", r.Turn, p.book.Turns(), host.ID, reason, host.Confidence, host.Date))
	p.line(dim, 0, "model "+p.book.Model()+" and what is marked ░ are not on this wire")
	if len(host.Assumed) > 0 {
		p.line(dim, 0, "assumed, since nobody knows it of this host: "+strings.Join(host.Assumed, ", "))
	}
	p.weight(r)
	if r.Turn == 0 {
		return
	}
	p.grouping(r.Turn)
}

// weight says how many tokens of the request are known.
func (p *requestPage) weight(r *claude.Request) {
	s := p.meter.Request(r)
	p.line(normal, 0, fmt.Sprintf("at least %s tokens: preamble %s, tools %s, system %s, messages %s", s.Total, s.Preamble.Short(), s.Tools.Short(), s.System.Short(), s.Messages.Short()))
	p.line(dim, 0, estimateWords(p.meter, p.error))
	if s.Images > 0 {
		p.line(dim, 0, "not in it: "+itoa(s.Images)+" (images, PDF documents), which take tokens by their size in pixels")
	}
}

// estimateWords says what ~ means.
func estimateWords(m *ledger.Meter, t tokens.Tolerance) string {
	return fmt.Sprintf("~ is an estimate for %s, not made with Claude's tokenizer: as a rule within %.0f%% for a list of tools, %.0f%% for one text", m.Estimator().Model().ID, t.List*100, t.Text*100)
}

// grouping says why the calls of a turn are apart from those before, and together.
func (p *requestPage) grouping(turn int) {
	line := p.book.Timeline()
	t := &line.Turns[turn-1]
	if t.Reason.Rule != replay.RuleFirst {
		p.reason(fmt.Sprintf("turn %d is not part of turn %d", turn, turn-1), t.Reason)
	}
	for _, c := range t.Calls[1:min(len(t.Calls), 4)] {
		call := &line.Calls[c]
		p.reason(claude.Shown(call.Tool)+" is of the same turn", call.Join)
	}
	if more := len(t.Calls) - 4; more > 0 {
		p.line(dim, 0, fmt.Sprintf("and %d more calls; --links says why", more))
	}
}

func (p *requestPage) reason(what string, r replay.Reason) {
	s := dim
	if r.Strength == replay.Unknown {
		s = yellow
	}
	p.line(s, 0, fmt.Sprintf("%s (%s, %s): %s", what, r.Rule, r.Strength, r.Words))
}

func (p *requestPage) title(r *claude.Request, s claude.Section, role string) {
	title := string(s)
	if role != "" {
		title = role
	}
	if s == claude.Tools {
		title += "  " + itoa(len(r.Tools))
	}
	p.line(normal, 0, "")
	p.line(normal, 0, title)
}

func (p *requestPage) block(r *claude.Request, b *claude.Placed) {
	state, s := "sent again", dim
	if b.New {
		state, s = "new", normal
	}
	if b.Placeholder != "" && b.Kind != claude.ToolUse && b.Kind != claude.ToolResult {
		p.line(dim, 2, "░ "+b.Placeholder)
	} else {
		p.line(s, 2, fmt.Sprintf("%s  %s  %s%s", p.label(b), state, size(b), p.tokens(b)+p.origin(b)+loading(r, b)))
	}
	if b.New {
		p.body(b)
	}
	for _, n := range b.Notes {
		if n.Kind != claude.NoteDeferred {
			p.line(yellow, 4, "! "+n.Words)
		}
	}
}

// size is a block's length, with a sign that it is a guess where something of the
// block is not known.
func size(b *claude.Placed) string {
	n := strconv.Itoa(len(b.JSON())) + " bytes"
	if !b.Exact() {
		return "~" + n
	}
	return n
}

// tokens is what a block adds to each request that has it.
func (p *requestPage) tokens(b *claude.Placed) string {
	if w := p.meter.Block(b.Block); !w.Tokens.IsZero() {
		return "  " + w.Tokens.Short() + " tokens"
	}
	return ""
}

func (p *requestPage) label(b *claude.Placed) string {
	switch b.Kind {
	case claude.Tool:
		return claude.Shown(b.Name.Sent)
	case claude.ToolUse, claude.ToolResult:
		return string(b.Kind) + " " + claude.Shown(b.Name.Sent)
	case claude.Instructions:
		return "instructions of " + claude.Shown(b.Name.Server)
	case claude.Toolset:
		return "all tools of " + claude.Shown(b.Name.Server)
	}
	return string(b.Kind)
}

// origin names the frames that a block comes from.
func (p *requestPage) origin(b *claude.Placed) string {
	var out strings.Builder
	for _, l := range b.Links() {
		out.WriteString("  ← " + p.book.Timeline().Label(l.Ref))
	}
	return out.String()
}

// loading says what the model has of a definition that it has to search for.
func loading(r *claude.Request, b *claude.Placed) string {
	switch {
	case !b.Deferred:
		return ""
	case b.Loaded >= 0 && b.Loaded <= r.Turn:
		return "  loaded by a search"
	}
	return "  deferred"
}

// body prints what a new block says.
func (p *requestPage) body(b *claude.Placed) {
	switch b.Kind {
	case claude.ToolUse:
		p.text(string(b.Input()))
	case claude.ToolResult:
		p.result(b.Content())
		p.unread(b)
	case claude.Instructions, claude.DeferredNames:
		p.text(b.Text())
	case claude.Tool:
		for _, c := range b.Cuts() {
			p.text("lost: " + c.Lost)
		}
	}
}

func (p *requestPage) result(c *claude.Content) {
	if c.IsError {
		p.line(red, 4, "is_error")
	}
	for i := range c.Parts {
		part := &c.Parts[i]
		if part.Placeholder != "" {
			p.line(dim, 4, "░ "+part.Placeholder)
		}
		if media := mediaWords(part); media != "" {
			p.line(normal, 4, media)
		} else if known := part.Known(); known != "" {
			p.text(known)
		}
	}
	for _, n := range c.Notes {
		p.line(yellow, 4, "! "+n.Words)
	}
}

// shownUnread is how many members are named that the model does not read.
const shownUnread = 8

// unread names what of an answer the model never reads.
func (p *requestPage) unread(b *claude.Placed) {
	for _, l := range b.Links() {
		s := p.book.Timeline().Sessions[l.Ref.Session]
		names, _ := neverRead(p.book.Reach(l.Ref), gjson.ParseBytes(s.Body(l.Ref.Frame)), "")
		if len(names) > 0 {
			p.line(dim, 4, "never read: "+some(names, shownUnread))
		}
	}
}

// neverRead names the members of a value that the model never reads, one for all within
// it if it reads none of them: all is true then.
func neverRead(r *claude.Reach, v gjson.Result, path string) (names []string, all bool) {
	if !slices.ContainsFunc(r.Parts, func(f claude.Fate) bool { return strings.HasPrefix(f.Path, path+"/") }) {
		if r.At(path).Verdict != claude.Never {
			return nil, false
		}
		return []string{strings.TrimPrefix(path, "/")}, true
	}
	all = true
	n := -1
	v.ForEach(func(key, in gjson.Result) bool {
		n++
		name := itoa(n)
		if v.IsObject() {
			name = pointer.Replace(key.String())
		}
		more, whole := neverRead(r, in, path+"/"+name)
		names, all = append(names, more...), all && whole
		return true
	})
	if all && path != "" {
		return []string{strings.TrimPrefix(path, "/")}, true
	}
	return names, all
}

// pointer writes a member's name as JSON pointers do.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// mediaWords says what a part is that people can't read; "" for a text.
func mediaWords(part *claude.Part) string {
	b := gjson.ParseBytes(part.JSON)
	data := b.Get("source.data").String()
	if data == "" || b.Get("source.type").String() != "base64" {
		return ""
	}
	return fmt.Sprintf("%s, %s, %s of base64", b.Get("type").String(), claude.Shown(b.Get("source.media_type").String()), bytesWords(len(data)))
}

// text prints the first lines of a text.
func (p *requestPage) text(s string) {
	var lines []string
	for l := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		if len(lines) <= maxTextLines {
			lines = append(lines, p.broken(l[:min(len(l), 16<<10)], 4)...)
		}
	}
	for i, l := range lines {
		if i == maxTextLines {
			p.line(dim, 4, fmt.Sprintf("… of %d bytes; piped, all is printed", len(s)))
			return
		}
		p.line(normal, 4, l)
	}
}

// rest prints what is not in the request: what is gone, left out, and not the
// model's.
func (p *requestPage) rest(r *claude.Request, changes bool) {
	if changes {
		c := r.Changes()
		for _, t := range c.Gone {
			p.line(yellow, 0, "gone: "+string(t.Kind)+" "+claude.Shown(t.Name.Sent))
		}
		if c.Reordered {
			p.line(yellow, 0, "the tools stand in another order: to a cache that is another prefix")
		}
		p.line(dim, 0, plural(c.Resent, "block")+" sent again")
	}
	for _, t := range r.LeftOut {
		p.line(yellow, 0, "left out: "+leftWords(t))
	}
	for _, s := range r.Partial() {
		p.line(yellow, 0, partialWords(p.book, s))
	}
	if words := fetchedWords(p.book); words != "" {
		p.line(dim, 0, words)
	}
	for _, s := range r.Ended() {
		p.line(yellow, 0, endedWords(p.book, s, r.Turn))
	}
	line := p.book.Timeline()
	for i := range line.Apart {
		a := &line.Apart[i]
		p.line(dim, 0, fmt.Sprintf("not the model's: %s, %s: %s", claude.Shown(a.Tool), line.Label(a.Request), a.Reason))
	}
}
