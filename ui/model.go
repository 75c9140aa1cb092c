package ui

import (
	"errors"
	"strings"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/vlist"
)

// modelPane shows what the model reads at the moment of the cursor: the request that
// the host would make of it, with an estimate of its tokens. What is new in it is
// bright, what is sent again is dim, and what this wire does not tell is hatched.
type modelPane struct {
	env     *env
	path    string
	reader  *requestReader // made by the first command
	want    int            // frame that was asked for last; -1 if none
	busy    bool           // the answer is on its way
	got     *modelRequest
	list    vlist.List
	w       int // it was last asked for; 0 if it is not in sight
	number  int // cells of the longest count of tokens
	longest int // cells of the longest name of a tool
	ver     uint64
}

// modelRequest is a request as rows.
type modelRequest struct {
	frame         int
	turn, turns   int
	sessions      int // that are part of it
	profile       string
	confidence    string
	rows          []modelRow
	total, fresh  tokens.Count
	prefix        string // that all names of tools have
	here          int    // row that comes from the frame at the cursor; -1 if none does
	tools, system tokens.Count
	messages      tokens.Count
	reach         *claude.Reach // of the frame at the cursor
	err           error
}

// modelRow is a block of a request, or the heading of a part of it. Its texts may come
// from the outside.
type modelRow struct {
	head        bool
	label, text string
	name        string // of a tool, as the model reads it
	placeholder bool
	fresh       bool
	bad         bool // an error that the model reads
	count       tokens.Count
	frame       int    // it comes from; -1 if none
	path        string // of the block in the request; "" if it is none
}

func newModelPane(e *env, path string, others bool) *modelPane {
	return &modelPane{env: e, path: path, reader: &requestReader{env: e, path: path, others: others}, want: -1}
}

func (p *modelPane) need(f *feed.Feed, frame, w int) tea.Cmd {
	p.w = w
	if frame < 0 || frame == p.want || p.busy {
		return nil
	}
	p.want, p.busy = frame, true
	reader, frames := p.reader, f.Len()
	return func() tea.Msg { return modelMsg{p, reader.at(frame, frames)} }
}

func (p *modelPane) take(msg tea.Msg) {
	m, ok := msg.(modelMsg)
	if !ok || m.pane != p {
		return
	}
	p.got, p.busy = m.request, false // the cursor may be further on: then need asks again
	p.ver++
	p.number, p.longest = 0, 0
	for i := range p.got.rows {
		row := &p.got.rows[i]
		p.number = max(p.number, draw.Width(row.said()))
		p.longest = max(p.longest, min(len(row.name), draw.Width(draw.Safe(row.name, mostName))))
	}
	p.list.SetLen(len(p.got.rows), false)
	if p.got.here >= 0 {
		p.list.Go(p.got.here)
		return
	}
	p.list.Go(len(p.got.rows) - 1)
}

func (p *modelPane) title() (name, rest string) {
	name = "what the model reads"
	if p.got == nil || p.got.err != nil {
		return name, ""
	}
	rest = "· turn " + itoa(p.got.turn) + "/" + itoa(p.got.turns)
	switch {
	case p.got.sessions > 1:
		rest += " · " + plural(p.got.sessions, "session") + " together"
	case p.reader.others:
		rest += " · no other session of this host"
	}
	host := p.got.profile
	sure := ", " + p.got.confidence + " confidence"
	for _, way := range [][2]string{{name, " · as " + host + sure}, {name, " · " + host + sure}, {"the model reads", " · " + host + sure}} {
		if p.w == 0 || draw.Width(way[0]+rest+way[1])+ruleCells <= p.w {
			return way[0], rest + way[1]
		}
	}
	return name, rest + " · " + host
}

// ruleCells is what a line between panes needs besides its title.
const ruleCells = 5

