package density

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/ui/draw"
)

func TestDraw(t *testing.T) {
	var l Line
	for _, at := range []int{0, 0, 0, 0, 10, 50, 50, 100} {
		l.Add(time.Duration(at)*time.Millisecond, at == 50)
	}
	for _, c := range []struct {
		at   int
		want string
	}{{30, "█▂━●─✗────▂"}, {50, "█▂━━━◉────▂"}, {100, "█▂━━━✗━━━━●"}, {0, "●▂───✗────▂"}} {
		if got := l.Draw(11, time.Duration(c.at)*time.Millisecond, Styles{}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := l.Draw(11, 0, Styles{Bad: "\x1b[31m"}); strings.Count(got, "\x1b[31m✗") != 1 {
		t.Errorf("what failed is not marked once: %q", got)
	}
}

// TestColumns: whatever comes, nothing is lost, the line has its width, and columns and
// moments fit together.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		times := rapid.SliceOfN(rapid.Int64(), 0, 50).Draw(t, "times")
		for _, at := range times {
			l.Add(time.Duration(at), at%3 == 0)
		}
		width := rapid.IntRange(1, 300).Draw(t, "width")
		all, _ := l.columns(width)
		sum := 0
		for _, n := range all {
			sum += int(n)
		}
		if sum != len(times) {
			t.Fatalf("%d events in the columns, not %d", sum, len(times))
		}
		column := rapid.IntRange(0, width-1).Draw(t, "column")
		if l.last > 1000 {
			if back := l.Column(l.Moment(column, width), width); back != column {
				t.Fatalf("column %d is the moment of column %d", column, back)
			}
		}
		if w := draw.Width(l.Draw(width, l.Moment(column, width), Styles{})); w != width {
			t.Fatalf("%d cells, want %d", w, width)
		}
	})
}

// TestLongest: the longest duration there is has its place at the end.
func TestLongest(t *testing.T) {
	var l Line
	l.Add(math.MaxInt64, false)
	for column := range 3 {
		if back := l.Column(l.Moment(column, 3), 3); back != column {
			t.Errorf("column %d is the moment of column %d", column, back)
		}
	}
	if got := l.Moment(2, 3); got != math.MaxInt64 {
		t.Errorf("the last column is the moment %d", got)
	}
}
