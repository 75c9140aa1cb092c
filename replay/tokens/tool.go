package tokens

import (
	"bytes"
	"encoding/json"
)

// A Tool is what of a tool's definition the model reads: its name as the host
// assembled it, its description, its input schema. Title, annotations, icons and
// the output schema never reach it.
type Tool struct {
	Name        string
	Description string
	InputSchema []byte // JSON as it was received; empty is {}
}

// How a definition is written into the prompt is not published. This is a model
// of it that fits what was measured: a pair of tags around an object with these
// members, with a space after each colon and comma.
const (
	toolOpen   = `<function>{"description": "`
	toolMiddle = `", "name": "`
	toolSchema = `", "parameters": `
	toolClose  = `}</function>`
)

// Render writes a definition as it is taken to stand in the prompt.
func (t *Tool) Render() []byte {
	var b []byte
	b = append(b, toolOpen...)
	b = append(b, inside(t.Description)...)
	b = append(b, toolMiddle...)
	b = append(b, inside(t.Name)...)
	b = append(b, toolSchema...)
	b = append(b, spaced(t.InputSchema)...)
	return append(b, toolClose...)
}

// inside is what stands between the quotes of a JSON string.
func inside(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return b.Bytes()[1 : b.Len()-2]
}

// spaced writes JSON on one line with a space after each colon and comma. What is
// no JSON comes out as some text of about the same length.
func spaced(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	out := make([]byte, 0, len(raw)+len(raw)/8)
	quoted := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case quoted && c == '\\' && i+1 < len(raw):
			out = append(out, c)
			i++
			c = raw[i]
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			continue
		case c == ',' || c == ':':
			out = append(out, c)
			c = ' '
		}
		out = append(out, c)
	}
	return out
}

// A ToolCount is the tokens of a definition, by part. The parts add up.
type ToolCount struct {
	Name, Description, Schema Count
	Wrapper                   Count // tags, member names, punctuation around them
	Sum                       Count
}

type toolRuns struct{ name, description, schema, wrapper, sum runs }

func (e *Estimator) toolRuns(t *Tool) (r toolRuns) {
	r.name = scan(inside(t.Name), e.units)
	r.description = scan(inside(t.Description), e.units)
	r.schema = scan(spaced(t.InputSchema), e.units)
	for _, s := range []string{toolOpen, toolMiddle, toolSchema, toolClose} {
		r.wrapper.add(scan(s, e.units))
	}
	for _, part := range []runs{r.name, r.description, r.schema, r.wrapper} {
		r.sum.add(part)
	}
	return r
}

// Tool estimates one definition, without the preamble.
func (e *Estimator) Tool(t *Tool) ToolCount { return e.toolCount(e.toolRuns(t)) }

func (e *Estimator) toolCount(r toolRuns) ToolCount {
	return ToolCount{
		Name: e.one(r.name), Description: e.one(r.description), Schema: e.one(r.schema),
		Wrapper: e.one(r.wrapper), Sum: e.one(r.sum),
	}
}

// List estimates many definitions: each, and all together without the preamble.
// The sum has a narrower range than its parts, since some of their errors cancel
// out.
func (e *Estimator) List(tools []Tool) (each []ToolCount, sum Count) {
	var all runs
	for i := range tools {
		r := e.toolRuns(&tools[i])
		all.add(r.sum)
		each = append(each, e.toolCount(r))
	}
	if len(tools) == 0 {
		return nil, Count{}
	}
	return each, e.many(all)
}
