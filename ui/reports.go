package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
	"github.com/mcptap/mcptap/ui/vlist"
)

// reportScreen is a screen on a whole session: what a command worked out of it, by
// reading it once more, beside the session that is on the screen. It follows a session
// that grows.
type reportScreen struct {
	env    *env
	of     *session
	at     place
	title  string
	page   page
	review *review
	err    error
	list   vlist.List
	w, h   int

	reportWork

	whole bool // all that there is to say of a row has the screen
	first int  // line of that
}

// rowKey tells a row from others, also when the page is worked out anew.
type rowKey struct {
	kind, a, b string
	n, m       int
}

// page is what differs between such screens.
type page interface {
	// load takes what was worked out.
	load(r *review)
	len() int
	key(i int) rowKey
	// head is what stands above the rows of a screen of w by h cells; row draws one; below
	// is what stands under them, about the row with the cursor; tell is all there is to say
	// of it, however long.
	head(w, h int) []string
	row(i, w int, base draw.Style) string
	below(i, w, h int) []string
	tell(i, w int) []string
	// frame is where a row leads; -1 if it leads nowhere.
	frame(i int) int
	reorder()
}

// An opener is a page whose rows lead to more than a frame of the session.
type opener interface {
	open(r *reportScreen, i int) tea.Cmd
}

// An actor is a page with actions of its own; ok is false if it has no such thing.
type actor interface {
	do(r *reportScreen, id string) (cmd tea.Cmd, ok bool)
}

// A taker is a page that commands of its own bring something.
type taker interface {
	take(r *reportScreen, msg tea.Msg) tea.Cmd
}

// A needer is a page that asks for more of the row with the cursor.
type needer interface {
	need(i int) tea.Cmd
}

// newReport makes the screen that an action opens.
func (s *session) newReport(id string) (r *reportScreen) {
	s.from = nil
	r = &reportScreen{env: s.env, of: s, at: inReport, title: id}
	path, e, others := s.path, s.env, s.others
	s.feed.Lock()
	name := s.feed.Name()
	s.feed.Unlock()
	r.work = func() (*review, error) { return e.reviewSession(path) }
	switch id {
	case "findings":
		r.page = &findingsPage{env: e}
	case "stats":
		r.title, r.page = "statistics", &statsPage{env: e}
	case "peers":
		r.page = &peersPage{env: e}
	case "rent":
		r.page, r.work = &rentPage{env: e}, func() (*review, error) { return reviewRent(e, path, others) }
	case "search":
		r.at, r.title, r.page = inSearch, "tool search", &searchPage{env: e}
		r.work = func() (*review, error) { return reviewSearch(e, path, others) }
	case "diff":
		r.at, r.title, r.page = inChoice, "compare", &choicePage{env: e}
		r.work = func() (*review, error) { return reviewOthers(e, path, name) }
	}
	return r
}

func (s *session) openReport(id string) tea.Cmd {
	r := s.newReport(id)
	cmd := s.env.root.push(r, r.start())
	if p, ok := r.page.(*searchPage); ok {
		p.prompt(r)
	}
	return cmd
}

// reviewSession reads a session once more and works out what most reports show.
func (e *env) reviewSession(path string) (*review, error) {
	s, err := sessions.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	l, err := sessions.Load(s, decode.Options{Bytes: true})
	if err != nil {
		return nil, err
	}
	return e.review(l), nil
}

func (e *env) review(l *sessions.Loaded) *review {
	r := &review{frames: l.Len(), findings: rules.Check(l.Session, l.Body), stats: statsOf(l)}
	if e.Since != nil {
		r.findings = append(r.findings, e.Since(l)...)
	}
	r.peers = peersOf(l)
	if e.Sibling != nil {
		if id, reason := e.Sibling(l); id != "" {
			r.peers = append(r.peers, peerRow{at: -1}, peerRow{head: "belongs together", at: -1}, peerRow{name: "session", value: id, note: reason, at: -1})
		}
	}
	return r
}

func (r *reportScreen) place() place { return r.at }
func (r *reportScreen) close()       {}

func (r *reportScreen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.w, r.h = msg.Width, msg.Height-1
		return tea.Batch(r.follow(), r.need())
	case reportMsg:
		if msg.of == r && msg.id == r.id {
			return tea.Batch(r.answer(msg), r.taken(msg), r.need())
		}
		return nil
	case advancedMsg:
		if msg.feed == r.of.feed {
			return r.follow()
		}
		return nil
	}
	return tea.Batch(r.taken(msg), r.need())
}

// taken brings the page what its own commands brought.
func (r *reportScreen) taken(msg tea.Msg) tea.Cmd {
	if t, ok := r.page.(taker); ok && r.review != nil {
		return t.take(r, msg)
	}
	return nil
}

func (r *reportScreen) need() tea.Cmd {
	if n, ok := r.page.(needer); ok && r.review != nil && r.list.Len() > 0 {
		return n.need(r.list.Cursor())
	}
	return nil
}

// changed takes that the page has other rows.
func (r *reportScreen) changed() {
	r.list.Forget()
	r.list.SetLen(r.page.len(), false)
}

func (r *reportScreen) do(id string) (tea.Cmd, bool) {
	cmd, ok := r.act(id)
	return tea.Batch(cmd, r.need()), ok
}

