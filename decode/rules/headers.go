package rules

import (
	"cmp"
	"encoding/base64"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, headerRules) }

// headerRules are those of Streamable HTTP as 2026-07-28 has it: what the body says,
// the headers say too. A server that serves no modern revision is not bound by them,
// should it answer a probe.
var headerRules = []Rule{
	{ID: "HTTP-30", Severity: Error, Side: Client, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "every POST has MCP-Protocol-Version, with what the body says",
		Words: "$1 $2", check: mismatches(versionHeader)},
	{ID: "HTTP-31", Severity: Error, Side: Client, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "every request has Mcp-Method, with the method of the body",
		Words: "$1 $2", check: mismatches(methodHeader)},
	{ID: "HTTP-32", Severity: Error, Side: Client, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "tools/call, prompts/get and resources/read have Mcp-Name, with the name or URI of the body",
		Words: "$1 $2", check: mismatches(nameHeader)},
	{ID: "HTTP-33", Severity: Error, Side: Client, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "a header value outside printable ASCII is encoded",
		Words: "$1 is sent as it is, though it is not plain ASCII", check: checkEncoded},
	{ID: "HTTP-34", Severity: Error, Side: Client, Span: Modern, Page: "basic/transports/streamable-http", Whole: true,
		Title: "each argument that asks for it stands in its Mcp-Param header, and no other does",
		Words: "$1 $2", check: mismatches(paramHeaderStart)},
	{ID: "HTTP-35", Severity: Error, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "headers that differ from the body are refused with 400 and -32020",
		Words: "$1 whose headers differ from its body was $2", check: checkMismatchRefused},
	{ID: "HTTP-36", Severity: Error, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "-32021 and -32022 come with status 400, -32601 with 404",
		Words: "the error $1 came with status $2", check: checkStatus},
	{ID: "HTTP-37", Severity: Error, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "a stream has notifications of its request, then the response, and nothing else",
		Words: "$1 after the response", check: checkAfterResponse},
	{ID: "HTTP-38", Severity: Warning, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "the response ends the stream",
		Words: "the stream of $1 stayed open after its response", check: checkStreamEnds},
	{ID: "HTTP-39", Severity: Warning, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "event streams have X-Accel-Buffering: no, so that proxies do not hold events back",
		Words: "an event stream without X-Accel-Buffering: no", check: checkBuffering},
	{ID: "HTTP-40", Severity: Warning, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "a modern server answers GET and DELETE with 405, and issues no session id",
		Words: "$1", check: checkNoSessions},
	{ID: "HTTP-41", Severity: Info, Side: Client, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "modern requests have no Mcp-Session-Id and no Last-Event-ID",
		Words: "$1 has no meaning on a modern request", check: checkOldHeaders},
	{ID: "HTTP-42", Severity: Error, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "nothing is sent for a request whose client has gone",
		Words: "$1 after the client had gone", check: checkAfterClient},
	{ID: "HTTP-43", Severity: Info, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "a silent subscription is kept alive with comments",
		Words: "a subscription was silent for $1", check: checkQuiet},
	{ID: "ERR-07", Severity: Error, Side: Server, Span: Modern, Page: "basic/transports/streamable-http",
		Title: "-32020 comes only over HTTP, and only if headers and body do differ",
		Words: "$1 was refused with -32020, $2", check: checkMismatchTrue},
}

const (
	paramHeaderStart = "Mcp-Param-"
	headerMismatch   = -32020
)

// A disagreement is a header that does not say what the body says.
type disagreement struct{ header, what string }

// mismatchesOf gives those of a call; known is false where that can't be told.
func (p *pass) mismatchesOf(c *decode.Call) (all []disagreement, known bool) {
	h := &p.hops()[c.Exchange]
	params := p.part(c.Request, string(c.ID), true)
	if !params.Exists() || !h.Known || c.Batch {
		return nil, false
	}
	if all, ok := p.facts.headers[c.Index]; ok {
		return all, true
	}
	params = params.Get("params")
	add := func(header, body string, required bool) {
		if what := compareHeader(h, header, body, required); what != "" {
			all = append(all, disagreement{header, what})
		}
	}
	add(versionHeader, params.Get(metaKey(keyVersion)).Str, true)
	add(methodHeader, c.Method, true)
	if body, ok := namedBy(c.Method, params); ok {
		add(nameHeader, body, true)
	}
	all = append(all, p.paramMismatches(h, c, params)...)
	if p.facts.headers == nil {
		p.facts.headers = map[int][]disagreement{}
	}
	p.facts.headers[c.Index] = all
	return all, true
}

// namedBy is what Mcp-Name repeats; ok is false for methods without it, and for a
// body that lacks it.
func namedBy(method string, params gjson.Result) (string, bool) {
	var v gjson.Result
	switch method {
	case "tools/call", "prompts/get":
		v = params.Get("name")
	case "resources/read":
		v = params.Get("uri")
	}
	return v.Str, v.Type == gjson.String
}

