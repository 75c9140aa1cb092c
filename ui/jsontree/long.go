package jsontree

// What takes long is for commands: they work on a clone, and the screen shows the tree
// there is until the clone takes its place.

// short is how many bytes are worked through at once, while somebody waits.
const short = 256 << 10

// LongOpen reports whether opening a row takes longer than a key may.
func (t *Tree) LongOpen(row int) bool {
	r := t.locate(row)
	if r.n == nil || r.n.form != members || r.open != nil {
		return false
	}
	c := r.n.child(r.i)
	return c.to-c.from > short
}

// LongAll reports whether opening all there is, or searching it, takes longer than a
// key may.
func (t *Tree) LongAll() bool { return len(t.text) > short }

// LongWrap reports whether SetWrap takes longer than a key may.
func (t *Tree) LongWrap(cells int) bool {
	if max(16, cells) == t.wrap {
		return false
	}
	sum := 0
	for n := range t.wrapped() {
		if sum += len(n.src); sum > short {
			return true
		}
	}
	return false
}

// Clone is the tree with what is open in it, to be changed while this one is drawn. It
// shares the texts: it costs as much as there are open values.
func (t *Tree) Clone() *Tree {
	c := *t
	root := *t.root
	c.root = &root
	for stack := []*node{c.root}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		kids, open := make([]node, len(n.open)), make([]*node, len(n.open))
		for i, k := range n.open {
			kids[i], open[i] = *k, &kids[i]
			kids[i].parent = n
		}
		n.open = open
		stack = append(stack, open...)
	}
	return &c
}

// once gives what say finds out about a value, which it is asked once.
func (t *Tree) once(raw []byte, say func() string) string {
	if s, ok := t.said[&raw[0]]; ok {
		return s
	}
	if t.said == nil {
		t.said = map[*byte]string{}
	}
	s := say()
	t.said[&raw[0]] = s
	return s
}
