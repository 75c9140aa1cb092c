package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/theme"
)

// How the cursor's row stands out.
const (
	unlit uint8 = iota
	litFocus
	litRest
)

func base(th *theme.Theme, lit uint8) draw.Style {
	switch lit {
	case litFocus:
		return th.Selected
	case litRest:
		return th.Resting
	}
	return ""
}

// view draws the rows in sight.
func (c *calls) view(w, h int, focus bool) []string {
	c.list.SetHeight(h)
	if c.count() == 0 {
		return draw.Fill([]string{draw.Blank(w), draw.NewLine(w, "").Gap(2).Raw(c.env.th.Dim, c.emptyWords()).String()}, w, h)
	}
	lit := litRest
	if focus {
		lit = litFocus
	}
	version := c.version<<8 | uint64(c.env.th.Version)
	lines := c.list.Rows(w, func(int) uint64 { return version }, lit, func(i int, lit uint8) string { return c.draw(i, w, base(c.env.th, lit)) })
	return draw.Fill(lines, w, h)
}

// head is the line above the rows: the pane's title, and the names of the columns
// at the right.
func (c *calls) head(w int, title draw.Style) string {
	th := c.env.th
	r := rowDrawer{c: c, th: th, w: w}
	tail := r.tail()
	left := rule(th, w-tail, title, c.title(), c.titleRest())
	names := draw.NewLine(tail, "").Raw(th.Line, "─────").Raw(th.Faint, " ms")
	if w >= bytesFrom {
		names.Gap(1).Raw(th.Faint, " bytes")
	}
	names.Gap(1)
	return left + names.Raw(th.Line, strings.Repeat("─", names.Left())).String()
}

func (c *calls) emptyWords() string {
	if c.matcher != nil {
		if c.upto < c.all() {
			return "looking…"
		}
		return "the filter selects nothing; / changes it, esc takes it away"
	}
	return "nothing has crossed yet"
}

func (c *calls) draw(i, w int, base draw.Style) string {
	it, ok := c.item(i)
	if !ok {
		return draw.Blank(w)
	}
	if it.turn != nil {
		return c.turnLine(it.turn, w)
	}
	r := rowDrawer{c: c, th: c.env.th, l: draw.NewLine(w, base), w: w}
	switch {
	case it.part != nil:
		r.part(it.part)
	case it.row.Call() >= 0:
		r.operation(it)
	default:
		r.frame(it.row.Frame())
	}
	return r.l.String()
}

// rowDrawer draws one row. The columns at the right, how long, how much and how it
// ended, keep their place; the middle takes what is left.
type rowDrawer struct {
	c      *calls
	th     *theme.Theme
	l      *draw.Line
	w      int
	marked bool // one of its frames is
}

// Widths at which columns are left out, the least important first.
const (
	bytesFrom = 46
	timeFrom  = 34
	wordFrom  = 72
	callFrom  = 110 // the words tools/call before a tool

	wordCells = 9 // of the longest word for how a call ended
)

func (r *rowDrawer) tail() int {
	n := 1 + 8 + 2 // milliseconds, sign
	if r.w >= bytesFrom {
		n += 7
	}
	if r.w >= wordFrom {
		n += 1 + wordCells
	}
	return n
}

// start draws the sign of folding, the time and the direction.
func (r *rowDrawer) start(fold string, t time.Duration, d tap.Dir) {
	if r.marked {
		r.l.Raw(r.th.Warn, "★")
	}
	r.l.To(1).Raw(r.th.Dim, fold)
	if r.w >= timeFrom {
		r.l.Raw(r.th.Dim, draw.Cell(seconds(t), r.c.timeCells(), true)).Gap(1)
	}
	style := r.th.Client
	if d == tap.S2C {
		style = r.th.Server
	}
	r.l.Raw(style, feed.Arrow(d)).Gap(1)
}

// timeCells is how wide the column of times is: as the longest time of the session, up to
// a day.
func (c *calls) timeCells() int { return min(len(seconds(c.feed.Density.Last())), 9) }

// middle puts pieces as far as there is room before the tail.
func (r *rowDrawer) middle(pieces ...styled) {
	end := r.w - r.tail()
	for _, p := range pieces {
		if room := end - r.l.Used(); p.text != "" && room > 0 {
			r.l.Within(p.style, p.text, room).Gap(min(1, end-r.l.Used()))
		}
	}
}

// name puts what is called: of one that is too long, its beginning and the hash that the
// index tells it from others by. A long one leaves room for what it is about.
func (r *rowDrawer) name(n styled) {
	room := r.w - r.tail() - r.l.Used()
	if draw.Width(draw.Safe(n.text, room)) > room*3/5 {
		room = max(leastName, room*3/5)
	}
	if beginning, hash := splitLong(n.text); hash != "" && room > draw.Width(hash) {
		n.text = draw.Safe(beginning, room-draw.Width(hash)) + hash
	}
	r.middle(styled{draw.Safe(n.text, room), n.style})
}

const leastName = 18

// splitLong parts a name that the index has cut into its beginning and the hash.
func splitLong(name string) (beginning, hash string) {
	at := strings.LastIndex(name, "#")
	if at < 0 || !decode.Shortened(name) {
		return name, ""
	}
	return name[:at], name[at:]
}

// aboutGap is between what a call asked with and why it failed.
const aboutGap = 2

