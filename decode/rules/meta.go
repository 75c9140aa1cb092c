package rules

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, metaRules, resultRules) }

// metaRules are those of _meta and discovery.
var metaRules = []Rule{
	{ID: "META-01", Severity: Error, Side: Client, Span: Modern, Page: "basic/index",
		Title: "every request names its protocolVersion in _meta",
		Words: "$1 without a protocolVersion in _meta", check: requestMeta(keyVersion, isString)},
	{ID: "META-02", Severity: Error, Side: Client, Span: Modern, Page: "basic/index",
		Title: "every request has clientCapabilities in _meta",
		Words: "$1 without clientCapabilities in _meta", check: requestMeta(keyCapabilities, isObject)},
	{ID: "META-03", Severity: Warning, Side: Client, Span: Modern, Page: "basic/index",
		Title: "every request has clientInfo with name and version in _meta",
		Words: "$1 without clientInfo in _meta", check: requestMeta(keyClient, isPeer)},
	{ID: "META-04", Severity: Error, Side: Server, Span: Modern, Page: "basic/index",
		Title: "a request without its _meta members is refused with -32602",
		Words: "$1 lacks its _meta members, and was not refused with -32602$2", check: checkRefusesBare},
	{ID: "META-05", Severity: Error, Side: Either, Span: From25b, Page: "basic/index",
		Title: "keys of _meta are an optional prefix of labels and a name",
		Words: "the key $2 in _meta", check: checkKeys},
	{ID: "META-06", Severity: Warning, Side: Either, Span: From25c, Page: "basic/index",
		Title: "keys under MCP's own prefixes are those that the specification or an extension defines",
		Words: "the key $2 in _meta, under a reserved prefix", check: checkReserved},
	{ID: "META-07", Severity: Error, Side: Server, Span: Modern, Page: "basic/versioning",
		Title: "an unsupported revision is answered with -32022, with what is supported and what was requested",
		Words: "an unsupported revision was answered $1", check: checkUnsupported},
	{ID: "META-08", Severity: Warning, Side: Server, Span: Modern,
		Title: "a revision that is refused is not among the supported ones",
		Words: "revision $2 was refused, and is listed as supported", check: checkContradiction},
	{ID: "META-09", Severity: Warning, Side: Server, Span: Modern, Page: "basic/index",
		Title: "every result has serverInfo in _meta",
		Words: "the result of $1 without serverInfo in _meta", check: checkServerInfo},
	{ID: "META-10", Severity: Warning, Side: Server, Span: Modern, Whole: true,
		Title: "a server stays the same while it runs: name, version, revisions, capabilities",
		Words: "$1 changed while the server ran", check: checkSame},
	{ID: "META-11", Severity: Error, Side: Server, Span: Modern, Page: "basic/index",
		Title: "an error that asks for client capabilities names those that the request lacks",
		Words: "error -32021 $1", check: checkRequired},
	{ID: "META-12", Severity: Error, Side: Server, Span: Modern, Page: "server/discover",
		Title: "a modern server implements server/discover",
		Words: "the server serves the revision, and does not know server/discover", check: checkDiscover},
	{ID: "META-13", Severity: Error, Side: Either, Span: Modern, Page: "basic/versioning",
		Title: "the id of an extension has a prefix, as keys of _meta have",
		Words: "the extension id $2", check: checkExtensions},
	{ID: "META-14", Severity: Info, Side: Client, Span: Modern, Page: "basic/index",
		Title: "a client has the same capabilities in every request: servers that remember them go wrong else",
		Words: "clientCapabilities differ from those of earlier requests", check: checkVaries},
}

