package tidy

import (
	"slices"
	"strings"

	"github.com/mcptap/mcptap/replay/internal/jsontree"
)

func (t *tidier) nullDefaults() {
	t.walk(func(at jsontree.Path, s *jsontree.Node) {
		if s.Get("default").IsNull() {
			s.Delete("default")
			t.found(at, "default")
		}
	})
}

// comments takes out what is said to those who keep the schema.
func (t *tidier) comments() {
	t.walk(func(at jsontree.Path, s *jsontree.Node) {
		if s.Get("$comment").IsString() {
			s.Delete("$comment")
			t.found(at, "$comment")
		}
	})
}

// empties takes out what holds without being said.
func (t *tidier) empties() {
	plain := t.plain()
	t.walk(func(at jsontree.Path, s *jsontree.Node) {
		for _, m := range slices.Clone(s.Members) {
			if says(m.Key, m.Value, plain) {
				continue
			}
			s.Delete(m.Key)
			t.found(at, m.Key)
		}
	})
}

// nothing is what each of these members says when it says nothing.
var nothing = map[string]string{
	"required": "[]", "examples": "[]", "description": `""`, "title": `""`,
	"deprecated": "false", "readOnly": "false", "writeOnly": "false", "uniqueItems": "false",
	"minLength": "0", "minItems": "0", "minProperties": "0",
}

// says reports whether a member demands or tells anything; additionalProperties true counts where unevaluated ones do.
func says(key string, value *jsontree.Node, plain bool) bool {
	if key == "additionalProperties" {
		return !plain || value.Raw != "true"
	}
	empty, known := nothing[key]
	switch {
	case !known:
		return true
	case empty == "[]":
		return value.Kind != jsontree.Array || len(value.Items) > 0
	}
	return value.Raw != empty
}

// plain reports that no keyword of the schema looks at the shape of another: what
// was evaluated, or what stands at a place inside.
func (t *tidier) plain() bool {
	plain := true
	t.walk(func(_ jsontree.Path, s *jsontree.Node) {
		for _, m := range s.Members {
			switch m.Key {
			case "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef", "$id", "id":
				plain = false
			case "$ref":
				plain = plain && wholeDefinition(m.Value.Text())
			}
		}
	})
	return plain
}

// wholeDefinition reports a reference to the schema, or to one of its definitions:
// those stay where they are.
func wholeDefinition(ref string) bool {
	for _, prefix := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return !strings.Contains(name, "/")
		}
	}
	return ref == "#"
}

// nullBranches writes {"anyOf":[{"type":"string"},{"type":"null"}]} as
// {"type":["string","null"]}.
func (t *tidier) nullBranches() {
	if !t.plain() {
		return
	}
	t.walk(func(at jsontree.Path, s *jsontree.Node) {
		if branch := nullable(s); branch != nil && mergeable(s, branch) {
			merge(s, branch)
			t.found(at, "anyOf")
		}
	})
}

// nullable gives the other branch of an anyOf of two, one of which is null.
func nullable(s *jsontree.Node) *jsontree.Node {
	of := s.Get("anyOf")
	if of == nil || len(of.Items) != 2 {
		return nil
	}
	for i, item := range of.Items {
		if len(item.Members) == 1 && item.Get("type").Text() == "null" {
			return of.Items[1-i]
		}
	}
	return nil
}

// own are the keywords that demand something of values of one type only, or
// nothing at all; a list of types leaves their meaning as it is.
var own = map[string]bool{
	"type": true, "enum": true,
	"minLength": true, "maxLength": true, "pattern": true, "format": true, "contentEncoding": true, "contentMediaType": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"items": true, "prefixItems": true, "minItems": true, "maxItems": true, "uniqueItems": true, "contains": true, "minContains": true, "maxContains": true,
	"properties": true, "required": true, "additionalProperties": true, "patternProperties": true, "propertyNames": true, "minProperties": true, "maxProperties": true, "dependentRequired": true,
	"title": true, "description": true, "default": true, "examples": true, "deprecated": true, "readOnly": true, "writeOnly": true, "$comment": true,
}

