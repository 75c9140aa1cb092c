package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, lifecycleRules) }

// lifecycleRules are those of the opening.
var lifecycleRules = []Rule{
	{ID: "LIFE-01", Severity: Error, Side: Client, Span: Legacy, Page: "basic/lifecycle", Whole: true,
		Title: "the first request of a session is initialize",
		Words: "$1 before initialize", check: checkFirst},
	{ID: "LIFE-02", Severity: Error, Side: Client, Span: Legacy, Page: "basic/lifecycle",
		Title: "initialize has protocolVersion, capabilities, and clientInfo with name and version",
		Words: "initialize without $1", check: checkInitialize},
	{ID: "LIFE-03", Severity: Error, Side: Server, Span: Legacy, Page: "basic/lifecycle",
		Title: "the result of initialize has protocolVersion, capabilities, and serverInfo with name and version",
		Words: "the result of initialize without $1", check: checkInitialized},
	{ID: "LIFE-04", Severity: Error, Side: Client, Span: Legacy, Page: "basic/lifecycle",
		Title: "notifications/initialized follows the result of initialize",
		Words: "$1 though notifications/initialized never came", check: checkReady},
	{ID: "LIFE-05", Severity: Warning, Side: Client, Span: Legacy, Page: "basic/lifecycle",
		Title: "a client sends no request but ping until initialize is answered",
		Words: "$1 before initialize was answered", check: checkEarlyClient},
	{ID: "LIFE-06", Severity: Warning, Side: Server, Span: Legacy, Page: "basic/lifecycle",
		Title: "a server sends nothing but ping and log messages until notifications/initialized",
		Words: "$1 before notifications/initialized", check: checkEarlyServer},
	{ID: "LIFE-07", Severity: Error, Side: Client, Span: Legacy, Page: "basic/utilities/cancellation",
		Title: "initialize is not cancelled",
		Words: "initialize was cancelled", check: checkInitCancelled},
	{ID: "LIFE-08", Severity: Warning, Side: Client, Span: Legacy, Page: "basic/lifecycle",
		Title: "a client leaves when the server answers with a revision that it can't know",
		Words: "the client asked for $1, was answered $2, and went on", check: checkWentOn},
	{ID: "LIFE-09", Severity: Error, Side: Server, Span: Legacy, Page: "basic/lifecycle",
		Title: "the revision that initialize is answered with is one that has a handshake",
		Words: "initialize was answered with revision $1", check: checkAnswered},
	{ID: "LIFE-10", Severity: Error, Side: Either, Span: Legacy, Page: "basic/lifecycle",
		Title: "only features of the negotiated revision are used",
		Words: "$1, which came with $2", check: checkFeatures},
	{ID: "LIFE-11", Severity: Error, Side: Either, Span: Legacy, Page: "basic/lifecycle",
		Title: "only capabilities that were negotiated are used",
		Words: "$1, while the $2 did not declare $3", check: checkCapabilities},
	{ID: "LIFE-12", Severity: Error, Side: Client, Span: Legacy, Page: "basic/lifecycle",
		Title: "initialize happens once in a session",
		Words: "initialize again, after it had succeeded", check: checkOnce},
	{ID: "LIFE-13", Severity: Error, Side: Either, Span: Legacy, Page: "basic/utilities/ping",
		Title: "a ping is answered with an empty result",
		Words: "a ping was answered with $1", check: checkPing},
	{ID: "LIFE-14", Severity: Warning, Side: Client, Span: Modern, Page: "basic/transports/stdio",
		Title: "a client that is told of a modern revision which it knows tries that, not initialize",
		Words: "the server offered $1, and the client fell back to initialize", check: checkFallback},
	{ID: "LIFE-15", Severity: Warning, Side: Client, Span: Modern, Page: "basic/transports/stdio",
		Title: "on stdio a client that speaks both eras sends server/discover first",
		Words: "the client speaks both eras, and began with $1", check: checkProbeFirst},
	{ID: "LIFE-16", Severity: Warning, Side: Server, Span: Modern, Page: "basic/versioning",
		Title: "a server of the modern era only says so when it refuses initialize",
		Words: "initialize was refused without a word on $1", check: checkRefusal},
	{ID: "LIFE-17", Severity: Info, Side: Client, Span: Modern, Page: "basic/transports/stdio",
		Title: "on stdio the era of the server is found out before a call that both eras have",
		Words: "$1 was sent before the server was probed", check: checkUnprobed},
}

// A handshake is an initialize and what came of it.
type handshake struct {
	call             decode.Call
	asked, answered  string       // revisions
	client, server   gjson.Result // capabilities
	request, result  gjson.Result // params and result
	known, succeeded bool
}