// resultRules are those of what every result has in common.
var resultRules = []Rule{
	{ID: "RES-01", Severity: Error, Side: Server, Span: Modern, Page: "basic/index",
		Title: "every result has a resultType",
		Words: "the result of $1 without resultType", check: checkResultType},
	{ID: "RES-02", Severity: Error, Side: Server, Span: Modern, Page: "basic/index",
		Title: "resultType is complete, input_required, or one of an extension that was declared",
		Words: "resultType $2", check: checkResultKind},
	{ID: "RES-03", Severity: Error, Side: Server, Span: Modern, Page: "server/utilities/caching",
		Title: "results that can be cached have ttlMs and cacheScope",
		Words: "the result of $1 without $2", check: checkHints},
	{ID: "RES-04", Severity: Error, Side: Server, Span: Modern, Page: "server/utilities/caching",
		Title: "ttlMs is an integer of 0 or more, cacheScope is public or private",
		Words: "$1 is $2", check: checkHintValues},
	{ID: "RES-05", Severity: Error, Side: Server, Span: Modern, Page: "server/utilities/caching",
		Title: "all pages of a list have the same cacheScope",
		Words: "a page of $1 with another cacheScope than the one before", check: checkPages},
	{ID: "RES-07", Severity: Info, Side: Client, Span: Modern, Page: "server/utilities/caching",
		Title: "a list is not fetched again while it is fresh",
		Words: "$1 was fetched again while it was fresh", check: checkFresh},
	{ID: "RES-08", Severity: Error, Side: Server, Span: Modern, Page: "server/utilities/caching",
		Title: "a result that asks for input has no caching hints",
		Words: "a result that asks for input, with $1", check: checkInterimHints},
}

// The keys of _meta that the specification defines. A dot in a gjson path is
// escaped.
const (
	keyPrefix       = "io.modelcontextprotocol/"
	escPrefix       = `io\.modelcontextprotocol/`
	keyVersion      = "protocolVersion"
	keyCapabilities = "clientCapabilities"
	keyClient       = "clientInfo"
	keyServer       = "serverInfo"
	keySubscription = "subscriptionId"
)

// metaKey is the path of a key in the _meta of params or of a result.
func metaKey(key string) string { return "_meta." + escPrefix + key }

func isPeer(v gjson.Result) bool { return isString(v.Get("name")) && isString(v.Get("version")) }

func requestMeta(key string, fits func(gjson.Result) bool) func(*pass, *Rule) {
	return func(p *pass, r *Rule) {
		p.eachRequest(r, func(x *exchange) {
			if !fits(x.params().Get(metaKey(key))) {
				p.report(r, x.Request, x.Index, x.Method)
			}
		})
	}
}

// eachRequest visits the client's requests whose bodies are at hand, but for those
// that are known to be of the legacy era.
func (p *pass) eachRequest(r *Rule, visit func(*exchange)) {
	p.eachCall(r, func(x *exchange) {
		if x.Dir == tap.C2S && x.Era != decode.Legacy && x.request().Exists() {
			visit(x)
		}
	})
}

// eachResult visits the server's results whose bodies are at hand.
func (p *pass) eachResult(r *Rule, visit func(*exchange)) {
	p.eachCall(r, func(x *exchange) {
		if x.Dir == tap.C2S && x.Era != decode.Legacy && x.succeeded() {
			visit(x)
		}
	})
}

// Error codes of the specification.
const (
	invalidParams  = -32602
	methodNotFound = -32601
	lacksCapable   = -32021
)

// servesModern reports whether the server showed that it speaks the modern era.
func (p *pass) servesModern() bool {
	return p.eras.Era == decode.Modern || p.eras.Era == decode.Mixed || slices.ContainsFunc(p.eras.Supported, Modern.Has)
}

// checkRefusesBare allows for a server that does not know the method.
func checkRefusesBare(p *pass, r *Rule) {
	if !p.servesModern() {
		return
	}
	p.eachRequest(r, func(x *exchange) {
		m := x.params()
		if x.Response < 0 || isString(m.Get(metaKey(keyVersion))) && isObject(m.Get(metaKey(keyCapabilities))) {
			return
		}
		if !x.HasError() || x.Code != invalidParams && x.Code != methodNotFound && x.Code != unsupported {
			p.report(r, x.Response, x.Index, x.Method, "")
		} else if x.Code == invalidParams && x.Exchange >= 0 && p.hops()[x.Exchange].Status != 400 && !p.hops()[x.Exchange].Stream {
			p.report(r, x.Response, x.Index, x.Method, " and status 400")
		}
	})
}

