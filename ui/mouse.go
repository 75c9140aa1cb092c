package ui

import tea "github.com/charmbracelet/bubbletea"

// line is a line between panes that the mouse may have hold of.
type line uint8

const (
	noLine line = iota
	lineAcross
	lineDown
)

// click takes the mouse on the session's screen: rows, the wheel, the line between the
// panes, and the line of time.
func (s *session) click(m tea.MouseMsg) tea.Cmd {
	s.feed.Lock()
	s.mouse(m)
	s.feed.Unlock()
	s.arrange()
	return s.need()
}

func (s *session) mouse(m tea.MouseMsg) {
	a := s.at
	switch {
	case m.Action == tea.MouseActionRelease:
		s.hold = noLine
	case m.Action == tea.MouseActionMotion:
		if s.hold != noLine {
			s.drag(s.hold == lineDown, m.X, m.Y, s.w, s.h)
		}
	case pressed(m) && a.across.has(m.X, m.Y):
		s.hold = lineAcross
	case pressed(m) && a.down.has(m.X, m.Y):
		s.hold = lineDown
	case a.clock.has(m.X, m.Y) && m.Button == tea.MouseButtonLeft:
		if w := s.clockWidth(s.w); w >= leastClock && (m.X <= w || !pressed(m)) { // drawn beyond its end is at its end
			s.play.stop(s.env.Now())
			s.calls.goColumn(m.X-1, w)
		}
	case a.calls.has(m.X, m.Y):
		s.clickCalls(m)
	case a.frame.has(m.X, m.Y):
		s.clickFrame(m)
	case a.side.has(m.X, m.Y):
		s.clickSide(m)
	}
}

func (s *session) clickSide(m tea.MouseMsg) {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		s.side.do("up")
	case m.Button == tea.MouseButtonWheelDown:
		s.side.do("down")
	case pressed(m):
		s.focus = inSide
		s.side.click(m.Y - s.at.side.y)
	}
}

func (s *session) clickCalls(m tea.MouseMsg) {
	c := &s.calls
	if wheel(&c.list, m) {
		c.offLine(m.Button == tea.MouseButtonWheelUp)
		c.follow, c.pinned = false, -1
		return
	}
	row, ok := c.list.At(m.Y - s.at.calls.y)
	if !ok || !pressed(m) {
		return
	}
	again := row == c.list.Cursor() && s.focus == inCalls
	s.focus = inCalls
	s.play.stop(s.env.Now())
	c.follow, c.pinned = false, -1
	c.list.Go(row)
	c.offLine(false)
	if again && !c.unfold() {
		c.fold()
	}
}

func (s *session) clickFrame(m tea.MouseMsg) {
	p := &s.frame
	if wheel(&p.list, m) {
		return
	}
	row, ok := p.list.At(m.Y - s.at.frame.y - len(p.headLines(s.at.frame.w)))
	if !ok || !pressed(m) {
		return
	}
	again := row == p.list.Cursor() && s.focus == inFrame
	s.focus = inFrame
	p.list.Go(row)
	if again {
		p.do("open")
	}
}
