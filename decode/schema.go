package decode

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A Mismatch is a value that does not keep to the schema a tool was listed with.
type Mismatch struct {
	Member string // arguments or structuredContent
	At     string // JSON pointer into it; empty for the whole
	Text   string // what is wrong; holds text from the outside
}

// Checked is what came of a check against a schema.
type Checked struct {
	Mismatches []Mismatch
	// Unchecked says why there was no check: no definition, a schema that can't
	// be used, or a value or schema beyond the bounds below. Empty if there was.
	Unchecked string
}

// Bounds of a check. Schemas and values come from strangers: some take longer to
// check than anybody waits, and the library can't be interrupted but at a step.
const (
	maxSchema     = 256 << 10 // bytes
	maxValue      = 1 << 20   // bytes
	maxCheckDepth = 128
	maxNodes      = 20_000  // of a value, and of a schema
	maxSteps      = 100_000 // subschemas evaluated
	maxCompared   = 5_000_000
	maxExponent   = 400
	maxMismatches = 20
)

// CheckArguments checks the arguments of a tools/call request against the
// inputSchema that the tool had when it was called. request is the body of the
// call's request frame, which the caller looks up.
func (c *Catalogue) CheckArguments(call int, request []byte) Checked {
	args := path(request, whole(request), "params", "arguments")
	if !args.there() {
		return c.check(call, "inputSchema", "arguments", []byte("{}"))
	}
	return c.check(call, "inputSchema", "arguments", args.of(request))
}

// CheckResult checks the structuredContent of a result against the outputSchema.
// A result without it, and one with isError, is not checked.
func (c *Catalogue) CheckResult(call int, response []byte) Checked {
	res := member(response, whole(response), "result")
	structured := member(response, res, "structuredContent")
	switch {
	case isTrue(response, member(response, res, "isError")):
		return Checked{Unchecked: "the tool failed"}
	case !structured.there():
		return Checked{Unchecked: "no structured content"}
	}
	return c.check(call, "outputSchema", "structuredContent", structured.of(response))
}

// CheckValue checks a value against a schema that came over the wire, within the
// same bounds. member names the value in what is found.
func CheckValue(schema []byte, member string, value []byte) Checked {
	k := compile(schema)
	if k.err != nil {
		return Checked{Unchecked: fmt.Sprintf("the schema can't be used: %v", k.err)}
	}
	return k.check(member, value)
}

func (c *Catalogue) check(call int, schema, member string, value []byte) Checked {
	e := c.s.calls.at(call)
	it, ok := c.Find(Tools, c.s.names.name(e.name), int(e.request))
	if !ok {
		return Checked{Unchecked: "the tool was not listed"}
	}
	k, ok := c.checkerOf(it, schema)
	switch {
	case !ok:
		return Checked{Unchecked: "the tool has no " + schema}
	case k.err != nil:
		return Checked{Unchecked: fmt.Sprintf("%s can't be used: %v", schema, k.err)}
	}
	return k.check(member, value)
}

// checkerOf compiles a schema once, and only when it is needed.
func (c *Catalogue) checkerOf(it Item, name string) (*checker, bool) {
	at := member(it.Definition, whole(it.Definition), name)
	if !at.there() {
		return nil, false
	}
	key := mix('s', it.hash, canonKey([]byte(name)))
	k := c.schemas[key]
	if k == nil || !it.known {
		k = compile(at.of(it.Definition))
		c.schemas[key] = k
	}
	return k, true
}

// checker is a compiled schema with a budget.
type checker struct {
	schema *jsonschema.Schema
	shape  shape
	steps  *int
	err    error
}

// noLoader refuses every reference that leaves the schema.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errRemote
}

var errRemote = errors.New("references that leave the schema are not followed")

const schemaURL = "mcp:schema"

func compile(raw []byte) (k *checker) {
	k = &checker{steps: new(int)}
	defer k.rescue()
	doc, sh, err := load(raw, maxSchema)
	if err != nil {
		return &checker{err: err}
	}
	k.shape = sh
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertVocabs()
	c.RegisterVocabulary(k.budget())
	if err := c.AddResource(schemaURL, doc); err != nil {
		return &checker{err: brief(err)}
	}
	*k.steps = maxSteps
	if k.schema, err = c.Compile(schemaURL); err != nil {
		return &checker{err: brief(err)}
	}
	return k
}

// rescue turns a panic of the library, or of an exhausted budget, into an error.
func (k *checker) rescue() {
	if r := recover(); r != nil {
		k.err = fmt.Errorf("%v", r)
	}
}

