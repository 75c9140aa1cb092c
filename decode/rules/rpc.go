package rules

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules/schema"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, rpcRules) }

// only2025Mar is the one revision that has batches.
var only2025Mar = Span{From: "2025-03-26", To: "2025-03-26"}

// rpcRules are those of the JSON-RPC layer. That no response is sent to a
// notification (RPC-10) stands in http.go: it shows on no other wire.
var rpcRules = []Rule{
	{ID: "RPC-01", Severity: Error, Side: Either, Span: All, Page: "basic/transports",
		Title: "every message is JSON in valid UTF-8",
		Words: "a message that is not JSON: $1", check: checkJSON},
	{ID: "RPC-02", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: `jsonrpc is exactly "2.0"`,
		Words: `a message whose jsonrpc is not "2.0"`, check: fault(decode.FaultVersion)},
	{ID: "RPC-03", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: "an id is a string or an integer",
		Words: "a message whose id is neither a string nor an integer", check: fault(decode.FaultIDType)},
	{ID: "RPC-04", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: "the id of a request is not null",
		Words: "a request whose id is null", check: fault(decode.FaultIDNull)},
	{ID: "RPC-05", Severity: Error, Side: Either, Span: Legacy, Page: "basic/index",
		Title: "a request has an id that its sender did not use before in the session",
		Words: "a request with an id that was used before", check: checkReused},
	{ID: "RPC-06", Severity: Error, Side: Either, Span: Modern, Page: "basic/index",
		Title: "a request has no id that another request of its sender, still open, has",
		Words: "a request with the id of one that is still open", check: checkInFlight},
	{ID: "RPC-07", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: "a message has a method, or exactly one of result and error",
		Words: "a message with neither a method nor exactly one of result and error", check: fault(decode.FaultNoResult)},
	{ID: "RPC-08", Severity: Error, Side: Either, Span: All, Page: "basic/index", Whole: true,
		Title: "a response has the id of a request, JSON type included",
		Words: "a response to no request: $1", check: checkOrphan},
	{ID: "RPC-09", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: "a request gets one response",
		Words: "a second response to one request", check: checkSecond},
	{ID: "RPC-11", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: "an error has an integer code and a string message",
		Words: "an error without an integer code and a string message", check: fault(decode.FaultErrorForm)},
	{ID: "RPC-12", Severity: Warning, Side: Either, Span: All, Page: "basic/index",
		Title: "the id of an error is not null",
		Words: "an error whose id is null: MCP leaves it out, or has the request's", check: fault(decode.FaultErrorID)},
	{ID: "RPC-13", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: "messages are not sent in an array, but in revision 2025-03-26",
		Words: "an array of messages", check: checkBatch},
	{ID: "RPC-14", Severity: Error, Side: Either, Span: only2025Mar, Page: "basic/index",
		Title: "a batch is not empty, has no responses among requests, and no initialize",
		Words: "a batch that is empty, mixed, or holds initialize", check: checkBatchForm},
	{ID: "RPC-15", Severity: Error, Side: Either, Span: All, Page: "schema",
		Title: "params and result are objects",
		Words: "params or result that is not an object", check: fault(decode.FaultNoObject)},
	{ID: "RPC-16", Severity: Warning, Side: Either, Span: All,
		Title: "no member stands twice in a message: readers differ in which one they take",
		Words: "a message with a member that stands twice", check: fault(decode.FaultDuplicate)},
	{ID: "RPC-17", Severity: Warning, Side: Either, Span: All, Page: "basic/index", Whole: true,
		Title: "a request is answered",
		Words: "$1 was never answered, $2", check: checkUnanswered},
	{ID: "RPC-18", Severity: Info, Side: Either, Span: All,
		Title: "integer ids and progress tokens lie within 2^53: many readers can't hold more",
		Words: "an id or progress token that many readers can't hold", check: checkBigNumber},
	{ID: "RPC-19", Severity: Error, Side: Either, Span: All, Page: "schema",
		Title: "a message fits the schema of its revision",
		Words: "$1 does not fit the schema: at $2, $3", check: checkSchema},
	{ID: "RPC-20", Severity: Warning, Side: Either, Span: All, Page: "schema",
		Title: "a method exists in the revision in use, in that direction",
		Words: "$2 $3", check: checkMethod},
}

