package rules

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
)

func init() { tables = append(tables, errorRules) }

var errorRules = []Rule{
	{ID: "ERR-01", Severity: Error, Side: Server, Span: Modern, Page: "basic/index",
		Title: "-32002 and -32042 are not sent any more",
		Words: "the error $1, which this revision has not any more", check: checkOldCodes},
	{ID: "ERR-02", Severity: Error, Side: Either, Span: Modern, Page: "basic/index",
		Title: "of -32099 to -32020 only -32020, -32021 and -32022 are used",
		Words: "the error $1 lies in the range of the specification, which does not define it", check: checkSpecCodes},
	{ID: "ERR-03", Severity: Warning, Side: Either, Span: Modern, Page: "basic/index",
		Title: "codes from -32019 to -32000 are not used",
		Words: "the error $1, a code that means something else in each implementation ($2)", check: checkSDKCodes},
	{ID: "ERR-04", Severity: Warning, Side: Either, Span: All, Page: "basic/index",
		Title: "codes of applications lie outside -32768 to -32000",
		Words: "the error $1 $2", check: checkReservedCodes},
	{ID: "ERR-05", Severity: Error, Side: Server, Span: only25c, Page: "client/elicitation",
		Title: "-32042 says which URLs to open: data.elicitations, with mode url and elicitationId",
		Words: "the error -32042 $1", check: checkURLError},
	{ID: "ERR-06", Severity: Error, Side: Either, Span: All, Page: "basic/index",
		Title: "an unknown method gives the error -32601",
		Words: "the unknown method $1 gave the error $2, not -32601", check: checkUnknownMethod},
}

// modernRefusals visits the refusals of peers that speak 2026-07-28: a legacy server
// that refuses a probe is not bound by it.
func (p *pass) modernRefusals(r *Rule, visit func(*decode.Call)) {
	if p.speaksModern() {
		p.refusals(r, visit)
	}
}

func (p *pass) speaksModern() bool {
	return p.eras.Era == decode.Modern || p.eras.Era == decode.Mixed
}

// checkOldCodes leaves a resource that is missing to RESR-01.
func checkOldCodes(p *pass, r *Rule) {
	p.modernRefusals(r, func(c *decode.Call) {
		if c.Code == -32042 || c.Code == -32002 && c.Method != "resources/read" {
			p.report(r, c.Response, c.Index, itoa(c.Code))
		}
	})
}

func checkSpecCodes(p *pass, r *Rule) {
	p.modernRefusals(r, func(c *decode.Call) {
		if -32099 <= c.Code && c.Code <= -32020 && c.Code != -32042 && !decode.NameCode(c.Code, c.Revision).Spec {
			p.report(r, c.Response, c.Index, itoa(c.Code))
		}
	})
}

func checkSDKCodes(p *pass, r *Rule) {
	p.modernRefusals(r, func(c *decode.Call) {
		if -32019 <= c.Code && c.Code <= -32000 && c.Code != -32002 {
			p.report(r, c.Response, c.Index, itoa(c.Code), decode.NameCode(c.Code, c.Revision).Name)
		}
	})
}

// checkReservedCodes leaves -32099 to -32000 alone: JSON-RPC gives them to servers,
// and since 2026-07-28 other rules judge them. A code of 0 is what Go servers send
// for an error that has none.
func checkReservedCodes(p *pass, r *Rule) {
	p.refusals(r, func(c *decode.Call) {
		switch {
		case c.Code == 0 && p.Frame(c.Response).Faults.Has(decode.FaultErrorForm): // RPC-11 says what is wrong
		case c.Code == 0:
			p.reportAs(r, Info, c.Response, c.Index, "0", "is no code that anybody chose")
		case -32768 <= c.Code && c.Code < -32099 && !decode.NameCode(c.Code, c.Revision).Spec:
			p.report(r, c.Response, c.Index, itoa(c.Code), "is reserved by JSON-RPC")
		}
	})
}

func checkURLError(p *pass, r *Rule) {
	p.refusals(r, func(c *decode.Call) {
		if c.Code != -32042 {
			return
		}
		body := p.json(c.Response)
		if what := urlErrorFault(body.Get("error.data.elicitations")); what != "" && body.Exists() {
			p.report(r, c.Response, c.Index, what)
		}
	})
}

func urlErrorFault(all gjson.Result) string {
	if !all.IsArray() || len(all.Array()) == 0 {
		return "has no data.elicitations"
	}
	for _, e := range all.Array() {
		switch {
		case e.Get("mode").String() != "url":
			return "has an elicitation whose mode is not url"
		case e.Get("elicitationId").String() == "":
			return "has an elicitation without elicitationId"
		}
	}
	return ""
}

// checkUnknownMethod goes by what the error says: only who answers knows whether it
// knows the method. Requests that some revision defines are left out, since other
// rules decide what they may be refused with.
func checkUnknownMethod(p *pass, r *Rule) {
	p.refusals(r, func(c *decode.Call) {
		if c.Code == -32601 || slices.Contains(requestMethods, c.Method) {
			return
		}
		message := strings.ToLower(p.json(c.Response).Get("error.message").String())
		if strings.Contains(message, "method") && containsAny(message, theWords().Unsupported) {
			p.report(r, c.Response, c.Index, brief(c.Method), itoa(c.Code))
		}
	})
}

// requestMethods are the requests of all revisions.
var requestMethods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/list", "prompts/get",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"subscriptions/listen", "completion/complete", "logging/setLevel", "roots/list", "sampling/createMessage", "elicitation/create",
	"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update",
}