// handshakeOf gives the handshake of a scope: the first that succeeded, else the
// first; nil if there is none.
func (p *pass) handshakeOf(sc decode.Scope) *handshake { return p.handshakes()[sc] }

func (p *pass) handshakes() map[decode.Scope]*handshake {
	if p.facts.handshakes != nil {
		return p.facts.handshakes
	}
	all := map[decode.Scope]*handshake{}
	p.facts.handshakes = all
	for i := range p.Calls() {
		c := p.Call(i)
		if c.Method != "initialize" || c.Dir != tap.C2S {
			continue
		}
		if old := all[c.Scope]; old == nil || !old.succeeded && c.Outcome == decode.OK {
			all[c.Scope] = p.newHandshake(&c)
		}
	}
	return all
}

func (p *pass) newHandshake(c *decode.Call) *handshake {
	h := &handshake{call: *c, succeeded: c.Outcome == decode.OK}
	request, response := p.part(c.Request, string(c.ID), true), p.part(c.Response, string(c.ID), false)
	h.request, h.result = request.Get("params"), response.Get("result")
	h.known = request.Exists() && (response.Exists() || c.Response < 0)
	h.asked, h.answered = h.request.Get("protocolVersion").Str, h.result.Get("protocolVersion").Str
	h.client, h.server = h.request.Get("capabilities"), h.result.Get("capabilities")
	return h
}

// inOrder gives the handshakes in order of their requests.
func (p *pass) inOrder() []*handshake {
	return slices.SortedFunc(maps.Values(p.handshakes()), func(a, b *handshake) int { return a.call.Index - b.call.Index })
}

// only gives the handshake of a session that has one, for messages that do not say
// which they belong to.
func (p *pass) only() *handshake {
	if all := p.inOrder(); len(all) == 1 {
		return all[0]
	}
	return nil
}

// legacyCalls visits the client's requests that come within a handshake's scope,
// but for those of the modern era and pings, which are always allowed.
func (p *pass) legacyCalls(visit func(*handshake, *decode.Call)) {
	for i := range p.Calls() {
		c := p.Call(i)
		if c.Dir != tap.C2S || c.Era == decode.Modern || c.Method == "ping" || c.Method == "initialize" {
			continue
		}
		if h := p.handshakeOf(c.Scope); h != nil {
			visit(h, &c)
		}
	}
}

func checkFirst(p *pass, r *Rule) {
	p.legacyCalls(func(h *handshake, c *decode.Call) {
		if c.Request < h.call.Request {
			p.report(r, c.Request, c.Index, c.Method)
		}
	})
}

// required are members by their paths and types.
type required map[string]func(gjson.Result) bool

func isString(v gjson.Result) bool { return v.Type == gjson.String }
func isObject(v gjson.Result) bool { return v.IsObject() }

