package rules

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
)

func init() { tables = append(tables, sessionRules) }

// sessionRules are those of the sessions that Streamable HTTP had until 2025-11-25.
var sessionRules = []Rule{
	{ID: "HTTP-06", Severity: Error, Side: Server, Span: streamable, Page: "basic/transports",
		Title: "a session id has visible ASCII characters only, and is hard to guess",
		Words: "a session id $1", check: checkSessionID},
	{ID: "HTTP-07", Severity: Error, Side: Client, Span: streamable, Page: "basic/transports",
		Title: "once a session id was issued, every request has it",
		Words: "$1 without the session id that the server had issued", check: checkSessionSent},
	{ID: "HTTP-08", Severity: Warning, Side: Server, Span: streamable, Page: "basic/transports",
		Title: "a request without the session id that is required gets 400",
		Words: "$1 without its session id was answered with HTTP $2", check: checkSessionAsked},
	{ID: "HTTP-09", Severity: Error, Side: Client, Span: streamable, Page: "basic/transports",
		Title: "after 404 a client begins a new session, without the old id",
		Words: "$1 went to a session that had ended with 404", check: checkSessionDead},
	{ID: "HTTP-10", Severity: Error, Side: Client, Span: versioned, Page: "basic/transports",
		Title: "after initialize every request has MCP-Protocol-Version, with the negotiated revision",
		Words: "$1 $2", check: checkVersionSent},
	{ID: "HTTP-11", Severity: Error, Side: Server, Span: versioned, Page: "basic/transports",
		Title: "an unknown MCP-Protocol-Version gets 400",
		Words: "$1 with MCP-Protocol-Version $2 was served", check: checkVersionRefused},
	{ID: "HTTP-19", Severity: Warning, Side: Client, Span: streamable, Page: "basic/transports",
		Title: "a client ends its session with DELETE",
		Words: "a session that was not ended with DELETE", check: checkDelete},
}

// A webSession is a session that a server issued an id for.
type webSession struct {
	id      string
	issued  *hop
	dead    time.Duration // when it answered 404, -1 if it did not
	deleted bool
}

// webSessions gives the sessions in the order of their beginning.
func (p *pass) webSessions() (all []*webSession) {
	byID := map[string]*webSession{}
	for i := range p.hops() {
		h := &p.hops()[i]
		if id, ok := h.Answer(sessionHeader); ok && byID[id] == nil && h.accepted() && !h.modern() {
			s := &webSession{id: id, issued: h, dead: -1}
			byID[id] = s
			all = append(all, s)
		}
		s := byID[h.header(sessionHeader)]
		switch {
		case s == nil:
		case h.Method == verbDelete:
			s.deleted = true // even where the server does not let it
		case h.Status == 404 && s.dead < 0:
			s.dead = h.Head
		}
	}
	return all
}

// checkSessionID can tell only in a recording that has the id itself.
func checkSessionID(p *pass, r *Rule) {
	for _, s := range p.webSessions() {
		switch {
		case isMasked(s.id) || !r.Span.Has(s.issued.rev):
		case strings.ContainsFunc(s.id, func(c rune) bool { return c <= ' ' || c > '~' }):
			p.reportHop(r, s.issued, "with other characters than visible ASCII")
		case len(s.id) < 16:
			p.reportHopAs(r, Warning, s.issued, "of "+strconv.Itoa(len(s.id))+" characters")
		}
	}
}

// without visits the messages that name no session though one was open.
func (p *pass) without(r *Rule, visit func(*hop)) {
	all := p.webSessions()
	p.eachHop(r, func(h *hop) {
		if h.has(sessionHeader) || h.Sent == decode.SentNothing || h.modern() || h.Call >= 0 && p.Call(h.Call).Method == "initialize" {
			return
		}
		for i := len(all) - 1; i >= 0; i-- {
			if s := all[i]; s.issued.Head >= 0 && s.issued.Head <= h.Start && !s.deleted && s.dead < 0 {
				visit(h)
				return
			}
		}
	})
}

func checkSessionSent(p *pass, r *Rule) {
	p.without(r, func(h *hop) { p.reportHop(r, h, p.what(h)) })
}

func checkSessionAsked(p *pass, r *Rule) {
	p.without(r, func(h *hop) {
		if h.Status != 0 && h.Status != 400 && h.Status != 401 && h.Status != 403 {
			p.reportHop(r, h, p.what(h), strconv.Itoa(h.Status))
		}
	})
}

func checkSessionDead(p *pass, r *Rule) {
	dead := map[string]time.Duration{}
	for _, s := range p.webSessions() {
		if s.dead >= 0 {
			dead[s.id] = s.dead
		}
	}
	p.eachHop(r, func(h *hop) {
		if since, ok := dead[h.header(sessionHeader)]; ok && h.Start > since && h.Method == verbPost {
			p.reportHop(r, h, p.what(h))
		}
	})
}

func checkVersionSent(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		s := p.handshakeOf(h.Scope)
		if s == nil || !s.succeeded || s.call.End > h.Start || h.Call == s.call.Index || !r.Span.Has(s.answered) || h.modern() {
			return
		}
		switch v := h.header(versionHeader); {
		case v == "":
			p.reportHop(r, h, p.what(h), "without MCP-Protocol-Version")
		case v != s.answered:
			p.reportHopAs(r, Warning, h, p.what(h), "with MCP-Protocol-Version "+brief(v)+", not "+s.answered)
		}
	})
}

func checkVersionRefused(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		v := h.header(versionHeader)
		if v != "" && v < Modern.From && !slices.Contains(revisions, v) && h.accepted() {
			p.reportHop(r, h, p.what(h), brief(v))
		}
	})
}

func checkDelete(p *pass, r *Rule) {
	if !p.Gaps().Ended {
		return
	}
	for _, s := range p.webSessions() {
		if !s.deleted && s.dead < 0 && r.Span.Has(s.issued.rev) {
			p.reportHop(r, s.issued)
		}
	}
}
