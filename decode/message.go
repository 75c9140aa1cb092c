package decode

import (
	"bytes"
	"strconv"

	"github.com/mcptap/mcptap/tap"
)

// Kind is what one frame is in JSON-RPC 2.0.
type Kind string

// The kinds of a frame.
const (
	Request      Kind = "request"
	Notification Kind = "notification"
	Result       Kind = "result"    // a response with a result
	Error        Kind = "error"     // a response with an error
	Batch        Kind = "batch"     // an array of the above (legal in revision 2025-03-26 only)
	Malformed    Kind = "malformed" // JSON, but no JSON-RPC message
	Stray        Kind = "stray"     // not JSON
	Log          Kind = "log"       // a line of standard error
	Cut          Kind = "cut"       // too long to be at hand, and its ends do not tell
	Body         Kind = "body"      // over HTTP: no message, but a page, a document, an acknowledgement
)

// A Message is the JSON-RPC meaning of a frame.
type Message struct {
	Kind    Kind
	Method  string    // requests and notifications
	ID      string    // as sent, quotation marks included; empty if there is none
	Code    int64     // of an Error
	Faults  Faults    // rules that it breaks
	Stray   StrayKind // of a Stray
	Members []Message // of a Batch, in order
}

// Parse classifies the body of a frame that is valid JSON. It looks at the
// members of the outermost object only, in one pass; of a batch, at those of each
// element.
func Parse(body []byte) Message {
	if in := whole(body); isArray(body, trim(body, in)) {
		return parseBatch(body, in)
	}
	p := look(body, whole(body))
	return p.message()
}

func parseBatch(body []byte, in span) Message {
	m := Message{Kind: Batch}
	tally := batchTally{}
	for w := walk(body, in); w.next(); {
		p := look(body, w.value)
		tally.add(&p)
		m.Members = append(m.Members, p.message())
	}
	m.Faults = tally.faults()
	return m
}

// batchTally finds out whether a batch has the form that revision 2025-03-26
// asks for (basic/index and basic/lifecycle).
type batchTally struct{ asks, answers, forbidden int }

func (t *batchTally) add(p *peek) {
	switch p.kind {
	case kindRequest, kindNotification:
		t.asks++
		if is(p.body, p.method, "initialize") {
			t.forbidden++
		}
	case kindResult, kindError:
		t.answers++
	default:
		t.forbidden++
	}
}

func (t *batchTally) faults() Faults {
	if t.forbidden > 0 || (t.asks > 0) == (t.answers > 0) {
		return FaultBatch | FaultBatchForm
	}
	return FaultBatch
}

func trim(b []byte, in span) span { return span{skipSpace(b, in.from), in.to} }

// kind is Kind as one byte.
type kind uint8

const (
	kindMalformed kind = iota
	kindRequest
	kindNotification
	kindResult
	kindError
	kindBatch
	kindStray
	kindLog
	kindCut
	kindBody
)

var kinds = [...]Kind{Malformed, Request, Notification, Result, Error, Batch, Stray, Log, Cut, Body}

// A peek is what the outermost members of one message tell, as places in body.
type peek struct {
	body   []byte
	kind   kind
	faults Faults
	order  order

	version, id, method, params, result, failure span
}

// look classifies the message that lies at in.
func look(body []byte, in span) peek {
	p := peek{body: body}
	in = trim(body, in)
	if !isObject(body, in) {
		p.faults = FaultNoResult
		return p
	}
	for w := walk(body, in); w.next(); {
		p.take(w.name(), w.value)
	}
	p.classify()
	return p
}

func (p *peek) take(name []byte, v span) {
	var at *span
	switch string(name) {
	case "jsonrpc":
		at = &p.version
	case "id":
		at = &p.id
	case "method":
		at = &p.method
	case "params":
		at = &p.params
	case "result":
		at = &p.result
	case "error":
		at = &p.failure
	default:
		return
	}
	if at.there() {
		p.faults |= FaultDuplicate
	}
	*at = v
	p.order.add(name[0])
}

// classify follows section 4 of the JSON-RPC 2.0 specification. A member counts
// when it is there, whatever its value: 0 and "" are ids.
func (p *peek) classify() {
	if !is(p.body, p.version, "2.0") {
		p.faults |= FaultVersion
	}
	if p.method.there() {
		p.classifyAsk()
		return
	}
	p.classifyAnswer()
}