// companions are keywords that change their meaning beside others.
var companions = []string{"properties", "patternProperties", "additionalProperties", "items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "then", "else"}

// mergeable reports whether a branch's members may stand in the schema itself.
func mergeable(s, branch *jsontree.Node) bool {
	if !branch.Get("type").IsString() || branch.Get("type").Text() == "null" {
		return false
	}
	for _, m := range branch.Members {
		if !own[m.Key] || s.Get(m.Key) != nil {
			return false
		}
	}
	if e := branch.Get("enum"); e != nil && e.Kind != jsontree.Array {
		return false
	}
	return !slices.ContainsFunc(companions, func(key string) bool { return s.Get(key) != nil })
}

// merge puts the branch's members where anyOf stood.
func merge(s, branch *jsontree.Node) {
	null := &jsontree.Node{Raw: "null"}
	for i := range branch.Members {
		m := &branch.Members[i]
		switch m.Key {
		case "type":
			m.Value = &jsontree.Node{Kind: jsontree.Array, Items: []*jsontree.Node{m.Value, {Raw: `"null"`}}}
		case "enum":
			if !slices.ContainsFunc(m.Value.Items, (*jsontree.Node).IsNull) {
				m.Value.Items = append(m.Value.Items, null)
			}
		}
	}
	at := slices.IndexFunc(s.Members, func(m jsontree.Member) bool { return m.Key == "anyOf" })
	s.Members = slices.Replace(s.Members, at, at+1, branch.Members...)
}

// dialect takes $schema out: hosts and the API read a schema without one as
// 2020-12, and draft-07 means the same where nothing differs.
func (t *tidier) dialect() {
	if t.schema == nil {
		return
	}
	named := t.schema.Get("$schema")
	switch strings.TrimSuffix(named.Text(), "#") {
	case "https://json-schema.org/draft/2020-12/schema":
	case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
		if t.differs() {
			return
		}
	default:
		return
	}
	t.schema.Delete("$schema")
	t.found(nil, "$schema")
}

// since7 are the keywords that draft-07 does not know, or reads in another way: there,
// validators check formats as a rule.
var since7 = []string{"$ref", "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "additionalItems", "dependencies", "dependentRequired", "dependentSchemas", "format",
	"maxContains", "minContains", "prefixItems", "unevaluatedItems", "unevaluatedProperties", "$vocabulary"}

func (t *tidier) differs() (differs bool) {
	t.walk(func(_ jsontree.Path, s *jsontree.Node) {
		items := s.Get("items")
		differs = differs || items != nil && items.Kind == jsontree.Array ||
			slices.ContainsFunc(since7, func(key string) bool { return s.Get(key) != nil })
	})
	return differs
}

// optional weighs what would be saved if null were not allowed for arguments that
// may be left out. now is what the model reads.
func (t *tidier) optional(now string) (Advice, bool) {
	t.path, t.places = "", 0
	t.walk(func(at jsontree.Path, s *jsontree.Node) {
		props, required := s.Get("properties"), s.Get("required")
		if props == nil {
			return
		}
		for i := range props.Members {
			m := &props.Members[i]
			if !listed(required, m.Key) && dropNull(m.Value) {
				t.found(append(slices.Clone(at), "properties"), m.Key)
			}
		}
	})
	after := t.read()
	return Advice{Kind: Optional, Tool: t.tool, Path: t.path, Places: t.places, Bytes: len(now) - len(after), Tokens: t.o.tokens(now) - t.o.tokens(after)}, t.places > 0
}

func listed(required *jsontree.Node, key string) bool {
	return required != nil && slices.ContainsFunc(required.Items, func(n *jsontree.Node) bool { return n.Text() == key })
}

// dropNull takes null out of a list of types, or out of anyOf.
func dropNull(s *jsontree.Node) bool {
	of := s.Get("type")
	if of != nil && of.Kind == jsontree.Array && len(of.Items) == 2 {
		for i, item := range of.Items {
			if item.Text() == "null" {
				*of = *of.Items[1-i]
				return true
			}
		}
	}
	if branch := nullable(s); branch != nil {
		s.Get("anyOf").Items = []*jsontree.Node{branch}
		return true
	}
	return false
}
