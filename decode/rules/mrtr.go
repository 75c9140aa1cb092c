package rules

import (
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules/schema"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, roundRules, askRules) }

// roundRules are those of multi-round-trip requests.
var roundRules = []Rule{
	{ID: "MR-01", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "only tools/call, prompts/get and resources/read are answered with a question",
		Words: "$1 was answered with a question", check: checkAsksOn},
	{ID: "MR-02", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a result that asks for input has inputRequests or requestState",
		Words: "a result that asks for input has neither inputRequests nor requestState", check: checkAsksNothing},
	{ID: "MR-03", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a question is elicitation/create, sampling/createMessage or roots/list, without id and jsonrpc",
		Words: "a question $1", check: checkQuestion},
	{ID: "MR-04", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a question is of a kind that the request declared",
		Words: "$1, while the request did not declare $2", check: checkDeclared},
	{ID: "MR-05", Severity: Error, Side: Client, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a retry has another id",
		Words: "a retry with the id of the request before", check: checkRetryID},
	{ID: "MR-06", Severity: Error, Side: Client, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a retry returns the requestState that it was given, and none if it was given none",
		Words: "a retry $1", check: checkState},
	{ID: "MR-07", Severity: Error, Side: Client, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a retry is the same request with the same params",
		Words: "a retry with $1", check: checkSameRequest},
	{ID: "MR-08", Severity: Error, Side: Client, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a retry answers the questions",
		Words: "a retry without inputResponses, though there were questions", check: checkAnswers},
	{ID: "MR-09", Severity: Warning, Side: Client, Span: Modern, Page: "basic/patterns/mrtr",
		Title: "a retry answers each question, and nothing else",
		Words: "a retry $1", check: checkAnswerKeys},
	{ID: "MR-10", Severity: Error, Side: Client, Span: Modern, Page: "schema",
		Title: "an answer fits the result of the request that it answers",
		Words: "an answer to $1 does not fit: at $2, $3", check: checkAnswerSchema},
	{ID: "MR-11", Severity: Error, Side: Client, Span: Modern, Page: "basic/patterns/mrtr", Whole: true,
		Title: "inputResponses and requestState stand on the retry of a request that asked for them",
		Words: "$1 with answers to no question", check: checkOrphanRetry},
	{ID: "MR-12", Severity: Warning, Side: Server, Span: Modern,
		Title: "a request takes ten rounds at most: clients give up then",
		Words: "the server asked for an eleventh round", check: checkRounds},
	{ID: "MR-13", Severity: Error, Side: Server, Span: Modern, Page: "basic/transports",
		Title: "a server sends no requests",
		Words: "$1 as a request of the server", check: checkServerAsks},
	{ID: "MR-14", Severity: Error, Side: Client, Span: Modern, Page: "basic/transports",
		Title: "a client sends no responses",
		Words: "a response of the client", check: checkClientAnswers},
}

// askRules are those of what a server asks a client, as a request of its own or
// within a result.
var askRules = []Rule{
	{ID: "MR-15", Severity: Warning, Side: Server, Span: From25b, Page: "client/elicitation",
		Title: "a form does not ask for passwords, keys and the like",
		Words: "a form seems to ask for a secret: $2", check: checkSecrets},
	{ID: "MR-16", Severity: Error, Side: Server, Span: From25c, Page: "client/elicitation",
		Title: "an elicitation is of a mode that the client declared",
		Words: "an elicitation in mode $1, which the client did not declare", check: checkMode},
	{ID: "MR-17", Severity: Error, Side: Server, Span: From25c, Page: "client/elicitation",
		Title: "an elicitation by URL has a valid URL, with https",
		Words: "an elicitation by URL $1", check: checkURL},
	{ID: "MR-18", Severity: Error, Side: Server, Span: only2025Nov, Page: "client/elicitation",
		Title: "an elicitation by URL has an elicitationId, and its completion names it",
		Words: "$1", check: checkElicitationID},
	{ID: "MR-19", Severity: Error, Side: Server, Span: From25b, Page: "client/elicitation",
		Title: "the schema of a form is a flat object of primitive values",
		Words: "the schema of a form $1", check: checkForm},
	{ID: "MR-20", Severity: Warning, Side: Client, Span: From25b, Page: "client/elicitation",
		Title: "the content of an accepted form fits its schema",
		Words: "the content of a form does not fit its schema: at $2, $3", check: checkContent},
	{ID: "MR-21", Severity: Info, Side: Client, Span: From25b, Page: "client/elicitation",
		Title: "only an accepted form has content",
		Words: "content $1", check: checkNoContent},
	{ID: "MR-22", Severity: Error, Side: Server, Span: From25c, Page: "client/sampling",
		Title: "sampling has tools only if the client declared sampling.tools",
		Words: "sampling with $1, while the client did not declare sampling.tools", check: checkSamplingTools},
	{ID: "MR-23", Severity: Error, Side: Either, Span: From25c, Page: "client/sampling",
		Title: "results of tools stand alone in a message, and answer each use of a tool in the message before",
		Words: "sampling messages in which $1", check: checkToolMessages},
	{ID: "MR-24", Severity: Warning, Side: Server, Span: From25c, Page: "client/sampling",
		Title: "includeContext is none unless the client declared sampling.context",
		Words: "includeContext $1, while the client did not declare sampling.context", check: checkContext},
	{ID: "ROOT-01", Severity: Error, Side: Client, Span: All, Page: "client/roots",
		Title: "the URI of a root begins with file://",
		Words: "a root whose URI does not begin with file://", check: checkRoots},
	{ID: "DEP-01", Severity: Info, Side: Either, Span: Modern, Page: "deprecated",
		Title: "what is deprecated is not used",
		Words: "use of $1, which is deprecated", check: checkDeprecated},
}

// isRetriable reports whether a method may be answered with a question.
func isRetriable(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// questions are what a server may ask a client.
var questions = []string{"elicitation/create", "sampling/createMessage", "roots/list"}

// eachInterim visits the results that ask for input.
func (p *pass) eachInterim(r *Rule, visit func(x *exchange)) {
	p.eachResult(r, func(x *exchange) {
		if isInterim(x.result()) {
			visit(x)
		}
	})
}

func checkAsksOn(p *pass, r *Rule) {
	p.eachInterim(r, func(x *exchange) {
		if !isRetriable(x.Method) {
			p.report(r, x.Response, x.Index, x.Method)
		}
	})
}

func checkAsksNothing(p *pass, r *Rule) {
	p.eachInterim(r, func(x *exchange) {
		if !x.result().Get("inputRequests").Exists() && !x.result().Get("requestState").Exists() {
			p.report(r, x.Response, x.Index)
		}
	})
}

func checkQuestion(p *pass, r *Rule) {
	p.eachInterim(r, func(x *exchange) {
		x.result().Get("inputRequests").ForEach(func(_, q gjson.Result) bool {
			switch method := q.Get("method").Str; {
			case !slices.Contains(questions, method):
				p.report(r, x.Response, x.Index, "with another method")
			case q.Get("id").Exists() || q.Get("jsonrpc").Exists():
				p.report(r, x.Response, x.Index, "with id or jsonrpc")
			}
			return true
		})
	})
}

func checkDeclared(p *pass, r *Rule) {
	for _, method := range questions {
		p.eachAsk(r, method, func(a *ask) {
			if kind := needs[method].capability; a.embedded && a.known && !has(a.client, kind) {
				p.report(r, a.frame, a.call, method, kind)
			}
		})
	}
}

// rounds tells which request answers which question.
type rounds struct {
	pairs   []pair
	retry   map[int]int // question -> the first call that answers it
	depth   map[int]int // call -> rounds before it
	orphans []int       // retries that answer no question that was seen

	byState   map[string][]*question
	bySubject map[string][]*question
}

// pair is a question and a retry, both calls.
type pair struct{ question, retry int }

type question struct {
	call, response int
	subject, state string
	keys           []string
	answered       bool
}

// maxLook is how many questions that look alike are told apart.
const maxLook = 8

func (p *pass) rounds() *rounds {
	if p.facts.rounds != nil {
		return p.facts.rounds
	}
	w := &rounds{retry: map[int]int{}, depth: map[int]int{}, byState: map[string][]*question{}, bySubject: map[string][]*question{}}
	p.facts.rounds = w
	for i := range p.Calls() {
		c := p.Call(i)
		if c.Dir != tap.C2S {
			continue
		}
		if c.Retry && c.Method != "tasks/update" {
			w.join(p, &c)
		}
		if c.Outcome == decode.InputRequired {
			w.ask(p, &c)
		}
	}
	return w
}

func (w *rounds) ask(p *pass, c *decode.Call) {
	result := p.part(c.Response, string(c.ID), false).Get("result")
	q := &question{call: c.Index, response: c.Response, subject: c.Method + " " + c.Name,
		state: result.Get("requestState").Raw, keys: keysOf(result.Get("inputRequests"))}
	w.bySubject[q.subject] = append(w.bySubject[q.subject], q)
	if q.state != "" {
		w.byState[q.state] = append(w.byState[q.state], q)
	}
}

func (w *rounds) join(p *pass, c *decode.Call) {
	params := p.part(c.Request, string(c.ID), true).Get("params")
	if !params.Exists() {
		return
	}
	keys, subject := keysOf(params.Get("inputResponses")), c.Method+" "+c.Name
	among := w.bySubject[subject]
	if state := params.Get("requestState").Raw; len(w.byState[state]) > 0 {
		among = w.byState[state]
	}
	q := newest(among, func(q *question) bool {
		return q.response < c.Request && q.subject == subject && !q.answered && overlap(q.keys, keys)
	})
	if q == nil {
		q = newest(among, func(q *question) bool { return q.response < c.Request && !q.answered })
	}
	if q == nil { // the same question may be answered again
		q = newest(among, func(q *question) bool { return q.response < c.Request })
	}
	if q == nil {
		w.orphans = append(w.orphans, c.Index)
		return
	}
	if !q.answered {
		w.retry[q.call] = c.Index
	}
	q.answered = true
	w.pairs = append(w.pairs, pair{q.call, c.Index})
	w.depth[c.Index] = w.depth[q.call] + 1
}

func newest(all []*question, fits func(*question) bool) *question {
	for _, q := range slices.Backward(all[max(0, len(all)-maxLook):]) {
		if fits(q) {
			return q
		}
	}
	return nil
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(k string) bool { return slices.Contains(b, k) })
}

// maxKeys is how many questions of one result are told apart.
const maxKeys = 64

func keysOf(v gjson.Result) (keys []string) {
	v.ForEach(func(k, _ gjson.Result) bool {
		keys = append(keys, k.Str)
		return len(keys) < maxKeys
	})
	slices.Sort(keys)
	return keys
}

// eachPair visits each retry with the question that it answers.
func (p *pass) eachPair(r *Rule, visit func(question, retry *exchange)) {
	for _, at := range p.rounds().pairs {
		q, c := p.exchange(at.question), p.exchange(at.retry)
		if r.Span.Has(c.rev) && q.result().Exists() && c.request().Exists() {
			visit(q, c)
		}
	}
}

func (p *pass) exchange(call int) *exchange {
	c := p.Call(call)
	return &exchange{Call: c, rev: p.judged(&c), p: p}
}

func checkRetryID(p *pass, r *Rule) {
	p.eachPair(r, func(q, c *exchange) {
		if q.ID == c.ID {
			p.report(r, c.Request, c.Index)
		}
	})
}

func checkState(p *pass, r *Rule) {
	p.eachPair(r, func(q, c *exchange) {
		given, sent := q.result().Get("requestState"), c.params().Get("requestState")
		switch {
		case given.Exists() && !sent.Exists():
			p.report(r, c.Request, c.Index, "without the requestState that it was given")
		case given.Exists() && given.Str != sent.Str:
			p.report(r, c.Request, c.Index, "with another requestState than it was given")
		case !given.Exists() && sent.Exists():
			p.report(r, c.Request, c.Index, "with a requestState, though it was given none")
		}
	})
}

func checkSameRequest(p *pass, r *Rule) {
	p.eachPair(r, func(q, c *exchange) {
		switch {
		case q.Method != c.Method:
			p.report(r, c.Request, c.Index, "another method")
		case !reflect.DeepEqual(ownParams(q.params()), ownParams(c.params())):
			p.report(r, c.Request, c.Index, "other params")
		}
	})
}

// ownParams are the params without what a retry adds.
func ownParams(v gjson.Result) map[string]any {
	m, _ := v.Value().(map[string]any)
	for _, name := range []string{"_meta", "inputResponses", "requestState"} {
		delete(m, name)
	}
	return m
}

func checkAnswers(p *pass, r *Rule) {
	p.eachPair(r, func(q, c *exchange) {
		if len(keysOf(q.result().Get("inputRequests"))) > 0 && !c.params().Get("inputResponses").Exists() {
			p.report(r, c.Request, c.Index)
		}
	})
}

func checkAnswerKeys(p *pass, r *Rule) {
	p.eachPair(r, func(q, c *exchange) {
		asked, answers := keysOf(q.result().Get("inputRequests")), c.params().Get("inputResponses")
		if !answers.Exists() || len(asked) == maxKeys {
			return
		}
		answered := keysOf(answers)
		for _, k := range asked {
			if !slices.Contains(answered, k) {
				p.report(r, c.Request, c.Index, "that leaves a question open")
				break
			}
		}
		for _, k := range answered {
			if !slices.Contains(asked, k) {
				p.report(r, c.Request, c.Index, "with an answer to no question")
				break
			}
		}
	})
}

func checkAnswerSchema(p *pass, r *Rule) {
	p.eachPair(r, func(q, c *exchange) {
		answers := c.params().Get("inputResponses").Map()
		q.result().Get("inputRequests").ForEach(func(key, asked gjson.Result) bool {
			method := asked.Get("method").Str
			def := schema.Result(c.rev, method)
			if a, ok := answers[key.Str]; ok && def != "" {
				p.mismatch(r, c.Request, c.Index, method, schema.Check(c.rev, def, []byte(a.Raw)))
			}
			return true
		})
	})
}

func checkOrphanRetry(p *pass, r *Rule) {
	for _, i := range p.rounds().orphans {
		if c := p.exchange(i); r.Span.Has(c.rev) {
			p.report(r, c.Request, i, c.Method)
		}
	}
}

const mostRounds = 10

func checkRounds(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if c.Outcome == decode.InputRequired && p.rounds().depth[c.Index] == mostRounds {
			p.report(r, c.Response, c.Index)
		}
	})
}

