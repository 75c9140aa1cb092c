package httptap

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// What a request is, as far as that tells which client sent it.
type requestKind uint8

const (
	notMCP      requestKind = iota // metadata, a token request
	fromBrowser                    // a page that a person looks at
	initialize                     // opens a session of the revisions up to 2025-11-25
	discover                       // opens 2026-07-28, or asks for it
	eventStream                    // opens a stream without naming a session: HTTP+SSE
	initialized                    // the handshake goes on
	otherMCP
)

// An opening is what the beginning of a request told.
type opening struct {
	kind requestKind
	info string // the client's name and version, if the request says so

	decided bool // see session.decided
}

// opens reports a request that opens a session, or asks how to.
func (o *opening) opens() bool {
	return o.kind == initialize || o.kind == discover || o.kind == eventStream
}

// look tells what a request is from its head and the first bytes of its body. Those
// need not hold the member that every message has: it may stand last.
func look(r *http.Request, body []byte, atEndpoint bool) (o opening) {
	switch {
	case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		if r.Header.Get(sessionHeader) == "" && r.Header.Get("Mcp-Protocol-Version") == "" {
			o.kind = eventStream
			return o
		}
		o.kind = otherMCP
	case r.Header.Get(sessionHeader) != "":
		o.kind = otherMCP
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		o.kind = fromBrowser
	case r.Method == http.MethodPost && (saysRPC(body) || atEndpoint && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))):
		return lookAt(body)
	case r.Method == http.MethodPost && len(body) == 0 && r.Header.Get("Mcp-Method") != "":
		return opening{kind: kindOf(r.Header.Get("Mcp-Method"))} // a body that is still to come
	}
	return o
}

// lookAt reads a message, which may be cut off.
func lookAt(body []byte) opening {
	var o opening
	found := gjson.GetManyBytes(body, "method", "params.clientInfo", `params._meta.io\.modelcontextprotocol/clientInfo`)
	info := found[2]
	if o.kind = kindOf(found[0].String()); o.kind == initialize {
		info = found[1]
	}
	if info.IsObject() {
		o.info = info.Get("name").String() + " " + info.Get("version").String()
	}
	return o
}

func kindOf(method string) requestKind {
	switch method {
	case "initialize":
		return initialize
	case "server/discover":
		return discover
	case "notifications/initialized":
		return initialized
	}
	return otherMCP
}