func brief(err error) error {
	if errors.Is(err, errRemote) {
		return errRemote
	}
	text := strings.ReplaceAll(err.Error(), schemaURL+"#", "")
	return errors.New(cut(strings.Join(strings.Fields(text), " ")))
}

var errSteps = errors.New("it takes too many steps")

// budget is a vocabulary without keywords whose only work is to count.
func (k *checker) budget() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "mcp:budget",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return tick{k.steps}, nil
		},
	}
}

type tick struct{ left *int }

func (s tick) Validate(*jsonschema.ValidatorContext, any) {
	if *s.left--; *s.left < 0 {
		panic(errSteps)
	}
}

func (k *checker) check(name string, raw []byte) (out Checked) {
	defer func() {
		if r := recover(); r != nil {
			out = Checked{Unchecked: fmt.Sprintf("the check was given up: %v", r)}
		}
	}()
	value, sh, err := load(raw, maxValue)
	switch {
	case err != nil:
		return Checked{Unchecked: err.Error()}
	case k.shape.intricate(sh):
		return Checked{Unchecked: "the schema is too intricate for this value"}
	}
	*k.steps = maxSteps
	err = k.schema.Validate(value)
	var failed *jsonschema.ValidationError
	if errors.As(err, &failed) {
		collect(&out, name, failed)
		out.tidy()
	} else if err != nil {
		out.Unchecked = brief(err).Error()
	}
	return out
}

var english = message.NewPrinter(language.English)

// collect takes the innermost causes: what encloses them only repeats them.
func collect(out *Checked, name string, e *jsonschema.ValidationError) {
	for _, cause := range e.Causes {
		collect(out, name, cause)
	}
	if len(e.Causes) > 0 || len(out.Mismatches) >= 100*maxMismatches {
		return
	}
	at := ""
	for _, tok := range e.InstanceLocation {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(tok)
	}
	out.Mismatches = append(out.Mismatches, Mismatch{name, cut(at), cut(e.ErrorKind.LocalizedString(english))})
}

// tidy keeps the first mismatches in an order of their own: the library goes
// through maps.
func (c *Checked) tidy() {
	slices.SortFunc(c.Mismatches, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Text, b.Text))
	})
	c.Mismatches = c.Mismatches[:min(len(c.Mismatches), maxMismatches)]
}

// shape is what bounds the work on a schema or a value.
type shape struct {
	depth, nodes int
	refs         int // members named $ref and the like
	enum         int // longest enum
	boolean      bool
}

// intricate tells combinations that may take very long. Where only the verdict of
// a subschema matters (not, if, contains) the library does not count its steps.
func (s shape) intricate(value shape) bool {
	return s.boolean && s.refs > 8 || s.boolean && s.refs > 0 && value.depth > 6 || s.enum*value.nodes > maxCompared
}

func load(raw []byte, limit int) (v any, sh shape, err error) {
	if len(raw) > limit {
		return nil, sh, fmt.Errorf("it has %d bytes, more than are checked", len(raw))
	}
	if Depth(raw) > maxCheckDepth {
		return nil, sh, errors.New("it is nested too deeply to be checked")
	}
	if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw)); err != nil {
		return nil, sh, brief(err)
	}
	if err := sh.measure(v, 1); err != nil {
		return nil, sh, err
	}
	return v, sh, nil
}

func (s *shape) measure(v any, depth int) error {
	s.depth = max(s.depth, depth)
	if s.nodes++; s.nodes > maxNodes {
		return errors.New("it has too many members to be checked")
	}
	switch v := v.(type) {
	case map[string]any:
		return s.measureObject(v, depth)
	case []any:
		for _, item := range v {
			if err := s.measure(item, depth+1); err != nil {
				return err
			}
		}
	case fmt.Stringer: // a number, as it is spelt
		return checkNumber(v.String())
	}
	return nil
}

func (s *shape) measureObject(v map[string]any, depth int) error {
	for key, item := range v {
		switch key {
		case "$ref", "$dynamicRef", "$recursiveRef":
			s.refs++
		case "not", "if", "contains":
			s.boolean = true
		case "enum":
			if values, ok := item.([]any); ok {
				s.enum = max(s.enum, len(values))
			}
		}
		if err := s.measure(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkNumber refuses numbers whose exact value fills the memory.
func checkNumber(s string) error {
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if len(s) > maxExponent || len(strings.TrimLeft(exponent, "+-0")) > 3 || exponentOf(exponent) > maxExponent {
		return errors.New("it holds a number that is too long to be checked")
	}
	return nil
}

func exponentOf(s string) (n int) {
	for _, c := range strings.TrimLeft(s, "+-") {
		n = min(n*10+int(c-'0'), 1<<20)
	}
	return n
}
