package ui

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/jsontree"
	"github.com/mcptap/mcptap/ui/safetext"
	"github.com/mcptap/mcptap/ui/theme"
	"github.com/mcptap/mcptap/ui/vlist"
)

// mode is how a frame is shown.
type mode uint8

const (
	asTree mode = iota
	asText
	asHex
)

var modeNames = [...]string{"", "exact text", "bytes"}

// framePane shows one frame. What it shows stays until what is wanted has been read.
type framePane struct {
	env    *env
	want   int // frame that was asked for; -1 if none
	body   *feed.Body
	list   vlist.List
	mode   mode
	search string
	job    *frameJob // what takes long to do with it; nil if nothing does
	w, h   int
	ver    uint64

	verdict styled                    // why the call failed that the frame answers
	turn    string                    // why a turn of the model begins here; may hold text from the outside
	note    string                    // of the user on the frame
	never   func(pointer string) bool // tells what the model never reads; nil if that is not known
	bright  bool                      // that is not to be dimmed
	dimmed  *theme.Theme

	lead      spot // that another screen led to, as long as its frame is not there
	leadFrame int
}

// need asks for a frame unless it is there or on its way.
func (p *framePane) need(f *feed.Feed, frame, w int) tea.Cmd {
	if frame < 0 || frame == p.want {
		return p.start()
	}
	p.want, p.job = frame, nil
	return func() tea.Msg { return bodyMsg{f, f.Look(frame, textWidth(w))} }
}

// textWidth is how wide texts in the tree are broken.
func textWidth(w int) int {
	if w <= 0 {
		return 72
	}
	return max(16, w-12)
}

func (p *framePane) show(b *feed.Body) tea.Cmd {
	if b.Frame != p.want {
		return nil // the cursor has moved on
	}
	p.body, p.job = b, nil
	p.list = vlist.List{}
	p.changed()
	p.list.Go(p.opening())
	p.land()
	if b.Tree == nil || b.Account.Total() > 0 {
		return nil
	}
	return func() tea.Msg { return accountMsg{b, b.Weigh()} }
}

// openings are where the cursor is put when a frame is opened: on what it is there for.
var openings = [][]string{{"error", "message"}, {"error"}, {"result"}, {"params"}}

// opening is the row to begin with, if the first row stays in sight with it.
func (p *framePane) opening() int {
	t := p.tree()
	if t == nil {
		return 0
	}
	from, to := p.list.Range()
	for _, names := range openings {
		if row, ok := t.RowOf(names...); ok && row < to-from {
			return row
		}
	}
	return 0
}

// setNever takes what the model never reads of the frame that is shown.
func (p *framePane) setNever(never func(frame int) func(pointer string) bool) {
	p.never = nil
	if p.body != nil && never != nil {
		p.never = never(p.body.Frame)
	}
	p.dimmed = p.env.th.Dimmed()
	p.ver++
}

func (p *framePane) changed() {
	p.ver++
	p.list.SetLen(p.rows(), false)
	p.resize(p.w, p.h)
}

func (p *framePane) resize(w, h int) {
	if w <= 0 || h <= 0 {
		return
	}
	changed := w != p.w
	p.w = w
	if changed = p.rewrap() || changed; changed {
		p.ver++
		p.list.SetLen(p.rows(), false)
	}
	p.h = h
	p.list.SetHeight(h - p.footRows() - len(p.headLines(w)))
}

// headLines say above the frame what one should know before reading it.
func (p *framePane) headLines(w int) []string {
	say := p.verdict
	if p.body != nil && p.body.Missing != "" {
		say = styled{p.body.Missing, p.env.th.Warn}
	}
	if p.h < minPane {
		return nil
	}
	most := max(1, p.h/3)
	if p.note != "" {
		most--
	}
	var lines []string
	if say.text != "" {
		for _, s := range firstLines(wrapText(say.text, w-4), most, w-4) {
			lines = append(lines, draw.NewLine(w, "").Gap(1).Raw(say.style, "▌ "+s).String())
		}
	}
	if p.note != "" {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text(p.env.th.Warn, p.note).String())
	}
	room := p.h/3 - len(lines)
	if p.turn == "" || room <= 0 {
		return lines[:min(len(lines), p.h/3)]
	}
	reason := wrapText(p.turn, w-4)
	if len(reason) > room {
		reason = []string{draw.Safe(p.turn, w-4)}
	}
	for _, s := range reason {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Raw(p.env.th.Faint, "╷ "+s).String())
	}
	return lines
}

