package rules

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, subscriptionRules) }

var subscriptionRules = []Rule{
	{ID: "SUB-01", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "a listen stream begins with its acknowledgement",
		Words: "a listen stream begins with $1", check: checkAcknowledged},
	{ID: "SUB-02", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "what is acknowledged was asked for",
		Words: "$1 was acknowledged, and not asked for", check: checkSubset},
	{ID: "SUB-03", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "the subscription id of a notification is the id of a listen request, JSON type included",
		Words: "$1 with the subscription id of no listen request", check: checkStreamID},
	{ID: "SUB-04", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "a listen stream has only kinds that were asked for and acknowledged",
		Words: "$1, which was not $2", check: checkKinds},
	{ID: "SUB-05", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "resources/updated names a resource that was asked for, or one below it",
		Words: "an update of a resource that was not asked for", check: checkURI},
	{ID: "SUB-06", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "changes are told on a listen stream only",
		Words: "$1 outside a listen stream", check: checkOutside},
	{ID: "SUB-07", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "progress and log messages are not sent on a listen stream",
		Words: "$1 on a listen stream", check: checkStrangers},
	{ID: "SUB-08", Severity: Warning, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "the result that closes a listen stream has the subscription id and nothing else",
		Words: "the result that closes a listen stream $1", check: checkClosing},
	{ID: "SUB-09", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/cancellation",
		Title: "nothing comes on a listen stream after its end",
		Words: "$1 on a listen stream after its end", check: checkAfterEnd},
	{ID: "SUB-10", Severity: Warning, Side: Server, Span: Modern, Page: "basic/patterns/subscriptions",
		Title: "a server that ends a listen stream says so",
		Words: "the server went away without ending its listen streams", check: checkSilentEnd},
	{ID: "SUB-11", Severity: Error, Side: Server, Span: Legacy, Page: "server/resources", Whole: true,
		Title: "resources/updated comes for resources that are subscribed to",
		Words: "an update of a resource $1", check: checkSubscribed},
	{ID: "SUB-12", Severity: Warning, Side: Server, Span: Legacy, Page: "server/tools",
		Title: "changes of a list are told by servers that declared listChanged",
		Words: "$1 by a server that did not declare $2", check: checkListChanged},
}

// A stream is a listen request and what came on it.
type stream struct {
	*exchange
	asked gjson.Result // the filter
	notes []decode.Note
}

// eachStream visits the listen requests whose bodies are at hand.
func (p *pass) eachStream(r *Rule, visit func(*stream)) {
	p.eachRequest(r, func(x *exchange) {
		if x.Listen {
			visit(&stream{x, x.params().Get("notifications"), p.Notes(x.Index)})
		}
	})
}

const acknowledged = "notifications/subscriptions/acknowledged"

// checkAcknowledged lets an error pass: the stream never began then.
func checkAcknowledged(p *pass, r *Rule) {
	p.eachStream(r, func(s *stream) {
		for _, n := range s.notes {
			if n.Kind != decode.NoteStream {
				continue
			}
			if m := p.frame(n.Frame).Method; m != acknowledged && m != "" { // "": of a batch, whose order is not known
				p.report(r, n.Frame, s.Index, m)
			}
			return
		}
		if s.succeeded() {
			p.report(r, s.Response, s.Index, "its closing result")
		}
	})
}

// granted gives the acknowledged filter; it does not exist before it came.
func (s *stream) granted() (filter gjson.Result, frame int) {
	for _, n := range s.notes {
		if n.Kind == decode.NoteStream && s.p.frame(n.Frame).Method == acknowledged {
			return s.p.json(n.Frame).Get("params.notifications"), n.Frame
		}
	}
	return gjson.Result{}, -1
}

func checkSubset(p *pass, r *Rule) {
	p.eachStream(r, func(s *stream) {
		granted, frame := s.granted()
		granted.ForEach(func(name, v gjson.Result) bool {
			if !within(v, s.asked.Get(gjson.Escape(name.Str))) {
				p.report(r, frame, s.Index, name.Str)
			}
			return true
		})
	})
}

// within reports whether a member of a filter permits no more than another.
func within(v, asked gjson.Result) bool {
	if !v.IsArray() {
		return v.Type != gjson.True || asked.Type == gjson.True
	}
	all := map[string]bool{}
	for _, u := range asked.Array() {
		all[u.Str] = true
	}
	return !slices.ContainsFunc(v.Array(), func(u gjson.Result) bool { return !all[u.Str] })
}

