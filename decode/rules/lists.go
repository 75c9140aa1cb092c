package rules

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, listRules) }

var listRules = []Rule{
	{ID: "PAGE-01", Severity: Error, Side: Client, Span: All, Page: "server/utilities/pagination", Whole: true,
		Title: "a cursor was received as nextCursor of the same method",
		Words: "$1 with a cursor that was not handed out", check: checkCursor},
	{ID: "PAGE-02", Severity: Error, Side: Client, Span: All, Page: "server/utilities/pagination", Whole: true,
		Title: "an empty nextCursor is followed like any other",
		Words: "the empty nextCursor of the $1 was not followed, and there is another page", check: checkEmptyCursor},
	{ID: "PAGE-03", Severity: Warning, Side: Server, Span: All,
		Title: "nextCursor does not repeat within one walk",
		Words: "a nextCursor of the $1 came twice: whoever follows it goes round in circles", check: checkCursorLoop},
	{ID: "PAGE-04", Severity: Warning, Side: Server, Span: All, Page: "server/utilities/pagination", Whole: true,
		Title: "a bad cursor gives the error -32602",
		Words: "a bad cursor of $1 gave $2, not the error -32602", check: checkBadCursor},
	{ID: "PAGE-05", Severity: Info, Side: Client, Span: All, Page: "server/utilities/pagination", Whole: true,
		Title: "a list is read to its last page",
		Words: "the $1 have more pages than were read: the client does not know all of them", check: checkStoppedWalk},
	{ID: "RESR-01", Severity: Error, Side: Server, Span: Modern, Page: "server/resources",
		Title: "a missing resource gives the error -32602",
		Words: "$2 gave $1; for a missing resource that should be the error -32602", check: checkMissingModern},
	{ID: "RESR-02", Severity: Warning, Side: Server, Span: Legacy, Page: "server/resources",
		Title: "a missing resource gives the error -32002",
		Words: "the missing resource $2 gave the error $1, not -32002", check: checkMissingLegacy},
	{ID: "RESR-03", Severity: Error, Side: Server, Span: All, Page: "server/resources",
		Title: "contents have a uri and one of text and blob",
		Words: "$2 returned $1", check: checkContents},
	{ID: "RESR-04", Severity: Warning, Side: Server, Span: All, Page: "server/resources",
		Title: "listed resources have uri and name, templates uriTemplate and name",
		Words: "$2 is listed without $1", check: checkListedResources},
	{ID: "PRMT-01", Severity: Warning, Side: Client, Span: All, Page: "server/prompts",
		Title: "prompts/get gives all required arguments, as strings",
		Words: "prompt $1 was asked for $2", check: checkPromptArguments},
	{ID: "PRMT-02", Severity: Warning, Side: Server, Span: All, Page: "server/prompts",
		Title: "an unknown prompt, or a missing argument, gives the error -32602",
		Words: "prompt $1, $2, gave the error $3, not -32602", check: checkPromptError},
	{ID: "COMP-01", Severity: Error, Side: Server, Span: All, Page: "server/utilities/completion",
		Title: "a completion has at most 100 values",
		Words: "$1 gave $2 values", check: checkCompletionSize},
	{ID: "COMP-02", Severity: Error, Side: Server, Span: From25a, Page: "server/utilities/completion",
		Title: "completion is offered only where completions is declared",
		Words: "the server answers completion/complete, and did not declare completions", check: checkCompletionDeclared},
}

// A page is one request for a page of a list, with a cursor.
type page struct {
	method, cursor string // the cursor as JSON
}

