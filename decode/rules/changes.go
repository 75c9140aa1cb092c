package rules

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
)

// watched are the members of a definition that a user consented to, as it were.
var watched = []string{"description", "inputSchema", "annotations", "arguments"}

func checkRugPull(p *pass, r *Rule) {
	p.changes(r, func(ch *decode.Change, call int) {
		if ch.What != decode.Changed || ch.Announced || ch.Kind != decode.Tools && ch.Kind != decode.Prompts {
			return
		}
		if what := changedMembers(ch); len(what) > 0 {
			p.report(r, ch.Frame, call, brief(ch.Name), strings.Join(what, ", "))
		}
	})
}

// changedMembers are the watched members of a definition that changed.
func changedMembers(ch *decode.Change) []string {
	return slices.DeleteFunc(slices.Clone(watched), func(m string) bool {
		return gjson.GetBytes(ch.Old, m).Raw == gjson.GetBytes(ch.New, m).Raw
	})
}

func checkToolOrder(p *pass, r *Rule) {
	p.changes(r, func(ch *decode.Change, call int) {
		if ch.What == decode.Reordered && ch.Kind == decode.Tools {
			p.report(r, ch.Frame, call)
		}
	})
}

// changes visits the changes between two lists of one revision: a server that
// speaks both eras may well list differently in each.
func (p *pass) changes(r *Rule, visit func(ch *decode.Change, call int)) {
	fresh := map[int]bool{} // frames of lists whose predecessor had another revision
	var last [decode.Templates + 1]string
	for i := range p.catalogue().Lists {
		l := &p.catalogue().Lists[i]
		if !l.Complete || l.Orphan || l.Missing {
			continue
		}
		rev := p.Call(l.Calls[0]).Revision
		fresh[l.Upto] = last[l.Kind] != rev
		last[l.Kind] = rev
	}
	for i := range p.catalogue().Changes {
		ch := &p.catalogue().Changes[i]
		f := p.Frame(ch.Frame)
		if !fresh[ch.Frame] && r.Span.Has(p.revision(&f)) {
			visit(ch, f.Call)
		}
	}
}

func checkToolHints(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) {
		if d.json.Get("annotations.readOnlyHint").Type == gjson.True && d.json.Get("annotations.destructiveHint").Type == gjson.True {
			p.report(r, d.frame, d.call, brief(d.Name))
		}
	})
}

// checkTaskSupport: where the server does not declare tasks for tools, what a tool
// says about them does not count.
func checkTaskSupport(p *pass, r *Rule) {
	offers := p.offers()
	p.toolCalls(r, func(c *decode.Call) {
		can := offers(c.Revision)
		if !can.Exists() {
			return
		}
		if !can.Get("tasks.requests.tools.call").Exists() {
			if c.WantsTask {
				p.report(r, c.Request, c.Index, subject(c), "as a task, and the server does not declare tasks for tools")
			}
			return
		}
		tool, listed := p.calledTool(c)
		switch support := tool.Get("execution.taskSupport").String(); {
		case !listed:
		case c.WantsTask && support != "optional" && support != "required":
			p.report(r, c.Request, c.Index, subject(c), "as a task, which it does not support")
		case !c.WantsTask && support == "required":
			p.report(r, c.Request, c.Index, subject(c), "without a task, which it requires")
		}
	})
}

func checkHiddenFailure(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if c.Outcome == decode.HiddenError && c.Hidden != nil {
			p.report(r, c.Response, c.Index, subject(c), c.Hidden.Reason)
		}
	})
}

// A paramHeader is a place in an inputSchema that asks for a header.
type paramHeader struct {
	property string
	path     []string // of properties, to it
	header   gjson.Result
	kind     string // of the property
	legal    bool   // it is reached through properties only
}

// paramHeaders finds the places; a schema without the word is not walked.
func paramHeaders(schema gjson.Result) (out []paramHeader) {
	if strings.Contains(schema.Raw, `"x-mcp-header"`) {
		findHeaders(schema, nil, true, maxDepth, &out)
	}
	return out
}

// findHeaders walks a schema. The members of properties are named by the author:
// they must not be taken for keywords.
func findHeaders(v gjson.Result, path []string, legal bool, depth int, out *[]paramHeader) {
	if depth == 0 {
		return
	}
	v.ForEach(func(key, item gjson.Result) bool {
		switch name := key.String(); {
		case v.IsObject() && name == "x-mcp-header":
			h := paramHeader{path: path, header: item, kind: v.Get("type").String(), legal: legal && len(path) > 0}
			if len(path) > 0 {
				h.property = path[len(path)-1]
			}
			*out = append(*out, h)
		case item.Type != gjson.JSON || slices.Contains(plainValues, name):
		case name == "properties" && item.IsObject():
			item.ForEach(func(key, item gjson.Result) bool {
				findHeaders(item, append(slices.Clip(path), key.String()), legal, depth-1, out)
				return true
			})
		default:
			findHeaders(item, path, false, depth-1, out)
		}
		return true
	})
}

// plainValues are keywords whose values are no schemas.
var plainValues = []string{"default", "examples", "enum", "const"}

func checkParamHeaders(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) {
		seen := map[string]bool{}
		for _, h := range paramHeaders(d.json.Get("inputSchema")) {
			name := strings.ToLower(h.header.String())
			if what := headerFault(&h, seen[name]); what != "" {
				p.report(r, d.frame, d.call, brief(d.Name), what)
			}
			seen[name] = true
		}
	})
}

func headerFault(h *paramHeader, again bool) string {
	switch {
	case h.header.Type != gjson.String || h.header.Str == "" || strings.ContainsFunc(h.header.String(), isNoToken):
		return "is no header name: " + brief(h.header.Raw)
	case again:
		return "is given twice: " + brief(h.header.Str)
	case !h.legal:
		return "stands where it can't be read: " + brief(h.header.Str)
	case h.kind != "string" && h.kind != "integer" && h.kind != "boolean":
		return "stands on a property that is no string, integer or boolean: " + brief(h.property)
	}
	return ""
}

// isNoToken reports what may not stand in a header's name (RFC 9110).
func isNoToken(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}

func checkSecretHeaders(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) {
		for _, h := range paramHeaders(d.json.Get("inputSchema")) {
			if isSecretName(h.property) {
				p.report(r, d.frame, d.call, brief(d.Name), brief(h.property))
			}
		}
	})
}

var wordBreaks = strings.NewReplacer("_", "", "-", "", ".", "")

// isSecretName goes by how a name ends. Tokens of pages are no secrets.
func isSecretName(name string) bool {
	flat := wordBreaks.Replace(strings.ToLower(name))
	for _, harmless := range []string{"pagetoken", "nexttoken", "continuationtoken", "progresstoken"} {
		if strings.HasSuffix(flat, harmless) {
			return false
		}
	}
	return slices.ContainsFunc(theWords().SecretNames, func(w string) bool { return strings.HasSuffix(flat, w) })
}