func (r *reportScreen) act(id string) (tea.Cmd, bool) {
	if r.whole && r.scroll(id) {
		return nil, true
	}
	if moveList(&r.list, id) {
		r.first = 0
		return nil, true
	}
	if a, ok := r.page.(actor); ok {
		if cmd, ok := a.do(r, id); ok {
			return cmd, true
		}
	}
	switch id {
	case "open":
		return r.jump(), true
	case "again":
		return r.again(), true
	case "zoom":
		r.whole, r.first = !r.whole && r.review != nil && r.list.Len() > 0, 0
		return nil, true
	case "together":
		return r.together(), true
	case "sort":
		if r.review != nil {
			r.page.reorder()
			r.changed()
		}
		return nil, true
	}
	return nil, false
}

// scroll moves in what has the whole screen, or ends that.
func (r *reportScreen) scroll(id string) bool {
	switch id {
	case "page-up":
		r.first -= max(1, r.h-3)
	case "page-down":
		r.first += max(1, r.h-3)
	case "back":
		r.whole = false
	default:
		return false
	}
	return true
}

// together works the screen out anew, with the other sessions of the host or without.
func (r *reportScreen) together() tea.Cmd {
	cmd := r.of.toggleTogether()
	if _, ok := r.page.(*rentPage); !ok {
		return cmd
	}
	fresh := r.of.newReport("rent")
	fresh.w, fresh.h = r.w, r.h
	r.env.root.replace(fresh)
	return tea.Batch(cmd, fresh.start())
}

// jump goes to the frame that a row is about.
func (r *reportScreen) jump() tea.Cmd {
	if r.review == nil || r.list.Len() == 0 {
		return nil
	}
	if o, ok := r.page.(opener); ok {
		return o.open(r, r.list.Cursor())
	}
	frame := r.page.frame(r.list.Cursor())
	if frame < 0 { // it leads nowhere, so it is opened itself
		r.whole, r.first = !r.whole && len(r.page.tell(r.list.Cursor(), r.w)) > 1, 0
		return nil
	}
	var at spot
	if p, ok := r.page.(spotter); ok {
		at = p.spot(r.list.Cursor())
	}
	r.of.leadTo(frame, at)
	r.of.from = r
	r.whole = false
	r.leave()
	return r.env.root.do("back")
}

func (r *reportScreen) click(m tea.MouseMsg) tea.Cmd {
	if r.review == nil {
		return nil
	}
	if r.whole {
		r.first += map[tea.MouseButton]int{tea.MouseButtonWheelUp: -wheelRows, tea.MouseButtonWheelDown: wheelRows}[m.Button]
		return nil
	}
	if wheel(&r.list, m) || !pressed(m) {
		return r.need()
	}
	row, ok := r.list.At(m.Y - 1 - len(r.page.head(r.w, r.h)))
	if !ok {
		return nil
	}
	if row == r.list.Cursor() {
		return r.jump()
	}
	r.list.Go(row)
	return r.need()
}

func (r *reportScreen) view(w, h int) []string {
	th := r.env.th
	lines := []string{r.heading(w)}
	switch {
	case r.err != nil:
		return append(append(lines, draw.Blank(w)), paragraph(w, 0, th.Bad, r.err.Error())...)
	case r.review == nil:
		return append(lines, draw.Blank(w), draw.NewLine(w, "").Gap(1).Raw(th.Dim, "reading the session…").String())
	case r.whole && r.list.Len() > 0:
		return append(lines, r.all(w, h-1)...)
	}
	lines = append(lines, r.page.head(w, h)...)
	room := h - len(lines)
	var below []string
	if r.list.Len() > 0 {
		below = r.page.below(r.list.Cursor(), w, min(h/2, room-minPane))
	}
	r.list.SetHeight(max(1, room-len(below)))
	lines = append(lines, draw.Fill(r.list.Rows(w, func(int) uint64 { return uint64(th.Version) }, litFocus, func(i int, lit uint8) string {
		return r.page.row(i, w, base(th, lit))
	}), w, room-len(below))...)
	return append(lines, below...)
}

// all is what there is to say of the row with the cursor, from a line of it on.
func (r *reportScreen) all(w, h int) []string {
	lines := r.page.tell(r.list.Cursor(), w)
	if len(lines) == 0 {
		lines = []string{draw.NewLine(w, "").Gap(1).Raw(r.env.th.Dim, "there is no more to say of this row").String()}
	}
	r.first = max(0, min(r.first, len(lines)-h))
	lines = lines[r.first:]
	if len(lines) > h {
		left := len(lines) - h + 1
		lines = append(slices.Clone(lines[:h-1]), draw.NewLine(w, "").Gap(1).Raw(r.env.th.Dim, "… "+plural(left, "more line")+", page down").String())
	}
	return lines
}

// clip is what of a text has room below the rows.
func clip(th *theme.Theme, lines []string, w, h int) []string {
	if over := len(lines) - h; over > 0 && h > 0 {
		lines = append(slices.Clone(lines[:h-1]), draw.NewLine(w, "").Gap(1).Raw(th.Dim, "… "+plural(over+1, "more line")+", z shows all").String())
	}
	return draw.Fill(lines, w, h)
}

// about says what the screen is about, in so many cells.
func (r *reportScreen) about(name string, cells int) string {
	if p, ok := r.page.(*diffPage); ok && p.d != nil {
		each := max(0, cells-len("A   B ")) / 2
		return "A " + p.label(0, each) + "  B " + p.label(1, each)
	}
	if r.at == inChoice || r.at == inDiff {
		return middle(name, cells-len(" with another session")) + " with another session"
	}
	return "of " + middle(name, cells-len("of "))
}
