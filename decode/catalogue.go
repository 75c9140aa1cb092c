package decode

import (
	"slices"
)

// An Item is one definition of a list.
type Item struct {
	Name       string // of a tool or prompt; the URI of a resource, the template of a template
	Definition []byte // as it stood in the listing; do not change it
	hash       uint64
	known      bool
}

// A List is one walk over a list: its first page and those that were followed.
type List struct {
	Kind     ListKind
	Calls    []int // of its pages
	From     int   // frame of the first page's response
	Upto     int   // frame of the last page's response
	Items    []Item
	Complete bool   // the last page had no nextCursor
	Orphan   bool   // it begins with a cursor that this capture did not see handed out
	Loop     bool   // a cursor came twice
	Next     string // cursor that was not followed, as JSON; empty if Complete
	Missing  bool   // bytes of a page were not kept or not at hand
	cursors  []string
}

// ChangeKind is what happened to a definition between two lists.
type ChangeKind string

// The kinds of changes.
const (
	Added     ChangeKind = "added"
	Removed   ChangeKind = "removed"
	Changed   ChangeKind = "changed"
	Reordered ChangeKind = "reordered" // the same definitions in another order
)

// A Change is a difference between two complete lists that follow each other.
type Change struct {
	Kind      ListKind
	What      ChangeKind
	Name      string
	Old, New  []byte // definitions
	Frame     int    // of the listing that shows it
	Announced bool   // list_changed came between the two lists
}

// A Catalogue is what a server offered over time, as the listings tell it.
type Catalogue struct {
	Lists   []List
	Changes []Change
	// Ignored are frames of list_changed notifications after which the client
	// did not list again.
	Ignored []int

	s       *Session
	kinds   [numLists][]int  // indexes of lists, by kind
	parsed  map[*byte][]Item // by the listing's bytes: most listings say the same again
	schemas map[uint64]*checker
}

// Catalogue puts the listings so far together.
func (s *Session) Catalogue() *Catalogue {
	c := &Catalogue{s: s, schemas: map[uint64]*checker{}, parsed: map[*byte][]Item{}}
	for i := range s.listings.all {
		c.add(&s.listings.all[i])
	}
	c.findChanges()
	c.findIgnored()
	return c
}

// findChanges compares each complete list with the complete one before it.
func (c *Catalogue) findChanges() {
	var last [numLists]*List
	for i := range c.Lists {
		l := &c.Lists[i]
		if !l.Complete || l.Orphan || l.Missing {
			continue
		}
		if before := last[l.Kind]; before != nil {
			c.compare(before, l)
		}
		last[l.Kind] = l
	}
}

// maxWalks is how many lists are searched, from the newest back: walks that go on
// at once are few.
const maxWalks = 8

func (c *Catalogue) add(l *listing) {
	if !l.succeeded {
		return
	}
	frame := int(c.s.calls.at(int(l.call)).response) - 1
	at := c.walkOf(l)
	if at < 0 {
		at = len(c.Lists)
		c.Lists = append(c.Lists, List{Kind: l.kind, From: frame, Orphan: l.cursor != ""})
		c.kinds[l.kind] = append(c.kinds[l.kind], at)
	}
	c.Lists[at].page(l, frame, c.itemsOf(l))
}

func (c *Catalogue) itemsOf(l *listing) []Item {
	if len(l.body) == 0 {
		return nil
	}
	all, ok := c.parsed[&l.body[0]]
	if !ok {
		all = items(l.kind, l.body)
		c.parsed[&l.body[0]] = all
	}
	return all
}

// walkOf finds the list that a page goes on with; -1 for a first page.
func (c *Catalogue) walkOf(l *listing) int {
	if l.cursor == "" {
		return -1
	}
	of := c.kinds[l.kind]
	for _, i := range slices.Backward(of[max(0, len(of)-maxWalks):]) {
		if c.Lists[i].Next == l.cursor {
			return i
		}
	}
	return -1
}

func (t *List) page(l *listing, frame int, items []Item) {
	t.Calls = append(t.Calls, int(l.call))
	t.Upto, t.Next, t.Complete = frame, l.next, l.next == "" && l.body != nil
	t.Missing = t.Missing || l.body == nil
	if l.next != "" {
		t.Loop = t.Loop || slices.Contains(t.cursors, l.next)
		if len(t.cursors) < 1024 {
			t.cursors = append(t.cursors, l.next)
		}
	}
	if t.Items == nil {
		t.Items = slices.Clip(items) // shared, until a second page is added
		return
	}
	t.Items = append(t.Items, items...)
}

func items(kind ListKind, body []byte) (out []Item) {
	all := member(body, whole(body), listMembers[kind])
	if !isArray(body, all) {
		return nil
	}
	for w := walk(body, all); w.next(); {
		it := Item{Name: text(body, member(body, w.value, itemNames[kind])), Definition: w.value.of(body)}
		it.hash, it.known = canon(body, w.value)
		out = append(out, it)
	}
	return out
}

