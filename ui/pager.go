package ui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

// A pager is the window on a text that is longer than the screen. A text has no cursor:
// each key moves the window.
type pager struct{ top, height, n int }

// fit tells how many lines there are, and how many are in view.
func (p *pager) fit(n, height int) {
	p.n, p.height = n, max(1, height)
	p.scroll(0)
}

func (p *pager) scroll(by int) { p.top = max(0, min(p.top+by, p.n-p.height)) }

// to is the line after the last in view.
func (p *pager) to() int { return min(p.top+p.height, p.n) }

// do performs the actions that move; ok is false if it is none of them.
func (p *pager) do(id string) (ok bool) {
	page := max(1, p.height-1) // less a line, so that the eye finds its place
	by, ok := map[string]int{"up": -1, "down": 1, "page-up": -page, "page-down": page, "first": -p.n, "last": p.n}[id]
	p.scroll(by)
	return ok
}

func (p *pager) wheel(m tea.MouseMsg) {
	p.scroll(map[tea.MouseButton]int{tea.MouseButtonWheelUp: -wheelRows, tea.MouseButtonWheelDown: wheelRows}[m.Button])
}

// words say which lines are in view; nothing if all are.
func (p *pager) words() string {
	if p.n <= p.height {
		return ""
	}
	return strconv.Itoa(p.top+1) + "–" + strconv.Itoa(p.to()) + " of " + strconv.Itoa(p.n)
}

// titleEnd is titleLine with words at its right end.
func titleEnd(th *theme.Theme, w int, title, rest, end string) string {
	if end == "" {
		return titleLine(th, w, title, rest)
	}
	at := w - draw.Width(end) - 1
	l := draw.NewLine(w, "").Gap(1).Raw(th.Title, draw.Cut(title, at-2)).Gap(2)
	return l.Within(th.Dim, rest, at-l.Used()-1).To(at).Raw(th.Dim, end).String()
}
