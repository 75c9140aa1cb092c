package ui

// rect is a part of the screen, in cells.
type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// Sizes at which the session screen changes its shape.
const (
	wideWidth   = 130 // calls and frame beside each other
	sideWidth   = 110 // a third pane beside them
	tallHeight  = 14  // calls and frame above each other
	clockHeight = 9   // a line of time
	minPane     = 3   // lines of a pane that is worth having
	minColumn   = 30  // cells of one
)

// panes are what the session screen is to show.
type panes struct {
	focus place
	only  place // the pane that has the whole screen; 0 if none
	side  bool  // there is a third pane
	rows  int   // percent of the height that the upper pane gets
	cols  int   // percent of the width that the left panes get
}

// arrangement is where the parts of the session screen stand. A pane that is not shown
// has no height. Every pane has its title on the line above it.
type arrangement struct {
	calls, frame, side rect
	clock              rect
	across, down       rect // lines that can be dragged: between upper and lower, left and right panes
}

// top is where panes begin: below the heading and the titles.
const top = 2

// arrange lays the session screen out in w by h cells.
//
// Two panes stand above each other on most terminals, beside each other on wide ones,
// and one at a time on small ones. A third stands at the right of both where that is
// wide enough, and takes the frame's place where it is not.
func arrange(w, h int, p panes) (a arrangement) {
	bottom := h
	if h >= clockHeight {
		bottom--
		a.clock = rect{0, bottom, w, 1}
	}
	room := max(0, bottom-top)
	whole := rect{0, top, w, room}
	switch {
	case p.only != 0:
		*a.pane(p.only) = whole
	case p.side && w >= sideWidth:
		left, right := a.beside(whole, p.cols)
		a.stack(left, &p, inFrame)
		a.side = right
	case w < wideWidth && h < tallHeight:
		*a.pane(p.focus) = whole
	case w < wideWidth:
		lower := inFrame
		if p.focus == inSide {
			lower = inSide
		}
		a.stack(whole, &p, lower)
	default:
		a.calls, a.frame = a.beside(whole, p.cols)
	}
	return a
}

func (a *arrangement) pane(p place) *rect {
	switch p {
	case inFrame:
		return &a.frame
	case inSide:
		return &a.side
	}
	return &a.calls
}

// stack puts the calls above another pane; where there is no room for both, one of
// them has it.
func (a *arrangement) stack(in rect, p *panes, lower place) {
	if in.h < 2*minPane+1 {
		one := inCalls
		if p.focus == lower {
			one = lower
		}
		*a.pane(one) = in
		return
	}
	upper := max(minPane, min((in.h-1)*p.rows/100, in.h-1-minPane))
	a.calls = rect{in.x, in.y, in.w, upper}
	*a.pane(lower) = rect{in.x, in.y + upper + 1, in.w, in.h - upper - 1}
	a.across = rect{in.x, in.y + upper, in.w, 1}
}

// beside parts a rectangle into two, with a line between.
func (a *arrangement) beside(in rect, percent int) (left, right rect) {
	w := max(minColumn, min(in.w*percent/100, in.w-minColumn))
	a.down = rect{in.x + w, in.y - 1, 1, in.h + 1}
	return rect{in.x, in.y, w, in.h}, rect{in.x + w + 1, in.y, in.w - w - 1, in.h}
}

// grow makes the pane with the focus larger or smaller by a step.
func (p *panes) grow(a arrangement, by int) {
	if p.focus == inFrame || p.focus == inSide {
		by = -by
	}
	if a.across.h > 0 && p.focus != inSide || a.down.h == 0 {
		p.rows = clampShare(p.rows + by)
		return
	}
	p.cols = clampShare(p.cols + by)
}

// drag puts a line between panes where the mouse is.
func (p *panes) drag(down bool, x, y, w, h int) {
	if down {
		p.cols = clampShare(x * 100 / max(1, w))
		return
	}
	p.rows = clampShare((y-top)*100/max(1, h-top-2) + 1)
}

func clampShare(n int) int { return max(10, min(n, 90)) }
