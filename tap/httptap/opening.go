package httptap

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// What a request is, as far as that tells which client sent it.
type requestKind uint8

const (
	notMCP      requestKind = iota // metadata, a token request, a page
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
}

// look tells what a request is from its head and the first bytes of its body.
func look(r *http.Request, body []byte) (o opening) {
	switch {
	case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		if r.Header.Get(sessionHeader) == "" && r.Header.Get("Mcp-Protocol-Version") == "" {
			o.kind = eventStream
			return o
		}
		o.kind = otherMCP
	case r.Header.Get(sessionHeader) != "":
		o.kind = otherMCP
	case r.Method == http.MethodPost && saysRPC(body):
		return lookAt(body)
	}
	return o
}

// lookAt reads a message, which may be cut off.
func lookAt(body []byte) opening {
	o := opening{kind: otherMCP}
	found := gjson.GetManyBytes(body, "method", "params.clientInfo", `params._meta.io\.modelcontextprotocol/clientInfo`)
	info := found[2]
	switch found[0].String() {
	case "initialize":
		o.kind, info = initialize, found[1]
	case "server/discover":
		o.kind = discover
	case "notifications/initialized":
		o.kind = initialized
	}
	if info.IsObject() {
		o.info = info.Get("name").String() + " " + info.Get("version").String()
	}
	return o
}
