package diff

import (
	"cmp"
	"slices"
)

// pair is two operations that are the same work: indexes into the two sequences.
type pair struct{ a, b int }

// Bounds that keep an alignment near linear: how many edits are looked for one by
// one, and how often a stretch is cut at what it has in common.
const (
	maxEdits = 200
	maxCuts  = 8
)

// align pairs the elements of two sequences of keys that both have in the same
// order. It finds a longest such pairing when the two differ in few places, and a
// good one otherwise: the time it takes is in proportion to their length.
func align(a, b []int) []pair {
	if slices.Compare(a, b) > 0 { // one of two pairings that are as good, whichever comes first
		return swapped(align(b, a))
	}
	al := aligner{a: a, b: b}
	al.stretch(0, len(a), 0, len(b), maxCuts)
	slices.SortFunc(al.pairs, func(x, y pair) int { return cmp.Compare(x.a, y.a) })
	return al.pairs
}

func swapped(in []pair) []pair {
	out := make([]pair, len(in))
	for i, p := range in {
		out[i] = pair{p.b, p.a}
	}
	return out
}

type aligner struct {
	a, b  []int
	pairs []pair
}

// stretch aligns a[a0:a1] with b[b0:b1].
func (al *aligner) stretch(a0, a1, b0, b1, cuts int) {
	for a0 < a1 && b0 < b1 && al.a[a0] == al.b[b0] {
		al.pairs = append(al.pairs, pair{a0, b0})
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && al.a[a1-1] == al.b[b1-1] {
		a1, b1 = a1-1, b1-1
		al.pairs = append(al.pairs, pair{a1, b1})
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	if found, ok := fewEdits(al.a[a0:a1], al.b[b0:b1]); ok {
		for _, p := range found {
			al.pairs = append(al.pairs, pair{a0 + p.a, b0 + p.b})
		}
		return
	}
	anchors := inCommon(al.a[a0:a1], al.b[b0:b1])
	if len(anchors) == 0 || cuts == 0 {
		al.pieces(a0, a1, b0, b1)
		return
	}
	at := pair{a0, b0}
	for _, p := range anchors {
		p = pair{a0 + p.a, b0 + p.b}
		al.stretch(at.a, p.a, at.b, p.b, cuts-1)
		al.pairs = append(al.pairs, p)
		at = pair{p.a + 1, p.b + 1}
	}
	al.stretch(at.a, a1, at.b, b1, cuts-1)
}

// pieces aligns a stretch that differs in many places, and has nothing as often on both
// sides, from its beginning on: as far as so many edits lead, then from there. Each
// piece is at least as long as it takes edits, which keeps the whole linear.
func (al *aligner) pieces(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 {
		pairs, end := edits(al.a[a0:a1], al.b[b0:b1])
		for _, p := range pairs {
			al.pairs = append(al.pairs, pair{a0 + p.a, b0 + p.b})
		}
		if end.a+end.b == 0 {
			return
		}
		a0, b0 = a0+end.a, b0+end.b
	}
}

// fewEdits finds the longest common subsequence of two sequences that few edits
// lead from one to the other.
func fewEdits(a, b []int) (pairs []pair, few bool) {
	if limit := min(len(a)+len(b), maxEdits); len(a)-len(b) > limit || len(b)-len(a) > limit {
		return nil, false
	}
	pairs, end := edits(a, b)
	return pairs, end == pair{len(a), len(b)}
}

// edits follows two sequences from their beginnings for as many edits as are looked for
// one by one, and gives the longest common subsequence up to where most is in common
// by then: the ends of both if that is all (Myers, "An O(ND) difference algorithm",
// 1986).
func edits(a, b []int) (pairs []pair, end pair) {
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	reach := make([]int, 2*limit+3) // furthest x on each diagonal
	mid := limit + 1
	var trace [][]int // of each round, the diagonals -d..d
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := reach[mid+k-1] + 1
			if k == -d || k != d && reach[mid+k-1] < reach[mid+k+1] {
				x = reach[mid+k+1]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			reach[mid+k] = x
			if x >= n && x-k >= m {
				return backtrack(pair{n, m}, trace, d), pair{n, m}
			}
		}
		trace = append(trace, slices.Clone(reach[mid-d:mid+d+1]))
	}
	for k := -limit; k <= limit; k += 2 {
		if p := (pair{reach[mid+k], reach[mid+k] - k}); p.a <= n && p.b <= m && p.a+p.b > end.a+end.b {
			end = p
		}
	}
	return backtrack(end, trace, limit), end
}

// backtrack follows d edits back from the end, through the equal runs between. trace
// has, of each round d, how far the diagonals -d..d were reached.
func backtrack(end pair, trace [][]int, d int) (pairs []pair) {
	x, y := end.a, end.b
	for ; d > 0; d-- {
		before := trace[d-1]
		at := func(k int) int {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return before[k+d-1]
		}
		from := x - y - 1
		if k := x - y; k == -d || k != d && at(k-1) < at(k+1) {
			from = k + 1
		}
		px := at(from)
		for ; x > px && y > px-from; x, y = x-1, y-1 {
			pairs = append(pairs, pair{x - 1, y - 1})
		}
		x, y = px, px-from
	}
	for ; x > 0; x-- {
		pairs = append(pairs, pair{x - 1, x - 1})
	}
	slices.Reverse(pairs)
	return pairs
}

// inCommon gives anchors: what both sequences have as often as each other, the first
// with the first and so on, as far as it is in order. That is the patience
// difference, made to hold for what is there more than once.
func inCommon(a, b []int) []pair {
	type occurrence struct{ key, nth int }
	countA, countB := counts(a), counts(b)
	at, seen := map[occurrence]int{}, map[int]int{}
	for j, k := range b {
		if countA[k] == countB[k] {
			at[occurrence{k, seen[k]}] = j
			seen[k]++
		}
	}
	var both []pair
	clear(seen)
	for i, k := range a {
		if j, ok := at[occurrence{k, seen[k]}]; ok {
			both = append(both, pair{i, j})
		}
		seen[k]++
	}
	return rising(both)
}

func counts(keys []int) map[int]int {
	n := make(map[int]int, len(keys))
	for _, k := range keys {
		n[k]++
	}
	return n
}

// rising gives a longest part of pairs, which are in order of a, whose b rises.
func rising(pairs []pair) []pair {
	var tails []int // of the rising parts of each length, the pair with the least b
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(tails, p.b, func(t, b int) int { return cmp.Compare(pairs[t].b, b) })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([]pair, 0, len(tails))
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		out = append(out, pairs[i])
	}
	slices.Reverse(out)
	return out
}
