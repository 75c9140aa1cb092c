package decode

import (
	"math"
	"net/url"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

const paramPrefix = "mcp-param-"

// keptHeaders are those that joins and rules need, by what has them.
var keptHeaders = map[string]bool{
	"accept": true, "authorization": true, "content-encoding": true, "content-type": true, "host": true, "last-event-id": true, "location": true,
	"mcp-method": true, "mcp-name": true, "mcp-protocol-version": true, "mcp-session-id": true, "origin": true,
	"www-authenticate": true, "x-accel-buffering": true,
}

// maxHeads is how many bytes of headers are kept, each different set once.
const maxHeads = 16 << 20

// heads keeps sets of headers: most exchanges of a session have the same.
type heads struct {
	ids  map[string]uint32
	sets [][][2]string
	size int
}

// keep gives the number of a set, 0 for the empty one.
func (h *heads) keep(headers [][2]string) uint32 {
	var key strings.Builder
	var set [][2]string
	for _, pair := range headers {
		name := strings.ToLower(pair[0])
		if keptHeaders[name] || strings.HasPrefix(name, paramPrefix) {
			set = append(set, [2]string{name, pair[1]})
			key.WriteString(name + "\x00" + pair[1] + "\x00")
		}
	}
	id, known := h.ids[key.String()]
	switch {
	case len(set) == 0 || known:
		return id
	case h.size+2*key.Len() > maxHeads:
		return elided
	case h.ids == nil:
		h.ids, h.sets = map[string]uint32{}, [][][2]string{nil}
	}
	h.size += 2 * key.Len()
	id = uint32(len(h.sets))
	h.sets, h.ids[key.String()] = append(h.sets, set), id
	return id
}

func (h *heads) set(id uint32) [][2]string {
	if int(id) < len(h.sets) {
		return h.sets[id]
	}
	return nil
}

func (h *heads) get(id uint32, name string) string {
	v, _ := find(h.set(id), name)
	return v
}

// pathOf is a target without its query.
func pathOf(target string) string {
	path, _, _ := strings.Cut(target, "?")
	return path
}

// endpointOf gives the target of the POSTs that an endpoint event asks for, as the
// one who requested the stream resolves it (basic/transports, 2024-11-05).
func endpointOf(stream, said string) string {
	base, err := url.Parse(stream)
	if err != nil {
		return said
	}
	u, err := url.Parse(strings.TrimSpace(said))
	if err != nil {
		return said
	}
	u = base.ResolveReference(u)
	if u.RawQuery == "" {
		return u.Path
	}
	return u.Path + "?" + u.RawQuery
}

// sameEndpoint compares by what identifies a session, should the path in front have
// been rewritten.
func queryOf(target string) string {
	_, query, _ := strings.Cut(target, "?")
	return query
}

// alien reports a path of authorization: metadata documents, and the endpoints that
// 2025-03-26 gives to servers without them (basic/authorization).
func alien(target string) bool {
	path := pathOf(target)
	if strings.Contains(path, "/.well-known/") {
		return true
	}
	switch path {
	case "/authorize", "/token", "/register":
		return true
	}
	return false
}

// maskStart is what masked values have in them (sessions/redact).
const maskStart = "«redacted"

// secretIn gives the length of the one value that is masked in a head: the head's
// length is that before masking. start is the length of its first line. It gives 0 if
// several are masked, or none.
func secretIn(m *tap.Exchange, start int) int32 {
	if strings.Contains(m.Target, maskStart) {
		return 0
	}
	masked, kept := 0, int64(start+len("\r\n"))
	for _, h := range m.Headers {
		kept += int64(len(h[0]) + len(": \r\n"))
		if strings.Contains(h[1], maskStart) {
			masked++
			continue
		}
		kept += int64(len(h[1]))
	}
	if n := m.Bytes - kept; masked == 1 && n > 0 && n <= math.MaxInt32 {
		return int32(n)
	}
	return 0
}