func checkStreamID(p *pass, r *Rule) {
	p.eachNotification(r, func(m *message) {
		if m.Unjoined && m.params().Get(metaKey(keySubscription)).Exists() {
			p.report(r, m.frame.Index, -1, m.Method)
		}
	})
}

// eachNotification visits the server's notifications.
func (p *pass) eachNotification(r *Rule, visit func(*message)) {
	p.eachMessage(r, func(m *message) {
		if m.Kind == decode.Notification && m.frame.Dir == tap.S2C {
			visit(m)
		}
	})
}

// permits is the member of a filter that permits a notification.
var permits = map[string]string{
	"notifications/tools/list_changed":     "toolsListChanged",
	"notifications/prompts/list_changed":   "promptsListChanged",
	"notifications/resources/list_changed": "resourcesListChanged",
	"notifications/resources/updated":      "resourceSubscriptions",
	"notifications/tasks":                  "taskIds",
}

func checkKinds(p *pass, r *Rule) {
	p.eachStream(r, func(s *stream) {
		granted, at := s.granted()
		for _, n := range s.notes {
			method := p.frame(n.Frame).Method
			member := permits[method]
			switch {
			case n.Kind != decode.NoteStream || member == "":
			case !has(s.asked, member):
				p.report(r, n.Frame, s.Index, method, "asked for")
			case at >= 0 && n.Frame > at && granted.Exists() && !has(granted, member):
				p.report(r, n.Frame, s.Index, method, "acknowledged")
			}
		}
	})
}

func checkURI(p *pass, r *Rule) {
	p.eachStream(r, func(s *stream) {
		asked := map[string]bool{}
		for _, u := range s.asked.Get("resourceSubscriptions").Array() {
			asked[u.Str] = true
		}
		for _, n := range s.notes {
			if n.Kind != decode.NoteStream || p.frame(n.Frame).Method != "notifications/resources/updated" || len(asked) == 0 {
				continue
			}
			covered := false
			for of := range upwards(p.json(n.Frame).Get("params.uri").Str) {
				covered = covered || asked[of]
			}
			if !covered {
				p.report(r, n.Frame, s.Index)
			}
		}
	})
}

func checkOutside(p *pass, r *Rule) {
	p.eachNotification(r, func(m *message) {
		if member := permits[m.Method]; member == "" || member == "taskIds" || !m.body().Exists() {
			return
		}
		if !m.params().Get(metaKey(keySubscription)).Exists() {
			p.report(r, m.frame.Index, -1, m.Method)
		}
	})
}

func checkStrangers(p *pass, r *Rule) {
	p.eachNotification(r, func(m *message) {
		if m.Method != "notifications/progress" && m.Method != "notifications/message" {
			return
		}
		onStream := m.Call >= 0 && p.Call(m.Call).Listen
		if onStream || m.params().Get(metaKey(keySubscription)).Exists() {
			p.report(r, m.frame.Index, m.Call, m.Method)
		}
	})
}

func checkClosing(p *pass, r *Rule) {
	p.eachStream(r, func(s *stream) {
		if !s.succeeded() {
			return
		}
		if s.result().Get(metaKey(keySubscription)).Raw != string(s.ID) {
			p.report(r, s.Response, s.Index, "lacks the subscription id")
		}
		s.result().ForEach(func(name, _ gjson.Result) bool {
			if name.Str == "_meta" || name.Str == "resultType" {
				return true
			}
			p.report(r, s.Response, s.Index, "has other members")
			return false
		})
	})
}

// grace is how long what was on its way may still arrive after a client cancelled.
const grace = time.Second

// ended gives the frame that ended a stream, and the moment from which nothing may
// come; -1 if it did not end.
func (s *stream) ended() (frame int, from time.Duration) {
	if s.Response >= 0 {
		return s.Response, s.End
	}
	for _, n := range s.notes {
		if n.Kind != decode.NoteCancel {
			continue
		}
		f := s.p.frame(n.Frame)
		if f.Dir == tap.C2S {
			return n.Frame, f.Time + grace
		}
		return n.Frame, f.Time
	}
	return -1, 0
}

