package ui

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/lineedit"
	"github.com/mcptap/mcptap/ui/safetext"
	"github.com/mcptap/mcptap/ui/vlist"
)

// findScreen searches all recordings, the newest first, by the language of filters. One
// command after the other looks into one recording; what each has found is shown as it
// comes.
type findScreen struct {
	env  *env
	line *lineedit.Line
	list vlist.List
	ver  uint64

	text    string // what is searched for; "" if nothing was yet
	query   *filter.Filter
	id      int                // of the search
	ctx     context.Context    // of the search
	cancel  context.CancelFunc // ends it
	running bool
	listed  bool
	infos   []sessions.Info   // to be searched
	done    int               // that were
	words   filter.Vocabulary // that occur in what was searched, for completion
	groups  []findGroup       // those with hits, or with something to say
	rows    []findRow
	hits    int
	err     error
}

// findRow is a row of the list: a hit, the heading of a group, or the word at its end
// that there is more.
type findRow struct{ group, hit int }

const (
	findHead = -1
	findMore = -2
)

// Bounds of a search. Whoever wants to see more of a recording opens it.
const (
	maxHitsEach = 200
	maxHits     = 2000
)

// openFind shows the screen and asks what to search for.
func openFind(e *env, line *lineedit.Line) tea.Cmd {
	line.Set("")
	f := &findScreen{env: e, line: line, cancel: func() {}}
	cmd := e.root.push(f, nil)
	f.prompt()
	return cmd
}

func (f *findScreen) place() place { return inFind }
func (f *findScreen) close()       { f.halt() }

// halt stops the search: the command that is at it ends at its next look, and what it
// may have sent is dropped.
func (f *findScreen) halt() {
	f.cancel()
	f.id++
	f.running = false
}

func (f *findScreen) prompt() {
	f.env.root.prompt = &prompt{label: "search all for", line: f.line, accept: f.start, judge: f.judge, refuse: refuseSearch, ways: f.ways, where: filterWrongAt, cancel: func() tea.Cmd {
		f.line.Set(f.text)
		if f.text == "" {
			return f.env.root.do("back")
		}
		return nil
	}}
	f.env.root.prompt.look()
}

// anywhere is a session in which nothing has crossed: it has what every recording has
// for a filter.
func anywhere() filter.Source {
	return filter.Source{Session: decode.New(decode.Options{}), Body: func(int) []byte { return nil }, MarkOf: func(uint64) (string, bool) { return "", false }, TurnOf: func(int) int { return 0 }}
}

// refuseSearch tells why a search can't be made; empty if it can.
func refuseSearch(text string) string {
	typed := filter.Typing(text)
	switch {
	case typed.Err != nil:
		return typed.Err.What + "; " + typed.Err.Hint
	case typed.State == filter.Empty:
		return "nothing to search for: type a word, or status:failed"
	}
	if _, err := typed.Filter.On(anywhere()); err != nil {
		return err.Error()
	}
	return ""
}

// judge says of a search that is being typed what is wrong with it, or how it may go on.
func (f *findScreen) judge(text string) styled {
	th := f.env.th
	switch typed := filter.Typing(text); {
	case typed.State == filter.Empty:
		return styled{"a word, tool:add_*, status:hidden-error, … (f1 lists all)", th.Faint}
	case typed.State == filter.Invalid, typed.State == filter.Valid && refuseSearch(text) != "":
		return styled{refuseSearch(text), th.Bad}
	}
	var ways []string
	for _, w := range filter.Complete(text, len(text), &f.words) {
		if text[w.From:w.To] != w.Text && len(ways) < 6 {
			ways = append(ways, w.Text)
		}
	}
	if len(ways) == 0 {
		return styled{}
	}
	return styled{"tab " + strings.Join(ways, "  "), th.Faint}
}

func (f *findScreen) ways(text string) []string { return waysOn(text, &f.words) }

// start begins a search. One that goes on is stopped.
func (f *findScreen) start(text string) tea.Cmd {
	f.halt()
	query, err := filter.Parse(text)
	if err != nil {
		return send(noteMsg{err.Error(), true})
	}
	f.text, f.query, f.running = strings.TrimSpace(text), query, true
	f.listed, f.infos, f.done, f.groups, f.rows, f.hits, f.err = false, nil, 0, nil, nil, 0, nil
	f.words = filter.Vocabulary{}
	f.changed()
	f.list.Go(0)
	f.ctx, f.cancel = context.WithCancel(context.Background())
	id, store := f.id, f.env.Store
	return func() tea.Msg {
		infos, err := store.List()
		return findListMsg{f, id, infos, err}
	}
}