// missing lists what is not there as it should be, in order.
func (q required) missing(v gjson.Result) []string {
	var out []string
	for path, fits := range q {
		if !fits(v.Get(path)) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func checkInitialize(p *pass, r *Rule) {
	needs := required{"protocolVersion": isString, "capabilities": isObject, "clientInfo.name": isString, "clientInfo.version": isString}
	p.eachCall(r, func(x *exchange) {
		if x.Method == "initialize" && x.request().Exists() {
			for _, m := range needs.missing(x.params()) {
				p.report(r, x.Request, x.Index, m)
			}
		}
	})
}

func checkInitialized(p *pass, r *Rule) {
	needs := required{"protocolVersion": isString, "capabilities": isObject, "serverInfo.name": isString, "serverInfo.version": isString}
	p.eachCall(r, func(x *exchange) {
		if x.Method == "initialize" && x.succeeded() {
			for _, m := range needs.missing(x.result()) {
				p.report(r, x.Response, x.Index, m)
			}
		}
	})
}

// checkReady needs a request that came after the handshake: a client may leave
// between.
func checkReady(p *pass, r *Rule) {
	if p.eras.Ready {
		return
	}
	p.legacyCalls(func(h *handshake, c *decode.Call) {
		if h.succeeded && c.Request > h.call.Response {
			p.report(r, c.Request, c.Index, c.Method)
		}
	})
}

func checkEarlyClient(p *pass, r *Rule) {
	p.legacyCalls(func(h *handshake, c *decode.Call) {
		if c.Request > h.call.Request && (h.call.Response < 0 || c.Request < h.call.Response) {
			p.report(r, c.Request, c.Index, c.Method)
		}
	})
}

// checkEarlyServer also lets pass what belongs to a request of the client.
func checkEarlyServer(p *pass, r *Rule) {
	h := p.only()
	if h == nil || !p.eras.Ready {
		return
	}
	ready := false
	p.eachMessage(r, func(m *message) {
		ready = ready || m.Method == "notifications/initialized"
		if ready || m.frame.Dir != tap.S2C || m.frame.Index < h.call.Request {
			return
		}
		switch m.Method {
		case "", "ping", "notifications/message", "notifications/progress", "notifications/cancelled":
		default:
			p.report(r, m.frame.Index, m.Call, m.Method)
		}
	})
}

func checkInitCancelled(p *pass, r *Rule) {
	p.calls(&Rule{Span: All}, func(c *decode.Call) {
		if c.Method != "initialize" || c.Dir != tap.C2S {
			return
		}
		for _, n := range p.Notes(c.Index) {
			if n.Kind == decode.NoteCancel || n.Kind == decode.NoteLateCancel {
				p.report(r, n.Frame, c.Index)
			}
		}
	})
}

// checkWentOn takes it that clients know no revision after the one they ask for,
// since they should ask for their newest.
func checkWentOn(p *pass, r *Rule) {
	for _, h := range p.inOrder() {
		strange := !isLegacyRevision(h.answered) || h.answered > h.asked
		if h.succeeded && h.known && h.asked != "" && strange && p.eras.Ready {
			p.report(r, h.call.Response, h.call.Index, h.asked, h.answered)
		}
	}
}

// legacyRevisions are those that initialize can agree upon.
var legacyRevisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

func isLegacyRevision(v string) bool { return slices.Contains(legacyRevisions, v) }

func checkAnswered(p *pass, r *Rule) {
	for _, h := range p.inOrder() {
		if h.succeeded && h.answered != "" && !isLegacyRevision(h.answered) {
			p.report(r, h.call.Response, h.call.Index, h.answered)
		}
	}
}

// A feature is a member, or a value of one, that came with a revision.
type feature struct {
	since, method string
	request       bool   // it stands in params, not in the result
	path          string // gjson
	name          string
}

var features = []feature{
	{"2025-03-26", "tools/list", false, "tools.#.annotations|0", "annotations of tools"},
	{"2025-03-26", "tools/call", false, `content.#(type=="audio")`, "audio content"},
	{"2025-06-18", "tools/call", false, "structuredContent", "structuredContent"},
	{"2025-06-18", "tools/call", false, `content.#(type=="resource_link")`, "a resource_link"},
	{"2025-06-18", "tools/list", false, "tools.#.outputSchema|0", "outputSchema of tools"},
	{"2025-06-18", "tools/list", false, "tools.#.title|0", "title of tools"},
	{"2025-06-18", "resources/list", false, "resources.#.title|0", "title of resources"},
	{"2025-06-18", "prompts/list", false, "prompts.#.title|0", "title of prompts"},
	{"2025-11-25", "tools/list", false, "tools.#.icons|0", "icons of tools"},
	{"2025-11-25", "tools/list", false, "tools.#.execution|0", "execution of tools"},
	{"2025-11-25", "tools/call", true, "task", "a task"},
	{"2025-11-25", "elicitation/create", true, `mode`, "a mode of elicitation"},
	{"2025-11-25", "sampling/createMessage", true, "tools", "sampling with tools"},
}

func checkFeatures(p *pass, r *Rule) {
	p.eachCall(r, func(x *exchange) {
		for _, f := range features {
			if f.method != x.Method || x.rev >= f.since {
				continue
			}
			frame, in := x.Response, x.result
			if f.request {
				frame, in = x.Request, x.params
			}
			if in().Get(f.path).Exists() {
				p.reportAs(r, mustSince2025Jun(x.rev), frame, x.Index, f.name, f.since)
			}
		}
	})
	p.eachMessage(r, func(m *message) {
		if m.Method == "notifications/progress" && m.rev < "2025-03-26" && m.params().Get("message").Exists() {
			p.reportAs(r, mustSince2025Jun(m.rev), m.frame.Index, m.Call, "message of progress", "2025-03-26")
		}
	})
}

// mustSince2025Jun is the severity of what became a must in that revision.
func mustSince2025Jun(rev string) Severity {
	if rev >= "2025-06-18" {
		return Error
	}
	return Warning
}

// A need is what a method asks to have been declared, and by which side.
type need struct {
	by         Side
	capability string
}

var needs = map[string]need{
	"tools/list":               {Server, "tools"},
	"tools/call":               {Server, "tools"},
	"prompts/list":             {Server, "prompts"},
	"prompts/get":              {Server, "prompts"},
	"resources/list":           {Server, "resources"},
	"resources/templates/list": {Server, "resources"},
	"resources/read":           {Server, "resources"},
	"resources/subscribe":      {Server, "resources.subscribe"},
	"logging/setLevel":         {Server, "logging"},
	"completion/complete":      {Server, "completions"},
	"roots/list":               {Client, "roots"},
	"sampling/createMessage":   {Client, "sampling"},
	"elicitation/create":       {Client, "elicitation"},

	"notifications/message":            {Server, "logging"},
	"notifications/roots/list_changed": {Client, "roots.listChanged"},
}

func checkCapabilities(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		n, ok := needs[m.Method]
		if !ok || m.Kind != decode.Request && m.Kind != decode.Notification {
			return
		}
		if n.capability == "completions" && m.rev < "2025-03-26" { // the capability came later than the method
			return
		}
		h := p.only()
		if m.Call >= 0 {
			h = p.handshakeOf(p.Call(m.Call).Scope)
		}
		if h == nil || !h.succeeded || !h.known || m.frame.Index < h.call.Response || h.declared(n) {
			return
		}
		p.reportAs(r, mustSince2025Jun(m.rev), m.frame.Index, m.Call, m.Method, n.by.String(), n.capability)
	})
}

