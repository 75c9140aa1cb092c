package decode

import (
	"unsafe"

	"github.com/tidwall/gjson"
)

// Kind is what one frame is in JSON-RPC 2.0 (protocol revision notes: MCP allows
// batches in 2025-03-26 only).
type Kind string

// The kinds of a frame.
const (
	Request      Kind = "request"
	Notification Kind = "notification"
	Result       Kind = "result"    // a response with a result
	Error        Kind = "error"     // a response with an error
	Batch        Kind = "batch"     // an array of the above
	Malformed    Kind = "malformed" // JSON, but no JSON-RPC message
	Stray        Kind = "stray"     // not JSON
	Log          Kind = "log"       // a line of standard error
	Cut          Kind = "cut"       // too long to be at hand, and its beginning does not tell
)

// A Message is the JSON-RPC meaning of a frame.
type Message struct {
	Kind   Kind
	Method string // requests and notifications
	ID     string // as sent, quotation marks included; empty if there is none
	Code   int64  // of an Error
}

// Parse classifies the body of a frame that is valid JSON. It looks at the
// members of the outermost object only, in one pass.
func Parse(body []byte) Message {
	// Parse and ForEach only look: no part of body outlives the call but as a
	// copy, so the conversion is safe.
	v := gjson.Parse(unsafe.String(unsafe.SliceData(body), len(body)))
	switch {
	case v.IsArray():
		return Message{Kind: Batch}
	case !v.IsObject():
		return Message{Kind: Malformed}
	}
	var m members
	v.ForEach(m.take)
	return m.classify()
}

// members are the members of a message that tell its kind.
type members struct {
	method, id, result, failure gjson.Result
}

func (m *members) take(key, value gjson.Result) bool {
	switch key.Str {
	case "method":
		m.method = value
	case "id":
		m.id = value
	case "result":
		m.result = value
	case "error":
		m.failure = value
	}
	return true
}

// classify follows section 4 of the JSON-RPC 2.0 specification. A member counts
// when it is there, whatever its value: 0 and "" are ids.
func (m *members) classify() Message {
	msg := Message{Kind: Malformed, ID: clone(m.id.Raw)}
	validID := m.id.Type == gjson.String || m.id.Type == gjson.Number
	switch {
	case m.method.Exists():
		if m.method.Type != gjson.String {
			return msg
		}
		msg.Method = clone(m.method.Str)
		switch {
		case !m.id.Exists():
			msg.Kind = Notification
		case validID:
			msg.Kind = Request
		}
	case m.result.Exists() && m.failure.Exists():
	case m.result.Exists() && validID:
		msg.Kind = Result
	case m.failure.Exists() && (validID || m.id.Type == gjson.Null): // null, or left out
		msg.Kind, msg.Code = Error, m.failure.Get("code").Int()
	}
	return msg
}

func clone(s string) string { return string([]byte(s)) }

// ParseFrame is Parse for any frame: isJSON says whether body is JSON at all,
// isLog that it came over standard error.
func ParseFrame(body []byte, isJSON, isLog bool) Message {
	switch {
	case isLog:
		return Message{Kind: Log}
	case !isJSON:
		return Message{Kind: Stray}
	}
	return Parse(body)
}

// ParseHead is Parse for the beginning of a body that is valid JSON as a whole.
func ParseHead(head []byte) Message {
	m := Parse(head)
	if m.Kind == Malformed {
		m.Kind = Cut
	}
	return m
}
