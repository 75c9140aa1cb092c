package diff

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// webKind is what HTTP requests without a message have in common. The paths that
// messages go to are one, since each server chooses its own.
type webKind struct{ verb, path string }

// webGroup is the exchanges of one kind.
type webGroup struct {
	path      string
	exchanges []int
}

// exchanges compares the HTTP requests that no row has claimed, since they carry no
// message of the client's: streams, ends of sessions, look-ups, logins.
func (w *work) exchanges() {
	a, orderA := w.a.web()
	b, orderB := w.b.web()
	for _, k := range append(orderA, slices.DeleteFunc(orderB, func(k webKind) bool { return a[k] != nil })...) {
		r := Row{Kind: RowExchanges, Dir: tap.C2S, Method: k.verb, Name: pathIn(a[k], b[k]), A: w.a.webPart(a[k]), B: w.b.webPart(b[k])}
		if r.OneSided() {
			r.Reason = w.webReason(k, r.A == nil)
		} else {
			w.webChanges(&r, a[k], b[k])
		}
		w.row(r, place{endOfRows, endOfRows, 0})
	}
}

// pathIn is the path to tell: none if each has its own.
func pathIn(a, b *webGroup) string {
	switch {
	case a == nil:
		return b.path
	case b == nil || a.path == b.path:
		return a.path
	}
	return ""
}

// web sorts the exchanges that no row has claimed.
func (s *source) web() (by map[webKind]*webGroup, order []webKind) {
	by = map[webKind]*webGroup{}
	for i := range s.exchanged {
		if s.exchanged[i] || s.carriesMessage(i) {
			continue
		}
		x := s.Session.Exchange(i)
		path, _, _ := strings.Cut(x.Target, "?")
		k := webKind{x.Method, path}
		if x.MCP {
			k.path = ""
		}
		if by[k] == nil {
			by[k] = &webGroup{path: path}
			order = append(order, k)
		}
		by[k].exchanges = append(by[k].exchanges, i)
	}
	return by, order
}

// carriesMessage reports an exchange with a message of the client's, whose row claims
// it.
func (s *source) carriesMessage(i int) bool {
	return slices.ContainsFunc(s.Session.ExchangeFrames(i), func(frame int) bool {
		f := s.Session.Frame(frame)
		return f.Dir == tap.C2S && f.Kind != decode.Body
	})
}

func (s *source) webPart(g *webGroup) *Part {
	if g == nil {
		return nil
	}
	p := &Part{Call: -1, N: s.Session.Exchange(g.exchanges[0]).N, Took: -1, Count: len(g.exchanges)}
	for _, i := range g.exchanges {
		s.payExchange(p, i)
	}
	return p
}

// webReason says why requests of a kind stand on one side only.
func (w *work) webReason(k webKind, missingA bool) string {
	other := w.b
	if missingA {
		other = w.a
	}
	switch {
	case !other.overHTTP():
		return "on stdio nothing but messages crosses"
	case k.path != "" || other.era() != decode.Modern || !w.crossEra():
		return ""
	case k.verb == http.MethodGet:
		return "no GET streams in " + modernRevision
	case k.verb == http.MethodDelete:
		return "no sessions that end in " + modernRevision
	}
	return ""
}

func (s *source) overHTTP() bool {
	return len(s.exchanged) > 0 || s.Session.Opening().Header.Transport == "http"
}

// webChanges compares how requests of a kind were answered.
func (w *work) webChanges(r *Row, a, b *webGroup) {
	sa, sb := w.a.statuses(a), w.b.statuses(b)
	if sa != sb {
		r.Changes = append(r.Changes, Difference{What: WhatOutcome, A: sa, B: sb})
	}
	w.countChanges(r)
}

// statuses names the statuses of some exchanges, each once.
func (s *source) statuses(g *webGroup) string {
	var all []int
	for _, i := range g.exchanges {
		all = append(all, s.Session.Exchange(i).Status)
	}
	slices.Sort(all)
	var words []string
	for _, status := range slices.Compact(all) {
		words = append(words, cmp.Or(strings.TrimSuffix("HTTP "+strconv.Itoa(status), "HTTP 0"), "no answer"))
	}
	return strings.Join(words, ", ")
}

// claimStreams takes the GET streams of a session, and charges them to a part. It
// gives how many there are.
func (s *source) claimStreams(p **Part) (n int) {
	for i := range s.exchanged {
		x := s.Session.Exchange(i)
		if s.exchanged[i] || !x.MCP || !x.Stream || x.Method != http.MethodGet || x.Old {
			continue
		}
		if *p == nil {
			*p = &Part{Call: -1, N: x.N, Took: -1}
		}
		s.payExchange(*p, i)
		n++
	}
	return n
}