func (h *handshake) declared(n need) bool {
	if n.by == Client {
		return has(h.client, n.capability)
	}
	return has(h.server, n.capability)
}

// has reports whether a capability is declared: an object, if an empty one, or true.
func has(capabilities gjson.Result, path string) bool {
	v := capabilities.Get(path)
	return v.Exists() && v.Type != gjson.False && v.Type != gjson.Null
}

func checkOnce(p *pass, r *Rule) {
	for i := range p.Calls() {
		c := p.Call(i)
		h := p.handshakeOf(c.Scope) // over HTTP each one begins a session, unless it names one
		if c.Method == "initialize" && c.Dir == tap.C2S && h.succeeded && c.Request > h.call.Response {
			p.report(r, c.Request, i)
		}
	}
}

// checkPing lets _meta pass, which any result may have, and errors until the
// handshake is over.
func checkPing(p *pass, r *Rule) {
	p.eachCall(r, func(x *exchange) {
		h := p.handshakeOf(x.Scope)
		if x.Method != "ping" || x.Response < 0 || h == nil || !h.succeeded || x.Request < h.call.Response {
			return
		}
		if x.HasError() {
			p.report(r, x.Response, x.Index, "an error")
			return
		}
		x.result().ForEach(func(name, _ gjson.Result) bool {
			if name.Str != "_meta" {
				p.report(r, x.Response, x.Index, "a result that is not empty")
				return false
			}
			return true
		})
	})
}

// unsupported is the code that a server refuses a revision with.
const unsupported = -32022

// checkFallback takes it that a client knows the modern revisions up to the one
// that it asked for.
func checkFallback(p *pass, r *Rule) {
	offered := ""
	for i := range p.Calls() {
		c := p.Call(i)
		switch {
		case c.Dir != tap.C2S:
		case c.HasError() && c.Code == unsupported && c.Method != "initialize":
			offered = known(p.part(c.Response, string(c.ID), false).Get("error.data.supported"), c.Revision)
		case c.Method == "initialize" && offered != "":
			p.report(r, c.Request, i, offered)
			offered = ""
		case c.Era == decode.Modern:
			offered = ""
		}
	}
}

// known gives the newest modern revision of a list up to upto, "" if there is none.
func known(list gjson.Result, upto string) (newest string) {
	for _, v := range list.Array() {
		if Modern.Has(v.Str) && v.Str != "" && v.Str < upto {
			newest = max(newest, v.Str)
		}
	}
	return newest
}

func checkProbeFirst(p *pass, r *Rule) {
	if !p.stdio() || p.eras.InitCall < 0 {
		return
	}
	first := ""
	for i := range p.Calls() {
		c := p.Call(i)
		if c.Dir != tap.C2S {
			continue
		}
		if first == "" {
			first = c.Method
		}
		if first != "server/discover" && c.Era == decode.Modern && c.Revision != "" {
			p.report(r, c.Request, i, first)
			return
		}
	}
}

// checkUnprobed can tell where the probe comes later on the same wire. Where none
// comes, it may have been sent to another process.
func checkUnprobed(p *pass, r *Rule) {
	if !p.stdio() || p.eras.ProbeCall < 0 || p.eras.InitCall >= 0 {
		return
	}
	for i := range p.eras.ProbeCall {
		if c := p.Call(i); c.Dir == tap.C2S && c.Era == decode.Modern {
			p.report(r, c.Request, i, c.Method)
			return
		}
	}
}

func checkRefusal(p *pass, r *Rule) {
	newest := ""
	for _, v := range p.eras.Supported {
		if !Modern.Has(v) {
			return
		}
		newest = max(newest, v)
	}
	for _, h := range p.inOrder() {
		c := &h.call
		said := p.part(c.Response, string(c.ID), false).Get("error").Raw
		if c.HasError() && newest != "" && said != "" && !strings.Contains(said, newest) {
			p.report(r, c.Response, c.Index, newest)
		}
	}
}
