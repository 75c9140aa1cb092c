package cli

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/ui/safetext"
)

func itoa(n int) string { return strconv.Itoa(n) }

// requestPage prints a request for people: what is new in full, what is sent again
// in a line each.
type requestPage struct {
	*table
	book *claude.Book
	out  *bufio.Writer
}

func (a *app) requestPage(b *claude.Book) *requestPage {
	t := a.table(column{name: "", width: 0})
	return &requestPage{table: t, book: b, out: t.out}
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
		p.block(&b)
	}
	p.rest(r, changes)
	p.line(normal, 0, "")
}

// line prints one line, made safe and cut to the terminal.
func (p *requestPage) line(s style, indent int, text string) {
	text = ansi.Truncate(safetext.Line(text), max(p.width-indent, 10), "…")
	p.write(strings.Repeat(" ", indent) + p.paint(s, text) + "\n")
}

func (p *requestPage) header(r *claude.Request) {
	host, reason := p.book.Profile()
	p.line(normal, 0, fmt.Sprintf("request %d of %d   host %s (%s; confidence %s, %s)", r.Turn, p.book.Turns(), host.ID, reason, host.Confidence, host.Date))
	p.line(dim, 0, "model "+p.book.Model()+" and what is marked ░ are not on this wire")
	if len(host.Assumed) > 0 {
		p.line(dim, 0, "assumed, since nobody knows it of this host: "+strings.Join(host.Assumed, ", "))
	}
	if r.Turn == 0 {
		return
	}
	t := &p.book.Timeline().Turns[r.Turn-1]
	s := dim
	if t.Reason.Strength == "unknown" {
		s = yellow
	}
	p.line(s, 0, fmt.Sprintf("turn %d is one of its own by %s (%s): %s", r.Turn, t.Reason.Rule, t.Reason.Strength, t.Reason.Words))
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

func (p *requestPage) block(b *claude.Placed) {
	state, s := "sent again", dim
	if b.New {
		state, s = "new", normal
	}
	if b.Placeholder != "" && b.Kind != claude.ToolUse && b.Kind != claude.ToolResult {
		p.line(dim, 2, "░ "+b.Placeholder)
	} else {
		p.line(s, 2, fmt.Sprintf("%s  %s  %d bytes%s", p.label(b), state, len(b.JSON()), origin(b)))
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

func (p *requestPage) label(b *claude.Placed) string {
	switch b.Kind {
	case claude.Tool:
		return b.Name.Sent
	case claude.ToolUse, claude.ToolResult:
		return string(b.Kind) + " " + b.Name.Sent
	case claude.Instructions:
		return "instructions of " + b.Name.Server
	case claude.Toolset:
		return "all tools of " + b.Name.Server
	}
	return string(b.Kind)
}

// origin names the frames that a block comes from.
func origin(b *claude.Placed) string {
	var out strings.Builder
	for _, l := range b.Links() {
		fmt.Fprintf(&out, "  ← frame %d", l.N)
	}
	if b.Deferred {
		out.WriteString("  deferred")
	}
	return out.String()
}

// body prints what a new block says.
func (p *requestPage) body(b *claude.Placed) {
	switch b.Kind {
	case claude.ToolUse:
		p.text(string(b.Input()))
	case claude.ToolResult:
		p.result(b.Content())
	case claude.Instructions, claude.DeferredNames:
		p.text(b.Text())
	case claude.Tool:
		for _, c := range b.Cuts() {
			p.line(dim, 4, fmt.Sprintf("lost: %s", c.Lost))
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
			continue
		}
		p.text(part.Text)
	}
	for _, n := range c.Notes {
		p.line(yellow, 4, "! "+n.Words)
	}
}

// text prints the first lines of a text.
func (p *requestPage) text(s string) {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		if i == maxTextLines {
			p.line(dim, 4, fmt.Sprintf("… %d more lines", len(lines)-i))
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
			p.line(yellow, 0, "gone: "+string(t.Kind)+" "+t.Name.Sent)
		}
		if c.Reordered {
			p.line(yellow, 0, "the tools stand in another order: to a cache that is another prefix")
		}
		p.line(dim, 0, plural(c.Resent, "block")+" sent again")
	}
	for _, t := range r.LeftOut {
		p.line(yellow, 0, "left out: "+t.Name.Tool+": "+lastNote(t))
	}
	line := p.book.Timeline()
	for i := range line.Apart {
		a := &line.Apart[i]
		p.line(dim, 0, fmt.Sprintf("not the model's: %s, frame %d: %s", a.Tool, line.Number(a.Request), a.Reason))
	}
}
