// Package tidy says what of a tool's definition, and of a result, costs bytes and
// tells the model nothing: indentation of docstrings, what schema generators leave
// behind, JSON with white space, what is said twice, tools that nobody calls.
//
// It promises that a tidied definition accepts and refuses the same arguments as
// before, with its members in their order, and that it says the same words. Advice
// that would change that is given, and not followed.
//
// It must not count tokens: the caller brings an estimate.
package tidy

import (
	"fmt"

	"github.com/mcptap/mcptap/replay/internal/jsontree"
)

// Kind is what an advice is about.
type Kind string

// The kinds of advice.
const (
	Indentation Kind = "indentation"  // of a docstring that was not cleaned
	Titles      Kind = "titles"       // that repeat the name of their argument
	NullDefault Kind = "null default" // of an argument that may be left out anyway
	NullBranch  Kind = "null branch"  // anyOf with null, where a list of types says it shorter
	Comments    Kind = "comments"     // $comment: for those who keep the schema
	Empty       Kind = "empty"        // members that demand and tell nothing
	Dialect     Kind = "dialect"      // $schema, where it changes nothing
	Optional    Kind = "optional"     // null allowed for an argument that may be left out
	PrettyJSON  Kind = "pretty json"  // white space of JSON in a result's text
	SaidTwice   Kind = "said twice"   // a text that structuredContent repeats
)

var words = map[Kind]string{
	Indentation: "take the indentation of the source code out of descriptions",
	Titles:      "leave out titles that repeat a name",
	NullDefault: "leave out default null: what is not required may be missing",
	NullBranch:  "write a list of types instead of anyOf with null (some relays to other clouds refuse lists of types)",
	Comments:    "leave out $comment: it is for those who keep the schema, not for those who use it",
	Empty:       "leave out members that are empty or say what holds anyway",
	Dialect:     "leave out $schema: it means the same without",
	Optional:    "do not allow null for what may be left out, if the server takes a missing argument for null",
	PrettyJSON:  "write JSON in results without white space",
	SaidTwice:   "structuredContent and text say the same: the specification asks for both, and a host that shows both pays twice",
}

// Options are what the caller brings.
type Options struct {
	// Estimate gives about how many tokens a text has; nil if nobody asks.
	Estimate func(text string) int
}

func (o *Options) tokens(text string) int {
	if o.Estimate == nil {
		return 0
	}
	return o.Estimate(text)
}

// An Advice is one thing to do.
type Advice struct {
	Kind   Kind
	Tool   string // text from the outside; empty for results
	Path   string // JSON pointer to the first place, in the definition or the frame
	Places int
	Bytes  int // that the model would read less
	Tokens int // about; 0 without an estimate
	// Done reports that the tidied definition follows the advice. What is not done
	// changes what is accepted, or is not for a definition to do.
	Done bool
}

// Words says what to do.
func (a *Advice) Words() string { return words[a.Kind] }

// A Definition is a tool's definition with what there is to say about it.
type Definition struct {
	Tidied        []byte // compact JSON
	Advice        []Advice
	Before, After int // bytes that the model reads: name, description, input schema
}

// Tool tidies one definition, as tools/list gave it. A definition that can't be
// read within the bounds is an error.
func Tool(definition []byte, o Options) (*Definition, error) {
	root, err := jsontree.Parse(definition)
	if err != nil {
		return nil, fmt.Errorf("tidy a tool's definition: %w", err)
	}
	if root.Kind != jsontree.Object {
		return nil, fmt.Errorf("tidy a tool's definition: it is no object")
	}
	d := &Definition{}
	t := tidier{root: root, schema: root.Get("inputSchema"), tool: root.Get("name").Text(), o: o}
	now := t.read()
	d.Before = len(now)
	for range maxRounds { // what one step takes out may have been in another's way
		before := now
		for _, s := range steps {
			t.path, t.places = "", 0
			s.do(&t)
			after := t.read()
			if t.places > 0 {
				d.add(Advice{Kind: s.kind, Tool: t.tool, Path: t.path, Places: t.places, Bytes: len(now) - len(after), Tokens: o.tokens(now) - o.tokens(after), Done: true})
			}
			now = after
		}
		if now == before {
			break
		}
	}
	d.After, d.Tidied = len(now), root.Append(nil)
	if a, ok := t.optional(now); ok {
		d.Advice = append(d.Advice, a)
	}
	return d, nil
}

// maxRounds is how often the steps are gone through at most.
const maxRounds = 5

// add joins an advice with one of its kind from an earlier round.
func (d *Definition) add(a Advice) {
	for i := range d.Advice {
		if old := &d.Advice[i]; old.Kind == a.Kind {
			old.Places, old.Bytes, old.Tokens = old.Places+a.Places, old.Bytes+a.Bytes, old.Tokens+a.Tokens
			return
		}
	}
	d.Advice = append(d.Advice, a)
}

// tidier is one definition on its way.
type tidier struct {
	root, schema *jsontree.Node
	tool         string
	o            Options
	path         string // of the first place that the step found
	places       int
}

type step struct {
	kind Kind
	do   func(*tidier)
}

var steps = []step{
	{Indentation, (*tidier).indentation},
	{Titles, (*tidier).titles},
	{NullDefault, (*tidier).nullDefaults},
	{Comments, (*tidier).comments},
	{Empty, (*tidier).empties},
	{NullBranch, (*tidier).nullBranches},
	{Dialect, (*tidier).dialect},
}

// read is what the model reads of the definition, as compact JSON.
func (t *tidier) read() string {
	b := append([]byte(`{"name":`), jsontree.Quote(t.tool)...)
	if d := t.root.Get("description"); d != nil {
		b = d.Append(append(b, `,"description":`...))
	}
	if t.schema != nil {
		b = t.schema.Append(append(b, `,"input_schema":`...))
	}
	return string(append(b, '}'))
}

// found counts a place.
func (t *tidier) found(at jsontree.Path, member string) {
	if t.places == 0 {
		t.path = "/inputSchema" + at.Pointer() + "/" + member
	}
	t.places++
}

func (t *tidier) walk(visit func(jsontree.Path, *jsontree.Node)) { jsontree.Walk(t.schema, visit) }
