// Package wire reads members out of the bodies of frames, for the packages of
// replay.
//
// It promises never to panic and to leave bytes as they are. It reads a member
// that is there twice as JSON.parse does: the last one counts.
package wire

import (
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"
)

// A Value is a JSON value and where it stands in its frame.
type Value struct {
	gjson.Result
	Path string // JSON pointer (RFC 6901) from the body's root
}

// Root is the whole of a body. The value shares its bytes, which may not change.
func Root(body []byte) Value { return Value{Result: gjson.Parse(String(body))} }

// String gives bytes that do not change as a string, without a copy.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Message finds the message of a call in a body: the body itself, or the member of
// a batch that has the call's id. response tells which of the two is looked for.
func Message(body []byte, id string, response bool) Value {
	root := Root(body)
	if !root.IsArray() {
		return root
	}
	for _, m := range root.Items() {
		if m.Get("id").Raw == id && m.Get("method").Exists() != response {
			return m
		}
	}
	return Value{Path: "/0"}
}

// Get gives a member of an object; a value that does not exist if there is none.
func (v Value) Get(name string) Value {
	out := Value{Path: v.Path + "/" + Escape(name)}
	if v.IsObject() {
		v.ForEach(func(k, m gjson.Result) bool {
			if k.Str == name {
				out.Result = m
			}
			return true
		})
	}
	return out
}

// At follows member names.
func (v Value) At(names ...string) Value {
	for _, n := range names {
		v = v.Get(n)
	}
	return v
}

// Items gives the elements of an array; nil of anything else.
func (v Value) Items() (out []Value) {
	if !v.IsArray() {
		return nil
	}
	v.ForEach(func(_, m gjson.Result) bool {
		out = append(out, Value{m, v.Path + "/" + strconv.Itoa(len(out))})
		return true
	})
	return out
}

// Members gives the names of an object and their values, in order.
func (v Value) Members() (names []string, values []Value) {
	if !v.IsObject() {
		return nil, nil
	}
	v.ForEach(func(k, m gjson.Result) bool {
		names = append(names, k.Str)
		values = append(values, Value{m, v.Path + "/" + Escape(k.Str)})
		return true
	})
	return names, values
}

// Text gives a string value; "" of anything else.
func (v Value) Text() string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// There reports a value that exists and is not null.
func (v Value) There() bool { return v.Exists() && v.Type != gjson.Null }

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// Escape makes a member name part of a JSON pointer.
func Escape(name string) string { return escaper.Replace(name) }
