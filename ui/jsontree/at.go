package jsontree

import (
	"strconv"
	"strings"
)

// First gives the first row of all that has what, as Find does.
func (t *Tree) First(what string) (row int, ok bool) {
	if what == "" {
		return 0, false
	}
	f := finder{t, []byte(what)}
	return f.within(t.root, 0)
}

// At gives the row of the value that a JSON pointer (RFC 6901) leads to, and opens what
// hides it. A pointer may go on in a text of JSON. Of one that leads further than there is
// something, it gives the last row on its way; ok is false if there is none.
func (t *Tree) At(pointer string) (row int, ok bool) {
	names := strings.Split(pointer, "/")
	for n := t.root; n != nil && n.form == members && len(names) > 1; {
		names = names[1:]
		i := n.childNamed(pointerUnescapes.Replace(names[0]))
		if i < 0 {
			break
		}
		if row, ok = t.rowOf(n, i), true; len(names) > 1 {
			t.Open(row)
			n = n.openAt(i)
		}
	}
	return row, ok
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

// childNamed is the child of a name, or of a number in an array; -1 if there is none.
func (n *node) childNamed(name string) int {
	if !n.object {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < n.kids.n {
			return i
		}
		return -1
	}
	for i := range min(n.kids.n, maxPointed) {
		if n.isNamed(i, name) {
			return i
		}
	}
	return -1
}

// maxPointed is among how many members a pointer's name is looked for: reading the i-th
// costs all that are between it and the mark before it.
const maxPointed = 4096
