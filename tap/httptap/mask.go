package httptap

import "sync"

// A Masker takes secrets out of what is recorded of HTTP. Equal secrets have equal
// masks.
type Masker interface {
	// Header gives a header's value as it may be recorded.
	Header(name, value string) string
	// Target does so for a path with its query.
	Target(pathAndQuery string) string
	// Endpoint does so for the data of an event that is no message.
	Endpoint(data string) string
	// Body does so for a body that is no message of MCP.
	Body(contentType string, body []byte) (masked []byte, changed bool)
}

// maskCache keeps what a header was masked to: most are the same on every request.
// It is emptied when it is full.
type maskCache struct {
	mu    sync.Mutex
	known map[[2]string]string
}

const (
	maskCacheSize = 512
	maxCached     = 1 << 10 // of a value: what a client makes up must not fill the memory
)

func (c *maskCache) header(m Masker, name, value string) string {
	if len(name)+len(value) > maxCached {
		return m.Header(name, value)
	}
	key := [2]string{name, value}
	c.mu.Lock()
	masked, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return masked
	}
	masked = m.Header(name, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maskCacheSize {
		c.known = map[[2]string]string{}
	}
	c.known[key] = masked
	return masked
}