func (p *peek) classifyAsk() {
	switch {
	case !isString(p.body, p.method):
		p.faults |= FaultNoResult
		return
	case !p.id.there():
		p.kind = kindNotification
	case isNull(p.body, p.id):
		p.faults |= FaultIDNull
		return
	case !p.validID():
		return
	default:
		p.kind = kindRequest
	}
	if p.params.there() && !isObject(p.body, p.params) {
		p.faults |= FaultNoObject
	}
}

func (p *peek) classifyAnswer() {
	switch {
	case p.result.there() == p.failure.there():
		p.faults |= FaultNoResult
	case p.result.there():
		p.classifyResult()
	default:
		p.classifyError()
	}
}

func (p *peek) classifyResult() {
	if !p.validID() {
		return
	}
	p.kind = kindResult
	if !isObject(p.body, p.result) {
		p.faults |= FaultNoObject
	}
}

// classifyError allows an error without an id: its sender could not read the id
// of the request. JSON-RPC asks for null then, MCP for no member at all.
func (p *peek) classifyError() {
	switch {
	case !p.id.there():
	case isNull(p.body, p.id):
		p.faults |= FaultErrorID
	case !p.validID():
		return
	}
	p.kind = kindError
	code := member(p.body, p.failure, "code")
	if !isNumber(p.body, code) || !isInteger(code.of(p.body)) || !isString(p.body, member(p.body, p.failure, "message")) {
		p.faults |= FaultErrorForm
	}
}

// validID reports whether the id can join messages. A fractional number breaks
// a rule, but it still joins: it is compared as it was sent.
func (p *peek) validID() bool {
	raw := p.id.of(p.body)
	switch {
	case isString(p.body, p.id):
		return true
	case !isNumber(p.body, p.id):
		p.faults |= FaultIDType
		return false
	case !isInteger(raw):
		p.faults |= FaultIDType
	case len(raw) > 15 && !isSafe(raw):
		p.faults |= FaultBigNumber
	}
	return true
}

// isInteger reports whether a number is spelt as an integer: 1.0 is one by value
// in JSON Schema, but readers that compare spellings lose it.
func isInteger(raw []byte) bool { return len(raw) > 0 && !bytes.ContainsAny(raw, ".eE") }

func isSafe(raw []byte) bool {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && -1<<53 < n && n < 1<<53
}

func (p *peek) code() int64 {
	raw := member(p.body, p.failure, "code").of(p.body)
	if len(raw) > 32 {
		return 0
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < -1<<53 || f > 1<<53 {
		return 0
	}
	return int64(f)
}

func (p *peek) message() Message {
	m := Message{Kind: kinds[p.kind], ID: string(p.id.of(p.body)), Method: text(p.body, p.method), Faults: p.faults}
	if p.kind == kindError {
		m.Code = p.code()
	}
	return m
}

// ParseFrame is Parse for any frame: isJSON says whether body is JSON at all,
// isLog that it came over standard error.
func ParseFrame(body []byte, isJSON, isLog bool) Message {
	switch {
	case isLog:
		return Message{Kind: Log}
	case !isJSON:
		return Message{Kind: Stray, Stray: Classify(body), Faults: FaultNotJSON}
	}
	return Parse(body)
}

// ParseCarried is ParseFrame for a frame as it stands in a journal, without what a
// [Session] knows besides. Over HTTP what is no message is a body, and no stray.
func ParseCarried(f *tap.Frame) Message {
	named := f.SSE != nil && f.SSE.Event != "" && f.SSE.Event != "message"
	switch {
	case f.HTTP != nil && (named || f.HTTP.Masked || !f.JSON || !isRPC(f)):
		return Message{Kind: Body}
	case f.Digest != nil && f.JSON:
		return ParseHead([]byte(f.Digest.Head))
	}
	return ParseFrame(f.Body, f.JSON, f.Dir == tap.Stderr)
}

// ParseHead is Parse for the beginning of a body that is valid JSON as a whole.
func ParseHead(head []byte) Message { return ParseEnds(head, nil) }

// ParseEnds is Parse for the beginning and the end of a body that is valid JSON
// as a whole: many senders put the id of a response last.
func ParseEnds(head, tail []byte) Message {
	p := lookEnds(head, tail)
	return p.message()
}