func checkAfterEnd(p *pass, r *Rule) {
	p.eachStream(r, func(s *stream) {
		end, from := s.ended()
		for _, n := range s.notes {
			f := p.frame(n.Frame)
			if end >= 0 && n.Kind == decode.NoteStream && n.Frame > end && f.Time >= from {
				p.report(r, n.Frame, s.Index, cmp.Or(f.Method, "a message"))
			}
		}
	})
}

// checkSilentEnd is for a server that ends in good order by itself: a crash has a
// rule of its own.
func checkSilentEnd(p *pass, r *Rule) {
	p.webCalls(r, func(c *decode.Call, h *hop) {
		if c.Listen && c.Response < 0 && h.Stream && h.By == tap.EndServer {
			p.report(r, c.Request, c.Index)
		}
	})
	e := p.Ends()
	if !p.stdio() || !p.Gaps().Ended || e.Exit != 0 || e.Signal != "" || e.Signalled || e.Stdin >= 0 && (e.Stdout < 0 || e.Stdin < e.Stdout) {
		return
	}
	p.calls(r, func(c *decode.Call) {
		if c.Listen && c.Response < 0 && !c.Cancelled {
			p.report(r, c.Request, c.Index)
		}
	})
}

// checkSubscribed counts a subscription from its request on, and until the answer
// to the request that ends it.
func checkSubscribed(p *pass, r *Rule) {
	h := p.only()
	if h == nil || !h.succeeded || !h.known {
		return
	}
	subs := &subscriptions{since: map[string]int{}, until: map[string]int{}}
	p.visits.calls = append(p.visits.calls, subs.learn)
	p.visits.done = append(p.visits.done, func() { subs.judge(p, r, h) })
	p.eachNotification(r, func(m *message) {
		if m.Method == "notifications/resources/updated" {
			subs.updates = append(subs.updates, resourceUpdate{m.frame.Index, m.params().Get("uri").Str})
		}
	})
}

// subscriptions are the resources subscribed to in a legacy session, and what was
// told of them.
type subscriptions struct {
	since, until map[string]int // URI -> frame
	updates      []resourceUpdate
}

type resourceUpdate struct {
	frame int
	uri   string
}

func (s *subscriptions) learn(x *exchange) {
	switch x.Method {
	case "resources/subscribe":
		uri := x.params().Get("uri").Str
		if _, ok := s.since[uri]; !ok {
			s.since[uri] = x.Request
		}
		delete(s.until, uri)
	case "resources/unsubscribe":
		if x.Response >= 0 {
			s.until[x.params().Get("uri").Str] = x.Response
		}
	}
}

func (s *subscriptions) judge(p *pass, r *Rule, h *handshake) {
	for _, u := range s.updates {
		switch since, uri := s.find(u.uri); {
		case !has(h.server, "resources.subscribe"):
			p.report(r, u.frame, -1, "by a server that did not declare resources.subscribe")
		case since < 0 || since > u.frame:
			p.report(r, u.frame, -1, "that is not subscribed to")
		case s.until[uri] > 0 && s.until[uri] < u.frame:
			p.report(r, u.frame, -1, "after the subscription was ended")
		}
	}
}

// find gives the subscription that covers a URI.
func (s *subscriptions) find(uri string) (since int, of string) {
	for of := range upwards(uri) {
		if at, ok := s.since[of]; ok {
			return at, of
		}
	}
	return -1, ""
}

// upwards gives a URI and those that it is a part of, with and without the sign
// between. It stops where no sane URI goes.
func upwards(uri string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(uri) {
			return
		}
		for end := len(uri); ; {
			i := strings.LastIndexAny(uri[:end], "/#?")
			if i < 0 || len(uri)-i > 4096 || !yield(uri[:i+1]) || !yield(uri[:i]) {
				return
			}
			end = i
		}
	}
}

func checkListChanged(p *pass, r *Rule) {
	p.eachNotification(r, func(m *message) {
		kind, ok := strings.CutSuffix(m.Method, "/list_changed")
		h := p.only()
		if !ok || h == nil || !h.succeeded || !h.known {
			return
		}
		capability := strings.TrimPrefix(kind, "notifications/") + ".listChanged"
		if h.server.Get(capability).Type != gjson.True {
			p.report(r, m.frame.Index, -1, m.Method, capability)
		}
	})
}
