package diff

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// followed is what a session did to hear of changes, and what it heard.
type followed struct {
	part  *Part
	told  map[string]int // notifications, by method
	asked map[string]int // what was asked for, by notification and URI
	at    int            // the first call
	// streams is how many GET streams there were, which carry in the legacy era what
	// a listen stream does in the modern one.
	streams int
}

// subscriptions compares listen streams with legacy subscriptions and what servers
// sent unasked before there were streams. Where both sides listen, or neither does,
// they are operations like any other.
func (w *work) subscriptions() {
	if w.a.listens() == w.b.listens() {
		return
	}
	a, b := w.a.follow(), w.b.follow()
	r := Row{Kind: RowSubscriptions, Method: "subscriptions", A: a.part, B: b.part}
	if r.OneSided() {
		r.Reason = w.subscriptionReason(&r, a.asked, b.asked)
	}
	if a.streams+b.streams > 0 {
		in := Inner{What: "GET streams", A: a.streams, B: b.streams}
		in.Reason = w.webReason(webKind{verb: http.MethodGet}, a.streams == 0)
		r.Details = append(r.Details, in)
	}
	w.details(&r, "asked for ", a.asked, b.asked, w.unaskedReason)
	w.details(&r, toldOf, a.told, b.told, func(string) string { return "" })
	at := place{a: a.at}
	if a.part == nil {
		at = place{-1, 1, 0}
	}
	w.row(r, at)
}

// toldOf begins details that say of what a server told its client.
const toldOf = "told of "

// told reports what a server said, not what a client asked for.
func (in *Inner) told() bool { return strings.HasPrefix(in.What, toldOf) }

// subscriptionReason excuses a stream that asks for changes of lists only.
func (w *work) subscriptionReason(r *Row, a, b map[string]int) string {
	has, hasNot := w.a, w.b
	if r.A == nil {
		has, hasNot = w.b, w.a
	}
	unasked := !slices.ContainsFunc(sortedKeys(a, b), func(what string) bool { return w.unaskedReason(what) == "" })
	if has.listens() && hasNot.era() == decode.Legacy && unasked {
		return "no subscriptions/listen before " + modernRevision + ": what lists change is told unasked there"
	}
	return ""
}

// unaskedReason says why a thing is asked for on one side only.
func (w *work) unaskedReason(what string) string {
	if w.crossEra() && strings.HasSuffix(what, "/list_changed") {
		return "up to 2025-11-25 changes of lists are told unasked"
	}
	return ""
}

func (w *work) details(r *Row, words string, a, b map[string]int, reason func(string) string) {
	for _, k := range sortedKeys(a, b) {
		in := Inner{What: words + k, A: a[k], B: b[k]}
		if in.A == 0 || in.B == 0 {
			in.Reason = reason(k)
		}
		r.Details = append(r.Details, in)
	}
}

func (s *source) listens() bool {
	for c := range s.Session.Calls() {
		if s.Session.Call(c).Listen {
			return true
		}
	}
	return false
}

// isChange reports the notifications that a stream carries.
func isChange(method string) bool {
	return method == "notifications/resources/updated" || method == "notifications/subscriptions/acknowledged" ||
		strings.HasSuffix(method, "/list_changed") && method != "notifications/roots/list_changed"
}

// follow takes all calls and messages that have to do with hearing of changes.
func (s *source) follow() followed {
	f := followed{told: map[string]int{}, asked: map[string]int{}, at: -1}
	listens := map[decode.ID]bool{}
	for c := range s.Session.Calls() {
		call := s.Session.Call(c)
		if s.calls[c] || !followsChanges(call.Method) || !s.Session.Leads(c) {
			continue
		}
		o := s.Session.Operation(c)
		s.claim(&o)
		if call.Listen {
			listens[call.ID] = true
		}
		f.ask(s, &call)
		f.add(s, &o)
	}
	for i := range s.Session.Len() {
		f.message(s, i, listens)
	}
	if len(listens) == 0 {
		f.streams = s.claimStreams(&f.part)
	}
	return f
}

func followsChanges(method string) bool {
	return method == "subscriptions/listen" || method == "resources/subscribe" || method == "resources/unsubscribe"
}

func (f *followed) add(s *source, o *decode.Operation) {
	p := s.part(o)
	p.Took = -1
	if f.part == nil {
		f.part, f.at = p, o.Legs[0].Call
		return
	}
	f.part.Frames = append(f.part.Frames, p.Frames...)
	f.part.Exchanges = append(f.part.Exchanges, p.Exchanges...)
	f.part.Count += p.Count
	f.part.Bytes.Add(&p.Bytes)
}

// ask notes what a call asks to be told of.
func (f *followed) ask(s *source, c *decode.Call) {
	params, _ := s.params(c.Index)
	switch c.Method {
	case "resources/subscribe":
		f.asked["resources/updated "+nameIn(params)]++
	case "subscriptions/listen":
		filter, _ := params["notifications"].(map[string]any)
		for _, list := range []string{"tools", "prompts", "resources"} {
			if on, _ := filter[list+"ListChanged"].(bool); on {
				f.asked[list+"/list_changed"]++
			}
		}
		uris, _ := filter["resourceSubscriptions"].([]any)
		for _, u := range uris {
			if uri, ok := u.(string); ok {
				f.asked["resources/updated "+cut(uri)]++
			}
		}
	}
}

// message takes a notification of a change, and the cancellation of a stream.
func (f *followed) message(s *source, frame int, listens map[decode.ID]bool) {
	fr := s.Session.Frame(frame)
	if fr.Kind != decode.Notification {
		return
	}
	ends := fr.Method == "notifications/cancelled" && fr.Dir == tap.C2S && !s.charged[frame] && listens[s.cancels(frame)]
	if !ends && !isChange(fr.Method) {
		return
	}
	if isChange(fr.Method) && fr.Method != "notifications/subscriptions/acknowledged" {
		f.told[strings.TrimPrefix(fr.Method, "notifications/")]++
	}
	if s.charged[frame] {
		return
	}
	if f.part == nil {
		f.part = &Part{Call: -1, N: fr.N, Took: -1, Outcome: decode.OK}
		f.at = fr.Call
	}
	s.pay(f.part, frame)
}

// cancels gives the id that a cancellation names: on HTTP a stream's is not joined to
// its call, since the two are exchanges of their own.
func (s *source) cancels(frame int) decode.ID {
	body, _ := parse(s.Body(frame))
	message, _ := body.(map[string]any)
	params, _ := message["params"].(map[string]any)
	if params["requestId"] == nil {
		return ""
	}
	return decode.ID(jsonOf(params["requestId"]))
}
