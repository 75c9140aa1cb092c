package diff

import "encoding/json"

// A leaf is a place where two values differ. A side that has nothing there is
// absent.
type leaf struct {
	path       Path
	a, b       any
	hasA, hasB bool
}

func (l *leaf) words() (a, b string) {
	if l.hasA {
		a = wholeJSON(l.a)
	}
	if l.hasB {
		b = wholeJSON(l.b)
	}
	return Excerpts(a, b, maxShown)
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
	for _, k := range sortedKeys(a, b) {
		av, hasA := a[k]
		bv, hasB := b[k]
		if hasA && hasB {
			c.compare(p.member(k), av, bv)
			continue
		}
		c.differ(leaf{path: p.member(k), a: av, b: bv, hasA: hasA, hasB: hasB})
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

// strings compares texts, and those that end in JSON as JSON.
func (c *comparer) strings(p Path, a, b string) {
	if a == b {
		return
	}
	wordsA, va, okA := inner(a)
	wordsB, vb, okB := inner(b)
	if okA && okB && wordsA == wordsB {
		c.compare(p, va, vb)
		return
	}
	c.differ(leaf{path: p, a: a, b: b, hasA: true, hasB: true})
}
