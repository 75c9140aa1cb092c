package ui

// rect is a part of the screen, in cells.
type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// Sizes at which the session screen changes its shape.
const (
	wideWidth   = 130 // calls and frame beside each other
	tallHeight  = 14  // calls and frame above each other
	clockHeight = 9   // a line of time
	minPane     = 3   // lines of a pane that is worth having
)

// arrangement is where the parts of the session screen stand. A pane that is not
// shown has no height. Every pane has its title on the line above it.
type arrangement struct {
	calls, frame rect
	clock        rect
	beside       bool // calls and frame, with a line between
	split        rect // what can be dragged
}

// arrange lays the session screen out in w by h cells, its heading at line 0. share is
// the part of the room that the calls get, in percent; only names the pane that has
// all the room, if one does.
func arrange(w, h, share int, only place, focus place) arrangement {
	var a arrangement
	bottom := h
	if h >= clockHeight {
		bottom--
		a.clock = rect{0, bottom, w, 1}
	}
	const top = 2 // heading and titles
	room := max(0, bottom-top)
	switch {
	case only == inCalls, only == 0 && w < wideWidth && h < tallHeight && focus == inCalls:
		a.calls = rect{0, top, w, room}
	case only == inFrame, only == 0 && w < wideWidth && h < tallHeight:
		a.frame = rect{0, top, w, room}
	case w >= wideWidth:
		left := max(30, min(w*share/100, w-30))
		a.beside = true
		a.calls = rect{0, top, left, room}
		a.frame = rect{left + 1, top, w - left - 1, room}
		a.split = rect{left, 1, 1, room + 1}
	default:
		upper := max(minPane, min((room-1)*share/100, room-1-minPane))
		a.calls = rect{0, top, w, upper}
		a.frame = rect{0, top + upper + 1, w, room - upper - 1}
		a.split = rect{0, top + upper, w, 1}
	}
	return a
}

// shareAt is the share that puts the split where the mouse is.
func shareAt(a arrangement, x, y, w, h int) int {
	if a.beside {
		return clampShare(x * 100 / max(1, w))
	}
	return clampShare((y - 1) * 100 / max(1, h-3))
}

func clampShare(n int) int { return max(10, min(n, 90)) }
