package claude

import (
	"bytes"
	"encoding/json"
)

// quote gives s as a JSON string, with nothing escaped that need not be.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string has no error
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// A writer puts an object or an array together of values that are JSON already, so
// that they keep their bytes.
type writer struct {
	b     []byte
	close byte
}

func object() *writer { return &writer{[]byte{'{'}, '}'} }
func array() *writer  { return &writer{[]byte{'['}, ']'} }

func (w *writer) comma() {
	if len(w.b) > 1 {
		w.b = append(w.b, ',')
	}
}

func (w *writer) raw(name string, value []byte) *writer {
	w.comma()
	w.b = append(append(append(w.b, quote(name)...), ':'), value...)
	return w
}

func (w *writer) str(name, value string) *writer { return w.raw(name, quote(value)) }

func (w *writer) add(value []byte) {
	w.comma()
	w.b = append(w.b, value...)
}

func (w *writer) end() []byte { return append(w.b, w.close) }

// textBlock is a text as a content block.
func textBlock(text string) []byte {
	return object().str("type", "text").str("text", text).end()
}

// mark is the text that stands for what this wire does not tell.
func mark(what string) string { return "[not on this wire: " + what + "]" }

// compact is a JSON value without insignificant white space.
func compact(raw string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(raw)) != nil {
		return raw
	}
	return b.String()
}