var pagedMethods = map[string]bool{"tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true, "tasks/list": true}

// strangers visits the list requests whose cursor had not been handed out before
// they were made.
func (p *pass) strangers(r *Rule, visit func(*decode.Call)) {
	handed := map[page]int{} // the frame that handed it out first
	asked := map[int]string{}
	p.calls(r, func(c *decode.Call) {
		if !pagedMethods[c.Method] || c.Dir != tap.C2S {
			return
		}
		if cursor := p.params(c).Get("cursor"); cursor.Exists() && cursor.Type != gjson.Null {
			asked[c.Index] = cursor.Raw
		}
		if c.Response < 0 {
			return
		}
		next := page{c.Method, p.result(c).Get("nextCursor").Raw}
		if at, ok := handed[next]; !ok || c.Response < at {
			handed[next] = c.Response
		}
	})
	p.calls(r, func(c *decode.Call) {
		cursor, ok := asked[c.Index]
		if !ok {
			return
		}
		if at, ok := handed[page{c.Method, cursor}]; !ok || at > c.Request {
			visit(c)
		}
	})
}

func checkCursor(p *pass, r *Rule) {
	p.strangers(r, func(c *decode.Call) { p.report(r, c.Request, c.Index, c.Method) })
}

// checkBadCursor: since 2026-07-28 cursors outlive the connection, and one that
// works may come from another.
func checkBadCursor(p *pass, r *Rule) {
	p.strangers(r, func(c *decode.Call) {
		switch {
		case c.Response < 0:
		case c.HasError() && c.Code != -32602:
			p.report(r, c.Response, c.Index, c.Method, "the error "+itoa(c.Code))
		case c.Outcome == decode.OK && c.Era == decode.Legacy:
			p.report(r, c.Response, c.Index, c.Method, "a page")
		}
	})
}

// stoppedWalks visits the lists that were not read to their end although their reader
// went on with something else.
func (p *pass) stoppedWalks(r *Rule, visit func(*decode.List, *decode.Call)) {
	last := p.lastAsked()
	for i := range p.catalogue().Lists {
		l := &p.catalogue().Lists[i]
		c := p.Call(l.Calls[len(l.Calls)-1])
		if l.Next != "" && !l.Loop && r.Span.Has(c.Revision) && last > l.Upto {
			visit(l, &c)
		}
	}
}

// lastAsked is the frame of the client's last request.
func (p *pass) lastAsked() int {
	for i := p.Calls() - 1; i >= 0; i-- {
		if c := p.Call(i); c.Dir == tap.C2S {
			return c.Request
		}
	}
	return -1
}

func checkEmptyCursor(p *pass, r *Rule) {
	p.stoppedWalks(r, func(l *decode.List, c *decode.Call) {
		if l.Next != `""` {
			return
		}
		severity := Warning
		if Modern.Has(c.Revision) {
			severity = r.Severity
		}
		p.reportAs(r, severity, l.Upto, c.Index, l.Kind.String())
	})
}

func checkStoppedWalk(p *pass, r *Rule) {
	p.stoppedWalks(r, func(l *decode.List, c *decode.Call) {
		if l.Next != `""` {
			p.report(r, l.Upto, c.Index, l.Kind.String())
		}
	})
}

func checkCursorLoop(p *pass, r *Rule) {
	for i := range p.catalogue().Lists {
		l := &p.catalogue().Lists[i]
		call := l.Calls[len(l.Calls)-1]
		if l.Loop && r.Span.Has(p.Call(call).Revision) {
			p.report(r, l.Upto, call, l.Kind.String())
		}
	}
}

// checkMissingModern: contents may be empty for another reason, so that weighs
// less.
func checkMissingModern(p *pass, r *Rule) {
	if !p.speaksModern() {
		return
	}
	p.calls(r, func(c *decode.Call) {
		switch {
		case c.Method != "resources/read" || c.Response < 0:
		case c.HasError() && c.Code == -32002:
			p.report(r, c.Response, c.Index, "the error -32002", subject(c))
		case c.Outcome == decode.OK && p.result(c).Get("contents").Raw == "[]":
			p.reportAs(r, Warning, c.Response, c.Index, "empty contents", subject(c))
		}
	})
}

// checkMissingLegacy goes by the words of the error: no other member says that
// the resource is what is missing.
func checkMissingLegacy(p *pass, r *Rule) {
	p.refusals(r, func(c *decode.Call) {
		if c.Method != "resources/read" || c.Code == -32002 || c.Code == -32601 {
			return
		}
		if message := p.json(c.Response).Get("error.message").String(); containsAny(strings.ToLower(message), theWords().Missing) {
			p.report(r, c.Response, c.Index, itoa(c.Code), subject(c))
		}
	})
}

func checkContents(p *pass, r *Rule) {
	p.results(r, func(c *decode.Call, result gjson.Result) {
		contents := result.Get("contents")
		if !contents.IsArray() && c.Outcome == decode.OK {
			p.report(r, c.Response, c.Index, "no array of contents", subject(c))
		}
		contents.ForEach(func(_, v gjson.Result) bool {
			if what := contentFault(v); what != "" {
				p.report(r, c.Response, c.Index, what, subject(c))
			}
			return true
		})
	}, "resources/read")
}

func checkListedResources(p *pass, r *Rule) {
	for kind, id := range map[decode.ListKind]string{decode.Resources: "uri", decode.Templates: "uriTemplate"} {
		p.definitions(r, kind, func(d *definition) {
			of := d.Name
			if of == "" {
				of = d.json.Get("name").String()
			}
			for _, m := range []string{id, "name"} {
				if d.json.Get(m).String() == "" {
					p.report(r, d.frame, d.call, m, brief(of))
				}
			}
		})
	}
}

// promptFault says what is wrong with a request for a prompt: unknown to a
// complete list, or an argument that is not there.
func (p *pass) promptFault(c *decode.Call) string {
	l := p.catalogue().At(decode.Prompts, c.Request)
	it, listed := p.catalogue().Find(decode.Prompts, c.Name, c.Request)
	if l == nil || c.Name == "" {
		return ""
	}
	if !listed {
		return unless(!l.Complete || l.Missing, "which is not listed")
	}
	params := p.params(c)
	if !params.Exists() {
		return ""
	}
	given := params.Get("arguments").Map()
	for _, a := range gjson.GetBytes(it.Definition, "arguments").Array() {
		if name := a.Get("name").String(); a.Get("required").Bool() && !given[name].Exists() {
			return "without its argument " + brief(name)
		}
	}
	return ""
}

// prompts visits the requests for prompts, later rounds left out.
func (p *pass) prompts(r *Rule, visit func(*decode.Call)) {
	p.calls(r, func(c *decode.Call) {
		if c.Method == "prompts/get" && c.Dir == tap.C2S && !c.Retry {
			visit(c)
		}
	})
}

func checkPromptArguments(p *pass, r *Rule) {
	p.prompts(r, func(c *decode.Call) {
		if what := p.promptFault(c); strings.HasPrefix(what, "without") {
			p.report(r, c.Request, c.Index, subject(c), what)
			return
		}
		p.params(c).Get("arguments").ForEach(func(key, v gjson.Result) bool {
			if v.Type != gjson.String {
				p.report(r, c.Request, c.Index, subject(c), "with the argument "+brief(key.String())+", which is no string")
			}
			return true
		})
	})
}

func checkPromptError(p *pass, r *Rule) {
	p.prompts(r, func(c *decode.Call) {
		if c.Response < 0 || !c.HasError() || c.Code == -32602 {
			return
		}
		if what := p.promptFault(c); what != "" {
			p.report(r, c.Response, c.Index, subject(c), what, itoa(c.Code))
		}
	})
}

// maxCompletion is how many values a completion may have.
const maxCompletion = 100

func checkCompletionSize(p *pass, r *Rule) {
	p.results(r, func(c *decode.Call, result gjson.Result) {
		if n := result.Get("completion.values.#").Int(); n > maxCompletion {
			p.report(r, c.Response, c.Index, c.Method, itoa(n))
		}
	}, "completion/complete")
}

func checkCompletionDeclared(p *pass, r *Rule) {
	offers := p.offers()
	p.results(r, func(c *decode.Call, _ gjson.Result) {
		if can := offers(c.Revision); can.Exists() && !can.Get("completions").Exists() {
			p.report(r, c.Response, c.Index)
		}
	}, "completion/complete")
}
