package decode

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

// ListKind is what a listing lists.
type ListKind uint8

// The four kinds of lists.
const (
	Tools ListKind = iota
	Prompts
	Resources
	Templates
	numLists
)

var (
	listNames   = [numLists]string{"tools", "prompts", "resources", "resource templates"}
	listMethods = [numLists]string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"}
	listMembers = [numLists]string{"tools", "prompts", "resources", "resourceTemplates"}
	itemNames   = [numLists]string{"name", "name", "uri", "uriTemplate"}
)

func (k ListKind) String() string { return nameOf(listNames[:], int(k)) }

func listKind(method string) (ListKind, bool) {
	i := slices.Index(listMethods[:], method)
	return ListKind(max(i, 0)), i >= 0
}

// Bounds of what is kept of listings: bytes in all, and of one cursor.
const (
	maxListings = 64 << 20
	maxCursor   = 1 << 10

	maxOpenLists = 1 << 12 // list requests in flight whose cursor is kept
	maxLookBack  = 64      // listings searched for the same bytes
)

// listings are the answers to list requests, kept as they came: they are few, and
// nothing tells a change of a definition but its bytes.
type listings struct {
	all     []listing
	asked   map[uint32]string // call -> cursor, while the request is open
	changes []announcement
	bytes   int
}

// listing is one page of a list.
type listing struct {
	kind      ListKind
	call      uint32
	body      []byte // the result; nil if it was not kept
	cursor    string // of the request, as JSON
	next      string // of the result, as JSON; empty if it was the last page
	succeeded bool
}

// announcement is a list_changed notification.
type announcement struct {
	kind  ListKind
	frame uint32
}

// askListing keeps the cursor of a list request for its answer.
func (s *Session) askListing(c uint32, p *peek, q *params) {
	if s.opts.NoListings || !q.cursor.there() || q.cursor.size() > maxCursor || len(s.listings.asked) >= maxOpenLists {
		return
	}
	if s.listings.asked == nil {
		s.listings.asked = map[uint32]string{}
	}
	s.listings.asked[c] = string(q.cursor.of(p.body))
}

func (s *Session) keepListing(c uint32, p *peek, r *result) {
	e := s.calls.at(int(c))
	kind, ok := listKind(s.methods.name(e.method))
	if !ok || s.opts.NoListings || e.dir != tap.C2S {
		return
	}
	l := listing{kind: kind, call: c, cursor: s.listings.asked[c], succeeded: p.kind == kindResult}
	delete(s.listings.asked, c)
	if !l.succeeded || e.bits&callCut != 0 {
		s.listings.all = append(s.listings.all, l)
		return
	}
	if r.next.there() && r.next.size() <= maxCursor && !isNull(p.body, r.next) {
		l.next = string(r.next.of(p.body))
	}
	l.body = s.listings.keep(kind, p.result.of(p.body))
	s.listings.all = append(s.listings.all, l)
}

// keep shares the bytes of a listing that says what the one before said.
func (l *listings) keep(kind ListKind, body []byte) (kept []byte) {
	for i := len(l.all) - 1; i >= max(0, len(l.all)-maxLookBack); i-- {
		if o := &l.all[i]; o.kind == kind && bytes.Equal(o.body, body) {
			return o.body
		}
	}
	if l.bytes+len(body) > maxListings {
		return nil
	}
	l.bytes += len(body)
	return bytes.Clone(body)
}

// announce notes a list_changed notification.
func (s *Session) announce(method string, frame int) {
	name, ok := strings.CutSuffix(method, "/list_changed")
	if !ok {
		return
	}
	switch name {
	case "notifications/tools":
		s.listings.announce(Tools, frame)
	case "notifications/prompts":
		s.listings.announce(Prompts, frame)
	case "notifications/resources": // one notification for both
		s.listings.announce(Resources, frame)
		s.listings.announce(Templates, frame)
	}
}

func (l *listings) announce(k ListKind, frame int) {
	l.changes = append(l.changes, announcement{k, uint32(frame)})
}
