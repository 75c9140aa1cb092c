package jsontree

import (
	"strconv"
	"strings"
)

// A Path leads from a document's root to a value.
type Path []string

// Pointer is the path as a JSON pointer (RFC 6901).
func (p Path) Pointer() string {
	var b strings.Builder
	for _, tok := range p {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(tok))
	}
	return b.String()
}

// Where the schemas inside a schema stand, in every draft up to 2020-12.
var (
	one  = set("items", "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties")
	list = set("allOf", "anyOf", "items", "oneOf", "prefixItems")
	dict = set("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
)

func set(keys ...string) map[string]bool {
	m := make(map[string]bool, len(keys))
	for _, k := range keys {
		m[k] = true
	}
	return m
}

// Walk visits a schema and every schema inside it, those before these, with the
// path to each. References are not followed. The path is valid during the visit
// only. What visit changes in a schema is what is walked on into.
func Walk(root *Node, visit func(at Path, schema *Node)) { walk(root, Path{}, visit) }

func walk(n *Node, at Path, visit func(Path, *Node)) {
	if n == nil || n.Kind != Object {
		return
	}
	visit(at, n)
	for i := range n.Members {
		m := &n.Members[i]
		at = append(at, m.Key)
		switch {
		case one[m.Key] && m.Value.Kind == Object:
			walk(m.Value, at, visit)
		case list[m.Key] && m.Value.Kind == Array:
			for k, item := range m.Value.Items {
				walk(item, append(at, strconv.Itoa(k)), visit)
			}
		case dict[m.Key] && m.Value.Kind == Object:
			for k := range m.Value.Members {
				walk(m.Value.Members[k].Value, append(at, m.Value.Members[k].Key), visit)
			}
		}
		at = at[:len(at)-1]
	}
}
