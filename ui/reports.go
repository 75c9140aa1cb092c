package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/vlist"
)

// reportScreen is a screen on a whole session: what a command worked out of it, by
// reading it once more, beside the session that is on the screen.
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
}

// page is what differs between such screens.
type page interface {
	// load takes what was worked out.
	load(r *review)
	len() int
	// head is what stands above the rows; row draws one; below is what stands under
	// them, about the row with the cursor.
	head(w int) []string
	row(i, w int, base draw.Style) string
	below(i, w, h int) []string
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

// newReport makes the screen that an action opens.
func (s *session) newReport(id string) (r *reportScreen, work func() (*review, error)) {
	s.from = nil
	r = &reportScreen{env: s.env, of: s, at: inReport, title: id}
	path, e, others := s.path, s.env, s.others
	s.feed.Lock()
	name := s.feed.Name()
	s.feed.Unlock()
	work = func() (*review, error) { return e.reviewSession(path) }
	switch id {
	case "findings":
		r.page = &findingsPage{env: e}
	case "stats":
		r.title, r.page = "statistics", &statsPage{env: e}
	case "peers":
		r.page = &peersPage{env: e}
	case "rent":
		r.page, work = &rentPage{env: e}, func() (*review, error) { return reviewRent(e, path, others) }
	case "search":
		r.at, r.title, r.page = inSearch, "tool search", &searchPage{env: e}
		work = func() (*review, error) { return reviewSearch(e, path, others) }
	case "diff":
		r.at, r.title, r.page = inChoice, "compare", &choicePage{env: e}
		work = func() (*review, error) { return reviewOthers(e, path, name) }
	}
	return r, work
}

func (s *session) openReport(id string) tea.Cmd {
	r, work := s.newReport(id)
	cmd := s.env.root.push(r, r.start(work))
	if p, ok := r.page.(*searchPage); ok {
		p.prompt(r)
	}
	return cmd
}

// start gives the command that works out what the screen shows.
func (r *reportScreen) start(work func() (*review, error)) tea.Cmd {
	return func() tea.Msg {
		found, err := work()
		return reportMsg{r, found, err}
	}
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
	r := &review{frames: l.Len(), findings: rules.Check(l.Session, l.Body), groups: report.Groups(l.Session, func(int) bool { return true }), totals: l.Totals()}
	if e.Since != nil {
		r.findings = append(r.findings, e.Since(l)...)
	}
	r.peers = peersOf(l)
	if e.Sibling != nil {
		if id, reason := e.Sibling(l); id != "" {
			r.peers = append(r.peers, peerRow{head: "belongs together"}, peerRow{name: "session", value: id, note: reason, at: -1})
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
	case reportMsg:
		if msg.of == r && r.review == nil {
			r.review, r.err = msg.review, msg.err
			if r.review != nil {
				r.page.load(r.review)
				r.changed()
			}
		}
	}
	if t, ok := r.page.(taker); ok && r.review != nil {
		return t.take(r, msg)
	}
	return nil
}

// changed takes that the page has other rows.
func (r *reportScreen) changed() {
	r.list.Forget()
	r.list.SetLen(r.page.len(), false)
}

func (r *reportScreen) do(id string) (tea.Cmd, bool) {
	if moveList(&r.list, id) {
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
	case "together":
		return r.together(), true
	case "sort":
		if r.review == nil { // there is nothing to order yet
			return nil, true
		}
		r.page.reorder()
		r.list.Forget()
		return nil, true
	}
	return nil, false
}

// together works the screen out anew, with the other sessions of the host or without.
func (r *reportScreen) together() tea.Cmd {
	cmd := r.of.toggleTogether()
	if _, ok := r.page.(*rentPage); !ok {
		return cmd
	}
	fresh, work := r.of.newReport("rent")
	fresh.w, fresh.h = r.w, r.h
	r.env.root.replace(fresh)
	return tea.Batch(cmd, fresh.start(work))
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
	if frame < 0 {
		return nil
	}
	r.of.jump(frame)
	r.of.from = r
	return r.env.root.do("back")
}

func (r *reportScreen) click(m tea.MouseMsg) tea.Cmd {
	if wheel(&r.list, m) || !pressed(m) || r.review == nil {
		return nil
	}
	row, ok := r.list.At(m.Y - 1 - len(r.page.head(r.w)))
	if !ok {
		return nil
	}
	if row == r.list.Cursor() {
		return r.jump()
	}
	r.list.Go(row)
	return nil
}

func (r *reportScreen) view(w, h int) []string {
	th := r.env.th
	r.of.feed.Lock()
	name := r.of.feed.Name()
	r.of.feed.Unlock()
	lines := []string{titleLine(th, w, r.title, r.about(name))}
	switch {
	case r.err != nil:
		lines = append(lines, draw.Blank(w))
		for _, text := range wrapText(r.err.Error(), w-2) {
			lines = append(lines, draw.NewLine(w, "").Gap(1).Text(th.Bad, text).String())
		}
		return lines
	case r.review == nil:
		return append(lines, draw.Blank(w), draw.NewLine(w, "").Gap(1).Raw(th.Dim, "reading the session…").String())
	}
	lines = append(lines, r.page.head(w)...)
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

// about says what the screen is about.
func (r *reportScreen) about(name string) string {
	if p, ok := r.page.(*diffPage); ok && p.d != nil {
		return "A " + name + "  B " + p.d.B.Name
	}
	if r.at == inChoice || r.at == inDiff {
		return name + " with another session"
	}
	return "of " + name
}