// firstLines are the first lines of a text, with a mark if there are more.
func firstLines(lines []string, most, w int) []string {
	if len(lines) <= most || most <= 0 {
		return lines[:min(len(lines), max(0, most))]
	}
	return append(slices.Clone(lines[:most-1]), draw.Cut(lines[most-1]+"…", w))
}

// tree is the frame as a tree; nil if it is not shown as one.
func (p *framePane) tree() *jsontree.Tree {
	if p.body == nil || p.mode != asTree {
		return nil
	}
	return p.body.Tree
}

func (p *framePane) rows() int {
	switch {
	case p.body == nil:
		return 0
	case p.tree() != nil:
		return p.tree().Len()
	}
	n := p.perRow()
	return (len(p.body.Bytes) + n - 1) / n
}

// perRow is how many bytes stand on a row of text or of hexadecimal.
func (p *framePane) perRow() int {
	if p.mode != asHex {
		return max(8, p.w-2)
	}
	if p.w < 78 {
		return 8
	}
	return 16
}

func (p *framePane) nextMode() {
	p.mode = (p.mode + 1) % 3
	if p.mode == asTree && p.body != nil && p.body.Tree == nil {
		p.mode = asText
	}
	p.list, p.job = vlist.List{}, nil
	p.changed()
}

func (p *framePane) do(id string) bool {
	t := p.tree()
	row := p.list.Cursor()
	switch {
	case moveList(&p.list, id):
		return true
	case t == nil:
		return false
	}
	if open := id == "unfold" || id == "open"; open && t.LongOpen(row) || id == "unfold-all" && t.LongAll() {
		p.later(id, row)
		return true
	}
	if id == "fold" && !t.IsOpen(row) {
		p.list.Go(t.Parent(row))
		return true
	}
	if id == "unfold" && t.IsOpen(row) {
		p.list.Move(1)
		return true
	}
	switch id {
	case "unfold":
		t.Open(row)
	case "fold":
		t.Close(row)
	case "open":
		if !t.Open(row) {
			row = t.Close(row)
		}
	case "unfold-all":
		t.OpenAll()
	case "fold-all":
		t.CloseAll()
	default:
		return false
	}
	p.job = nil
	rows := p.list.Len()
	p.changed()
	p.list.Go(row)
	if id == "open" || id == "unfold" {
		p.list.Reveal(row + p.list.Len() - rows) // what was opened
	}
	return true
}

// find goes to the next row that has a text.
func (p *framePane) find(text string) tea.Cmd {
	p.search = text
	p.ver++
	if p.body == nil || text == "" {
		return nil
	}
	if len(p.body.Bytes) > shortFind {
		p.later("find", p.list.Cursor())
		return nil
	}
	p.job = nil
	if t := p.tree(); t != nil {
		row, ok := t.Find(text, p.list.Cursor())
		return p.found(text, row, ok)
	}
	at := findBytes(p.body.Bytes, text, p.afterCursor())
	return p.found(text, at/p.perRow(), at >= 0)
}

// shortFind is how many bytes are searched at once, while somebody waits.
const shortFind = 256 << 10

func (p *framePane) found(text string, row int, ok bool) tea.Cmd {
	if !ok {
		return send(noteMsg{"the frame has no " + strconv.Quote(safetext.Line(text)), false})
	}
	p.changed()
	p.list.Go(row)
	return nil
}

// afterCursor is where the row after the cursor's begins, of bytes that are no tree.
func (p *framePane) afterCursor() int {
	return min(len(p.body.Bytes), (p.list.Cursor()+1)*p.perRow())
}

// findBytes is where a text stands next, from a byte on and then from the beginning; -1 if
// nowhere.
func findBytes(b []byte, text string, from int) int {
	if at := bytes.Index(b[from:], []byte(text)); at >= 0 {
		return from + at
	}
	return bytes.Index(b, []byte(text))
}

func (p *framePane) path() string {
	if t := p.tree(); t != nil && t.Len() > 0 {
		return t.Path(p.list.Cursor())
	}
	return ""
}

