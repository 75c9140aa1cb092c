package rules

import (
	"slices"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// A hop is an HTTP exchange with the revision that it is judged by.
type hop struct {
	decode.Exchange
	rev string
}

// hops gives the exchanges, put together once.
func (p *pass) hops() []hop {
	if p.facts.hops == nil && p.Exchanges() > 0 {
		p.facts.hops = make([]hop, p.Exchanges())
		for i := range p.facts.hops {
			p.facts.hops[i].Exchange = p.Exchange(i)
		}
		for i := range p.facts.hops {
			h := &p.facts.hops[i]
			h.rev = p.revisionOf(&h.Exchange)
		}
	}
	return p.facts.hops
}

// revisionOf is the revision of what an exchange carries, of its session if it
// carries nothing.
func (p *pass) revisionOf(x *decode.Exchange) string {
	if x.Call >= 0 {
		c := p.Call(x.Call)
		return p.judged(&c)
	}
	if h := p.handshakeOf(x.Scope); h != nil && h.succeeded {
		return h.answered
	}
	version, _ := x.Header(versionHeader)
	_, session := x.Header(sessionHeader)
	switch {
	case Modern.Has(version) && version != "" && !session:
		return version
	case slices.Contains(revisions, version):
		return version
	}
	return p.eras.Revision
}

var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// Verbs of HTTP.
const (
	verbGet    = "GET"
	verbPost   = "POST"
	verbDelete = "DELETE"
)

const (
	versionHeader = "MCP-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	tokenHeader   = "Authorization"
)

// eachMCP visits the exchanges whose revision the rule holds for, of both transports,
// with a verb that MCP uses: browsers send others before.
func (p *pass) eachMCP(r *Rule, visit func(*hop)) {
	for i := range p.hops() {
		h := &p.hops()[i]
		known := h.Method == verbPost || h.Method == verbGet || h.Method == verbDelete
		if h.MCP && known && h.Start >= 0 && h.Known && r.Span.Has(h.rev) {
			visit(h)
		}
	}
}

// eachHop is eachMCP for Streamable HTTP alone.
func (p *pass) eachHop(r *Rule, visit func(*hop)) {
	p.eachMCP(r, func(h *hop) {
		if !h.Old {
			visit(h)
		}
	})
}

// header gives a header of the request, "" if there is none.
func (h *hop) header(name string) string {
	v, _ := h.Header(name)
	return v
}

func (h *hop) has(name string) bool {
	_, ok := h.Header(name)
	return ok
}

// accepted reports an answer that says yes.
func (h *hop) accepted() bool { return 200 <= h.Status && h.Status < 300 }

// asks reports a body that holds a request, or should have.
func (h *hop) asks() bool { return h.Sent.Has(decode.SentRequest) || h.Sent.Has(decode.SentBroken) }

// modern reports an exchange of the modern era.
func (h *hop) modern() bool { return h.rev != "" && Modern.Has(h.rev) }

// answers gives the frames that the server sent in an exchange.
func (p *pass) answers(h *hop) (out []decode.Frame) {
	for _, i := range p.ExchangeFrames(h.Index) {
		if f := p.frame(i); f.Dir == tap.S2C {
			out = append(out, f)
		}
	}
	return out
}

// nearby is how far back a frame is looked for that stands for an exchange without one.
const nearby = 64

// frameOf is the frame to show for an exchange: its first, else that of one before it
// in the same session; -1 if there is none nearby.
func (p *pass) frameOf(h *hop) int {
	for i := h.Index; i >= max(0, h.Index-nearby); i-- {
		if o := &p.hops()[i]; o.Frames > 0 && (i == h.Index || o.Scope == h.Scope) {
			return p.ExchangeFrames(i)[0]
		}
	}
	return -1
}

// reportHop is report for an exchange.
func (p *pass) reportHop(r *Rule, h *hop, args ...string) {
	f := p.report(r, p.frameOf(h), h.Call, args...)
	if f.Count == 1 {
		f.Revision = h.rev // its frame may be of another exchange
	}
}

// reportHopAs is reportAs for an exchange.
func (p *pass) reportHopAs(r *Rule, as Severity, h *hop, args ...string) {
	p.reportAs(r, as, p.frameOf(h), h.Call, args...)
}

// lists reports whether a header lists a media type: parameters and case do not
// matter.
func lists(header, mediaType string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), mediaType) {
			return true
		}
	}
	return false
}

// isMasked reports a value whose secret the tap has replaced.
func isMasked(value string) bool { return strings.Contains(value, "«redacted:") }

// what names an exchange: by its request if it has one.
func (p *pass) what(h *hop) string {
	if h.Call >= 0 {
		if m := p.Call(h.Call).Method; m != "" {
			return m
		}
	}
	switch {
	case h.Sent.Has(decode.SentNotification):
		return "a notification"
	case h.Sent.Has(decode.SentResponse):
		return "a response"
	}
	return h.Method
}
