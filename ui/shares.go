package ui

import (
	"cmp"
	"slices"

	"github.com/mcptap/mcptap/decode"
)

// share is how many cells of a bar a part of an account gets.
type share struct {
	part  decode.Part
	cells int
}

// byShare gives the parts that have bytes, the largest first.
func byShare(a *decode.Account) (parts []decode.Part) {
	for p := range decode.NumParts {
		if a[p] > 0 {
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(x, y decode.Part) int { return cmp.Compare(a[y], a[x]) })
	return parts
}

// shares divides width cells among the parts, each in proportion, so that they add up
// to width. A part that is too small for a cell has none.
func shares(a *decode.Account, width int) (out []share) {
	total, sum, used := a.Total(), int64(0), 0
	if total <= 0 {
		return nil
	}
	for _, p := range byShare(a) {
		sum += a[p]
		upto := int(sum * int64(width) / total)
		out = append(out, share{p, upto - used})
		used = upto
	}
	return out
}