// fault checks for what decode found out about a message by itself.
func fault(f decode.Faults) func(*pass, *Rule) {
	return func(p *pass, r *Rule) {
		p.eachMessage(r, func(m *message) {
			if m.Faults.Has(f) && !m.foreign() {
				p.report(r, m.frame.Index, m.Call)
			}
		})
	}
}

// foreign reports whether a message is JSON of another kind: a log line on standard
// output, or an error of the HTTP layer told in JSON. It breaks one rule, not many.
func (m *message) foreign() bool {
	if !m.Faults.Has(decode.FaultVersion) && m.Kind != decode.Malformed || m.at >= 0 {
		return false
	}
	b := m.body()
	if !b.Exists() || b.IsObject() && b.Get("jsonrpc").Exists() {
		return false
	}
	return !b.IsObject() || !m.p.stdio() && m.frame.Dir == tap.S2C ||
		!b.Get("method").Exists() && !b.Get("result").Exists() && !b.Get("error").Exists()
}

// checkJSON leaves to the rules of the transports what was never meant as a message.
func checkJSON(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		k := m.frame.Stray
		if m.Kind != decode.Stray || k == decode.StrayDeep /* our limit, not theirs */ || p.stdio() && (noiseWords[k] != "" || isLineFault(k) || p.isSpread(m.frame.Index)) {
			return
		}
		if m.frame.Event != "" || m.frame.Exchange >= 0 && k == decode.StraySeveral { // for SSE-04 and HTTP-05
			return
		}
		p.report(r, m.frame.Index, -1, string(k))
	})
}

// checkReused lets pass an initialize over HTTP: it begins a session of its own.
func checkReused(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if c.Reused && (c.Method != "initialize" || p.stdio()) {
			p.report(r, c.Request, c.Index)
		}
	})
}

func checkInFlight(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if c.InFlight {
			p.report(r, c.Request, c.Index)
		}
	})
}

// checkOrphan lets an error without an id pass: its sender could not read one.
func checkOrphan(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		switch {
		case m.WrongID:
			p.report(r, m.frame.Index, m.Call, "its id has another JSON type")
		case m.Orphan && m.body().Get("id").Type != gjson.Null:
			p.report(r, m.frame.Index, -1, "nobody asked with its id")
		}
	})
}

func checkSecond(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		if m.Second {
			p.report(r, m.frame.Index, m.Call)
		}
	})
}

// checkBatch holds back where the revision is not known. The first revision does
// not mention arrays.
func checkBatch(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		switch rev := p.revision(f); {
		case f.Kind != decode.Batch || rev == "" || only2025Mar.Has(rev):
		case rev < only2025Mar.From:
			p.reportAs(r, Warning, f.Index, -1)
		default:
			p.report(r, f.Index, -1)
		}
	})
}

func checkBatchForm(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		if f.Faults.Has(decode.FaultBatchForm) {
			p.report(r, f.Index, -1)
		}
	})
}

// patience is how long a call may take that depends on a tool or a person before
// its silence counts. Clients give up after a minute as a rule.
const patience = time.Minute

// checkUnanswered reports a request that stayed open until the session ended,
// although its receiver answered others that came later, or had a minute. Every
// request of a session that ends is over; only those show that one was lost.
func checkUnanswered(p *pass, r *Rule) {
	if !p.Gaps().Ended || p.Len() == 0 {
		return
	}
	end := max(p.Frame(p.Len()-1).Time, p.Ends().Process)
	answered := map[tap.Dir]bool{}
	for i := p.Calls() - 1; i >= 0; i-- {
		c := p.Call(i)
		if c.Response >= 0 {
			answered[c.Dir] = true
			continue
		}
		passedOver := answered[c.Dir] && !takesTime(c.Method)
		if c.Cancelled || c.Listen || p.exchangeOver(&c) || !passedOver && end-c.Start < patience {
			continue
		}
		why := "though later requests were"
		if !passedOver {
			why = "in more than a minute"
		}
		f := p.report(r, c.Request, i, c.Method, why)
		f.Side = Client + Server - senderOf(c.Dir) // who did not answer
	}
}

