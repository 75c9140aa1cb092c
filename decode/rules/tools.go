package rules

import (
	"errors"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, toolRules) }

// until25c is the revisions with structured content that is an object.
var until25c = Span{From: "2025-06-18", To: "2025-11-25"}

var toolRules = []Rule{
	{ID: "TOOL-01", Severity: Error, Side: Server, Span: All, Page: "server/tools",
		Title: `an inputSchema is an object with type "object"`,
		Words: "the inputSchema of $1 is $2", check: checkInputSchema},
	{ID: "TOOL-02", Severity: Warning, Side: Server, Span: From25c, Page: "server/tools",
		Title: "a tool's name has 1 to 128 characters: letters, digits and _, -, . only",
		Words: "the tool name $1 $2", check: checkToolName},
	{ID: "TOOL-03", Severity: Warning, Side: Server, Span: All, Page: "server/tools",
		Title: "tool names are unique within the list",
		Words: "the tool $1 is listed more than once", check: checkToolUnique},
	{ID: "TOOL-04", Severity: Error, Side: Server, Span: until25c, Page: "server/tools",
		Title: `an outputSchema is an object with type "object"`,
		Words: "the outputSchema of $1 is $2", check: checkOutputSchema},
	{ID: "TOOL-05", Severity: Warning, Side: Server, Span: From25c, Page: "basic/index",
		Title: "schemas are valid in their dialect",
		Words: "the $2 of $1 is no valid schema: $3", check: checkSchemas},
	{ID: "TOOL-06", Severity: Warning, Side: Server, Span: From25c, Page: "basic/index",
		Title: "schemas refer to nothing outside, since clients may not fetch it",
		Words: "the $2 of $1 refers to $3", check: checkRemoteRefs},
	{ID: "TOOL-07", Severity: Warning, Side: Client, Span: All,
		Title: "arguments keep to the listed inputSchema",
		Words: "the arguments of $1 do not keep to its inputSchema: $2 (a model's mistake rather than the client's)", check: checkArguments},
	{ID: "TOOL-08", Severity: Warning, Side: Server, Span: All, Page: "server/tools",
		Title: "a call of an unknown tool gives the error -32602",
		Words: "the unknown tool $1 gave $2, not the error -32602", check: checkUnknownTool},
	{ID: "TOOL-09", Severity: Warning, Side: Server, Span: From25c, Page: "server/tools",
		Title: "invalid argument values give a result with isError, which the model can read",
		Words: "invalid arguments of $1 gave the error $2, not a result with isError", check: checkArgumentError},
	{ID: "TOOL-10", Severity: Error, Side: Server, Span: From25b, Page: "server/tools",
		Title: "a tool with an outputSchema returns structuredContent",
		Words: "$1 has an outputSchema, and returned no structuredContent", check: checkStructured},
	{ID: "TOOL-11", Severity: Error, Side: Server, Span: From25b, Page: "server/tools",
		Title: "structuredContent keeps to the outputSchema",
		Words: "structuredContent of $1 does not keep to its outputSchema: $2", check: checkOutput},
	{ID: "TOOL-12", Severity: Warning, Side: Server, Span: From25b, Page: "server/tools",
		Title: "structuredContent is repeated as text, for clients that read only that",
		Words: "$1 returned structuredContent, and $2", check: checkTextCopy},
	{ID: "TOOL-13", Severity: Error, Side: Server, Span: All, Page: "server/tools",
		Title: "content is an array of blocks that the revision knows",
		Words: "$1 returned $2", check: checkBlocks},
	{ID: "TOOL-14", Severity: Warning, Side: Server, Span: All, Whole: true,
		Title: "a definition does not change under the same name unannounced",
		Words: "the definition of $1 changed ($2), and no list_changed said so", check: checkRugPull},
	{ID: "TOOL-15", Severity: Warning, Side: Server, Span: Modern, Page: "server/tools",
		Title: "tools come in the same order while they are the same",
		Words: "the same tools came in another order", check: checkToolOrder},
	{ID: "TOOL-17", Severity: Warning, Side: Server, Span: From25a, Page: "server/tools",
		Title: "a tool that only reads is not called destructive",
		Words: "$1 has both readOnlyHint and destructiveHint, and the latter means nothing then", check: checkToolHints},
	{ID: "TOOL-18", Severity: Error, Side: Client, Span: only25c, Page: "basic/utilities/tasks",
		Title: "a tool is called as a task only where server and tool allow it, and where the tool asks for it",
		Words: "$1 was called $2", check: checkTaskSupport},
	{ID: "TOOL-19", Severity: Error, Side: Server, Span: Modern, Page: "server/tools",
		Title: "x-mcp-header is a header name, given once, on a plain property of the inputSchema",
		Words: "x-mcp-header of $1 $2", check: checkParamHeaders},
	{ID: "TOOL-20", Severity: Warning, Side: Server, Span: Modern, Page: "server/tools",
		Title: "no secret parameter is mirrored in a header",
		Words: "$1 mirrors the parameter $2 in a header, and its name is that of a secret", check: checkSecretHeaders},
	{ID: "TOOL-21", Severity: Info, Side: Server, Span: All,
		Title: "a tool that failed says so with isError",
		Words: "a suspicion: $1 reads as success, and its payload says failure: $2", check: checkHiddenFailure},
}

