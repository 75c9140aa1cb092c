// Package density counts what happens over time and draws it in one line of blocks,
// however much there is and however long it goes on.
package density

import (
	"time"

	"github.com/mcptap/mcptap/ui/draw"
)

const buckets = 1 << 10

// A Line counts events over time. The zero value is ready.
type Line struct {
	width time.Duration // of a bucket
	all   [buckets]uint32
	bad   [buckets]uint32
	last  time.Duration
}

// Add counts an event. Times before 0 count as 0: a foreign recording's clock may jump
// backwards.
func (l *Line) Add(t time.Duration, bad bool) {
	t = max(0, t)
	l.last = max(l.last, t)
	if l.width == 0 {
		l.width = time.Microsecond
	}
	for t/l.width >= buckets {
		l.halve()
	}
	i := t / l.width
	l.all[i]++
	if bad {
		l.bad[i]++
	}
}

// halve doubles what a bucket spans.
func (l *Line) halve() {
	for i := range buckets / 2 {
		l.all[i] = l.all[2*i] + l.all[2*i+1]
		l.bad[i] = l.bad[2*i] + l.bad[2*i+1]
	}
	clear(l.all[buckets/2:])
	clear(l.bad[buckets/2:])
	l.width *= 2
}

// Last is the latest moment of an event.
func (l *Line) Last() time.Duration { return l.last }

// Styles are how the line looks: before the cursor, after it, at it, and where
// something failed. Glyphs say the same without them.
type Styles struct{ Past, Future, Cursor, Bad draw.Style }

// Glyphs of the line where there is no block.
const (
	glyphPast, glyphFuture     = "━", "─"
	glyphCursor, glyphAtFailed = "●", "◉"
	glyphFailed                = "✗"
)

var blocks = []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// Draw draws the line in width cells, with the cursor at a moment.
func (l *Line) Draw(width int, at time.Duration, s Styles) string {
	all, bad := l.columns(width)
	peak := uint32(1)
	for _, n := range all {
		peak = max(peak, n)
	}
	cursor := l.Column(at, width)
	line := draw.NewLine(width, "")
	for i, n := range all {
		style, text := s.Past, glyphPast
		if i > cursor {
			style, text = s.Future, glyphFuture
		}
		switch {
		case i == cursor && bad[i] > 0:
			style, text = s.Cursor+s.Bad, glyphAtFailed
		case i == cursor:
			style, text = s.Cursor, glyphCursor
		case bad[i] > 0:
			style, text = s.Bad, glyphFailed
		case n > 0:
			text = blocks[int(uint64(n)*uint64(len(blocks)-1)/uint64(peak))]
		}
		line.Raw(style, text)
	}
	return line.String()
}

// columns sums the buckets up for width columns.
func (l *Line) columns(width int) (all, bad []uint32) {
	all, bad = make([]uint32, width), make([]uint32, width)
	for i := range l.all {
		if l.all[i] == 0 {
			continue
		}
		c := l.Stands(time.Duration(i)*l.width, width)
		all[c] += l.all[i]
		bad[c] += l.bad[i]
	}
	return all, bad
}

// Column is where a moment stands on a line of width cells.
func (l *Line) Column(t time.Duration, width int) int {
	if l.last <= 0 || width <= 1 {
		return 0
	}
	return max(0, min(int(float64(t)/float64(l.last)*float64(width-1)+.5), width-1))
}

// Stands is the column in which an event of a moment is drawn: that of its bucket.
func (l *Line) Stands(t time.Duration, width int) int {
	if l.width > 0 {
		t = max(0, t).Truncate(l.width)
	}
	return l.Column(t, width)
}

// Moment is the reverse of Column. It counts in whole numbers: the longest duration is
// none that a float64 can hold.
func (l *Line) Moment(column, width int) time.Duration {
	if width <= 1 {
		return 0
	}
	steps, at := time.Duration(width-1), time.Duration(max(0, min(column, width-1)))
	return l.last/steps*at + l.last%steps*at/steps
}