// eachMeta visits the _meta of params and results.
func (p *pass) eachMeta(r *Rule, visit func(m *message, key string)) {
	p.eachMessage(r, func(m *message) {
		for _, path := range []string{"params._meta", "result._meta"} {
			if m.Kind == decode.Stray || m.Kind == decode.Malformed {
				return
			}
			m.body().Get(path).ForEach(func(k, _ gjson.Result) bool {
				visit(m, k.Str)
				return true
			})
		}
	})
}

func checkKeys(p *pass, r *Rule) {
	p.eachMeta(r, func(m *message, key string) {
		if !isKey(key) {
			p.report(r, m.frame.Index, m.Call, "", key)
		}
	})
}

// isKey follows the syntax of basic/index: labels with dots between and a slash
// after them, then a name. The whole prefix may be missing, and so may the name.
func isKey(key string) bool {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		return isName(key)
	}
	return isPrefix(prefix) && isName(name)
}

func isPrefix(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		n := len(label)
		if n == 0 || !isLetter(label[0]) || !isLetter(label[n-1]) && !isDigit(label[n-1]) {
			return false
		}
		if strings.ContainsFunc(label, func(c rune) bool { return c != '-' && !isAlphanumeric(c) }) {
			return false
		}
	}
	return true
}

func isName(s string) bool {
	n := len(s)
	if n == 0 {
		return true
	}
	if !isAlphanumeric(rune(s[0])) || !isAlphanumeric(rune(s[n-1])) {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return !strings.ContainsRune("-_.", c) && !isAlphanumeric(c) })
}

