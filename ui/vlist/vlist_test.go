package vlist

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestWindow: the cursor is a row and in view, and no line stays empty that could be
// filled, whatever is done.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l List
		number := rapid.IntRange(-5, 60)
		for range 40 {
			n := number.Draw(t, "n")
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				l.SetLen(max(0, n), rapid.Bool().Draw(t, "follow"))
			case 1:
				l.SetHeight(n)
			case 2:
				l.Go(n)
			case 3:
				l.Move(n - 20)
			case 4:
				l.Page(n - 20)
			case 5:
				l.Scroll(n - 20)
			case 6:
				l.Place(n, 3)
			}
			from, to := l.Range()
			if l.Len() > 0 && (l.Cursor() < from || l.Cursor() >= to) {
				t.Fatalf("the cursor %d is not among %d to %d of %d", l.Cursor(), from, to, l.Len())
			}
			if to-from != min(max(1, l.height), l.Len()) {
				t.Fatalf("rows %d to %d of %d are in view on %d lines", from, to, l.Len(), l.height)
			}
		}
	})
}

func TestRowsAreDrawnOnce(t *testing.T) {
	var l List
	l.SetLen(1000000, false)
	l.SetHeight(3)
	drawn := map[int]int{}
	version := uint64(0)
	rows := func() []string {
		return l.Rows(10, func(int) uint64 { return version }, 1, func(row int, lit uint8) string {
			drawn[row]++
			return fmt.Sprint(row, lit)
		})
	}
	l.Go(999998)
	rows()
	l.Go(999999)
	if got := fmt.Sprint(rows()); got != "[999997 0 999998 0 999999 1]" {
		t.Error(got)
	}
	rows()
	if drawn[999997] != 1 || drawn[999998] != 2 { // with the cursor and without it
		t.Error(drawn)
	}
	version++
	if rows(); drawn[999997] != 2 {
		t.Error(drawn)
	}
}