// next searches the next recording; nil if the search is at its end.
func (f *findScreen) next() tea.Cmd {
	if f.done == len(f.infos) || f.hits >= maxHits {
		f.running = false
		f.cancel()
		return nil
	}
	id, info := f.id, f.infos[f.done]
	at := &finding{ctx: f.ctx, now: f.env.Now, most: min(maxHitsEach, maxHits-f.hits), query: f.query}
	return func() tea.Msg {
		if group, ok := at.in(info); ok {
			return foundMsg{f, id, group}
		}
		return nil
	}
}

func (f *findScreen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		f.list.SetHeight(msg.Height - 1 - findHeadLines)
	case findListMsg:
		if msg.of == f && msg.id == f.id {
			f.listed, f.infos, f.err = true, msg.infos, msg.err
			return f.next()
		}
	case foundMsg:
		if msg.of == f && msg.id == f.id {
			f.take(msg.group)
			return f.next()
		}
	}
	return nil
}

// take adds what was found in a recording.
func (f *findScreen) take(g findGroup) {
	f.done++
	f.words.Merge(&g.words)
	g.words = filter.Vocabulary{}
	if len(g.hits) == 0 && g.broken == "" {
		return
	}
	at, head := len(f.groups), len(f.rows)
	f.groups = append(f.groups, g)
	f.rows = append(f.rows, findRow{at, findHead})
	for i := range g.hits {
		f.rows = append(f.rows, findRow{at, i})
	}
	if g.more {
		f.rows = append(f.rows, findRow{at, findMore})
	}
	first := f.hits == 0 && len(g.hits) > 0 && f.list.Cursor() == 0
	f.hits += len(g.hits)
	f.changed()
	if first { // nobody has moved yet: enter opens a hit
		f.list.Place(head+1, 1)
	}
}

func (f *findScreen) changed() {
	f.ver++
	f.list.SetLen(len(f.rows), false)
}

func (f *findScreen) do(id string) (tea.Cmd, bool) {
	if moveList(&f.list, id) {
		return nil, true
	}
	switch id {
	case "open":
		return f.open(), true
	case "query":
		f.prompt()
		return nil, true
	case "again":
		if f.text == "" {
			return nil, true
		}
		return f.start(f.text), true
	case "back":
		if !f.running {
			return nil, false
		}
		f.halt()
		return nil, true
	}
	return nil, false
}

// open opens the recording of the row with the cursor, at the frame of a hit. From a
// heading, and where there is more than was listed, it shows all that was searched for.
func (f *findScreen) open() tea.Cmd {
	if len(f.rows) == 0 {
		return nil
	}
	r := f.rows[f.list.Cursor()]
	g := &f.groups[r.group]
	if r.hit < 0 {
		return f.env.openFiltered(g.info.Path, f.text)
	}
	hit := &g.hits[r.hit]
	if hit.inText {
		return f.env.openSpot(g.info.Path, hit.frame, textSpot(hit.passage.Match))
	}
	return f.env.openSession(g.info.Path, hit.frame)
}

func (f *findScreen) click(m tea.MouseMsg) tea.Cmd {
	if wheel(&f.list, m) || !pressed(m) {
		return nil
	}
	row, ok := f.list.At(m.Y - findHeadLines)
	if !ok {
		return nil
	}
	if row == f.list.Cursor() {
		return f.open()
	}
	f.list.Go(row)
	return nil
}

// findHeadLines is how many lines stand above the rows.
const findHeadLines = 2

func (f *findScreen) view(w, h int) []string {
	th := f.env.th
	lines := []string{titleLine(th, w, "search all recordings", f.text), f.progress(w)}
	switch {
	case f.err != nil:
		return append(lines, f.sentence(w, th.Bad, "reading "+f.env.Store.Dir+": "+f.err.Error())...)
	case len(f.rows) == 0:
		return append(lines, f.sentence(w, th.Dim, f.empty())...)
	}
	below := f.below(w, h)
	room := max(1, h-len(lines)-len(below))
	f.list.SetHeight(room)
	version := f.ver<<32 | uint64(f.env.Now().Unix()&0xffffff)<<4 | uint64(th.Version&15)
	rows := f.list.Rows(w, func(int) uint64 { return version }, litFocus, func(i int, lit uint8) string {
		return f.row(f.rows[i], w, base(th, lit))
	})
	return append(append(lines, draw.Fill(rows, w, room)...), below...)
}

