// Package vlist is the state of a list that is far longer than the screen: which
// rows are in view, which one has the cursor, and the rows that were drawn before.
//
// It promises that what it does costs as much as the rows in view, however many
// there are. It knows rows by their index only.
package vlist

// A List is a window on n rows. The zero value is an empty list.
type List struct {
	n      int
	cursor int
	top    int
	height int
	cache  map[key]string
}

// key is what a drawn row depends on. The version is the caller's: it changes when
// the row would be drawn otherwise.
type key struct {
	row, width int
	version    uint64
	lit        uint8
}

// Len is how many rows there are.
func (l *List) Len() int { return l.n }

// Cursor is the row with the cursor; 0 also if there are no rows.
func (l *List) Cursor() int { return l.cursor }

// Top is the first row in view.
func (l *List) Top() int { return l.top }

// SetLen changes how many rows there are. A cursor on the last row stays there if
// the list follows its end.
func (l *List) SetLen(n int, follow bool) {
	l.n = n
	if follow {
		l.cursor = n - 1
	}
	l.Go(l.cursor)
}

// SetHeight tells how many rows are in view.
func (l *List) SetHeight(h int) {
	l.height = max(1, h)
	l.show()
}

// Go puts the cursor on a row, as near as there is one.
func (l *List) Go(row int) {
	l.cursor = max(0, min(row, l.n-1))
	l.show()
}

// Move moves the cursor.
func (l *List) Move(by int) { l.Go(l.cursor + by) }

// Page moves the cursor by pages less a row, so that the eye finds its place.
func (l *List) Page(by int) { l.Move(by * max(1, l.height-1)) }

// Scroll moves the window; the cursor is taken along at its edges.
func (l *List) Scroll(by int) {
	l.top = max(0, min(l.top+by, l.n-l.height))
	l.cursor = max(l.top, min(l.cursor, l.top+l.height-1, l.n-1))
}

// Place shifts the window so that row comes to stand at a line of it.
func (l *List) Place(row, line int) {
	l.top = max(0, min(row-line, l.n-l.height))
	l.Go(row)
}

// Reveal shifts the window so that a row after the cursor's is in view, as far as the
// cursor's stays there.
func (l *List) Reveal(row int) {
	if row = min(row, l.n-1); row >= l.top+l.height {
		l.top = min(l.cursor, row-l.height+1)
	}
}

// At gives the row at a line of the window; ok is false below the last.
func (l *List) At(line int) (row int, ok bool) {
	row = l.top + line
	return row, line >= 0 && line < l.height && row < l.n
}

// AtEnd reports whether the cursor is on the last row.
func (l *List) AtEnd() bool { return l.cursor >= l.n-1 }

// Range is the rows in view, to excluded.
func (l *List) Range() (from, to int) { return l.top, min(l.top+l.height, l.n) }

// show moves the window so that the cursor is in it and no line stays empty that
// could be filled.
func (l *List) show() {
	l.height = max(1, l.height)
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if l.cursor >= l.top+l.height {
		l.top = l.cursor - l.height + 1
	}
	l.top = max(0, min(l.top, l.n-l.height))
}

// maxCache bounds the rows that are remembered.
const maxCache = 2048

// Rows gives the lines in view, each width cells wide, from draw or from memory. lit
// is how the cursor's row stands out; 0 is how the others look.
func (l *List) Rows(width int, version func(row int) uint64, lit uint8, draw func(row int, lit uint8) string) []string {
	from, to := l.Range()
	lines := make([]string, 0, to-from)
	if l.cache == nil || len(l.cache) > maxCache {
		l.cache = map[key]string{}
	}
	for row := from; row < to; row++ {
		k := key{row: row, width: width, version: version(row)}
		if row == l.cursor {
			k.lit = lit
		}
		line, ok := l.cache[k]
		if !ok {
			line = draw(row, k.lit)
			l.cache[k] = line
		}
		lines = append(lines, line)
	}
	return lines
}

// Forget drops the drawn rows: the rows themselves have changed.
func (l *List) Forget() { l.cache = nil }