func isLetter(c byte) bool       { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isAlphanumeric(c rune) bool { return c < 0x80 && (isLetter(byte(c)) || isDigit(byte(c))) }

// ownKeys are those under MCP's prefix that the specification defines, and the ids
// of its extensions.
var ownKeys = []string{keyVersion, keyCapabilities, keyClient, "logLevel", keyServer, keySubscription, "related-task",
	"model-immediate-response", "tasks", "ui", "skills", "oauth-client-credentials", "enterprise-managed-authorization"}

func checkReserved(p *pass, r *Rule) {
	p.eachMeta(r, func(m *message, key string) {
		prefix, _, _ := strings.Cut(key, "/")
		labels := strings.Split(prefix, ".")
		if len(labels) < 2 || labels[1] != "modelcontextprotocol" && labels[1] != "mcp" || prefix == key {
			return
		}
		if own, ok := strings.CutPrefix(key, keyPrefix); !ok || !slices.Contains(ownKeys, own) {
			p.report(r, m.frame.Index, m.Call, "", key)
		}
	})
}

// checkUnsupported knows that a revision is unsupported when the error says so, or
// when the answer to a probe did not list it. The probe itself may be answered: that
// tells as much.
func checkUnsupported(p *pass, r *Rule) {
	p.eachRequest(r, func(x *exchange) {
		data := x.response().Get("error.data")
		asked := x.params().Get(metaKey(keyVersion)).Str
		switch {
		case x.Response < 0:
		case x.HasError() && x.Code == unsupported:
			if x.response().Exists() && (!data.Get("supported").IsArray() || !isString(data.Get("requested"))) {
				p.report(r, x.Response, x.Index, "without data.supported and data.requested")
			}
		case x.Method != "server/discover" && len(p.eras.Supported) > 0 && asked != "" && !slices.Contains(p.eras.Supported, asked):
			p.report(r, x.Response, x.Index, "as if it were supported")
		}
	})
}

func checkContradiction(p *pass, r *Rule) {
	p.eachRequest(r, func(x *exchange) {
		data := x.response().Get("error.data")
		if !x.HasError() || x.Code != unsupported {
			return
		}
		requested := data.Get("requested").Str
		for _, v := range data.Get("supported").Array() {
			if v.Str == requested && requested != "" {
				p.report(r, x.Response, x.Index, "", requested)
				return
			}
		}
	})
}

func checkServerInfo(p *pass, r *Rule) {
	p.eachResult(r, func(x *exchange) {
		if !isPeer(x.result().Get(metaKey(keyServer))) {
			p.report(r, x.Response, x.Index, x.Method)
		}
	})
}

func checkSame(p *pass, r *Rule) {
	if !p.stdio() { // over HTTP a restart does not show, and several servers may answer
		return
	}
	first := map[string]any{}
	compare := func(x *exchange, what string, v gjson.Result) {
		if !v.Exists() {
			return
		}
		old, known := first[what]
		if !known {
			first[what] = v.Value()
		} else if !reflect.DeepEqual(old, v.Value()) {
			p.report(r, x.Response, x.Index, what)
		}
	}
	p.eachResult(r, func(x *exchange) {
		info := x.result().Get(metaKey(keyServer))
		compare(x, "the server's name", info.Get("name"))
		compare(x, "the server's version", info.Get("version"))
		if x.Method == "server/discover" {
			compare(x, "supportedVersions", x.result().Get("supportedVersions"))
			compare(x, "capabilities", x.result().Get("capabilities"))
		}
	})
}

func checkRequired(p *pass, r *Rule) {
	p.eachRequest(r, func(x *exchange) {
		if !x.HasError() || x.Code != lacksCapable || !x.response().Exists() {
			return
		}
		required := x.response().Get("error.data.requiredCapabilities")
		declared := x.params().Get(metaKey(keyCapabilities))
		if !required.IsObject() || len(required.Map()) == 0 {
			p.report(r, x.Response, x.Index, "does not say which capabilities are required")
		} else if covers(declared, required) {
			p.report(r, x.Response, x.Index, "asks for capabilities that the request declares")
		}
	})
}

// covers reports whether all that is required is declared.
func covers(declared, required gjson.Result) bool {
	all := true
	have := declared.Map()
	required.ForEach(func(name, v gjson.Result) bool {
		d, ok := have[name.Str]
		all = ok && d.Type != gjson.False && (!v.IsObject() || covers(d, v))
		return all
	})
	return all
}

func checkDiscover(p *pass, r *Rule) {
	unknown, serves := -1, false
	p.calls(r, func(c *decode.Call) {
		switch {
		case c.Dir != tap.C2S:
		case c.Method != "server/discover":
			serves = serves || c.Era == decode.Modern && c.Outcome == decode.OK
		case c.HasError() && c.Code == methodNotFound:
			unknown = c.Index
		}
	})
	if unknown >= 0 && serves {
		p.report(r, p.Call(unknown).Response, unknown)
	}
}

func checkExtensions(p *pass, r *Rule) {
	look := func(frame, call int, ids gjson.Result) {
		ids.ForEach(func(id, _ gjson.Result) bool {
			if !isKey(id.Str) || strings.IndexByte(id.Str, '/') <= 0 {
				p.report(r, frame, call, "", id.Str)
			}
			return true
		})
	}
	p.eachRequest(r, func(x *exchange) {
		look(x.Request, x.Index, x.params().Get(metaKey(keyCapabilities)+".extensions"))
		if x.Method == "server/discover" {
			look(x.Response, x.Index, x.result().Get("capabilities.extensions"))
		}
	})
}

func checkVaries(p *pass, r *Rule) {
	raw, first := "", any(nil)
	p.eachRequest(r, func(x *exchange) {
		v := x.params().Get(metaKey(keyCapabilities))
		switch {
		case !v.Exists() || v.Raw == raw:
		case raw == "":
			raw, first = v.Raw, v.Value()
		case !reflect.DeepEqual(v.Value(), first):
			p.report(r, x.Request, x.Index)
		}
	})
}

func checkResultType(p *pass, r *Rule) {
	p.eachResult(r, func(x *exchange) {
		if !x.result().Get("resultType").Exists() {
			p.report(r, x.Response, x.Index, x.Method)
		}
	})
}

// checkResultKind knows the one kind of an extension, tasks, and leaves others to
// clients that declared any extension that is not the specification's.
func checkResultKind(p *pass, r *Rule) {
	p.eachResult(r, func(x *exchange) {
		kind := x.result().Get("resultType")
		if !kind.Exists() || kind.Str == "complete" || kind.Str == "input_required" {
			return
		}
		declared := x.params().Get(metaKey(keyCapabilities) + ".extensions").Map()
		foreign := func(id string) bool { return !strings.HasPrefix(id, keyPrefix) }
		_, tasks := declared[keyPrefix+"tasks"]
		if tasks && kind.Str == "task" || slices.ContainsFunc(slices.Collect(maps.Keys(declared)), foreign) {
			return
		}
		p.report(r, x.Response, x.Index, "", kind.Raw)
	})
}

// cacheable reports whether the results of a method have caching hints.
func cacheable(method string) bool {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	}
	return false
}

