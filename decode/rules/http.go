package rules

import (
	"hash/maphash"
	"strconv"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, httpRules) }

// Spans of the transport and of its parts.
var (
	streamable = Span{From: "2025-03-26", To: "2025-11-25"} // with sessions
	versioned  = Span{From: "2025-06-18", To: "2025-11-25"} // with MCP-Protocol-Version after initialize
)

// httpRules are those of Streamable HTTP before 2026-07-28, and those that did not
// change. Where sessions are, sessions.go looks.
var httpRules = []Rule{
	{ID: "HTTP-01", Severity: Error, Side: Client, Span: From25a, Page: "basic/transports",
		Title: "the Accept header of a POST lists application/json and text/event-stream",
		Words: "a POST whose Accept header does not list $1", check: checkAcceptPost},
	{ID: "HTTP-02", Severity: Error, Side: Client, Span: Legacy, Page: "basic/transports",
		Title: "the Accept header of a GET lists text/event-stream",
		Words: "a GET whose Accept header does not list text/event-stream", check: checkAcceptGet},
	{ID: "HTTP-03", Severity: Error, Side: Server, Span: From25a, Page: "basic/transports",
		Title: "a notification or a response that is accepted gets 202 and no body",
		Words: "$1 was accepted with $2", check: checkAccepted},
	{ID: "HTTP-04", Severity: Error, Side: Server, Span: From25a, Page: "basic/transports",
		Title: "a request is answered with application/json or text/event-stream",
		Words: "$1 was answered with $2", check: checkAnswerType},
	{ID: "HTTP-05", Severity: Error, Side: Client, Span: From25a, Page: "basic/transports",
		Title: "a POST has one message",
		Words: "a POST with several messages", check: checkOneMessage},
	{ID: "HTTP-12", Severity: Error, Side: Server, Span: streamable, Page: "basic/transports",
		Title: "a message is sent on one stream only",
		Words: "$1 was sent on two streams", check: checkOneStream},
	{ID: "HTTP-13", Severity: Error, Side: Server, Span: streamable, Page: "basic/transports",
		Title: "no response is sent on a GET stream, but when it resumes that of a POST",
		Words: "a response on a GET stream that resumes none", check: checkGetResponse},
	{ID: "HTTP-14", Severity: Error, Side: Server, Span: streamable, Page: "basic/transports",
		Title: "ids of events are unique in a session",
		Words: "an event with the id of another one", check: checkEventIDs},
	{ID: "HTTP-15", Severity: Warning, Side: Server, Span: streamable, Page: "basic/transports",
		Title: "the stream of a POST is not closed before the response; from 2025-11-25 only after an event with an id",
		Words: "the stream of $1 was closed before its response", check: checkEarlyClose},
	{ID: "HTTP-16", Severity: Error, Side: Client, Span: only25c, Page: "basic/transports",
		Title: "a client waits as long as retry says before it resumes a stream",
		Words: "the stream was resumed after $1, and not after $2", check: checkRetryWait},
	{ID: "HTTP-17", Severity: Warning, Side: Server, Span: only25c, Page: "basic/transports",
		Title: "a server that closes a stream early says with retry when to come back",
		Words: "the stream of $1 was closed early without a retry field", check: checkRetryField},
	{ID: "HTTP-18", Severity: Error, Side: Server, Span: streamable, Page: "basic/transports",
		Title: "a GET is answered with an event stream or 405",
		Words: "a GET was answered with $1", check: checkGet},
	{ID: "RPC-10", Severity: Error, Side: Server, Span: All, Page: "basic/index",
		Title: "a notification gets no response",
		Words: "a response to a notification", check: checkNotificationAnswered},
}

const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

func checkAcceptPost(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		if h.Method != verbPost || h.Sent == decode.SentNothing {
			return
		}
		for _, t := range []string{jsonType, streamType} {
			if !lists(h.header("Accept"), t) {
				p.reportHop(r, h, t)
			}
		}
	})
}

func checkAcceptGet(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		if h.Method == verbGet && !lists(h.header("Accept"), streamType) {
			p.reportHop(r, h)
		}
	})
}

func checkAccepted(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		switch {
		case h.Sent == decode.SentNothing || h.asks() || !h.accepted():
		case h.Status != 202:
			p.reportHop(r, h, p.what(h), "HTTP "+strconv.Itoa(h.Status))
		case len(p.answers(h)) > 0:
			p.reportHop(r, h, p.what(h), "a body")
		}
	})
}

