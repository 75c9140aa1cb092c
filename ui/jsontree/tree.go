package jsontree

import (
	"iter"
	"slices"

	"github.com/mcptap/mcptap/ui/syntax"
)

// A Tree is a JSON text of which some values are open.
type Tree struct {
	text []byte
	root *node
	wrap int // cells that lines of text are broken at

	limited bool // OpenAll had to leave something closed

	// said is what takes long to find out for a row, by where its value begins.
	said map[*byte]string
}

// form is what an open node consists of.
type form uint8

const (
	members form = iota // of an object or an array
	lines               // of a text
	dump                // of bytes
)

// node is an open value.
type node struct {
	parent   *node
	at       int    // its number among the parent's children
	src      []byte // that from and to, and the children, are places in
	from, to int
	object   bool
	inner    bool // it stood in a string
	form     form
	kids     index
	breaks   []int        // where lines begin in src
	ends     int          // line ends in src, of a text
	code     *syntax.Text // the tokens of a text; nil before a line of it is drawn
	open     []*node
	rows     int // its own row, if it has one, and all that is below it
}

// Limits of what opens by itself.
const (
	autoRows   = 400
	autoDepth  = 24
	autoString = 256 << 10
)

// Limits of what opens at once when all is to be opened: an open value takes about 300
// bytes, and finding a row looks at all that are open beside it.
const (
	allRows  = 200000
	allBytes = 64 << 20
)

// New makes a tree of text, which is not copied and must not change. Its outermost
// value is open, and others as far as they fit on a few screens.
func New(text []byte, wrap int) *Tree {
	t := &Tree{text: text, wrap: max(16, wrap)}
	from := space(text, 0)
	t.root = &node{src: text, from: from, to: value(text, from)}
	if k := kindOf(text, from); k == Object || k == Array {
		t.root.become(text, from, t.root.to)
	}
	t.root.rows = t.root.count()
	t.spread(t.root, autoRows, autoDepth, true)
	return t
}

// become makes n the container that stands in b[from:to].
func (n *node) become(b []byte, from, to int) {
	n.src, n.from, n.to, n.form = b, from, to, members
	n.object = kindOf(b, from) == Object
	n.kids = indexOf(b, from, to, n.object)
}

// count is how many rows the node has with nothing open in it.
func (n *node) count() int { return n.head() + n.below() }

// head is 1 if the node has a row of its own: the outermost container has none.
func (n *node) head() int {
	if n.parent == nil && n.kids.n > 0 {
		return 0
	}
	return 1
}

func (n *node) below() int {
	if n.form == members {
		return n.kids.n
	}
	return len(n.breaks)
}

// Len is how many rows there are.
func (t *Tree) Len() int { return t.root.rows }

// ref is what a row shows: a child of a node, or a line of one.
type ref struct {
	n    *node // nil: the outermost value itself
	i    int
	open *node // the child, if it is open
}

func (t *Tree) locate(row int) ref {
	n, r := t.root, row-t.root.head()
	if r < 0 || row >= t.root.rows {
		return ref{}
	}
	for n.form == members {
		kid, rest := n.pass(r)
		switch {
		case kid == nil:
			return ref{n, rest, nil}
		case rest == 0:
			return ref{n, kid.at, kid}
		}
		n, r = kid, rest-1
	}
	return ref{n: n, i: r}
}

// pass finds the open child that row r below n falls into, and the row within it;
// without one, rest is the number of the child.
func (n *node) pass(r int) (kid *node, rest int) {
	next, off := 0, 0 // the child after the last open one, and its row
	for _, k := range n.open {
		gap := k.at - next
		if r < off+gap {
			break
		}
		off += gap
		if r < off+k.rows {
			return k, r - off
		}
		off, next = off+k.rows, k.at+1
	}
	return nil, next + r - off
}

// child reads the i-th child of n.
func (n *node) child(i int) child { return n.kids.child(n.src, i, n.to, n.object) }

// rowOf is the row of the i-th child or line of n.
func (t *Tree) rowOf(n *node, i int) int {
	row := 0
	for ; n != nil; n, i = n.parent, n.at {
		row += n.head() + i
		for _, k := range n.open {
			if k.at < i {
				row += k.rows - 1
			}
		}
	}
	return row
}

// grow changes the number of rows below n, and of all that it is in.
func (n *node) grow(by int) {
	for ; n != nil; n = n.parent {
		n.rows += by
	}
}

// attach puts an open child in its place.
func (n *node) attach(k *node) {
	k.rows = k.count()
	i, _ := slices.BinarySearchFunc(n.open, k.at, func(o *node, at int) int { return o.at - at })
	n.open = slices.Insert(n.open, i, k)
	n.grow(k.rows - 1)
}

// Open opens the value of a row; it reports whether anything changed.
func (t *Tree) Open(row int) bool {
	r := t.locate(row)
	if r.n == nil || r.n.form != members || r.open != nil {
		return false
	}
	k := t.opened(r.n, r.i)
	if k == nil {
		return false
	}
	r.n.attach(k)
	return true
}

