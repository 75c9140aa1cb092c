package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The revisions the server speaks. They are dates, so strings compare as they do.
const (
	modernRevision     = "2026-07-28"
	newestLegacy       = "2025-11-25"
	batchRevision      = "2025-03-26" // the only one in which an array is a legal frame
	structuredRevision = "2025-06-18" // the first with outputSchema and structuredContent
)

var legacyRevisions = []string{newestLegacy, structuredRevision, batchRevision, "2024-11-05"}

// The keys of a modern request's _meta that carry what the handshake used to.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

const (
	codeParseError         = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeResourceNotFound   = -32002 // legacy only; 2026-07-28 says invalid params
	codeUnsupportedVersion = -32022
)

// rpcError is the error member of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

func fail(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// response answers one request. The id goes back as the bytes that came, since
// 1 and "1" are different ids; it is left out when it could not be read, and
// never null, which no revision of the schema allows.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

func failure(id json.RawMessage, err *rpcError) *response {
	return &response{JSONRPC: "2.0", ID: id, Error: err}
}

// request is a request of the client; its ids count from 1.
type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// implementation is what clientInfo and serverInfo hold.
type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// writeFrame writes v as one line with one Write. HTML escapes stay off: they
// would make frames longer than other SDKs' for no reader's benefit.
func writeFrame(w io.Writer, v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding a frame: %w", err)
	}
	if _, err := w.Write(line.Bytes()); err != nil {
		return fmt.Errorf("writing a frame: %w", err)
	}
	return nil
}

// object is a JSON object by its exact member names. Decoding into structs would
// match them in any letter case, and a server that takes "Method" for "method"
// is no reference for anything.
type object map[string]json.RawMessage

var errNotObject = errors.New("not a JSON object")

func parseObject(raw []byte) (object, error) {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, errNotObject
	}
	var o object
	err := json.Unmarshal(raw, &o)
	return o, err
}

func (o object) has(key string) bool {
	_, ok := o[key]
	return ok
}

func (o object) text(key string) (string, bool) {
	raw := o[key]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

func (o object) object(key string) (object, bool) {
	child, err := parseObject(o[key])
	return child, err == nil
}

type kind int

const (
	kindRequest kind = iota
	kindNotification
	kindResponse
)

// message is one JSON-RPC message as the server received it.
type message struct {
	kind   kind
	id     json.RawMessage
	method string
	params object
}

// parseMessage classifies a JSON text. With an error, the message still holds
// the id if there is one that an answer can carry.
func parseMessage(raw []byte) (message, *rpcError) {
	frame, err := parseObject(raw)
	if err != nil {
		return message{}, fail(codeInvalidRequest, "Invalid Request: not an object")
	}
	var m message
	if validID(frame["id"]) {
		m.id = frame["id"]
	}
	if !frame.has("method") {
		return m.withoutMethod(frame)
	}
	return m.withMethod(frame)
}

// withoutMethod lets anything that can be meant as an answer pass: answering an
// answer, even a malformed one, is how two peers start an endless exchange.
func (m message) withoutMethod(frame object) (message, *rpcError) {
	if !frame.has("result") && !frame.has("error") {
		return m, fail(codeInvalidRequest, "Invalid Request: no method")
	}
	m.kind = kindResponse
	return m, nil
}

func (m message) withMethod(frame object) (message, *rpcError) {
	var ok bool
	if m.method, ok = frame.text("method"); !ok {
		return m, fail(codeInvalidRequest, "Invalid Request: method is not a string")
	}
	m.params, ok = frame.object("params")
	if !frame.has("id") {
		m.kind = kindNotification
		return m, nil
	}
	switch version, _ := frame.text("jsonrpc"); {
	case m.id == nil:
		return m, fail(codeInvalidRequest, "Invalid Request: id is not a string or an integer")
	case version != "2.0":
		return m, fail(codeInvalidRequest, "Invalid Request: jsonrpc is not \"2.0\"")
	case frame.has("params") && !ok:
		return m, fail(codeInvalidParams, "Invalid params: not an object")
	}
	return m, nil
}

// validID accepts strings and integers. A number with a fraction or an exponent
// is refused by its spelling, whatever its value, so that no id is ever rounded.
func validID(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return false
	}
	return raw[0] == '"' || !slices.ContainsFunc(raw, func(b byte) bool {
		return (b < '0' || b > '9') && b != '-'
	})
}