// A definition is one item of a list, as it was first listed.
type definition struct {
	decode.Item
	json        gjson.Result
	frame, call int
}

// definitions visits what was listed. What is listed again in the same bytes is
// visited once.
func (p *pass) definitions(r *Rule, kind decode.ListKind, visit func(*definition)) {
	seen := map[*byte]bool{}
	p.lists(r, kind, func(l *decode.List) {
		for _, it := range l.Items {
			if len(it.Definition) == 0 || seen[&it.Definition[0]] {
				continue
			}
			seen[&it.Definition[0]] = true
			visit(&definition{it, gjson.ParseBytes(it.Definition), l.From, l.Calls[0]})
		}
	})
}

// lists visits the lists of a kind. One that says again what another said, byte by
// byte, is passed over.
func (p *pass) lists(r *Rule, kind decode.ListKind, visit func(*decode.List)) {
	type said struct {
		first *decode.Item
		n     int
	}
	seen := map[said]bool{}
	for i := range p.catalogue().Lists {
		l := &p.catalogue().Lists[i]
		if l.Kind != kind || len(l.Items) == 0 || !r.Span.Has(p.Call(l.Calls[0]).Revision) {
			continue
		}
		if is := (said{&l.Items[0], len(l.Items)}); !seen[is] {
			seen[is] = true
			visit(l)
		}
	}
}

// calledTool is the definition of the tool that a call names, as of that call.
func (p *pass) calledTool(c *decode.Call) (gjson.Result, bool) {
	it, ok := p.catalogue().Find(decode.Tools, c.Name, c.Request)
	return gjson.ParseBytes(it.Definition), ok && c.Name != ""
}

func checkInputSchema(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) { p.checkObjectSchema(r, d, d.json.Get("inputSchema"), true) })
}

func checkOutputSchema(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) { p.checkObjectSchema(r, d, d.json.Get("outputSchema"), false) })
}

func (p *pass) checkObjectSchema(r *Rule, d *definition, schema gjson.Result, required bool) {
	var what string
	switch of := schema.Get("type"); {
	case !schema.Exists() && required:
		what = "missing"
	case !schema.Exists() || schema.IsObject() && of.Type == gjson.String && of.Str == "object":
		return
	case !schema.IsObject():
		what = "no object"
	case of.Exists():
		what = "of type " + brief(of.Raw)
	default:
		what = "without a type"
	}
	p.report(r, d.frame, d.call, brief(d.Name), what)
}

func checkToolName(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) {
		switch {
		case d.Name == "":
			p.report(r, d.frame, d.call, "(none)", "is empty")
		case len(d.Name) > 128:
			p.report(r, d.frame, d.call, brief(d.Name), "has more than 128 characters")
		case strings.ContainsFunc(d.Name, isOddInName):
			p.report(r, d.frame, d.call, brief(d.Name), "has characters that not every client takes")
		}
	})
}

func isOddInName(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
		return false
	}
	return true
}

func checkToolUnique(p *pass, r *Rule) {
	p.lists(r, decode.Tools, func(l *decode.List) {
		seen := map[string]bool{}
		for _, it := range l.Items {
			if seen[it.Name] && !l.Loop {
				p.report(r, l.Upto, l.Calls[0], brief(it.Name))
			}
			seen[it.Name] = true
		}
	})
}

var schemaMembers = []string{"inputSchema", "outputSchema"}

func checkSchemas(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) {
		for _, name := range schemaMembers {
			if schema := d.json.Get(name); schema.IsObject() {
				if fault := schemaFault(schema.Raw); fault != "" {
					p.report(r, d.frame, d.call, brief(d.Name), name, brief(fault))
				}
			}
		}
	})
}

// maxSchema is how large a schema is looked at.
const maxSchema = 64 << 10

// hugeNumber is a number whose exact value the library may want to write out.
var hugeNumber = regexp.MustCompile(`[0-9.][eE][+-]?[0-9]{4}`)