// opened makes the i-th child of n a node; nil if there is nothing in it.
func (t *Tree) opened(n *node, i int) *node {
	c := n.child(i)
	k := &node{parent: n, at: i}
	switch c.kind {
	case Object, Array:
		k.become(n.src, c.from, c.to)
	case String:
		if !t.openString(k, n.src[c.from:c.to]) {
			return nil
		}
	default:
		return nil
	}
	if k.below() == 0 {
		return nil
	}
	return k
}

// Close closes the value of a row, or what the row is in; it gives the row to go to.
func (t *Tree) Close(row int) int {
	r := t.locate(row)
	k := r.open
	if k == nil {
		k = r.n
	}
	if k == nil || k.parent == nil {
		return row
	}
	p := k.parent
	p.open = slices.DeleteFunc(p.open, func(o *node) bool { return o == k })
	p.grow(1 - k.rows)
	return t.rowOf(p, k.at)
}

// Parent is the row that the row is in; the row itself at the outermost level.
func (t *Tree) Parent(row int) int {
	if r := t.locate(row); r.n != nil && r.n.parent != nil {
		return t.rowOf(r.n.parent, r.n.at)
	}
	return row
}

// IsOpen reports whether the value of a row is open.
func (t *Tree) IsOpen(row int) bool { return t.locate(row).open != nil }

// OpenAll opens all there is below, up to a limit of rows; what it has to leave closed
// says so in its row, and can still be opened by itself.
func (t *Tree) OpenAll() { t.limited = !t.spread(t.root, allRows, 1<<20, false) }

// RowOf is the row of a member of the outermost object, or of one in it by further names;
// ok is false if it is not there or not in an open value.
func (t *Tree) RowOf(names ...string) (row int, ok bool) {
	n := t.root
	for depth, name := range names {
		if n == nil || n.form != members || !n.object || n.kids.n > maxNamed {
			return 0, false
		}
		i := 0
		for i < n.kids.n && !n.isNamed(i, name) {
			i++
		}
		if i == n.kids.n {
			return 0, false
		}
		if depth == len(names)-1 {
			return t.rowOf(n, i), true
		}
		n = n.openAt(i)
	}
	return 0, false
}

// maxNamed is in how many members a name is looked for.
const maxNamed = 64

func (n *node) isNamed(i int, name string) bool {
	c := n.child(i)
	return unquote(n.src[c.key:c.keyEnd]) == name
}

// openAt is the i-th child of n if it is open; else nil.
func (n *node) openAt(i int) *node {
	at, ok := slices.BinarySearchFunc(n.open, i, func(o *node, i int) int { return o.at - i })
	if !ok {
		return nil
	}
	return n.open[at]
}

// CloseAll closes everything but the outermost value.
func (t *Tree) CloseAll() {
	t.root.open = nil
	t.root.rows = t.root.count()
}

// spread opens what is in n, level by level, until there are limit rows. What it
// reads for that is bounded too: a level of a deep text costs all that is below it. It
// reports whether all there is was opened.
func (t *Tree) spread(n *node, limit, depth int, careful bool) (all bool) {
	s := spreader{t, limit, allBytes, careful, true}
	level := []*node{n}
	for ; len(level) > 0 && depth > 0; depth-- {
		var next []*node
		for _, n := range level {
			next = append(next, n.open...)
			for i := 0; n.form == members && i < n.kids.n; i++ {
				if t.root.rows >= limit || s.budget <= 0 {
					return false
				}
				if k := s.open(n, i); k != nil {
					s.budget -= k.to - k.from
					next = append(next, k)
				}
			}
		}
		level = next
	}
	return s.all && len(level) == 0
}

// spreader opens many values.
type spreader struct {
	t       *Tree
	limit   int // rows
	budget  int // bytes
	careful bool
	all     bool // nothing was left closed for its size
}

// open opens the i-th child of n if it does not bury everything else.
func (s *spreader) open(n *node, i int) *node {
	if n.openAt(i) != nil {
		return nil
	}
	c := n.child(i)
	if c.kind != Object && c.kind != Array && (c.kind != String || s.careful && (c.to-c.from > autoString || !speaks(n.src[c.from:c.to]))) {
		return nil
	}
	k := s.t.opened(n, i)
	switch {
	case k == nil || k.form == dump:
		return nil
	case k.below() > s.limit-s.t.root.rows:
		s.all = false
		return nil
	}
	n.attach(k)
	return k
}

// Wrap is the width that lines of text are broken at.
func (t *Tree) Wrap() int { return t.wrap }

// SetWrap changes the width that lines of text are broken at.
func (t *Tree) SetWrap(cells int) {
	cells = max(16, cells)
	if cells == t.wrap {
		return
	}
	t.wrap = cells
	for n := range t.wrapped() {
		before := len(n.breaks)
		n.breaks = breakLines(n.src, t.wrap)
		n.grow(len(n.breaks) - before)
	}
}

// wrapped are the open texts whose rows depend on the width.
func (t *Tree) wrapped() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for stack := []*node{t.root}; len(stack) > 0; {
			n := stack[len(stack)-1]
			stack = append(stack[:len(stack)-1], n.open...)
			if n.form == lines && len(n.src) <= maxWrap && !yield(n) {
				return
			}
		}
	}
}
