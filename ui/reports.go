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

func (s *session) openReport(id string) tea.Cmd {
	r := &reportScreen{env: s.env, of: s}
	switch id {
	case "findings":
		r.title, r.page = "findings", &findingsPage{env: s.env}
	case "stats":
		r.title, r.page = "statistics", &statsPage{env: s.env}
	case "peers":
		r.title, r.page = "peers", &peersPage{env: s.env}
	}
	return s.env.root.push(r, reviewSession(s.env, s.path))
}

// reviewSession reads a session once more and works out all that the reports show.
func reviewSession(e *env, path string) tea.Cmd {
	return func() tea.Msg {
		s, err := sessions.Open(path)
		if err != nil {
			return reportMsg{path, nil, err}
		}
		defer s.Close()
		l, err := sessions.Load(s, decode.Options{Bytes: true})
		if err != nil {
			return reportMsg{path, nil, err}
		}
		return reportMsg{path, e.review(l), nil}
	}
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

func (r *reportScreen) place() place { return inReport }
func (r *reportScreen) close()       {}

func (r *reportScreen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.w, r.h = msg.Width, msg.Height-1
	case reportMsg:
		if msg.path == r.of.path && r.review == nil {
			r.review, r.err = msg.review, msg.err
			if r.review != nil {
				r.page.load(r.review)
				r.list.SetLen(r.page.len(), false)
			}
		}
	}
	return nil
}

func (r *reportScreen) do(id string) (tea.Cmd, bool) {
	if moveList(&r.list, id) {
		return nil, true
	}
	switch id {
	case "open":
		return r.jump(), true
	case "sort":
		r.page.reorder()
		r.list.Forget()
		return nil, true
	}
	return nil, false
}

// jump goes to the frame that a row is about.
func (r *reportScreen) jump() tea.Cmd {
	if r.review == nil || r.list.Len() == 0 {
		return nil
	}
	frame := r.page.frame(r.list.Cursor())
	if frame < 0 {
		return nil
	}
	r.of.jump(frame)
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
	lines := []string{titleLine(th, w, r.title, "of "+name)}
	switch {
	case r.err != nil:
		return append(lines, draw.Blank(w), draw.NewLine(w, "").Gap(1).Text(th.Bad, r.err.Error()).String())
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
