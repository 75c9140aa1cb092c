package diff

import (
	"strings"

	"github.com/mcptap/mcptap/decode"
)

// HeadPart is what bytes of the heads of HTTP requests and answers were spent on.
type HeadPart uint8

// The parts of heads.
const (
	HeadMethod  HeadPart = iota // Mcp-Method
	HeadName                    // Mcp-Name
	HeadParams                  // Mcp-Param-*
	HeadVersion                 // MCP-Protocol-Version
	HeadSession                 // Mcp-Session-Id
	HeadAuth                    // Authorization
	HeadOther                   // all others, and the first line
	NumHeadParts
)

var headNames = [...]string{"Mcp-Method", "Mcp-Name", "Mcp-Param-*", "MCP-Protocol-Version", "Mcp-Session-Id", "Authorization", "other headers"}

func (p HeadPart) String() string { return headNames[p] }

// Heads are the bytes of HTTP heads by part, lines whole: name, colon, value and line
// end. They add up to the heads' lengths as HTTP/1.1 writes them. A value that is
// masked in the recording counts with its true length if it is the only such one in
// its head, and with the other headers if it is not. So does everything in heads
// whose headers are not kept.
type Heads [NumHeadParts]int64

// Total is the sum of all.
func (h *Heads) Total() (n int64) {
	for _, part := range h {
		n += part
	}
	return n
}

func (h *Heads) add(o Heads) {
	for i := range h {
		h[i] += o[i]
	}
}

// header is one header that is counted by its name.
type header struct {
	part        HeadPart
	name, value string
}

// headers that are counted by name, but for Mcp-Param-*.
var counted = [...]HeadPart{HeadMethod, HeadName, HeadVersion, HeadSession, HeadAuth}

func requestHeads(x *decode.Exchange) (out []header) {
	for _, p := range counted {
		if v, ok := x.Header(headNames[p]); ok {
			out = append(out, header{p, headNames[p], v})
		}
	}
	for _, h := range x.Params() {
		out = append(out, header{HeadParams, h[0], h[1]})
	}
	return out
}

func answerHeads(x *decode.Exchange) []header {
	if v, ok := x.Answer(headNames[HeadSession]); ok {
		return []header{{HeadSession, headNames[HeadSession], v}}
	}
	return nil
}

// headsOf shares out the bytes of one head. secret is the length of the one masked
// value in it, 0 if that is not known.
func headsOf(size, secret int64, named []header) (h Heads) {
	left := size
	for _, n := range named {
		value := int64(len(n.value))
		if isMasked(n.value) {
			value = secret
		}
		line := min(int64(len(n.name))+value+int64(len(": \r\n")), left)
		h[n.part] += line
		left -= line
	}
	h[HeadOther] = left
	return h
}

// isMasked reports a value that sessions/redact has masked.
func isMasked(value string) bool { return strings.Contains(value, "«redacted") }