// schemaFault says what is wrong with a schema in the dialect that it names, or
// 2020-12. A dialect that is not known, and a reference that leads outside, are
// no faults of this kind.
func schemaFault(raw string) (fault string) {
	if len(raw) > maxSchema || nesting(raw) > maxDepth || hugeNumber.MatchString(raw) {
		return ""
	}
	defer func() {
		if recover() != nil { // the library's own business
			fault = ""
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		return ""
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(anyPattern)
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("mcp:schema", doc); err != nil {
		return ""
	}
	_, err = c.Compile("mcp:schema")
	return faultOf(err)
}

func faultOf(err error) string {
	var invalid *jsonschema.SchemaValidationError
	var lost *jsonschema.JSONPointerNotFoundError
	var cause *jsonschema.ValidationError
	switch {
	case errors.As(err, &lost):
		return "a reference leads nowhere"
	case errors.As(err, &invalid) && errors.As(invalid.Err, &cause):
		return innermost(cause)
	}
	return ""
}

func innermost(e *jsonschema.ValidationError) string {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	return "at /" + strings.Join(e.InstanceLocation, "/")
}

// noLoader refuses every reference that leaves the schema.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemote }

var errRemote = errors.New("references that leave the schema are not followed")

// A pattern is in the dialect of JavaScript, which Go can't judge.
func anyPattern(s string) (jsonschema.Regexp, error) { return anyText(s), nil }

type anyText string

func (a anyText) String() string          { return string(a) }
func (a anyText) MatchString(string) bool { return true }

// nesting is how deep a JSON text is nested.
func nesting(raw string) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

var remoteRef = regexp.MustCompile(`"\$(?:dynamicR|r)ef"\s*:\s*"(https?:\\?/\\?/[^"]*)"`)

// checkRemoteRefs passes over what the schema brings along under that very id,
// and the dialects themselves, which every validator has.
func checkRemoteRefs(p *pass, r *Rule) {
	p.definitions(r, decode.Tools, func(d *definition) {
		for _, name := range schemaMembers {
			raw := d.json.Get(name).Raw
			for _, m := range remoteRef.FindAllStringSubmatch(raw, 16) {
				base, _, _ := strings.Cut(m[1], "#")
				if strings.Contains(base, "//json-schema.org/") || strings.Contains(raw, `"$id":"`+base) {
					continue
				}
				p.report(r, d.frame, d.call, brief(d.Name), name, brief(m[1]))
			}
		}
	})
}

// toolCalls visits the client's calls of tools, rounds after the first left out:
// they repeat the arguments.
func (p *pass) toolCalls(r *Rule, visit func(*decode.Call)) {
	p.calls(r, func(c *decode.Call) {
		if c.Dir == tap.C2S && c.Method == "tools/call" && !c.Retry {
			visit(c)
		}
	})
}

// misfit says how the arguments of a call do not keep to the schema; empty if they
// do, or if it is not known.
func (p *pass) misfit(c *decode.Call) string {
	checked := p.catalogue().CheckArguments(c.Index, p.body(c.Request))
	if len(checked.Mismatches) == 0 {
		return ""
	}
	return mismatch(checked.Mismatches[0])
}

// mismatch leaves out a text that repeats a secret.
func mismatch(m decode.Mismatch) string {
	text := brief(m.Text)
	if secretKind(m.At+" "+m.Text) != "" {
		return "a secret does not fit"
	}
	if m.At == "" {
		return text
	}
	return brief(m.At) + ": " + text
}

func checkArguments(p *pass, r *Rule) {
	p.toolCalls(r, func(c *decode.Call) {
		if p.body(c.Request) == nil || c.Batch || c.Name == "" {
			return
		}
		if what := p.misfit(c); what != "" {
			p.report(r, c.Request, c.Index, subject(c), what)
		}
	})
}

// checkUnknownTool calls a tool unknown that no complete list has.
func checkUnknownTool(p *pass, r *Rule) {
	for _, u := range p.catalogue().Unlisted() {
		c := p.Call(u.Call)
		if u.Partial || c.Response < 0 || !r.Span.Has(c.Revision) {
			continue
		}
		switch {
		case c.Outcome == decode.ToolError:
			p.report(r, c.Response, c.Index, subject(&c), "a result with isError")
		case c.HasError() && c.Code != -32602:
			p.report(r, c.Response, c.Index, subject(&c), "the error "+itoa(c.Code))
		}
	}
}

func checkArgumentError(p *pass, r *Rule) {
	p.toolCalls(r, func(c *decode.Call) {
		if !c.HasError() || c.Code != -32602 || c.Batch || c.Name == "" || p.body(c.Request) == nil {
			return
		}
		if p.misfit(c) != "" {
			p.report(r, c.Response, c.Index, subject(c), itoa(c.Code))
		}
	})
}

// finished visits the results that a tool's call ended with: no questions, no
// tasks, no failures.
func (p *pass) finished(r *Rule, visit func(*decode.Call, gjson.Result)) {
	p.results(r, func(c *decode.Call, result gjson.Result) {
		if (c.Outcome == decode.OK || c.Outcome == decode.HiddenError) && !c.MadeTask {
			visit(c, result)
		}
	}, "tools/call")
}

func checkStructured(p *pass, r *Rule) {
	p.finished(r, func(c *decode.Call, result gjson.Result) {
		tool, ok := p.calledTool(c)
		if ok && tool.Get("outputSchema").IsObject() && !result.Get("structuredContent").Exists() && !result.Get("task").IsObject() {
			p.report(r, c.Response, c.Index, subject(c))
		}
	})
}

func checkOutput(p *pass, r *Rule) {
	p.finished(r, func(c *decode.Call, result gjson.Result) {
		if !result.Get("structuredContent").Exists() {
			return
		}
		checked := p.catalogue().CheckResult(c.Index, p.body(c.Response))
		if len(checked.Mismatches) > 0 {
			p.report(r, c.Response, c.Index, subject(c), mismatch(checked.Mismatches[0]))
		}
	})
}

// checkTextCopy weighs a text that says something else less: a client that reads
// only text gets an answer then.
func checkTextCopy(p *pass, r *Rule) {
	p.finished(r, func(c *decode.Call, result gjson.Result) {
		if !result.Get("structuredContent").Exists() {
			return
		}
		if _, copies := decode.AccountCopies(p.body(c.Response), 0); copies.Text > 0 {
			return
		}
		for _, block := range result.Get("content").Array() {
			if block.Get("text").String() != "" {
				p.reportAs(r, Info, c.Response, c.Index, subject(c), "its text says something else")
				return
			}
		}
		p.report(r, c.Response, c.Index, subject(c), "no text")
	})
}

func checkBlocks(p *pass, r *Rule) {
	p.results(r, func(c *decode.Call, result gjson.Result) {
		if c.Outcome == decode.InputRequired || c.MadeTask || result.Get("task").IsObject() {
			return
		}
		content := result.Get("content")
		if !content.IsArray() {
			p.report(r, c.Response, c.Index, subject(c), "no array of content")
			return
		}
		content.ForEach(func(_, block gjson.Result) bool {
			if what := blockFault(block, c.Revision); what != "" {
				p.report(r, c.Response, c.Index, subject(c), what)
			}
			return true
		})
	}, "tools/call")
}

// blockFault says what is wrong with a block of content.
func blockFault(b gjson.Result, revision string) string {
	kind := b.Get("type")
	since, known := blockKinds[kind.String()]
	switch {
	case !b.IsObject():
		return "a block that is no object"
	case !kind.Exists():
		return "a block without a type"
	case !known || kind.Type != gjson.String:
		return "a block of the unknown type " + brief(kind.String())
	case revision != "" && revision < since:
		return "a block of type " + kind.Str + ", which is there from revision " + since
	}
	switch kind.Str {
	case "text":
		return unless(b.Get("text").Type == gjson.String, "a text block without text")
	case "image", "audio":
		return mediaFault(b)
	case "resource":
		return contentFault(b.Get("resource"))
	}
	return unless(b.Get("uri").Type == gjson.String && b.Get("name").Type == gjson.String, "a resource link without uri and name")
}

// blockKinds are the types of content blocks, by the revision they came with.
var blockKinds = map[string]string{"text": "", "image": "", "resource": "", "audio": "2025-03-26", "resource_link": "2025-06-18"}

func mediaFault(b gjson.Result) string {
	kind, sub, _ := strings.Cut(b.Get("mimeType").String(), "/")
	switch data := b.Get("data"); {
	case data.Type != gjson.String || !isBase64(data.String()):
		return "a block of type " + b.Get("type").Str + " whose data is no base64"
	case kind == "" || sub == "":
		return "a block of type " + b.Get("type").Str + " without a mimeType"
	}
	return ""
}

// contentFault judges the contents of a resource, embedded or read.
func contentFault(v gjson.Result) string {
	text, blob := v.Get("text"), v.Get("blob")
	switch {
	case v.Get("uri").Type != gjson.String:
		return "contents without a uri"
	case text.Exists() == blob.Exists():
		return "contents that do not have one of text and blob"
	case blob.Exists() && (blob.Type != gjson.String || !isBase64(blob.String())):
		return "contents whose blob is no base64"
	case text.Exists() && text.Type != gjson.String:
		return "contents whose text is no string"
	}
	return ""
}

// isBase64 reports whether a text is base64 of the standard alphabet, with its
// padding (RFC 4648).
func isBase64(s string) bool {
	if len(s)%4 != 0 {
		return false
	}
	body := strings.TrimRight(s, "=")
	if len(s)-len(body) > 2 {
		return false
	}
	for i := range len(body) {
		switch c := body[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '+', c == '/':
		default:
			return false
		}
	}
	return true
}
