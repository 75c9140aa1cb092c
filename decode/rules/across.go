package rules

import (
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, acrossRules) }

// acrossRules are those that more than one exchange shows: other connections, other
// credentials, other streams.
var acrossRules = []Rule{
	{ID: "RES-06", Severity: Warning, Side: Server, Span: Modern, Page: "server/utilities/caching", Whole: true,
		Title: "a public result is the same for all credentials",
		Words: "$1 is public, and differs between two credentials while it is fresh", check: checkPublic},
	{ID: "PROG-06", Severity: Error, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "progress comes on the stream of its request",
		Words: "progress of $1 came on the stream of another request", check: checkProgressStream},
	{ID: "CANC-04", Severity: Info, Side: Client, Span: Modern, Page: "basic/patterns/cancellation",
		Title: "over HTTP a request is cancelled by closing its stream",
		Words: "a cancellation was sent over HTTP, where it has no effect", check: checkCancelSent},
	{ID: "TOOL-16", Severity: Error, Side: Server, Span: Modern, Page: "server/tools", Whole: true,
		Title: "the tools do not depend on the connection",
		Words: "one connection lists other tools than the other, again and again", check: checkToolsVary},
}

// checkPublic compares what is asked for in the same words, as long as a shared cache
// would have given the older answer.
func checkPublic(p *pass, r *Rule) {
	type key struct{ method, subject, cursor string }
	type public struct {
		credential, said string
		until            time.Duration
	}
	last := map[key]public{}
	p.eachResult(r, func(x *exchange) {
		if x.Exchange < 0 || !cacheable(x.Method) || x.result().Get("cacheScope").Str != "public" {
			return
		}
		k := key{x.Method, x.params().Get("uri").Str, x.params().Get("cursor").Str}
		now := public{credential: p.credential(&x.Call), said: contentOf(x.result()), until: x.End}
		if ttl := x.result().Get("ttlMs").Num; ttl > 0 && ttl < 1e9 {
			now.until += time.Duration(ttl) * time.Millisecond
		}
		if old, ok := last[k]; ok && old.credential != now.credential && old.said != now.said && x.Start < old.until {
			p.report(r, x.Response, x.Index, x.Method)
		}
		last[k] = now
	})
}

// credential is what the client of a call showed itself with, "" on stdio.
func (p *pass) credential(c *decode.Call) string {
	if c.Exchange < 0 {
		return ""
	}
	return p.hops()[c.Exchange].header(tokenHeader)
}

// contentOf is a result without its envelope.
func contentOf(result gjson.Result) (out string) {
	result.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "_meta", "ttlMs", "cacheScope", "resultType":
		default:
			out += name.Raw + v.Raw
		}
		return true
	})
	return out
}

// strayProgress gives the call on another stream that a progress notification is for;
// ok is false if it names none.
func (p *pass) strayProgress(f *decode.Frame, params gjson.Result) (c decode.Call, ok bool) {
	token := params.Get("progressToken").Raw
	if !f.Unjoined || f.Exchange < 0 || token == "" || !p.hops()[f.Exchange].modern() {
		return c, false
	}
	if p.facts.tokens == nil {
		p.facts.tokens = map[string]int{}
		for i := range p.Calls() {
			if c := p.Call(i); c.WantsProgress && c.Exchange >= 0 && c.Dir == tap.C2S {
				p.facts.tokens[p.params(&c).Get("_meta.progressToken").Raw] = i
			}
		}
	}
	i, ok := p.facts.tokens[token]
	if !ok {
		return c, false
	}
	return p.Call(i), true
}

func checkProgressStream(p *pass, r *Rule) {
	p.notifications(r, progressNote, func(f *decode.Frame, params gjson.Result) {
		if c, ok := p.strayProgress(f, params); ok && f.Dir == tap.S2C {
			p.report(r, f.Index, c.Index, subject(&c))
		}
	})
}

func checkCancelSent(p *pass, r *Rule) {
	p.notifications(r, cancelledNote, func(f *decode.Frame, _ gjson.Result) {
		if f.Dir == tap.C2S && f.Exchange >= 0 && !p.hops()[f.Exchange].Old {
			p.report(r, f.Index, f.Call)
		}
	})
}

// checkToolsVary asks for the same difference twice: tools may have changed between
// two listings, but not there and back as the connection does.
func checkToolsVary(p *pass, r *Rule) {
	type listed struct{ connection, tools string }
	var seen []listed
	p.eachResult(r, func(x *exchange) {
		tools := x.result().Get("tools").Raw
		if x.Method != "tools/list" || x.Exchange < 0 || tools == "" || x.params().Get("cursor").Exists() || x.result().Get("nextCursor").Exists() {
			return
		}
		seen = append(seen, listed{p.hops()[x.Exchange].Client, tools})
		if n := len(seen); n > 4 {
			seen = seen[n-4:]
		}
		if n := len(seen); n == 4 && seen[0] == seen[2] && seen[1] == seen[3] && seen[0].connection != seen[1].connection && seen[0].tools != seen[1].tools && p.oneCredential() {
			p.report(r, x.Response, x.Index)
			seen = nil
		}
	})
}

func (p *pass) oneCredential() bool {
	tokens := map[string]bool{}
	for i := range p.hops() {
		if h := &p.hops()[i]; h.MCP {
			tokens[h.header(tokenHeader)] = true
		}
	}
	return len(tokens) <= 1
}