func (f *findScreen) sentence(w int, style draw.Style, text string) []string {
	lines := []string{draw.Blank(w)}
	for _, s := range wrapText(text, w-4) {
		lines = append(lines, draw.NewLine(w, "").Gap(2).Text(style, s).String())
	}
	return lines
}

// progress says how far the search has come.
func (f *findScreen) progress(w int) string {
	th := f.env.th
	l := draw.NewLine(w, "").Gap(1)
	if !f.listed || f.err != nil {
		return l.String()
	}
	l.Raw("", plural(f.hits, "hit")).Raw(th.Dim, ", ")
	switch {
	case f.running:
		l.Raw(th.Accent, "searched "+itoa(f.done)+" of "+plural(len(f.infos), "recording")+"…")
	case f.hits >= maxHits && f.done < len(f.infos):
		l.Raw(th.Warn, "more are not shown: searched "+itoa(f.done)+" of "+plural(len(f.infos), "recording")+"; search for less")
	case f.done < len(f.infos):
		l.Raw(th.Warn, "stopped at "+itoa(f.done)+" of "+plural(len(f.infos), "recording")).Raw(th.Dim, "; R searches again")
	default:
		l.Raw(th.Dim, "searched "+plural(f.done, "recording"))
	}
	if label := f.above(); label != "" && l.Left() > 12 {
		label = draw.Safe(label, l.Left()-4)
		l.To(w-draw.Width(label)-1).Text(th.Strong, label)
	}
	return l.String()
}

// above is the recording of the first row in view, if its heading is not.
func (f *findScreen) above() string {
	from, to := f.list.Range()
	if from >= to || f.rows[from].hit == findHead {
		return ""
	}
	return nameOf(&f.groups[f.rows[from].group].info)
}

func nameOf(i *sessions.Info) string { return cmp.Or(i.Label(), i.ID) }

// empty says why there are no rows, and what to try.
func (f *findScreen) empty() string {
	switch {
	case f.text == "":
		return "Which recordings have it, and where: a word finds frames that say it, tool:add_*, status:hidden-error or ms>100 find calls."
	case f.running:
		return "searching…"
	case f.done < len(f.infos):
		return "Nothing was found before the search was stopped; R searches again."
	case len(f.infos) == 0:
		return "There are no recordings to search yet; put mcptap -- in front of a server's command to make one."
	}
	return "No recording has it; try less of the word, a * in a name (tool:*ticket*), or fewer terms: / changes the search."
}

func (f *findScreen) row(r findRow, w int, base draw.Style) string {
	g := &f.groups[r.group]
	switch r.hit {
	case findHead:
		return f.heading(g, w, base)
	case findMore:
		return draw.NewLine(w, base).Gap(3).Raw(f.env.th.Warn, "more than "+itoa(len(g.hits))+" here: enter opens it with this filter").String()
	}
	return f.hit(&g.hits[r.hit], w, base)
}

// heading says which recording the hits below it are of.
func (f *findScreen) heading(g *findGroup, w int, base draw.Style) string {
	th, i := f.env.th, &g.info
	sign, style := stateSign(th, i)
	if g.err {
		sign, style = "✗", th.Bad
	} else if g.broken != "" {
		sign, style = "!", th.Warn
	}
	count := plural(len(g.hits), "hit")
	if g.more {
		count += "+"
	}
	l := draw.NewLine(w, base).Gap(1).Raw(style, sign).Gap(1)
	l.Within(th.Strong, nameOf(i), max(8, w/2)).Gap(2)
	if g.broken != "" {
		l.Within(style, g.broken, max(0, w*2/3-l.Used())).Gap(2)
	}
	when := i.Start.In(f.env.Zone).Format("2006-01-02 15:04")
	if w < findWide {
		when = ago(f.env.Now(), i.Start, f.env.Zone)
	}
	if room := l.Left() - len(when) - len(count) - 6; g.server != "" && room > 8 {
		l.Within("", g.server, room).Gap(2)
	}
	if l.Left() > len(when)+len(count)+3 {
		l.Raw(th.Dim, when).Gap(2)
	}
	return l.Pin(w-len(count)-1).Raw(th.Accent, count).String()
}

// findWide is the width from which on there is a whole date.
const findWide = 72