// never reports for a frame whether the model never reads the member that a JSON pointer
// names; nil if that is not known.
func (p *modelPane) never(frame int) func(pointer string) bool {
	if p.got == nil || p.got.frame != frame || p.got.reach == nil {
		return nil
	}
	reach := p.got.reach
	return func(pointer string) bool { return reach.At(pointer).Verdict == claude.Never }
}

// stop gives up what the pane reads.
func (p *modelPane) stop() { go p.reader.stop() }

func (p *modelPane) do(id string) bool { return moveList(&p.list, id) }

// leads is the frame that the block under the cursor comes from; -1 if none.
func (p *modelPane) leads() int {
	if p.got == nil || p.list.Len() == 0 {
		return -1
	}
	return p.got.rows[p.list.Cursor()].frame
}

func (p *modelPane) click(line int) {
	if row, ok := p.list.At(line); ok {
		p.list.Go(row)
	}
}

func (p *modelPane) view(w, h int, focus bool) []string {
	th := p.env.th
	switch {
	case p.got == nil:
		return draw.Fill([]string{draw.NewLine(w, "").Gap(1).Raw(th.Dim, "assembling…").String()}, w, h)
	case p.got.err != nil:
		return draw.Fill([]string{draw.NewLine(w, "").Gap(1).Text(th.Bad, p.got.err.Error()).String()}, w, h)
	}
	foot := p.foot(w)
	rows := max(1, h-len(foot))
	p.list.SetHeight(rows)
	lit := litRest
	switch {
	case focus:
		lit = litFocus
	case p.got.here < 0:
		lit = unlit
	}
	version := p.ver<<8 | uint64(th.Version)
	lines := p.list.Rows(w, func(int) uint64 { return version }, lit, func(i int, lit uint8) string {
		return p.draw(&p.got.rows[i], w, base(th, lit))
	})
	return append(draw.Fill(lines, w, rows), foot[:min(len(foot), h-1)]...)
}

func (p *modelPane) draw(r *modelRow, w int, base draw.Style) string {
	th := p.env.th
	l := draw.NewLine(w, base).Gap(1)
	count, end := r.said(), w-1
	if count != "" {
		end = max(0, w-p.number-2)
	}
	style, detail := th.Dim, th.Faint
	switch {
	case r.head:
		style = th.Strong
	case r.placeholder:
		style, detail = th.Faint, th.Faint
	case r.bad:
		style, detail = th.Bad, th.Bad
	case r.fresh:
		style, detail = "", th.String
	}
	if !r.head {
		l.Gap(1)
		switch {
		case r.placeholder:
			l.Raw(th.Faint, "░")
		case r.fresh:
			l.Raw(th.Accent, "+")
		}
		l.To(4)
	}
	if r.label != "" {
		l.Within(style, r.label, max(0, end-l.Used())).Gap(1)
	}
	if r.name != "" {
		room := end - l.Used()
		if r.text != "" {
			room = max(12, room*3/5)
		}
		name := r.name
		if p.longest > w-p.number-6 { // all of them lose what they have in common
			name = shortName(name, p.got.prefix)
		}
		l.Raw(style, draw.SafeEnd(name, min(room, end-l.Used()))).Gap(1)
	}
	if r.text != "" {
		l.Within(detail, r.text, max(0, end-l.Used()))
	}
	return l.To(w-1-draw.Width(count)).Raw(th.Dim, count).String()
}

// mostName is how many cells of a name are looked at.
const mostName = 200

// commonPrefix is what hosts put before all names of tools, as "mcp__school__"; "" if they
// have none in common.
func commonPrefix(rows []modelRow) (prefix string) {
	first := true
	for i := range rows {
		name := rows[i].name
		at := strings.LastIndex(name, "__")
		switch {
		case name == "":
			continue
		case at < 0 || !first && name[:at+2] != prefix:
			return ""
		}
		prefix, first = name[:at+2], false
	}
	return prefix
}

// shortName is a name with a mark in place of its prefix.
func shortName(name, prefix string) string {
	if rest, ok := strings.CutPrefix(name, prefix); ok && prefix != "" {
		return "…__" + rest
	}
	return name
}

