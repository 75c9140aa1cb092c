package apicheck

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/internal/jsontree"
)

// objects visits the input schemas that are objects.
func (c *checker) objects(visit func(tool int, schema *jsontree.Node)) {
	for i, s := range c.schemas {
		if s != nil && s.Kind == jsontree.Object {
			visit(i, s)
		}
	}
}

func checkCombinators(c *checker, f *Fact) {
	c.objects(func(tool int, s *jsontree.Node) {
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			if s.Get(key) != nil {
				c.report(f, tool, pointer("/"+key), "its input schema has "+key+" at its root")
			}
		}
	})
}

func checkRootType(c *checker, f *Fact) {
	for i := range c.tools {
		if c.tools[i].Schema == nil {
			c.report(f, i, pointer(""), "it has no input schema")
			continue
		}
		if what, path := rootFault(c.schemas[i]); what != "" {
			c.report(f, i, pointer(path), "its input schema "+what)
		}
	}
}

func checkOutputType(c *checker, f *Fact) {
	for i := range c.tools {
		raw := c.tools[i].Output
		if raw == nil || len(raw) > maxSchema {
			continue
		}
		n, err := jsontree.Parse(raw)
		if err != nil {
			continue
		}
		if what, path := rootFault(n); what != "" {
			c.report(f, i, "/outputSchema"+path, "its output schema "+what)
		}
	}
}

// rootFault says what is wrong with a schema's root; nothing of one that was not
// read.
func rootFault(s *jsontree.Node) (what, path string) {
	if s == nil {
		return "", ""
	}
	of := s.Get("type")
	switch {
	case s.Kind != jsontree.Object:
		return "is no object", ""
	case of == nil:
		return "has no type at its root", ""
	case of.Text() != "object":
		return "has the type " + brief(string(of.Append(nil))) + " at its root", "/type"
	}
	return "", ""
}

// checkPropertyKeys looks at the root's properties only, as the API does.
func checkPropertyKeys(c *checker, f *Fact) {
	alphabet := alphabetOf(f.Alphabet)
	c.objects(func(tool int, s *jsontree.Node) {
		props := s.Get("properties")
		if props == nil {
			return
		}
		var bad []string
		for _, m := range props.Members {
			n := utf8.RuneCountInString(m.Key)
			if n < 1 || n > f.Max || oddCharacter(alphabet, m.Key) != "" {
				bad = append(bad, m.Key)
			}
		}
		if len(bad) > 0 {
			what := fmt.Sprintf("its argument %q does not match ^[a-zA-Z0-9_.-]{1,%d}$%s", brief(bad[0]), f.Max, more(len(bad)-1))
			c.report(f, tool, pointer(jsontree.Path{"properties", bad[0]}.Pointer()), what)
		}
	})
}

// metaSchema is draft 2020-12's schema of schemas.
var metaSchema = sync.OnceValue(func() *jsonschema.Schema {
	return jsonschema.NewCompiler().MustCompile("https://json-schema.org/draft/2020-12/schema")
})

// hugeNumber is a number whose exact value the library may want to write out.
var hugeNumber = regexp.MustCompile(`[0-9.][eE][+-]?[0-9]{4}|[0-9]{400}`)

// checkDraft judges by 2020-12 whatever $schema says.
func checkDraft(c *checker, f *Fact) {
	c.objects(func(tool int, _ *jsontree.Node) {
		if claude.HalfCharacter(c.tools[tool].Schema) {
			c.report(f, tool, pointer(""), "its input schema holds half a character (a lone surrogate), which is no text")
			return
		}
		if what, at := draftFault(c.tools[tool].Schema); what != "" {
			c.report(f, tool, pointer(at), "its input schema is not valid as draft 2020-12: "+brief(what))
		}
	})
}

var english = message.NewPrinter(language.English)