// hit draws a row: when, from whom, what, the text that was found or what it is about,
// and how it ended.
func (f *findScreen) hit(h *findHit, w int, base draw.Style) string {
	th := f.env.th
	tail := 3
	if w >= wordFrom {
		tail += 7
	}
	l := draw.NewLine(w, base).Gap(1)
	if h.marked {
		l.Raw(th.Warn, "★")
	}
	l.To(3)
	if w >= timeFrom {
		l.Raw(th.Dim, draw.Cell(seconds(h.at), 8, true)).Gap(1)
	}
	style := th.Client
	if h.dir == tap.S2C {
		style = th.Server
	}
	l.Raw(style, feed.Arrow(h.dir)).Gap(1)
	end := w - tail
	f.what(l, h, w, end)
	f.about(l, h, end)
	l.Pin(end).Gap(1).Raw(outcomeStyle(th, h.sign.outcome), draw.Cell(h.sign.sign, 1, false))
	if w >= wordFrom {
		l.Gap(1).Raw(outcomeStyle(th, h.sign.outcome), draw.Cell(h.sign.short, 6, false))
	}
	return l.String()
}

// what names the call, in up to half of the room; where there is little, only the tool or
// whatever else the request names.
func (f *findScreen) what(l *draw.Line, h *findHit, w, end int) {
	th := f.env.th
	end = l.Used() + (end-l.Used())/2
	method := styled{h.method, ""}
	if h.name != "" {
		method.style = th.Dim
		if w < wordFrom || w < callFrom && h.method == "tools/call" {
			method.text = ""
		}
	}
	for _, p := range []styled{method, {h.name, th.Strong}} {
		if room := end - l.Used(); p.text != "" && room > 0 {
			l.Within(p.style, p.text, room).Gap(1)
		}
	}
}

// about is the text that was found, between «signs», with what stands around it; of a hit
// by something else the note on it, why it failed, or what it asks for.
func (f *findScreen) about(l *draw.Line, h *findHit, end int) {
	th := f.env.th
	room := end - l.Used()
	switch {
	case room < 1:
	case h.inText:
		match := draw.Safe(oneSpace(h.passage.Match), max(1, room-2))
		left := max(0, room-2-draw.Width(match))
		after := oneSpace(h.passage.After)
		lead := draw.SafeEnd(oneSpace(h.passage.Before), max(left/3, left-draw.Width(draw.Safe(after, left))))
		if left == 0 {
			lead = ""
		}
		l.Within(th.Dim, lead, room).Raw(th.Accent, "«").Within(th.Match, match, end-l.Used()-1).Raw(th.Accent, "»")
		l.Within(th.Dim, after, end-l.Used())
	case h.note != "":
		l.Within(th.Warn, h.note, room)
	case h.failed != "":
		l.Within(outcomeStyle(th, h.sign.outcome), h.failed, room)
	default:
		l.Within(th.Dim, h.gist, room)
	}
}

// oneSpace makes one space of white space, so that a passage over lines reads on.
func oneSpace(s string) string {
	inner := strings.Join(strings.Fields(s), " ")
	if inner == "" {
		return draw.Blank(min(len(s), 1))
	}
	if strings.TrimLeftFunc(s, unicode.IsSpace) != s {
		inner = " " + inner
	}
	if strings.TrimRightFunc(s, unicode.IsSpace) != s {
		inner += " "
	}
	return inner
}

// findBelow is how many lines the row with the cursor has below the list, whichever it
// is.
const findBelow = 4

// below has more of the row with the cursor than fits into it.
func (f *findScreen) below(w, h int) []string {
	if h < 14 {
		return nil
	}
	th := f.env.th
	r := f.rows[f.list.Cursor()]
	g := &f.groups[r.group]
	title, of, text := draw.Safe(g.info.ID, max(0, w-6)), "", "enter opens it with this filter"
	switch {
	case r.hit >= 0:
		title, of, text = "frame "+strconv.FormatUint(g.hits[r.hit].n, 10), "of "+g.info.ID, g.hits[r.hit].whole(w)
	case g.broken != "":
		text = g.broken
	}
	lines := []string{rule(th, w, th.Dim, title, of)}
	for _, s := range strings.Split(ansi.Wrap(safetext.Line(text), max(1, w-2), ",:"), "\n") {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text("", s).String())
	}
	return draw.Fill(lines[:min(len(lines), findBelow)], w, findBelow)
}

// whole is all there is to say of a hit; what was found stands in its first lines.
func (h *findHit) whole(w int) string {
	switch {
	case h.inText:
		return draw.SafeEnd(oneSpace(h.passage.Before), w) + "«" + oneSpace(h.passage.Match) + "»" + oneSpace(h.passage.After)
	case h.note != "":
		return "★ " + h.note
	case h.failed != "":
		return h.failed + "  " + h.gist
	}
	return h.gist
}