func compareHeader(h *hop, header, body string, required bool) string {
	v, ok := h.Header(header)
	switch {
	case !ok && required:
		return "without " + header
	case !ok || body == "" || isMasked(v) || v == body:
		return ""
	case header == versionHeader || header == methodHeader:
		return "with " + header + " " + brief(v)
	}
	if said, ok := decoded(v); !ok || said != body {
		return "with " + header + " " + brief(v)
	}
	return ""
}

// decoded takes the encoding off a value: =?base64?...?= (basic/transports).
func decoded(v string) (string, bool) {
	inner, ok := strings.CutPrefix(v, "=?base64?")
	if !ok {
		return v, true
	}
	inner, ok = strings.CutSuffix(inner, "?=")
	b, err := base64.StdEncoding.DecodeString(inner)
	return string(b), ok && err == nil
}

// paramMismatches compares the Mcp-Param headers of a call with its arguments, as far
// as the tool's definition is known and legal.
func (p *pass) paramMismatches(h *hop, c *decode.Call, params gjson.Result) (all []disagreement) {
	if c.Method != "tools/call" {
		return nil
	}
	tool, ok := p.catalogue().Find(decode.Tools, params.Get("name").Str, c.Request)
	if !ok {
		return nil
	}
	for _, ph := range paramHeaders(gjson.ParseBytes(tool.Definition).Get("inputSchema")) {
		if headerFault(&ph, false) != "" {
			continue
		}
		name := paramHeaderStart + ph.header.Str
		arg := params.Get("arguments")
		for _, step := range ph.path {
			arg = arg.Get(gjson.Escape(step))
		}
		if what := compareParam(h, name, arg); what != "" {
			all = append(all, disagreement{paramHeaderStart, what})
		}
	}
	return all
}

func compareParam(h *hop, name string, arg gjson.Result) string {
	v, sent := h.Header(name)
	absent := arg.Type == gjson.Null // null, or not there
	switch {
	case absent && sent:
		return "with " + name + ", for which there is no argument"
	case !absent && !sent:
		return "without " + name
	case absent || isMasked(v):
		return ""
	}
	said, ok := decoded(v)
	if !ok || !sameValue(said, arg) {
		return "with another " + name + " than its argument"
	}
	return ""
}

// sameValue compares as a server should: integers as numbers.
func sameValue(said string, arg gjson.Result) bool {
	switch arg.Type {
	case gjson.String:
		return said == arg.Str
	case gjson.Number:
		if len(said) > 32 || len(arg.Raw) > 32 { // no safe integer is that long
			return said == arg.Raw
		}
		a, okA := new(big.Float).SetString(said)
		b, okB := new(big.Float).SetString(arg.Raw)
		return okA && okB && a.Cmp(b) == 0
	}
	return said == arg.Raw
}

// webCalls visits the client's modern requests that came over HTTP.
func (p *pass) webCalls(r *Rule, visit func(*decode.Call, *hop)) {
	for i := range p.Calls() {
		c := p.Call(i)
		if c.Exchange < 0 || c.Dir != tap.C2S || c.Era == decode.Legacy || !r.Span.Has(p.judged(&c)) {
			continue
		}
		if h := &p.hops()[c.Exchange]; !h.Old && h.MCP && h.Start >= 0 {
			visit(&c, h)
		}
	}
}

// mismatches reports those of one header. Of notifications only the version is asked.
func mismatches(header string) func(*pass, *Rule) {
	return func(p *pass, r *Rule) {
		p.webCalls(r, func(c *decode.Call, _ *hop) {
			all, _ := p.mismatchesOf(c)
			for _, m := range all {
				if m.header == header {
					p.report(r, c.Request, c.Index, c.Method, m.what)
				}
			}
		})
		if header != versionHeader {
			return
		}
		p.eachHop(r, func(h *hop) {
			if h.Sent == decode.SentNotification && h.modern() && !h.has(sessionHeader) && !h.has(versionHeader) {
				p.reportHop(r, h, "a notification", "without "+versionHeader)
			}
		})
	}
}

func checkEncoded(p *pass, r *Rule) {
	p.eachHop(r, func(h *hop) {
		values := h.Params()
		if v, ok := h.Header(nameHeader); ok {
			values = append(values, [2]string{nameHeader, v})
		}
		for _, v := range values {
			if !isMasked(v[1]) && strings.ContainsFunc(v[1], func(c rune) bool { return c < ' ' || c > '~' }) {
				p.reportHop(r, h, v[0])
			}
		}
	})
}

func checkMismatchRefused(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	p.webCalls(r, func(c *decode.Call, h *hop) {
		all, known := p.mismatchesOf(c)
		switch {
		case !known || len(all) == 0 || c.Response < 0:
		case !c.HasError():
			p.report(r, c.Response, c.Index, c.Method, "served")
		case c.Code == headerMismatch && h.Status != 400:
			p.report(r, c.Response, c.Index, c.Method, "refused with status "+strconv.Itoa(h.Status))
		}
	})
}

