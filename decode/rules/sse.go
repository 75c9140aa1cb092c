package rules

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/mcptap/mcptap/decode"
)

func init() { tables = append(tables, sseRules) }

// sseRules are those of event streams, most of them of HTTP+SSE: that transport is of
// 2024-11-05, whatever revision a session over it agrees on.
var sseRules = []Rule{
	{ID: "SSE-01", Severity: Error, Side: Server, Span: All, Page: "basic/transports",
		Title: "the first event of an HTTP+SSE stream is endpoint",
		Words: "the event $1 before endpoint", check: checkFirstEvent},
	{ID: "SSE-02", Severity: Warning, Side: Server, Span: All, Page: "basic/transports",
		Title: "the endpoint of an HTTP+SSE stream has the stream's origin: clients refuse others",
		Words: "the endpoint is at $1, the stream is not", check: checkEndpointOrigin},
	{ID: "SSE-03", Severity: Error, Side: Server, Span: All, Page: "basic/transports",
		Title: "messages on an HTTP+SSE stream are events with the name message",
		Words: "an event with the name $1, which clients pass over", check: checkEventName},
	{ID: "SSE-04", Severity: Warning, Side: Server, Span: All, Page: "basic/transports",
		Title: "the data of an event is one message, in valid UTF-8",
		Words: "an event whose data is no message: $1", check: checkEventData},
}

// oldStreams visits the streams of HTTP+SSE.
func (p *pass) oldStreams(visit func(*hop)) {
	for i := range p.hops() {
		if h := &p.hops()[i]; h.Endpoint != "" {
			visit(h)
		}
	}
}

func checkFirstEvent(p *pass, r *Rule) {
	p.oldStreams(func(h *hop) {
		if h.First != "endpoint" {
			p.reportHop(r, h, brief(h.First))
		}
	})
}

// checkEndpointOrigin takes the origins that the client may have used: what it sent
// as Host, and where the tap listens.
func checkEndpointOrigin(p *pass, r *Rule) {
	header := p.Opening().Header
	p.oldStreams(func(h *hop) {
		u, err := url.Parse(h.Endpoint)
		if err != nil || u.Host == "" || !h.has("Host") {
			return
		}
		for _, own := range []string{"//" + h.header("Host"), header.Listen, header.URL} {
			if o, err := url.Parse(own); err == nil && strings.EqualFold(o.Host, u.Host) {
				return
			}
		}
		p.reportHop(r, h, brief(u.Scheme+"://"+u.Host))
	})
}

func checkEventName(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		if f.Event == "" || f.Event == "message" || !p.hops()[f.Exchange].Old {
			return
		}
		if b := p.json(f.Index); b.Get("jsonrpc").Exists() {
			p.report(r, f.Index, -1, brief(f.Event))
		}
	})
}

func checkEventData(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		if f.Event == "message" && (f.Kind == decode.Stray || f.Kind == decode.Malformed) {
			p.report(r, f.Index, -1, cmp.Or(string(f.Stray), "JSON of another kind"))
		}
	})
}
