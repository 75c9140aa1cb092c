package filter

import "strings"

// node is a part of a parsed filter.
type node interface {
	write(b *strings.Builder, within *join)
}

// join is "and" or "or" over two or more parts; no part of it is the same join.
type join struct {
	or    bool
	parts []node
}

type negation struct{ of node }

// term is one question. Which of its members count depends on the field's kind.
type term struct {
	field *Field
	value pattern

	// Of a number: how it is compared, with what, and how that was written.
	compare compare
	number  int64

	// Of a path: the path; value only if hasValue.
	path     string
	hasValue bool
}

// joined joins parts, taking apart those that are the same join.
func joined(or bool, parts []node) node {
	if len(parts) == 1 {
		return parts[0]
	}
	j := &join{or: or}
	for _, p := range parts {
		if same, ok := p.(*join); ok && same.or == or {
			j.parts = append(j.parts, same.parts...)
		} else {
			j.parts = append(j.parts, p)
		}
	}
	return j
}

func (j *join) write(b *strings.Builder, within *join) {
	bracket := within != nil && !within.or // an or inside an and
	word := " and "
	if j.or {
		word = " or "
	}
	if bracket {
		b.WriteByte('(')
	}
	for i, p := range j.parts {
		if i > 0 {
			b.WriteString(word)
		}
		p.write(b, j)
	}
	if bracket {
		b.WriteByte(')')
	}
}

// write puts every join below a not in brackets: not binds closest.
func (n *negation) write(b *strings.Builder, _ *join) {
	b.WriteString("not ")
	n.of.write(b, &join{})
}

func (t *term) write(b *strings.Builder, _ *join) {
	b.WriteString(t.field.Name)
	switch {
	case t.field.Numeric():
		b.WriteString(compareSigns[t.compare] + t.value.text)
	case t.field.kind == gjsonish:
		b.WriteString(":" + quotePath(t.path))
		if t.hasValue {
			b.WriteString("=" + t.value.String())
		}
	default:
		b.WriteString(":" + t.value.String())
	}
}

// quotePath writes a path so that the parser reads it as it stands.
func quotePath(path string) string {
	if _, end, open := barePath(path, 0); !open && end == len(path) && path != "" && path[0] != '"' && path[0] != '\'' {
		return path
	}
	return `"` + quotes.Replace(path) + `"`
}