// checkMismatchTrue holds back where a header may have been asked for that is not
// known here.
func checkMismatchTrue(p *pass, r *Rule) {
	p.refusals(r, func(c *decode.Call) {
		if c.Code != headerMismatch || c.Dir != tap.C2S {
			return
		}
		if c.Exchange < 0 {
			if p.stdio() {
				p.report(r, c.Response, c.Index, c.Method, "over stdio")
			}
			return
		}
		all, known := p.mismatchesOf(c)
		if known && len(all) == 0 && !p.maybeAsked(c) {
			p.report(r, c.Response, c.Index, c.Method, "though its headers say what its body says")
		}
	})
}

// maybeAsked reports a call of a tool whose definition is not known, or one with a
// value that servers may read in two ways.
func (p *pass) maybeAsked(c *decode.Call) bool {
	h := &p.hops()[c.Exchange]
	if strings.ContainsFunc(h.header(nameHeader), func(r rune) bool { return r > '~' }) || isMasked(h.header(nameHeader)) {
		return true
	}
	_, ok := p.catalogue().Find(decode.Tools, c.Name, c.Request)
	return c.Method == "tools/call" && !ok || slices.ContainsFunc(h.Params(), func(v [2]string) bool { return isMasked(v[1]) })
}

// checkStatus leaves out what was found once a stream had begun.
func checkStatus(p *pass, r *Rule) {
	want := map[int64]int{lacksCapable: 400, unsupported: 400, methodNotFound: 404}
	p.webCalls(r, func(c *decode.Call, h *hop) {
		if status := want[c.Code]; c.HasError() && status != 0 && h.Status != status && !h.Stream && p.servesModern() {
			p.report(r, c.Response, c.Index, itoa(c.Code), strconv.Itoa(h.Status))
		}
	})
}

// answered gives when the last response of an exchange came; -1 until all have.
func (p *pass) lastAnswer(h *hop) (at int) {
	at = -1
	for i := h.Call; h.Call >= 0 && i < h.Call+h.Calls; i++ {
		c := p.Call(i)
		if c.Response < 0 {
			return -1
		}
		at = max(at, c.Response)
	}
	return at
}

func checkAfterResponse(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	p.eachHop(r, func(h *hop) {
		last := p.lastAnswer(h)
		if last < 0 || !h.modern() {
			return
		}
		for _, f := range p.answers(h) {
			if f.Index > last && f.Kind != decode.Body {
				p.report(r, f.Index, f.Call, cmp.Or(f.Method, "a message"))
			}
		}
	})
}

// linger is how long a stream may stay open after its response.
const linger = time.Second

func checkStreamEnds(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	p.eachHop(r, func(h *hop) {
		last := p.lastAnswer(h)
		if last >= 0 && h.Stream && h.modern() && h.End >= 0 && h.End-p.frame(last).Time > linger {
			p.reportHop(r, h, p.what(h))
		}
	})
}

func checkBuffering(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	p.eachHop(r, func(h *hop) {
		if v, _ := h.Answer("X-Accel-Buffering"); h.Stream && h.modern() && !strings.EqualFold(v, "no") {
			p.reportHop(r, h)
		}
	})
}

func checkNoSessions(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	onlyModern := p.eras.Era == decode.Modern && !slices.ContainsFunc(p.eras.Supported, Legacy.Has)
	p.eachHop(r, func(h *hop) {
		switch {
		case (h.Method == verbGet || h.Method == verbDelete) && onlyModern && h.Status != 405 && h.Status != 0 && h.Status != 401 && h.Status != 403:
			p.reportHop(r, h, h.Method+" was answered with HTTP "+strconv.Itoa(h.Status))
		case h.Call >= 0 && p.Call(h.Call).Era == decode.Modern && h.accepted():
			if _, ok := h.Answer(sessionHeader); ok {
				p.reportHop(r, h, "a session id was issued for "+p.what(h))
			}
		}
	})
}

func checkOldHeaders(p *pass, r *Rule) {
	p.webCalls(r, func(c *decode.Call, h *hop) {
		for _, name := range []string{sessionHeader, "Last-Event-ID"} {
			if h.has(name) {
				p.report(r, c.Request, c.Index, name)
			}
		}
	})
}

func checkAfterClient(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	p.eachHop(r, func(h *hop) {
		if h.By != tap.EndClient || !h.modern() {
			return
		}
		for _, f := range p.answers(h) {
			if f.Time > h.End {
				p.report(r, f.Index, f.Call, cmp.Or(f.Method, string(f.Kind)))
			}
		}
	})
}

// silence is after how long without a byte proxies close a stream.
const silence = time.Minute

func checkQuiet(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	p.webCalls(r, func(c *decode.Call, h *hop) {
		if c.Listen && h.Stream && h.Quiet > silence {
			p.report(r, c.Request, c.Index, h.Quiet.Round(time.Second).String())
		}
	})
}
