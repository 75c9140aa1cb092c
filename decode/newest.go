package decode

import "strconv"

// newest finds the newest call with an id. It keeps five bytes for each id, and looks
// the id itself up where the call has it.
type newest struct {
	slots []uint32 // call + 1; 0 is free; their number is a power of two
	tags  []uint8  // of the id's hash: most ids that differ are told apart without a look
	n     int      // slots that are taken
}

const leastSlots = 1 << 4

// find gives the newest call with that id.
func (s *Session) find(l lane, raw []byte) (c uint32, ok bool) {
	if s.newest.n == 0 {
		return 0, false
	}
	c = *s.newestOf(l, raw)
	return c - 1, c != 0
}

// newestOf is where the newest call with an id stands, plus 1; one that is 0 is to be
// set, and counted. There is room for it after roomForOne.
func (s *Session) newestOf(l lane, raw []byte) *uint32 {
	t := &s.newest
	h := s.ids.hash(l.scope, uint8(l.dir), s.ids.short(raw))
	for i := h; ; i++ {
		at := i & uint64(len(t.slots)-1)
		switch c := t.slots[at]; {
		case c == 0:
			t.tags[at] = tag(h)
			return &t.slots[at]
		case t.tags[at] == tag(h) && s.isAt(c-1, l, raw):
			return &t.slots[at]
		}
	}
}

// tag is the part of a hash that its place does not depend on.
func tag(h uint64) uint8 { return uint8(h >> 56) }

// roomForOne makes room for one more id.
func (s *Session) roomForOne() {
	old := s.newest
	if 4*(old.n+1) <= 3*len(old.slots) {
		return
	}
	size := max(leastSlots, 2*len(old.slots))
	s.newest = newest{make([]uint32, size), make([]uint8, size), old.n}
	for _, c := range old.slots {
		if c != 0 {
			s.rehash(c)
		}
	}
}

// rehash gives a call its slot anew.
func (s *Session) rehash(c uint32) {
	e := s.calls.at(int(c - 1))
	var digits [20]byte
	raw := strconv.AppendUint(digits[:0], uint64(e.id), 10)
	if e.id&identText != 0 {
		raw = s.ids.raw(e.id)
	}
	t := &s.newest
	h := s.ids.hash(e.scope, uint8(e.dir), raw)
	at := h & uint64(len(t.slots)-1)
	for t.slots[at] != 0 {
		at = (at + 1) & uint64(len(t.slots)-1)
	}
	t.slots[at], t.tags[at] = c, tag(h)
}

func (s *Session) isAt(c uint32, l lane, raw []byte) bool {
	e := s.calls.at(int(c))
	return e.dir == l.dir && e.scope == l.scope && s.ids.same(e.id, raw)
}