func draftFault(raw []byte) (what, at string) {
	if hugeNumber.Match(raw) {
		return "", ""
	}
	defer func() {
		if recover() != nil { // the library's own business
			what, at = "", ""
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return "", ""
	}
	var failed *jsonschema.ValidationError
	if !errors.As(metaSchema().Validate(doc), &failed) {
		return "", ""
	}
	leaf := deepest(failed)
	return leaf.ErrorKind.LocalizedString(english), jsontree.Path(leaf.InstanceLocation).Pointer()
}

// deepest is the cause whose place is most exact; the first by name of several,
// since the library goes through maps.
func deepest(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	best := e
	for _, cause := range e.Causes {
		d := deepest(cause)
		switch a, b := d.InstanceLocation, best.InstanceLocation; {
		case best == e, len(a) > len(b), len(a) == len(b) && slices.Compare(a, b) < 0:
			best = d
		}
	}
	return best
}

// checkReferences sorts references into those that lead to a place in the schema,
// nowhere, and outside.
func checkReferences(c *checker, f *Fact) {
	c.objects(func(tool int, s *jsontree.Node) {
		refs := references(s)
		for i, r := range refs {
			if slices.Contains(f.Kinds, r.kind) || slices.Contains(f.Kinds, "any") {
				what := map[string]string{"inside": "has a reference, " + r.to, "nowhere": "has a reference that leads nowhere, " + r.to, "outside": "has a reference that leads outside, " + r.to}[r.kind]
				c.report(f, tool, pointer(r.at), "its input schema "+what+more(len(refs)-i-1))
				return
			}
		}
	})
}

type reference struct{ at, to, kind string }

// references gives the graver ones first.
func references(root *jsontree.Node) (refs []reference) {
	anchors, own := anchorsOf(root)
	jsontree.Walk(root, func(at jsontree.Path, s *jsontree.Node) {
		for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			to := s.Get(key)
			if !to.IsString() {
				continue
			}
			kind := "inside"
			switch text := to.Text(); {
			case !strings.HasPrefix(text, "#"):
				base, _, _ := strings.Cut(text, "#")
				if !own[base] {
					kind = "outside"
				}
			case len(own) == 0 && !leads(root, anchors, text[1:]):
				kind = "nowhere"
			}
			refs = append(refs, reference{at.Pointer() + "/" + key, brief(to.Text()), kind})
		}
	})
	order := []string{"outside", "nowhere", "inside"}
	slices.SortStableFunc(refs, func(a, b reference) int { return slices.Index(order, a.kind) - slices.Index(order, b.kind) })
	return refs
}

// anchorsOf gives the names that references may use, and the schemas that have an
// identity of their own: pointers start there, which is not followed.
func anchorsOf(root *jsontree.Node) (anchors, own map[string]bool) {
	anchors, own = map[string]bool{}, map[string]bool{}
	jsontree.Walk(root, func(_ jsontree.Path, s *jsontree.Node) {
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if name := s.Get(key); name.IsString() {
				anchors[name.Text()] = true
			}
		}
		if id := s.Get("$id"); id.IsString() {
			own[strings.TrimSuffix(id.Text(), "#")] = true
		}
	})
	return anchors, own
}

// leads reports whether a fragment names a place in the schema.
func leads(root *jsontree.Node, anchors map[string]bool, fragment string) bool {
	text, err := url.PathUnescape(fragment)
	if err != nil {
		return false
	}
	if text == "" {
		return true
	}
	if !strings.HasPrefix(text, "/") {
		return anchors[text]
	}
	n := root
	for tok := range strings.SplitSeq(text[1:], "/") {
		tok = strings.NewReplacer("~1", "/", "~0", "~").Replace(tok)
		if n.Kind == jsontree.Array {
			i, err := strconv.Atoi(tok)
			if err != nil || i < 0 || i >= len(n.Items) {
				return false
			}
			n = n.Items[i]
			continue
		}
		if n = n.Get(tok); n == nil {
			return false
		}
	}
	return true
}

// checkOldKeywords finds what 2020-12 passes over without a word.
func checkOldKeywords(c *checker, f *Fact) {
	c.each(f, func(s *jsontree.Node) string {
		for _, key := range []string{"dependencies", "additionalItems"} {
			if s.Get(key) != nil {
				return key
			}
		}
		return ""
	}, "its input schema has the keyword ")
}

func checkArrayItems(c *checker, f *Fact) {
	c.each(f, func(s *jsontree.Node) string {
		if s.Get("type").Text() == "array" && s.Get("items") == nil && s.Get("prefixItems") == nil {
			return "items"
		}
		return ""
	}, "its input schema has an array without ")
}

// each reports the first place of each tool's schema that a test finds fault with.
func (c *checker) each(f *Fact, test func(*jsontree.Node) string, words string) {
	c.objects(func(tool int, s *jsontree.Node) {
		first, at, n := "", "", 0
		jsontree.Walk(s, func(p jsontree.Path, s *jsontree.Node) {
			fault := test(s)
			if fault == "" {
				return
			}
			if n == 0 {
				first, at = fault, p.Pointer()
			}
			n++
		})
		if n > 0 {
			c.report(f, tool, pointer(at), words+first+more(n-1))
		}
	})
}