func checkAnswerType(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		if !h.Sent.Has(decode.SentRequest) || !h.accepted() {
			return
		}
		switch t, _ := h.Answer("Content-Type"); {
		case lists(t, jsonType) || lists(t, streamType):
		case t == "":
			p.reportHop(r, h, p.what(h), "HTTP "+strconv.Itoa(h.Status)+" and no Content-Type")
		default:
			p.reportHop(r, h, p.what(h), t)
		}
	})
}

// checkOneMessage leaves arrays to RPC-13.
func checkOneMessage(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		if f.Exchange >= 0 && f.Dir == tap.C2S && f.Stray == decode.StraySeveral {
			p.report(r, f.Index, -1)
		}
	})
}

// checkOneStream knows the messages that have an id. What a resumed stream sends once
// more is no second sending, nor is what an event's id tells.
func checkOneStream(p *pass, r *Rule) {
	type key struct {
		scope decode.Scope
		body  uint64
	}
	first, seed := map[key]int{}, maphash.MakeSeed()
	p.eachMessage(r, func(m *message) {
		f := &m.frame
		id := m.body().Get("id").Raw
		if f.Exchange < 0 || f.Event == "" || f.Dir != tap.S2C || id == "" || p.hops()[f.Exchange].Resume.Asked {
			return
		}
		k := key{p.hops()[f.Exchange].Scope, maphash.String(seed, m.body().Raw)}
		old, known := first[k]
		if !known {
			first[k] = f.Index
		} else if p.frame(old).Exchange != f.Exchange {
			p.report(r, f.Index, m.Call, subjectOf(m))
		}
	})
}

func subjectOf(m *message) string {
	if m.Method != "" {
		return m.Method
	}
	return "a response"
}

func checkGetResponse(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		if f.Exchange < 0 || f.Kind != decode.Result && f.Kind != decode.Error || f.Event == "" {
			return
		}
		if h := &p.hops()[f.Exchange]; h.Method == verbGet && !h.Old && !h.Resume.Asked {
			p.report(r, f.Index, f.Call)
		}
	})
}

func checkEventIDs(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		if f.SameID {
			p.report(r, f.Index, f.Call)
		}
	})
}

// closedEarly visits the streams of POSTs that the server closed in good order before
// they had the response.
func (p *pass) closedEarly(r *Rule, visit func(*hop)) {
	p.eachHop(r, func(h *hop) {
		if h.Method != verbPost || !h.Stream || h.Call < 0 || h.By != tap.EndServer || !h.accepted() {
			return
		}
		for i := h.Call; i < h.Call+h.Calls; i++ {
			c := p.Call(i)
			if !c.Cancelled && (c.Response < 0 || p.frame(c.Response).Exchange != h.Index) {
				visit(h)
				return
			}
		}
	})
}

func checkEarlyClose(p *pass, r *Rule) {
	p.closedEarly(r, func(h *hop) {
		if !h.EventID || h.rev < only25c.From {
			p.reportHop(r, h, p.what(h))
		}
	})
}

func checkRetryField(p *pass, r *Rule) {
	p.closedEarly(r, func(h *hop) {
		if h.EventID && h.Retry < 0 {
			p.reportHop(r, h, p.what(h))
		}
	})
}

// checkRetryWait allows for a tenth of the time: clocks differ.
func checkRetryWait(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		if h.Resume.Exchange < 0 {
			return
		}
		before := &p.hops()[h.Resume.Exchange]
		if wait := h.Start - before.End; before.End >= 0 && before.Retry > 0 && wait < before.Retry-before.Retry/10 {
			p.reportHop(r, h, wait.Round(time.Millisecond).String(), before.Retry.String())
		}
	})
}

func checkGet(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		if h.Method == verbGet && (h.accepted() && !h.Stream || h.Status == 501) {
			p.reportHop(r, h, "HTTP "+strconv.Itoa(h.Status)+" and no event stream")
		}
	})
}

// checkNotificationAnswered leaves out what a refusal says.
func checkNotificationAnswered(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		if h.Sent != decode.SentNotification || !h.accepted() {
			return
		}
		for _, f := range p.answers(h) {
			if f.Kind == decode.Result || f.Kind == decode.Error {
				p.report(r, f.Index, f.Call)
			}
		}
	})
}