func checkServerAsks(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		if m.Kind == decode.Request && m.frame.Dir == tap.S2C {
			p.report(r, m.frame.Index, m.Call, m.Method)
		}
	})
}

func checkClientAnswers(p *pass, r *Rule) {
	p.eachMessage(r, func(m *message) {
		if (m.Kind == decode.Result || m.Kind == decode.Error) && m.frame.Dir == tap.C2S {
			p.report(r, m.frame.Index, m.Call)
		}
	})
}

// An ask is one question of a server to a client, and its answer.
type ask struct {
	frame, call int
	embedded    bool
	params      gjson.Result
	client      gjson.Result // the client's capabilities
	known       bool         // they are known

	answer      gjson.Result // does not exist if there is none
	answerFrame int
	answerCall  int
	rev         string
}

// eachAsk visits the questions of one kind, in either era's form.
func (p *pass) eachAsk(r *Rule, method string, visit func(*ask)) {
	p.eachCall(r, func(x *exchange) {
		switch {
		case x.Dir == tap.S2C && x.Method == method && x.request().Exists():
			visit(p.asRequest(x))
		case x.Dir == tap.C2S && x.Outcome == decode.InputRequired:
			x.result().Get("inputRequests").ForEach(func(key, q gjson.Result) bool {
				if q.Get("method").Str == method {
					visit(p.embedded(x, key.Str, q))
				}
				return true
			})
		}
	})
}