func isInterim(result gjson.Result) bool { return result.Get("resultType").Str == "input_required" }

func checkHints(p *pass, r *Rule) {
	p.eachResult(r, func(x *exchange) {
		if !cacheable(x.Method) || isInterim(x.result()) {
			return
		}
		for _, name := range []string{"ttlMs", "cacheScope"} {
			if !x.result().Get(name).Exists() {
				p.report(r, x.Response, x.Index, x.Method, name)
				return
			}
		}
	})
}

func checkHintValues(p *pass, r *Rule) {
	p.eachResult(r, func(x *exchange) {
		if !cacheable(x.Method) {
			return
		}
		ttl, scope := x.result().Get("ttlMs"), x.result().Get("cacheScope")
		if ttl.Exists() && (ttl.Type != gjson.Number || ttl.Num < 0 || ttl.Num != float64(int64(ttl.Num))) {
			p.report(r, x.Response, x.Index, "ttlMs", ttl.Raw)
		}
		if scope.Exists() && scope.Str != "public" && scope.Str != "private" {
			p.report(r, x.Response, x.Index, "cacheScope", scope.Raw)
		}
	})
}

// checkPages remembers the scope of each cursor that was handed out.
func checkPages(p *pass, r *Rule) {
	type cursor struct{ method, value string }
	scopes := map[cursor]string{}
	p.eachResult(r, func(x *exchange) {
		scope := x.result().Get("cacheScope").Str
		if !cacheable(x.Method) || scope == "" {
			return
		}
		if next := x.result().Get("nextCursor").Str; next != "" {
			scopes[cursor{x.Method, next}] = scope
		}
		if before := scopes[cursor{x.Method, x.params().Get("cursor").Str}]; before != "" && before != scope {
			p.report(r, x.Response, x.Index, x.Method)
		}
	})
}

// changeOf is the notification that ends the freshness of a method's results.
var changeOf = map[string]string{
	"tools/list":               "notifications/tools/list_changed",
	"prompts/list":             "notifications/prompts/list_changed",
	"resources/list":           "notifications/resources/list_changed",
	"resources/templates/list": "notifications/resources/list_changed",
	"resources/read":           "notifications/resources/updated",
}

func checkFresh(p *pass, r *Rule) {
	type key struct{ method, subject, cursor, credential string }
	type fetched struct {
		frame int
		until time.Duration
	}
	last := map[key]fetched{}
	changed := map[string]int{} // method -> frame of the newest notification
	at := 0
	p.eachResult(r, func(x *exchange) {
		for ; at < x.Request; at++ {
			if f := p.Frame(at); f.Kind == decode.Notification {
				changed[f.Method] = at
			}
		}
		k := key{x.Method, x.params().Get("uri").Str, x.params().Get("cursor").Str, p.credential(&x.Call)}
		old, known := last[k]
		if known && old.frame < x.Request && x.Start < old.until && changed[changeOf[x.Method]] < old.frame {
			p.report(r, x.Request, x.Index, x.Method)
		}
		if ttl := x.result().Get("ttlMs").Num; cacheable(x.Method) && !isInterim(x.result()) && ttl > 0 && ttl < 1e9 {
			last[k] = fetched{x.Response, x.End + time.Duration(ttl)*time.Millisecond}
		}
	})
}

func checkInterimHints(p *pass, r *Rule) {
	p.eachResult(r, func(x *exchange) {
		for _, name := range []string{"ttlMs", "cacheScope"} {
			if isInterim(x.result()) && x.result().Get(name).Exists() {
				p.report(r, x.Response, x.Index, name)
				return
			}
		}
	})
}