// about puts what a call asked with, and after it why it failed: that is what the row is
// there for then, so the arguments get two fifths of the room, or what the reason leaves.
func (r *rowDrawer) about(d feed.Detail, why draw.Style) {
	room := r.w - r.tail() - r.l.Used() - 1
	if d.Why == "" {
		r.middle(styled{d.Gist, r.th.Dim})
		return
	}
	if asked := max(room*2/5, room-aboutGap-draw.Width(draw.Safe(d.Why, room))); d.Gist != "" && asked >= leastAsked {
		r.l.Within(r.th.Dim, d.Gist, asked).Gap(aboutGap)
	}
	r.middle(styled{d.Why, why})
}

// leastAsked is how many cells of arguments are worth having beside a reason.
const leastAsked = 6

func (r *rowDrawer) end(took string, bytes int64, style draw.Style, sign, word string) {
	r.l.Pin(r.w - r.tail())
	r.l.Raw(r.th.Dim, draw.Cell(took, 8, true))
	if r.w >= bytesFrom {
		r.l.Raw(r.th.Dim, draw.Cell(size(bytes), 7, true))
	}
	r.l.Gap(1).Raw(style, sign)
	if r.w >= wordFrom {
		r.l.Gap(1).Raw(style, draw.Cell(word, wordCells, false))
	}
}

func (r *rowDrawer) operation(it item) {
	f, th := r.c.feed, r.th
	o := f.Operation(it.row.Call())
	first := f.Call(o.Legs[0].Call)
	r.marked = r.c.isMarked(&o)
	r.start(r.fold(it, &o), o.Start, o.Dir)
	d := r.c.details[detailKey{it.row, o.Outcome}]
	name := styled{o.Name, th.Strong}
	method := styled{o.Method, ""}
	if o.Name != "" {
		method.style = th.Dim
		if r.w < callFrom && o.Method == "tools/call" {
			method.text = ""
		}
	}
	r.middle(method)
	r.name(name)
	d.Why = strings.TrimPrefix(d.Why, "Error executing tool "+o.Name+": ") // an SDK's, and said by the row already
	r.about(d, outcomeStyle(th, o.Outcome))
	c2s, s2c := report.Bytes(f.Session, &o)
	sign := signOf(o.Outcome)
	if first.Listen {
		sign = outcomeSign{sign: "≈", row: "listen"}
	}
	r.end(r.took(&o, &first), c2s+s2c, outcomeStyle(th, o.Outcome), sign.sign, sign.row)
}

// fold tells whether an operation has more to show than a request and a response.
func (r *rowDrawer) fold(it item, o *decode.Operation) string {
	for _, u := range r.c.unfolded {
		if u.base == it.base {
			return "▾ "
		}
	}
	if len(o.Legs) > 1 || len(o.Legs[0].Frames) > 2 {
		return "▸ "
	}
	return "  "
}

// took is how long an operation took; of an open one in a live session, how long it
// has been going on.
func (r *rowDrawer) took(o *decode.Operation, first *decode.Call) string {
	switch {
	case first.Listen:
		return ""
	case o.End > 0:
		return millis(o.End - o.Start)
	case o.Outcome == decode.Open && r.c.since != nil:
		if d := r.c.since() - o.Start; d > 0 {
			return millis(d.Truncate(100 * time.Millisecond))
		}
	}
	return ""
}

// part draws a frame of an unfolded operation.
func (r *rowDrawer) part(p *feed.Part) {
	f := r.c.feed.Frame(p.Frame)
	r.marked = r.c.frameMarked(p.Frame)
	r.start("  ", f.Time, f.Dir)
	r.l.Gap(2)
	gist := r.c.details[detailKey{row: feed.FrameRow(p.Frame)}].Gist
	r.middle(styled{p.Role, ""}, styled{f.Method, r.th.Dim}, styled{gist, r.th.Dim})
	r.end("", f.Size, "", "", "")
}

// frame draws a frame as a row of its own.
func (r *rowDrawer) frame(i int) {
	th := r.th
	f := r.c.feed.Frame(i)
	r.marked = r.c.frameMarked(i)
	r.start("  ", f.Time, f.Dir)
	what := styled{f.Method, ""}
	var name styled
	sign, word, style, took := "", "", draw.Style(""), ""
	switch f.Kind {
	case decode.Result, decode.Error:
		what = styled{string(f.Kind), ""}
		if f.Call >= 0 {
			c := r.c.feed.Call(f.Call)
			name = styled{"of " + c.Method + " " + c.Name, th.Dim}
			s := signOf(c.Outcome)
			sign, word, style = s.sign, s.row, outcomeStyle(th, c.Outcome)
			took = millis(c.End - c.Start)
		}
	case decode.Stray, decode.Malformed:
		what = styled{kindWord(&f), th.Warn}
	case decode.Log:
		what = styled{"stderr", th.Dim}
	case decode.Batch:
		what = styled{"batch of " + strconv.Itoa(len(f.Batch)), ""}
	case decode.Request:
		if f.Call >= 0 {
			name = styled{r.c.feed.Call(f.Call).Name, th.Strong}
		}
		if name.text != "" {
			what.style = th.Dim
		}
	}
	if what.text == "" {
		what = styled{string(f.Kind), th.Dim}
	}
	if f.Orphan {
		sign, word, style = "!", "unasked", th.Warn
	}
	r.middle(what, name, styled{r.c.details[detailKey{row: feed.FrameRow(i)}].Gist, th.Dim})
	r.end(took, f.Size, style, sign, word)
}