func (p *pass) asRequest(x *exchange) *ask {
	a := &ask{frame: x.Request, call: x.Index, params: x.params(), answer: x.result(), answerFrame: x.Response, answerCall: x.Index, rev: x.rev}
	if h := p.handshakeOf(x.Scope); h != nil && h.known {
		a.client, a.known = h.client, true
	}
	return a
}

func (p *pass) embedded(x *exchange, key string, q gjson.Result) *ask {
	a := &ask{frame: x.Response, call: x.Index, embedded: true, params: q.Get("params"), rev: x.rev, answerFrame: -1}
	a.client, a.known = x.params().Get(metaKey(keyCapabilities)), x.request().Exists()
	if retry, ok := p.rounds().retry[x.Index]; ok {
		c := p.exchange(retry)
		a.answer, a.answerFrame, a.answerCall = c.params().Get("inputResponses").Map()[key], c.Request, retry
	}
	return a
}

func (a *ask) mode() string {
	if m := a.params.Get("mode").Str; m != "" {
		return m
	}
	return "form"
}

var secret = regexp.MustCompile(`(?i)pass(word|phrase|code)|passwd|secret|(api|private|access|encryption)[ _-]?key|(access|auth|bearer|refresh)[ _-]?token|credential|(credit|debit)[ _-]?card|card[ _-]?number|\bcv[vc]\b|\bssn\b|\bpin\b`)