// exchangeOver reports a request whose HTTP exchange has ended without an answer: its
// transport is gone.
func (p *pass) exchangeOver(c *decode.Call) bool {
	if c.Exchange < 0 {
		return false
	}
	x := &p.hops()[c.Exchange]
	return x.End >= 0 && (!x.Old || x.Status >= 300)
}

func takesTime(method string) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read", "tasks/result", "sampling/createMessage", "elicitation/create":
		return true
	}
	return false
}

func checkBigNumber(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		if m.Faults.Has(decode.FaultBigNumber) {
			p.report(r, m.frame.Index, m.Call)
		}
	})
	p.eachCall(r, func(x *exchange) {
		if x.WantsProgress && isBig(x.params().Get("_meta.progressToken")) {
			p.report(r, x.Request, x.Index)
		}
	})
}

func isBig(v gjson.Result) bool { return v.Type == gjson.Number && math.Abs(v.Num) >= 1<<53 }

// maxChecked bounds the bytes of one session that are held against the schemas.
const maxChecked = 64 << 20

func checkSchema(p *pass, r *Rule) {
	left := maxChecked
	affordable := func(v gjson.Result) bool {
		left -= len(v.Raw)
		return v.Exists() && left >= 0 && len(v.Raw) <= schema.MaxBody
	}
	p.eachMessage(r, func(m *message) {
		if m.Kind != decode.Request && m.Kind != decode.Notification || m.Faults.Has(decode.FaultNoObject) {
			return
		}
		if def := schema.Message(m.rev, m.Method); def != "" && affordable(m.body()) {
			p.mismatch(r, m.frame.Index, m.Call, m.Method, schema.Check(m.rev, def, []byte(m.body().Raw)))
		}
	})
	p.eachCall(r, func(x *exchange) {
		if def := resultDefinition(x); def != "" && affordable(x.result()) {
			p.mismatch(r, x.Response, x.Index, "the result of "+x.Method, schema.Check(x.rev, def, []byte(x.result().Raw)))
		}
	})
}

// resultDefinition names what a result should be; nothing for what an extension
// may have made.
func resultDefinition(x *exchange) string {
	if !x.succeeded() {
		return ""
	}
	switch x.result().Get("resultType").Str {
	case "", "complete":
	case "input_required":
		return "InputRequiredResult"
	default:
		return ""
	}
	if x.MadeTask {
		return "CreateTaskResult"
	}
	return schema.Result(x.rev, x.Method)
}

// mismatch reports the first place that no other rule looks at.
func (p *pass) mismatch(r *Rule, frame, call int, what string, found []schema.Mismatch) {
	for _, m := range found {
		if !hasOwnRule(what, m) {
			p.report(r, frame, call, what, cmp.Or(m.At, "the top"), m.Text)
			return
		}
	}
}

// ownRules are places that more telling rules are for.
var ownRules = []string{"/jsonrpc", "/id", "/_meta", "/params/_meta", "/resultType", "/ttlMs", "/cacheScope",
	"/inputRequests", "/requestState", "/params/inputResponses", "/params/requestState", "/params/requestedSchema"}

func hasOwnRule(what string, m schema.Mismatch) bool {
	for _, at := range ownRules {
		if m.At == at || strings.HasPrefix(m.At, at+"/") {
			return true
		}
	}
	switch m.At {
	case "", "/params":
		return missesOnly(m.Text, "jsonrpc", "id", "_meta", "resultType", "ttlMs", "cacheScope", "params") || strings.HasSuffix(what, "initialize")
	case "/params/clientInfo", "/serverInfo":
		return strings.HasSuffix(what, "initialize")
	}
	return false
}

