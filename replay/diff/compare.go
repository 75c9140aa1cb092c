package diff

import (
	"encoding/json"
	"maps"
	"slices"
)

// A leaf is a place where two values differ. A side that has nothing there is
// absent.
type leaf struct {
	path       Path
	a, b       any
	hasA, hasB bool
}

func (l *leaf) words() (a, b string) {
	if l.hasA {
		a = jsonOf(l.a)
	}
	if l.hasB {
		b = jsonOf(l.b)
	}
	return a, b
}

// maxLeaves is how many differences of one pair are kept.
const maxLeaves = 200

// comparer walks two values side by side.
type comparer struct {
	ignore []Path
	leaves []leaf
	more   int // differences beyond maxLeaves
}

func (c *comparer) differ(l leaf) {
	if ignored(c.ignore, l.path) {
		return
	}
	if len(c.leaves) >= maxLeaves {
		c.more++
		return
	}
	c.leaves = append(c.leaves, l)
}

func (c *comparer) compare(p Path, a, b any) {
	switch av := a.(type) {
	case map[string]any:
		if bv, ok := b.(map[string]any); ok {
			c.objects(p, av, bv)
			return
		}
	case []any:
		if bv, ok := b.([]any); ok {
			c.arrays(p, av, bv)
			return
		}
	case string:
		if bv, ok := b.(string); ok {
			c.strings(p, av, bv)
			return
		}
	case json.Number:
		if bv, ok := b.(json.Number); ok && (av == bv || sameNumber(string(av)) == sameNumber(string(bv))) {
			return
		}
	default:
		if !composite(b) && a == b {
			return
		}
	}
	c.differ(leaf{path: p, a: a, b: b, hasA: true, hasB: true})
}

// composite values can't be compared by ==.
func composite(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func (c *comparer) objects(p Path, a, b map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if bv, ok := b[k]; ok {
			c.compare(p.member(k), a[k], bv)
		} else {
			c.differ(leaf{path: p.member(k), a: a[k], hasA: true})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok {
			c.differ(leaf{path: p.member(k), b: b[k], hasB: true})
		}
	}
}

func (c *comparer) arrays(p Path, a, b []any) {
	for i := range min(len(a), len(b)) {
		c.compare(p.element(i), a[i], b[i])
	}
	for i := len(b); i < len(a); i++ {
		c.differ(leaf{path: p.element(i), a: a[i], hasA: true})
	}
	for i := len(a); i < len(b); i++ {
		c.differ(leaf{path: p.element(i), b: b[i], hasB: true})
	}
}

// strings compares texts, and those that are JSON as JSON.
func (c *comparer) strings(p Path, a, b string) {
	if a == b {
		return
	}
	if av, ok := inner(a); ok {
		if bv, ok := inner(b); ok {
			c.compare(p, av, bv)
			return
		}
	}
	c.differ(leaf{path: p, a: a, b: b, hasA: true, hasB: true})
}
