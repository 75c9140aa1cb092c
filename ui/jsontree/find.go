package jsontree

import "bytes"

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

func (f *finder) inLines(n *node, i int) (row int, ok bool) {
	for ; i < len(n.breaks); i++ {
		if f.in([]byte(n.line(i))) >= 0 {
			return f.t.rowOf(n, i), true
		}
	}
	return 0, false
}

// in finds what in b, letters of ASCII in either case.
func (f *finder) in(b []byte) int {
	lower, upper := fold(f.what[0])
	for at := 0; at+len(f.what) <= len(b); {
		i := indexEither(b[at:len(b)-len(f.what)+1], lower, upper)
		if i < 0 {
			return -1
		}
		if at += i; bytes.EqualFold(b[at:at+len(f.what)], f.what) {
			return at
		}
		at++
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

func indexEither(b []byte, x, y byte) int {
	i := bytes.IndexByte(b, x)
	if x == y || i == 0 {
		return i
	}
	if i > 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, y); j >= 0 {
		return j
	}
	return i
}
