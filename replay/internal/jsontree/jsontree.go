// Package jsontree holds a JSON text as a tree that can be changed and written
// again: members stay in their order, and numbers and strings as they were spelt.
// It also knows where in a JSON Schema other schemas stand.
//
// It promises to read nothing beyond its bounds, and to write compact JSON that
// has the value it read. It must not follow references, so no schema is endless.
package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
)

// Bounds of what is read: bytes, nesting, values.
const (
	MaxBytes = 1 << 20
	MaxDepth = 100
	MaxNodes = 50_000
)

// Kind is what a node is.
type Kind uint8

// The kinds of nodes. A scalar is a string, a number, true, false or null.
const (
	Scalar Kind = iota
	Object
	Array
)

// A Node is one value.
type Node struct {
	Kind    Kind
	Raw     string // of a scalar, as it was spelt
	Members []Member
	Items   []*Node
}

// A Member is one member of an object.
type Member struct {
	Key   string
	Raw   string // the key as it was spelt, quotation marks included
	Value *Node
}

// Errors of Parse.
var (
	ErrSyntax = errors.New("it is not JSON")
	ErrTwice  = errors.New("an object has a member twice")
)

// Parse reads one JSON text within the bounds. An object with a member twice is
// refused: nobody knows which one counts.
func Parse(raw []byte) (*Node, error) {
	switch {
	case len(raw) > MaxBytes:
		return nil, fmt.Errorf("it has %d bytes, more than are looked at", len(raw))
	case decode.Depth(raw) > MaxDepth:
		return nil, errors.New("it is nested too deeply to be looked at")
	case !gjson.ValidBytes(raw):
		return nil, ErrSyntax
	}
	left := MaxNodes
	return build(gjson.ParseBytes(raw), &left)
}

var errNodes = errors.New("it has too many values to be looked at")

func build(v gjson.Result, left *int) (n *Node, err error) {
	if *left--; *left < 0 {
		return nil, errNodes
	}
	switch {
	case v.IsObject():
		return buildObject(v, left)
	case v.IsArray():
		n = &Node{Kind: Array}
		v.ForEach(func(_, item gjson.Result) bool {
			var child *Node
			child, err = build(item, left)
			n.Items = append(n.Items, child)
			return err == nil
		})
		return n, err
	}
	return &Node{Raw: strings.TrimSpace(v.Raw)}, nil
}

func buildObject(v gjson.Result, left *int) (n *Node, err error) {
	n = &Node{Kind: Object}
	seen := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		if seen[key.Str] {
			err = ErrTwice
			return false
		}
		seen[key.Str] = true
		var child *Node
		child, err = build(value, left)
		n.Members = append(n.Members, Member{key.Str, key.Raw, child})
		return err == nil
	})
	return n, err
}

// Append writes a value as compact JSON.
func (n *Node) Append(dst []byte) []byte {
	switch n.Kind {
	case Object:
		dst = append(dst, '{')
		for i := range n.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, n.Members[i].Raw...), ':')
			dst = n.Members[i].Value.Append(dst)
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.Append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.Raw...)
}

// Get gives a member's value; nil if there is none.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	if i := n.index(key); i >= 0 {
		return n.Members[i].Value
	}
	return nil
}

func (n *Node) index(key string) int {
	return slices.IndexFunc(n.Members, func(m Member) bool { return m.Key == key })
}

// Delete takes a member away.
func (n *Node) Delete(key string) {
	if i := n.index(key); i >= 0 {
		n.Members = slices.Delete(n.Members, i, i+1)
	}
}

// IsString reports whether the value is a string.
func (n *Node) IsString() bool { return n != nil && n.Kind == Scalar && strings.HasPrefix(n.Raw, `"`) }

// IsNull reports whether the value is null.
func (n *Node) IsNull() bool { return n != nil && n.Kind == Scalar && n.Raw == "null" }

// Text is a string's text; empty for anything else.
func (n *Node) Text() string {
	if !n.IsString() {
		return ""
	}
	return gjson.Parse(n.Raw).Str
}

// SetText replaces a string's text. It reports false, and changes nothing, where
// the old text can't be read without loss (lone halves of surrogate pairs).
func (n *Node) SetText(s string) bool {
	if strings.ContainsRune(n.Text(), utf8.RuneError) {
		return false
	}
	n.Raw = Quote(s)
	return true
}

// Quote writes a text as a JSON string, with no escapes but those that are needed.
func Quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}