func checkSecrets(p *pass, r *Rule) {
	p.eachAsk(r, "elicitation/create", func(a *ask) {
		a.params.Get("requestedSchema.properties").ForEach(func(name, v gjson.Result) bool {
			if secret.MatchString(short(name.Str)) || secret.MatchString(short(v.Get("title").Str)) {
				p.report(r, a.frame, a.call, "", name.Str)
			}
			return true
		})
	})
}

// checkMode takes an empty declaration for form, as the revisions before did.
func checkMode(p *pass, r *Rule) {
	p.eachAsk(r, "elicitation/create", func(a *ask) {
		if !a.known || !has(a.client, "elicitation") {
			return
		}
		byForm := has(a.client, "elicitation.form") || !has(a.client, "elicitation.url")
		switch mode := a.mode(); {
		case mode == "form" && !byForm, mode == "url" && !has(a.client, "elicitation.url"):
			p.report(r, a.frame, a.call, mode)
		}
	})
}

func checkURL(p *pass, r *Rule) {
	p.eachAsk(r, "elicitation/create", func(a *ask) {
		if a.mode() != "url" {
			return
		}
		u, err := url.Parse(a.params.Get("url").Str)
		switch {
		case err != nil || u.Scheme == "" || u.Host == "":
			p.report(r, a.frame, a.call, "that is none")
		case u.Scheme != "https" && !isLoopback(u.Hostname()):
			p.reportAs(r, Warning, a.frame, a.call, "without https")
		}
	})
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func checkElicitationID(p *pass, r *Rule) {
	p.eachAsk(r, "elicitation/create", func(a *ask) {
		if a.mode() == "url" && !isString(a.params.Get("elicitationId")) {
			p.report(r, a.frame, a.call, "an elicitation by URL without elicitationId")
		}
	})
	p.eachMessage(r, func(m *message) {
		if m.Method == "notifications/elicitation/complete" && m.Unjoined && !p.partial() {
			p.report(r, m.frame.Index, -1, "the completion of an elicitation that was not asked for")
		}
	})
}

func checkForm(p *pass, r *Rule) {
	p.eachAsk(r, "elicitation/create", func(a *ask) {
		if a.mode() != "form" {
			return
		}
		if wrong := formFault(a.params.Get("requestedSchema"), a.rev); wrong != "" {
			p.report(r, a.frame, a.call, wrong)
		}
	})
}

// formFault says why a schema is not that of a form.
func formFault(s gjson.Result, rev string) (wrong string) {
	if s.Get("type").Str != "object" || !s.Get("properties").IsObject() {
		return "is no object with properties"
	}
	s.Get("properties").ForEach(func(_, v gjson.Result) bool {
		switch t := v.Get("type").Str; {
		case t == "string" || t == "number" || t == "integer" || t == "boolean":
		case t == "array" && From25c.Has(rev) && (v.Get("items.enum").Exists() || v.Get("items.anyOf").Exists()):
		case t == "" && (v.Get("enum").Exists() || v.Get("oneOf").Exists()):
		default:
			wrong = "has a property that is no primitive value"
		}
		return wrong == ""
	})
	return wrong
}

func checkContent(p *pass, r *Rule) {
	p.eachAsk(r, "elicitation/create", func(a *ask) {
		form, content := a.params.Get("requestedSchema"), a.answer.Get("content")
		if a.answer.Get("action").Str != "accept" || a.mode() != "form" || formFault(form, a.rev) != "" {
			return
		}
		raw := content.Raw
		if raw == "" {
			raw = "{}"
		}
		if found := decode.CheckValue([]byte(form.Raw), "content", []byte(raw)).Mismatches; len(found) > 0 {
			p.report(r, a.answerFrame, a.answerCall, "", found[0].At, found[0].Text)
		}
	})
}

func checkNoContent(p *pass, r *Rule) {
	p.eachAsk(r, "elicitation/create", func(a *ask) {
		if !a.answer.Get("content").Exists() {
			return
		}
		switch action := a.answer.Get("action").Str; {
		case action == "decline" || action == "cancel":
			p.report(r, a.answerFrame, a.answerCall, "with action "+action)
		case a.mode() == "url":
			p.report(r, a.answerFrame, a.answerCall, "in mode url")
		}
	})
}

func checkSamplingTools(p *pass, r *Rule) {
	p.eachAsk(r, "sampling/createMessage", func(a *ask) {
		for _, name := range []string{"tools", "toolChoice"} {
			if a.params.Get(name).Exists() && a.known && !has(a.client, "sampling.tools") {
				p.report(r, a.frame, a.call, name)
				return
			}
		}
	})
}

func checkContext(p *pass, r *Rule) {
	p.eachAsk(r, "sampling/createMessage", func(a *ask) {
		include := a.params.Get("includeContext").Str
		if (include == "thisServer" || include == "allServers") && a.known && !has(a.client, "sampling.context") {
			p.report(r, a.frame, a.call, include)
		}
	})
}

func checkToolMessages(p *pass, r *Rule) {
	p.eachAsk(r, "sampling/createMessage", func(a *ask) {
		if wrong := toolFault(a.params.Get("messages").Array()); wrong != "" {
			p.report(r, a.frame, a.call, wrong)
		}
	})
}

// toolFault says what is wrong with the uses of tools in a conversation.
func toolFault(messages []gjson.Result) string {
	var open []string // uses in the message before
	for _, m := range messages {
		uses, results, others := blocks(m.Get("content"))
		if m.Get("role").Str == "user" && len(results) > 0 && others {
			return "a result of a tool does not stand alone"
		}
		slices.Sort(open)
		slices.Sort(results)
		if !slices.Equal(open, results) {
			return "uses of tools and their results do not match"
		}
		open = uses
	}
	if len(open) > 0 {
		return "the use of a tool has no result"
	}
	return ""
}

// blocks sorts the content of a message, which is one block or several.
func blocks(content gjson.Result) (uses, results []string, others bool) {
	for _, b := range content.Array() {
		switch b.Get("type").Str {
		case "tool_use":
			uses = append(uses, b.Get("id").Str)
		case "tool_result":
			results = append(results, b.Get("toolUseId").Str)
		default:
			others = true
		}
	}
	return uses, results, others
}

func checkRoots(p *pass, r *Rule) {
	p.eachAsk(r, "roots/list", func(a *ask) {
		for _, root := range a.answer.Get("roots").Array() {
			if !strings.HasPrefix(root.Get("uri").Str, "file://") {
				p.report(r, a.answerFrame, a.answerCall)
			}
		}
	})
}

func checkDeprecated(p *pass, r *Rule) {
	for _, method := range []string{"sampling/createMessage", "roots/list"} {
		p.eachAsk(r, method, func(a *ask) {
			p.report(r, a.frame, a.call, method)
			if a.params.Get("includeContext").Exists() {
				p.report(r, a.frame, a.call, "includeContext")
			}
		})
	}
	p.eachCall(r, func(x *exchange) {
		if x.WantsLogs {
			p.report(r, x.Request, x.Index, "logLevel")
		}
	})
	p.eachMessage(r, func(m *message) {
		if m.Method == "notifications/message" {
			p.report(r, m.frame.Index, m.Call, m.Method)
		}
	})
}