// said is the number of tokens as it stands in the row.
func (r *modelRow) said() string {
	if r.count.IsZero() {
		return ""
	}
	return r.count.Short()
}

// foot sums the request up.
func (p *modelPane) foot(w int) []string {
	th := p.env.th
	g := p.got
	l := draw.NewLine(w, "").Gap(1).Raw(th.Dim, "this request ").Raw(th.Strong, g.total.Short()+" tok").Gap(2)
	l.Raw(th.Accent, "+").Raw(th.Dim, " new ").Raw("", g.fresh.Short())
	words := "░ not on this wire"
	if g.here < 0 {
		words = "nothing of this frame"
	}
	if l.Left() > draw.Width(words)+2 {
		l.Gap(2).Raw(th.Faint, words)
	}
	var parts []portion
	for _, c := range []struct {
		look  int
		name  string
		count tokens.Count
	}{{1, "tools", g.tools}, {2, "system", g.system}, {3, "messages", g.messages}} {
		_, n, _ := c.count.Bounds()
		parts = append(parts, portion{c.look, c.name, n, c.count.Short()})
	}
	return []string{barLine(th, w, parts, func(float64) string { return "" }), l.String()}
}

// requestReader assembles requests out of a reading of its own of a session. Commands
// use it, one at a time.
type requestReader struct {
	env    *env
	path   string
	others bool // with the other sessions of the same host

	mu     sync.Mutex
	frames int // of the session when it was read
	*reading
	said map[*claude.Block]modelRow // of blocks, but for their place in a request
}

// stop closes the reading.
func (r *requestReader) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
}

func (r *requestReader) drop() {
	if r.reading != nil {
		r.close()
	}
	r.reading, r.said = nil, nil
}

// at gives the request after a frame. frames is how many the session has by now.
func (r *requestReader) at(frame, frames int) *modelRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading == nil || frame >= r.frames || frames > r.frames {
		r.drop()
		read, err := readBook(r.env, r.path, r.others)
		if err != nil {
			return &modelRequest{frame: frame, err: err, here: -1}
		}
		r.reading, r.frames = read, read.loaded[0].Len()
	}
	if r.frames == 0 { // its file is another one by now
		return &modelRequest{frame: frame, err: errors.New("the recording has no frames any more"), here: -1}
	}
	at := replay.Ref{Frame: min(frame, r.frames-1)}
	m := r.rows(frame, at, r.book.RequestAt(r.line.After(at)))
	m.reach = r.book.Reach(at)
	return m
}

// count is what a block takes in a request: of a tool that has to be searched for,
// nothing.
func (r *requestReader) count(b *claude.Block, turn int) tokens.Count {
	if !ledger.Held(b, turn) {
		return tokens.Count{}
	}
	return r.meter.Block(b).Tokens
}

// known reports a block of which the wire tells at least a part. Of the others there is
// a mark in the request, and nothing to count.
func known(b *claude.Block) bool {
	switch b.Kind {
	case claude.SystemPrompt, claude.UserText, claude.AssistantText:
		return b.Placeholder == ""
	}
	return true
}

// maxMessages is how many of the last blocks of messages get rows; those before are
// summed up in one.
const maxMessages = 300

