package ui

import (
	"cmp"
	"slices"

	"github.com/mcptap/mcptap/decode"
)

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
