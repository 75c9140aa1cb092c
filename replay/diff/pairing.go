package diff

import (
	"cmp"
	"slices"

	"github.com/mcptap/mcptap/decode"
)

// pairUnits finds which operations are the same work: first those that both have in
// order, then those that changed places, then those that differ in arguments and
// stand between the same neighbours, or are the only ones of their kind.
func pairUnits(a, b []unit) (pairs []pair, moved map[pair]bool) {
	ka, kb := number(a, b)
	if slices.Compare(ka, kb) > 0 { // of pairings that are as good one is taken, whichever side comes first
		back, movedBack := pairUnits(b, a)
		moved = map[pair]bool{}
		for p := range movedBack {
			moved[pair{p.b, p.a}] = true
		}
		return swapped(back), moved
	}
	inOrder := align(ka, kb)
	moved = map[pair]bool{}
	leftA, leftB := rest(len(a), inOrder, func(p pair) int { return p.a }), rest(len(b), inOrder, func(p pair) int { return p.b })
	crossed := sameKeys(ka, kb, leftA, leftB)
	for _, p := range crossed {
		if changedPlace(a, b, p, inOrder) {
			moved[p] = true
		}
	}
	pairs = append(slices.Clone(inOrder), crossed...)
	leftA, leftB = without(leftA, crossed, func(p pair) int { return p.a }), without(leftB, crossed, func(p pair) int { return p.b })
	near := sameKinds(a, b, leftA, leftB, inOrder)
	leftA, leftB = without(leftA, near, func(p pair) int { return p.a }), without(leftB, near, func(p pair) int { return p.b })
	far := onlyOnes(a, b, leftA, leftB)
	for _, p := range far {
		if changedPlace(a, b, p, inOrder) {
			moved[p] = true
		}
	}
	return slices.Concat(pairs, near, far), moved
}

// onlyOnes pairs what is left over if it is the only one of its method and target on
// either side.
func onlyOnes(a, b []unit, leftA, leftB []int) (pairs []pair) {
	byKind := func(units []unit, left []int) map[string][]int {
		m := map[string][]int{}
		for _, i := range left {
			m[units[i].kind] = append(m[units[i].kind], i)
		}
		return m
	}
	inA, inB := byKind(a, leftA), byKind(b, leftB)
	for _, i := range leftA {
		if k := a[i].kind; len(inA[k]) == 1 && len(inB[k]) == 1 {
			pairs = append(pairs, pair{i, inB[k][0]})
		}
	}
	return pairs
}