// rows makes the rows of a request.
func (r *requestReader) rows(frame int, at replay.Ref, q *claude.Request) *modelRequest {
	profile, _ := r.book.Profile()
	m := &modelRequest{frame: frame, turn: q.Turn, turns: r.book.Turns(), sessions: len(r.line.Sessions), profile: profile.ID, confidence: profile.Confidence, here: -1}
	var all []claude.Placed
	for p := range q.All() {
		all = append(all, p)
	}
	messages := 0
	for i := range all {
		if all[i].Section == claude.Messages {
			messages++
		}
	}
	sum := r.meter.Request(q)
	skip, skipped := max(0, messages-maxMessages), 0
	var before tokens.Count
	section := claude.Section("")
	head := -1
	for i := range all {
		p := &all[i]
		n := r.count(p.Block, q.Turn)
		if p.New {
			m.fresh = m.fresh.Plus(n)
		}
		if p.Section == claude.Messages && skipped < skip {
			skipped++
			before = before.Plus(n)
			continue
		}
		if p.Section != section {
			section, head = p.Section, len(m.rows)
			m.rows = append(m.rows, modelRow{head: true, label: string(section), frame: -1})
			if section == claude.Tools && !sum.Preamble.IsZero() {
				m.rows[head].count = sum.Preamble
				m.rows = append(m.rows, modelRow{label: "added by the API for tools", count: sum.Preamble, frame: -1})
			}
			if around := r.meter.Estimator().Framing(len(q.Messages)); section == claude.Messages && !around.IsZero() {
				m.rows[head].count = around
				m.rows = append(m.rows, modelRow{label: "added by the API for messages", count: around, frame: -1})
			}
			if section == claude.Messages && skipped > 0 {
				m.rows = append(m.rows, modelRow{label: plural(skipped, "earlier block"), count: before, frame: -1})
			}
		}
		m.rows[head].count = m.rows[head].count.Plus(n)
		row := r.row(p)
		row.fresh, row.count, row.path = p.New, n, p.Path
		if row.frame == at.Frame && (m.here < 0 || p.Kind == claude.ToolResult) {
			m.here = len(m.rows)
		}
		m.rows = append(m.rows, row)
	}
	if section == claude.Messages {
		m.rows[head].count = m.rows[head].count.Plus(before)
	}
	m.prefix = commonPrefix(m.rows)
	m.total, m.tools, m.system, m.messages = sum.Total, sum.Tools.Plus(sum.Preamble), sum.System, sum.Messages
	return m
}

// maxSaid bounds the rows of blocks that are remembered.
const maxSaid = 4096

// row is rowOf, which is worked out once: a block's content is read anew each time.
func (r *requestReader) row(p *claude.Placed) modelRow {
	row, ok := r.said[p.Block]
	if !ok {
		if r.said == nil || len(r.said) > maxSaid {
			r.said = map[*claude.Block]modelRow{}
		}
		row = rowOf(p)
		r.said[p.Block] = row
	}
	return row
}

// rowOf says of a block what it is and how it begins.
func rowOf(p *claude.Placed) modelRow {
	row := modelRow{label: string(p.Kind), frame: -1}
	if links := p.Links(); len(links) > 0 && links[0].Session == 0 {
		row.frame = links[0].Frame
	}
	switch p.Kind {
	case claude.Tool:
		row.label, row.name = "", p.Name.Sent
		if row.placeholder = p.Placeholder != ""; row.placeholder {
			row.text = "never listed: its definition is not on this wire"
		}
		if p.Name.Tool == "" {
			row.label, row.name = "a tool without a name", ""
		}
	case claude.ToolUse:
		row.label, row.name, row.text = "calls", p.Name.Sent, cutBytes(string(p.Input()), 400)
	case claude.ToolResult:
		row.label = "result"
		c := p.Content()
		if row.bad = c.IsError; row.bad {
			row.label = "error"
		}
		if row.placeholder = c.Placeholder != ""; row.placeholder {
			row.text = c.Placeholder
		} else if len(c.Parts) > 0 {
			row.text = cutBytes(c.Parts[0].Text, 400)
			if row.text == "" {
				row.text = cutBytes(string(c.Parts[0].JSON), 400)
			}
		}
	case claude.UserText, claude.AssistantText:
		row.label, row.text = p.Role, cutBytes(p.Text(), 400)
	default:
		row.text = cutBytes(p.Text(), 400)
	}
	if p.Placeholder != "" && !known(p.Block) {
		row.placeholder, row.text = true, p.Placeholder
	}
	row.text = strings.Clone(strings.Join(strings.Fields(row.text), " ")) // the whole text is not to be kept
	return row
}
