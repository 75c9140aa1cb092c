package jsontree

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/syntax"
	"github.com/mcptap/mcptap/ui/theme"
)

// Draw draws a row in width cells.
func (t *Tree) Draw(row, width int, th *theme.Theme, base draw.Style) string {
	l := draw.NewLine(width, base)
	r := t.locate(row)
	switch {
	case r.n == nil:
		t.drawValue(l, th, t.text, child{from: t.root.from, to: t.root.to, kind: kindOf(t.text, t.root.from)}, nil)
	case r.n.form == lines:
		indent(l, th, r.n)
		l.Raw(th.Punct, "│ ")
		drawText(l, th, r.n, r.i)
	case r.n.form == dump:
		indent(l, th, r.n)
		l.Raw(th.Punct, "│ ").Raw(th.Dim, Hex(r.n.src, r.i))
	default:
		t.drawChild(l, th, r)
	}
	return l.String()
}

// drawText draws the i-th line of a text, in the colours of its language.
func drawText(l *draw.Line, th *theme.Theme, n *node, i int) {
	if n.code == nil {
		n.code = syntax.New(syntax.Guess(n.src), n.src)
	}
	from, to := n.extent(i)
	spans := n.code.Spans(from, to)
	if len(spans) == 0 {
		l.Text("", n.line(i))
		return
	}
	for i, s := range spans {
		end := to
		if i+1 < len(spans) {
			end = spans[i+1].From
		}
		l.Text(th.Token(s.Kind), untab(n.src[max(s.From, from):end]))
	}
}

func (t *Tree) drawChild(l *draw.Line, th *theme.Theme, r ref) {
	c := r.n.child(r.i)
	indent(l, th, r.n)
	l.Raw(th.Dim, t.fold(r.n, &c, r.open))
	if r.n.object {
		key, _ := start(r.n.src[c.key:c.keyEnd], 4*l.Left()+16)
		l.Raw(th.Key, draw.Safe(key, max(8, l.Left()/2)))
	} else {
		l.Raw(th.Punct, strconv.Itoa(r.i))
	}
	l.Gap(1)
	t.drawValue(l, th, r.n.src, c, r.open)
}

// fold is the sign before a row: open, closed, or nothing to open.
func (t *Tree) fold(n *node, c *child, open *node) string {
	switch {
	case open != nil:
		return "▾ "
	case (c.kind == Object || c.kind == Array) && c.to-c.from > 2 && !empty(n.src, c), c.kind == String && t.foldable(n.src[c.from:c.to]):
		return "▸ "
	}
	return "  "
}

func empty(b []byte, c *child) bool {
	_, ok := upTo(b[:c.to], c.from+1)
	return !ok
}

// Depth shows by indentation as far as there is room for it, and by a number beyond.
func indent(l *draw.Line, th *theme.Theme, n *node) {
	depth := 0
	for p := n; p.parent != nil; p = p.parent {
		depth++
	}
	cells := 2 * depth
	if room := l.Left() / 3; cells > room {
		mark := "⋯" + strconv.Itoa(depth) + " "
		l.Gap(max(0, room-len(mark))).Raw(th.Faint, mark)
		return
	}
	l.Gap(cells)
}

func (t *Tree) drawValue(l *draw.Line, th *theme.Theme, src []byte, c child, open *node) {
	raw := src[c.from:c.to]
	switch c.kind {
	case Object, Array:
		t.drawContainer(l, th, raw, c.kind, open)
	case String:
		t.drawString(l, th, raw, open)
	case Number:
		l.Text(th.Number, string(raw[:min(len(raw), 256)]))
	case Word:
		l.Text(th.Word, string(raw[:min(len(raw), 256)]))
	default:
		l.Text(th.Bad, string(raw[:min(len(raw), 256)]))
	}
}

func (t *Tree) drawContainer(l *draw.Line, th *theme.Theme, raw []byte, k Kind, open *node) {
	brackets := map[Kind]string{Object: "{}", Array: "[]"}[k]
	switch {
	case open != nil:
		l.Raw(th.Punct, brackets[:1]+strconv.Itoa(open.kids.n)+brackets[1:])
		return
	case t.limited && !empty(raw, &child{to: len(raw)}):
		l.Raw(th.Punct, brackets[:1]+t.once(raw, func() string { return within(raw, k) })+brackets[1:]).Raw(th.Dim, " enter shows more")
		return
	}
	l.Text(th.Dim, string(raw[:min(len(raw), 4*l.Left()+16)])) // closed: what it begins with
}

// within says how much there is in a closed object or array.
func within(raw []byte, k Kind) string {
	if len(raw) > maxCounted {
		return "…"
	}
	x := indexOf(raw, 0, len(raw), k == Object)
	if k == Object {
		return plural(x.n, "member")
	}
	return plural(x.n, "item")
}

// maxCounted is up to how many bytes the members of a closed value are counted to draw
// its row.
const maxCounted = 2 << 20

func (t *Tree) drawString(l *draw.Line, th *theme.Theme, raw []byte, open *node) {
	switch {
	case open != nil && open.form == members:
		l.Raw(th.Punct, "JSON in a string, "+strconv.Itoa(open.kids.n))
	case open != nil && open.form == lines:
		l.Raw(th.Punct, "text, "+plural(open.ends+1, "line"))
	case looks64(raw):
		l.Raw(th.Word, t.once(raw, func() string { return describe64(raw) }))
	default:
		s, whole := start(raw, 4*l.Left()+16)
		if whole {
			s += `"`
		}
		l.Text(th.String, `"`+s)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Path is where the value of a row stands, in gjson's syntax. Values within a string
// are reached by its modifier @fromstr.
func (t *Tree) Path(row int) string {
	r := t.locate(row)
	if r.n == nil {
		return "@this"
	}
	var parts []string
	n, i := r.n, r.i
	if n.form != members { // a line of a text: the text
		n, i = n.parent, n.at
	}
	for ; n != nil; n, i = n.parent, n.at {
		parts = append(parts, n.name(i))
		if n.inner {
			parts = append(parts, "@fromstr")
		}
	}
	for a, b := 0, len(parts)-1; a < b; a, b = a+1, b-1 {
		parts[a], parts[b] = parts[b], parts[a]
	}
	return strings.Join(parts, ".")
}

// Pointer is where the value of a row stands, as a JSON pointer (RFC 6901). What is
// within a string has the string's.
func (t *Tree) Pointer(row int) string {
	r := t.locate(row)
	if r.n == nil {
		return ""
	}
	pointer := ""
	n, i := r.n, r.i
	if n.form != members {
		n, i = n.parent, n.at
	}
	for ; n != nil; n, i = n.parent, n.at {
		name := strconv.Itoa(i)
		if n.object {
			c := n.child(i)
			name = pointerEscapes.Replace(unquote(n.src[c.key:c.keyEnd]))
		}
		pointer = "/" + name + pointer
		if n.inner {
			pointer = ""
		}
	}
	return pointer
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func (n *node) name(i int) string {
	if !n.object {
		return strconv.Itoa(i)
	}
	c := n.child(i)
	return gjson.Escape(unquote(n.src[c.key:c.keyEnd]))
}

// Value is the JSON text of a row's value, exactly as it stands; of a line of text,
// the line.
func (t *Tree) Value(row int) []byte {
	r := t.locate(row)
	switch {
	case r.n == nil:
		return t.text[t.root.from:t.root.to]
	case r.n.form == lines:
		return []byte(r.n.line(r.i))
	case r.n.form == dump:
		return r.n.src
	}
	c := r.n.child(r.i)
	return r.n.src[c.from:c.to]
}