// title says which frame is shown, and what it is.
func (p *framePane) title(f *feed.Feed) (name, rest string) {
	if p.body == nil {
		return "frame", ""
	}
	i := p.body.Info
	name = "frame " + strconv.FormatUint(i.N, 10)
	if p.body.Missing != "" {
		return name, "not all there"
	}
	parts := []string{kindWord(&i)}
	if i.Call >= 0 {
		c := f.Call(i.Call)
		switch p.body.Frame {
		case c.Request:
			parts[0] = "request " + c.Method + " " + c.Name
		case c.Response:
			parts[0] = parts[0] + " of " + c.Method + " " + c.Name
		}
	}
	parts = append(parts, size(i.Size)+" B")
	if modeNames[p.mode] != "" {
		parts = append(parts, modeNames[p.mode])
	}
	if p.job != nil {
		parts = append(parts, jobWords[p.job.id])
	}
	parts[0] = strings.TrimSpace(parts[0])
	return name, strings.Join(parts, " · ")
}

func kindWord(f *decode.Frame) string {
	switch f.Kind {
	case decode.Notification, decode.Request:
		return string(f.Kind) + " " + f.Method
	case decode.Stray:
		return "no message: " + string(f.Stray)
	case decode.Malformed:
		return "no JSON-RPC message"
	case decode.Log:
		return "standard error"
	}
	return string(f.Kind)
}

// footRows is how many lines below the frame tell about it.
func (p *framePane) footRows() int {
	if p.h >= 8 {
		return 2
	}
	return 0
}

func (p *framePane) view(w, h int, focus bool) []string {
	p.resize(w, h)
	th := p.env.th
	if p.body == nil {
		words := ""
		if p.want >= 0 {
			words = "reading…"
		}
		return draw.Fill([]string{draw.NewLine(w, "").Gap(1).Raw(th.Dim, words).String()}, w, h)
	}
	lit := litRest
	if focus {
		lit = litFocus
	}
	head := p.headLines(w)
	rows := h - p.footRows() - len(head)
	version := p.ver<<8 | uint64(th.Version)
	lines := p.list.Rows(w, func(int) uint64 { return version }, lit, func(i int, lit uint8) string {
		return p.draw(i, w, base(th, lit))
	})
	lines = slices.Concat(head, draw.Fill(lines, w, rows))
	if p.footRows() > 0 {
		lines = append(lines, p.bar(w), p.pathLine(w))
	}
	return lines
}

func (p *framePane) draw(i, w int, base draw.Style) string {
	if t := p.tree(); t != nil {
		th := p.env.th
		if p.never != nil && !p.bright && p.never(t.Pointer(i)) {
			th = p.dimmed
		}
		return draw.NewLine(1, base).String() + draw.Mark(t.Draw(i, w-1, th, base), p.search, th.Match)
	}
	l := draw.NewLine(w, base).Gap(1)
	if p.mode == asHex {
		return l.Raw("", jsontree.HexRow(p.body.Bytes, i, p.perRow())).String()
	}
	return draw.Mark(l.Text("", string(textRow(p.body.Bytes, i, p.perRow()))).String(), p.search, p.env.th.Match)
}

// textRow is one row of a text that is cut every n bytes, but not within a character.
func textRow(b []byte, row, n int) []byte {
	edge := func(i int) int {
		i = min(i, len(b))
		for j := i; j < len(b) && j < i+utf8.UTFMax; j++ {
			if utf8.RuneStart(b[j]) {
				return j
			}
		}
		return i
	}
	return b[edge(row*n):edge(row*n+n)]
}

// bar shows what the bytes of the frame are spent on.
func (p *framePane) bar(w int) string {
	var parts []portion
	for _, part := range byShare(&p.body.Account) {
		n := p.body.Account[part]
		parts = append(parts, portion{int(part) % len(p.env.th.Parts), part.String(), float64(n), size(n)})
	}
	return barLine(p.env.th, w, parts, func(n float64) string { return size(int64(n)) })
}

func (p *framePane) pathLine(w int) string {
	th := p.env.th
	l := draw.NewLine(w, "").Gap(1)
	if path := p.path(); path != "" {
		l.Raw(th.Faint, "path ").Text(th.Dim, path)
	}
	return l.String()
}