// missesOnly reports whether a mismatch is that some of these members are missing,
// and no other.
func missesOnly(text string, members ...string) bool {
	list, ok := strings.CutPrefix(text, "missing propert")
	if !ok {
		return false
	}
	for _, name := range members {
		list = strings.ReplaceAll(list, "'"+name+"'", "")
	}
	return !strings.Contains(list, "'")
}

// checkMethod tells a method of another revision, or direction, from one that
// nobody knows. Extensions may bring their own.
func checkMethod(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		if m.Kind != decode.Request && m.Kind != decode.Notification {
			return
		}
		wrong := wrongMethod(m.Method, m.rev, m.frame.Dir)
		if wrong == "" {
			return
		}
		about := "" // what nobody knows is one finding, however many names there are
		if methods[m.Method] != nil {
			about = m.Method
		}
		p.report(r, m.frame.Index, m.Call, about, strconv.Quote(short(m.Method)), wrong)
	})
}

func wrongMethod(name, rev string, dir tap.Dir) string {
	uses, known := methods[name]
	if !known {
		if isExtension(name) {
			return ""
		}
		return "is no method of any revision"
	}
	there := false
	for _, u := range uses {
		if rev != "" && !u.Has(rev) {
			continue
		}
		there = true
		if u.by == Either || u.by == senderOf(dir) {
			return ""
		}
	}
	if there {
		return "is not for the " + senderOf(dir).String() + " to send"
	}
	return "does not exist in " + rev
}

// isExtension reports whether a method is of an extension, by its prefix or since
// it is known to be.
func isExtension(method string) bool {
	prefix, _, _ := strings.Cut(method, "/")
	return strings.Contains(prefix, ".") || prefix == "skills" || method == "resources/directory/read"
}

// A use is who may send a method in which revisions.
type use struct {
	Span
	by Side
}

// The spans of methods that came or went.
var (
	only2025Nov = Span{From: "2025-11-25", To: "2025-11-25"}
	legacyFromB = Span{From: "2025-06-18", To: "2025-11-25"}
)

// methods are those of all revisions. tasks/* of 2026-07-28 and later belong to an
// extension of the specification.
var methods = map[string][]use{
	"initialize":               {{Legacy, Client}},
	"ping":                     {{Legacy, Either}},
	"server/discover":          {{Modern, Client}},
	"tools/list":               {{All, Client}},
	"tools/call":               {{All, Client}},
	"prompts/list":             {{All, Client}},
	"prompts/get":              {{All, Client}},
	"resources/list":           {{All, Client}},
	"resources/templates/list": {{All, Client}},
	"resources/read":           {{All, Client}},
	"resources/subscribe":      {{Legacy, Client}},
	"resources/unsubscribe":    {{Legacy, Client}},
	"subscriptions/listen":     {{Modern, Client}},
	"completion/complete":      {{All, Client}},
	"logging/setLevel":         {{Legacy, Client}},
	"roots/list":               {{Legacy, Server}},
	"sampling/createMessage":   {{Legacy, Server}},
	"elicitation/create":       {{legacyFromB, Server}},
	"tasks/get":                {{only2025Nov, Either}, {Modern, Client}},
	"tasks/result":             {{only2025Nov, Either}},
	"tasks/list":               {{only2025Nov, Either}},
	"tasks/cancel":             {{only2025Nov, Either}, {Modern, Client}},
	"tasks/update":             {{Modern, Client}},

	"notifications/initialized":                {{Legacy, Client}},
	"notifications/cancelled":                  {{All, Either}},
	"notifications/progress":                   {{Legacy, Either}, {Modern, Server}},
	"notifications/message":                    {{All, Server}},
	"notifications/tools/list_changed":         {{All, Server}},
	"notifications/prompts/list_changed":       {{All, Server}},
	"notifications/resources/list_changed":     {{All, Server}},
	"notifications/resources/updated":          {{All, Server}},
	"notifications/roots/list_changed":         {{Legacy, Client}},
	"notifications/elicitation/complete":       {{only2025Nov, Server}},
	"notifications/tasks/status":               {{only2025Nov, Either}},
	"notifications/tasks":                      {{Modern, Server}},
	"notifications/subscriptions/acknowledged": {{Modern, Server}},
}