// compare finds what changed between two lists of one kind.
func (c *Catalogue) compare(a, b *List) {
	if len(a.Items) == len(b.Items) && (len(a.Items) == 0 || &a.Items[0] == &b.Items[0]) {
		return
	}
	old := byName(a.Items)
	var found []Change
	same := len(a.Items) == len(b.Items)
	seen := map[string]bool{}
	for i := range b.Items {
		n := &b.Items[i]
		seen[n.Name] = true
		o, was := old[n.Name]
		switch {
		case !was:
			found = append(found, Change{What: Added, Name: n.Name, New: n.Definition})
		case !o.equal(n):
			found = append(found, Change{What: Changed, Name: n.Name, Old: o.Definition, New: n.Definition})
		}
		same = same && a.Items[i].Name == n.Name
	}
	for i := range a.Items {
		if o := &a.Items[i]; !seen[o.Name] {
			found = append(found, Change{What: Removed, Name: o.Name, Old: o.Definition})
		}
	}
	if len(found) == 0 && !same {
		found = append(found, Change{What: Reordered})
	}
	announced := c.announced(a.Kind, a.From, b.Upto)
	for _, ch := range found {
		ch.Kind, ch.Frame, ch.Announced = b.Kind, b.Upto, announced
		c.Changes = append(c.Changes, ch)
	}
}

// Since compares what the server offered first in this session with what it
// offered last in an earlier one. Only lists that were walked to their end count.
func (c *Catalogue) Since(earlier *Catalogue) []Change {
	diff := &Catalogue{s: c.s}
	for kind := range numLists {
		if a, b := earlier.complete(kind, true), c.complete(kind, false); a != nil && b != nil {
			diff.compare(a, b)
		}
	}
	return diff.Changes
}

// complete gives the first or the last list of a kind that was walked to its end.
func (c *Catalogue) complete(kind ListKind, last bool) (found *List) {
	for i := range c.Lists {
		l := &c.Lists[i]
		if l.Kind != kind || !l.Complete || l.Orphan || l.Missing {
			continue
		}
		if found = l; !last {
			break
		}
	}
	return found
}

func byName(items []Item) map[string]*Item {
	m := make(map[string]*Item, len(items))
	for i := range items {
		m[items[i].Name] = &items[i]
	}
	return m
}

func (it *Item) equal(o *Item) bool {
	if it.known && o.known {
		return it.hash == o.hash
	}
	return string(it.Definition) == string(o.Definition)
}

func (c *Catalogue) announced(k ListKind, after, before int) bool {
	all := c.s.listings.changes
	from, _ := slices.BinarySearchFunc(all, after, func(a announcement, frame int) int { return int(a.frame) - frame })
	for _, a := range all[from:] {
		if int(a.frame) >= before {
			break
		}
		if a.kind == k {
			return true
		}
	}
	return false
}

// findIgnored finds announcements that no list request followed. Resources and
// templates share one: listing either is an answer to it.
func (c *Catalogue) findIgnored() {
	var asked [numLists]int // newest request's frame
	for _, l := range c.s.listings.all {
		asked[l.kind] = max(asked[l.kind], int(c.s.calls.at(int(l.call)).request))
	}
	asked[Resources] = max(asked[Resources], asked[Templates])
	for _, a := range c.s.listings.changes {
		if a.kind != Templates && asked[a.kind] < int(a.frame) {
			c.Ignored = append(c.Ignored, int(a.frame))
		}
	}
}

// before gives how many lists of a kind had their first page before a frame.
func (c *Catalogue) before(kind ListKind, frame int) int {
	n, _ := slices.BinarySearchFunc(c.kinds[kind], frame, func(i, frame int) int { return c.Lists[i].From - frame })
	return n
}

// At gives the newest list of a kind whose first page was there when that frame
// crossed; nil if there was none.
func (c *Catalogue) At(kind ListKind, frame int) *List {
	if n := c.before(kind, frame); n > 0 {
		return &c.Lists[c.kinds[kind][n-1]]
	}
	return nil
}

// Find gives a definition as of a frame: from the newest list that has it, since a
// walk may still be going on.
func (c *Catalogue) Find(kind ListKind, name string, frame int) (it Item, ok bool) {
	n := c.before(kind, frame)
	for _, i := range slices.Backward(c.kinds[kind][max(0, n-maxWalks):n]) {
		l := &c.Lists[i]
		if k := slices.IndexFunc(l.Items, func(it Item) bool { return sameName(it.Name, name) }); k >= 0 {
			return l.Items[k], true
		}
		if l.Complete && !l.Orphan {
			break
		}
	}
	return Item{}, false
}

// An Unlisted call names a tool that no list had at that time.
type Unlisted struct {
	Call    int
	Name    string
	Partial bool // the list was not read to its end: the tool may be on a page not fetched
}

// Unlisted gives the calls of tools that were not listed when they were called.
// Calls that name no tool have another fault.
// Sessions that never list say nothing about it.
func (c *Catalogue) Unlisted() (out []Unlisted) {
	type asked struct {
		name string
		from int
	}
	known := map[asked]bool{} // the lists rarely change
	for i := range c.s.calls.n {
		e := c.s.calls.at(i)
		if c.s.methods.name(e.method) != "tools/call" || e.name == elided || e.name == 0 {
			continue
		}
		name, frame := c.s.names.name(e.name), int(e.request)
		l := c.At(Tools, frame)
		if l == nil || l.Missing {
			continue
		}
		key := asked{name, l.From}
		listed, done := known[key]
		if !done {
			_, listed = c.Find(Tools, name, frame)
			known[key] = listed
		}
		if !listed {
			out = append(out, Unlisted{i, name, !l.Complete})
		}
	}
	return out
}
