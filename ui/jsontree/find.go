package jsontree

import (
	"bytes"
	"slices"
)

// Find gives the next row after a row that has what, in its key or in its value. It
// opens what hides it. After the last row it goes on with the first; ok is false if
// what is nowhere. Letters are found in either case.
func (t *Tree) Find(what string, after int) (row int, ok bool) {
	if what == "" {
		return after, false
	}
	f := finder{t, []byte(what)}
	r := t.locate(after)
	if r.n != nil {
		if row, ok := f.onward(r); ok {
			return row, true
		}
	}
	return f.within(t.root, 0)
}

type finder struct {
	t    *Tree
	what []byte
}

// onward looks at what comes after r, to the end.
func (f *finder) onward(r ref) (row int, ok bool) {
	switch {
	case r.open != nil:
		if row, ok := f.within(r.open, 0); ok {
			return row, true
		}
	case r.n.form == members:
		c, here := r.n.child(r.i), f.t.rowOf(r.n, r.i)
		if f.in(r.n.src[c.from:c.to]) < 0 {
			break
		}
		if row := f.inside(r.n, r.i); row != here {
			return row, true
		}
	}
	for n, i := r.n, r.i+1; n != nil; n, i = n.parent, n.at+1 {
		if row, ok := f.within(n, i); ok {
			return row, true
		}
	}
	return 0, false
}

// within looks at the children of n from the i-th on.
func (f *finder) within(n *node, i int) (row int, ok bool) {
	switch n.form {
	case lines:
		return f.inLines(n, i)
	case dump:
		return 0, false
	}
	if n.parent == nil && n.kids.n == 0 {
		return 0, i == 0 && f.in(n.src[n.from:n.to]) >= 0
	}
	for i < n.kids.n {
		upto, open := n.nextOpen(i)
		if hit := f.among(n, i, upto); hit >= 0 {
			return f.reveal(n, hit), true
		}
		if open == nil {
			return 0, false
		}
		if c := n.child(open.at); f.in(n.src[c.key:c.keyEnd]) >= 0 {
			return f.t.rowOf(n, open.at), true
		}
		if row, ok := f.within(open, 0); ok {
			return row, true
		}
		i = open.at + 1
	}
	return 0, false
}

// nextOpen is the first open child from the i-th on.
func (n *node) nextOpen(i int) (at int, open *node) {
	for _, k := range n.open {
		if k.at >= i {
			return k.at, k
		}
	}
	return n.kids.n, nil
}

// among searches the closed children from a to b, b excluded, in one go.
func (f *finder) among(n *node, a, b int) int {
	if a >= b {
		return -1
	}
	first, last := n.child(a), n.child(b-1)
	at := f.in(n.src[first.begin():max(first.begin(), last.to)])
	if at < 0 {
		return -1
	}
	return n.kids.holding(n.src, first.begin()+at, n.to, n.object)
}

// reveal gives the row of a match in a child's key or value.
func (f *finder) reveal(n *node, i int) int {
	if c := n.child(i); f.in(n.src[c.key:c.keyEnd]) >= 0 {
		return f.t.rowOf(n, i)
	}
	return f.inside(n, i)
}

// inside opens what a closed child hides until the match has a row of its own.
func (f *finder) inside(n *node, i int) int {
	for {
		row := f.t.rowOf(n, i)
		if !f.t.Open(row) {
			return row
		}
		k := f.t.locate(row).open
		if k.form == lines {
			if at, ok := f.inLines(k, 0); ok {
				return at
			}
			return row
		}
		if k.form == dump {
			return row
		}
		hit := f.among(k, 0, k.kids.n)
		if hit < 0 {
			return row
		}
		if n, i = k, hit; f.in(n.src[n.child(i).key:n.child(i).keyEnd]) >= 0 {
			return f.t.rowOf(n, i)
		}
	}
}

// inLines searches a text from its i-th row on, as a whole: what is found may go on in the
// next row.
func (f *finder) inLines(n *node, i int) (row int, ok bool) {
	if i >= len(n.breaks) {
		return 0, false
	}
	at := f.in(n.src[n.breaks[i]:])
	if at < 0 {
		return 0, false
	}
	after, _ := slices.BinarySearch(n.breaks, n.breaks[i]+at+1)
	return f.t.rowOf(n, after-1), true
}

// in finds what in b, letters of ASCII in either case. It looks at each byte a few times
// at most, however often what seems to begin.
func (f *finder) in(b []byte) int {
	lower, upper := fold(f.what[0])
	last := len(b) - len(f.what)
	low, up := -1, -1 // the next of each
	for at := 0; at <= last; at++ {
		low, up = next(b, low, at, lower), next(b, up, at, upper)
		if at = min(low, up); at > last {
			return -1
		}
		if bytes.EqualFold(b[at:at+len(f.what)], f.what) {
			return at
		}
	}
	return -1
}

func fold(c byte) (lower, upper byte) {
	switch {
	case 'a' <= c && c <= 'z':
		return c, c - 32
	case 'A' <= c && c <= 'Z':
		return c + 32, c
	}
	return c, c
}

// next is where c stands next in b from at on, if known is not that yet; len(b) if
// nowhere.
func next(b []byte, known, at int, c byte) int {
	if known >= at {
		return known
	}
	if i := bytes.IndexByte(b[at:], c); i >= 0 {
		return at + i
	}
	return len(b)
}
