package decode

import (
	"bytes"

	"github.com/mcptap/mcptap/tap"
)

// order holds the order of the outermost members of a message, by their first
// letters (jsonrpc, id, method, params, result, error): SDKs differ in it.
type order struct {
	letters [6]byte
	n       uint8
}

func (o *order) add(letter byte) {
	if int(o.n) < len(o.letters) {
		o.letters[o.n] = letter
		o.n++
	}
}

func (o *order) is(s string) bool { return string(o.letters[:o.n]) == s }

// traits is what the first messages of one end look like.
type traits struct {
	request, response order
	firstID           string
	escapes           bool // < > & written as \u003c \u003e \u0026
	initParams        bool // notifications/initialized has params
	falseError        bool // isError: false is written out
	metaFirst         bool // _meta leads params that have other members
	metaLast          bool
	probeID           bool
	messages          int
}

// maxTraits is how many messages of one end are looked at.
const maxTraits = 64

var goEscapes = [][]byte{[]byte(`\u003c`), []byte(`\u003e`), []byte(`\u0026`)}

func (t *traits) observe(p *peek) {
	if t.messages >= maxTraits {
		return
	}
	t.messages++
	switch p.kind {
	case kindRequest:
		t.observeRequest(p)
	case kindResult:
		if t.response.n == 0 {
			t.response = p.order
		}
		t.falseError = t.falseError || string(member(p.body, p.result, "isError").of(p.body)) == "false"
	case kindNotification:
		if is(p.body, p.method, "notifications/initialized") {
			t.initParams = p.params.there()
		}
	}
	head := p.body[:min(len(p.body), 4<<10)]
	for _, e := range goEscapes {
		t.escapes = t.escapes || bytes.Contains(head, e)
	}
}

func (t *traits) observeRequest(p *peek) {
	raw := p.id.of(p.body)
	if t.firstID == "" {
		t.firstID = string(raw[:min(len(raw), 64)])
	}
	t.probeID = t.probeID || bytes.HasPrefix(raw, []byte(`"server-discover-probe-`))
	if p.params.there() && t.request.n == 0 {
		t.request = p.order
	}
	n, at := 0, -1
	for w := walk(p.body, p.params); p.params.there() && w.next(); n++ {
		if string(w.name()) == "_meta" {
			at = n
		}
	}
	t.metaFirst = t.metaFirst || at == 0 && n > 1
	t.metaLast = t.metaLast || at > 0 && at == n-1
}

// A Guess is something worked out, with what it rests on.
type Guess struct{ Value, Reason string }

// ClientSDK guesses what the client was written with.
func (s *Session) ClientSDK() Guess { return s.peers.traits[0].client() }

// ServerSDK guesses what the server was written with.
func (s *Session) ServerSDK() Guess { return s.peers.traits[tap.S2C-tap.C2S].server() }

// The habits below are those of the official SDKs (Go 1.8, TypeScript 2.4,
// Python 2.0).
func (t *traits) client() Guess {
	switch {
	case t.probeID:
		return Guess{"TypeScript SDK", "its probe has the id server-discover-probe-N"}
	case t.request.is("mpji"), t.request.is("mjip"):
		return Guess{"TypeScript SDK", "its requests begin with method"}
	case t.request.is("jimp") && t.initParams:
		return Guess{"Go SDK", "notifications/initialized has params, and requests begin with jsonrpc, id, method"}
	case t.request.is("jimp") && t.escapes:
		return Guess{"Go SDK", "it escapes <, > and &"}
	case t.request.is("jimp") && t.metaFirst:
		return Guess{"Go SDK", "_meta comes first in params, and requests begin with jsonrpc, id, method"}
	case t.request.is("jimp") && t.metaLast:
		return Guess{"Python SDK", "_meta comes last in params, and requests begin with jsonrpc, id, method"}
	case t.request.is("jimp") && t.firstID == "1":
		return Guess{"Go or Python SDK", "its requests begin with jsonrpc, id, method, and ids with 1"}
	}
	return Guess{}
}

func (t *traits) server() Guess {
	switch {
	case t.response.is("rji"):
		return Guess{"TypeScript SDK", "its results begin with result and end with id"}
	case t.response.is("jir") && t.falseError:
		return Guess{"Python SDK", "it writes isError: false, and results begin with jsonrpc, id"}
	case t.response.is("jir") && t.escapes:
		return Guess{"Go SDK", "it escapes <, > and &, and results begin with jsonrpc, id"}
	case t.response.is("jir"):
		return Guess{"Go or Python SDK", "its results begin with jsonrpc, id"}
	}
	return Guess{}
}