// number gives each key a number, the same in both.
func number(a, b []unit) (ka, kb []int) {
	// Numbers by the keys' own order are the same whichever side comes first.
	all := make([]string, 0, len(a)+len(b))
	for _, units := range [][]unit{a, b} {
		for i := range units {
			all = append(all, units[i].key)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	ids := make(map[string]int, len(all))
	for i, k := range all {
		ids[k] = i
	}
	of := func(units []unit) []int {
		out := make([]int, len(units))
		for i := range units {
			out[i] = ids[units[i].key]
		}
		return out
	}
	return of(a), of(b)
}

func rest(n int, pairs []pair, side func(pair) int) (left []int) {
	taken := make([]bool, n)
	for _, p := range pairs {
		taken[side(p)] = true
	}
	for i := range n {
		if !taken[i] {
			left = append(left, i)
		}
	}
	return left
}

func without(left []int, pairs []pair, side func(pair) int) []int {
	taken := map[int]bool{}
	for _, p := range pairs {
		taken[side(p)] = true
	}
	return slices.DeleteFunc(left, func(i int) bool { return taken[i] })
}

// sameKeys pairs what is left over and has the same key, the first with the first.
func sameKeys(ka, kb, leftA, leftB []int) (pairs []pair) {
	waiting := map[int][]int{}
	for _, j := range leftB {
		waiting[kb[j]] = append(waiting[kb[j]], j)
	}
	for _, i := range leftA {
		if w := waiting[ka[i]]; len(w) > 0 {
			pairs = append(pairs, pair{i, w[0]})
			waiting[ka[i]] = w[1:]
		}
	}
	return pairs
}

// slot is where operations of one kind are left over between the same neighbours.
type slot struct {
	gap  int
	kind string
}

// sameKinds pairs what is left over between the same two neighbours and has the same
// method and target: what has most arguments in common first.
func sameKinds(a, b []unit, leftA, leftB []int, inOrder []pair) (pairs []pair) {
	slotsA, order := slots(a, leftA, inOrder, func(p pair) int { return p.a })
	slotsB, _ := slots(b, leftB, inOrder, func(p pair) int { return p.b })
	for _, s := range order {
		pairs = append(pairs, nearest(a, b, slotsA[s], slotsB[s])...)
	}
	return pairs
}

func slots(units []unit, left []int, inOrder []pair, side func(pair) int) (by map[slot][]int, order []slot) {
	by = map[slot][]int{}
	for _, i := range left {
		gap, _ := slices.BinarySearchFunc(inOrder, i, func(p pair, i int) int { return cmp.Compare(side(p), i) })
		s := slot{gap, units[i].kind}
		if by[s] == nil {
			order = append(order, s)
		}
		by[s] = append(by[s], i)
	}
	return by, order
}

// maxNearest is how many operations of one slot are compared with each other.
const maxNearest = 64

// nearest pairs operations by how many arguments they have in common, then in order.
func nearest(a, b []unit, inA, inB []int) (pairs []pair) {
	type candidate struct {
		pair
		shared int
	}
	var found []candidate
	if len(inB) > 0 {
		for _, i := range inA[:min(len(inA), maxNearest)] {
			for _, j := range inB[:min(len(inB), maxNearest)] {
				if n := shared(a[i].arguments, b[j].arguments); n > 0 {
					found = append(found, candidate{pair{i, j}, n})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(x, y candidate) int { return y.shared - x.shared })
	takenA, takenB := map[int]bool{}, map[int]bool{}
	take := func(p pair) {
		if !takenA[p.a] && !takenB[p.b] {
			takenA[p.a], takenB[p.b] = true, true
			pairs = append(pairs, p)
		}
	}
	for _, c := range found {
		take(c.pair)
	}
	inA = slices.DeleteFunc(slices.Clone(inA), func(i int) bool { return takenA[i] })
	inB = slices.DeleteFunc(slices.Clone(inB), func(j int) bool { return takenB[j] })
	for n := range min(len(inA), len(inB)) {
		take(pair{inA[n], inB[n]})
	}
	return pairs
}

// shared counts the arguments that two calls have in common; both are sorted.
func shared(a, b []uint64) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			n++
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return n
}

// maxCrossed is how many of the pairs that one crosses are looked at.
const maxCrossed = 1000

// changedPlace reports a pair that crosses another one although neither client had
// the two running at once: calls made at once begin in any order.
func changedPlace(a, b []unit, p pair, inOrder []pair) bool {
	from, _ := slices.BinarySearchFunc(inOrder, p.a, func(q pair, i int) int { return cmp.Compare(q.a, i) })
	for n, q := range inOrder[from:] { // after it in A, before it in B
		if q.b > p.b || n > maxCrossed {
			break
		}
		if apart(&a[p.a].op, &a[q.a].op) && apart(&b[q.b].op, &b[p.b].op) {
			return true
		}
	}
	for n := range min(from, maxCrossed) { // before it in A, after it in B
		q := inOrder[from-1-n]
		if q.b < p.b {
			break
		}
		if apart(&a[q.a].op, &a[p.a].op) && apart(&b[p.b].op, &b[q.b].op) {
			return true
		}
	}
	return false
}

// apart reports two operations of which the first had ended when the second began.
func apart(first, second *decode.Operation) bool {
	return first.End > 0 && first.End <= second.Start
}
