package decode

import (
	"hash/maphash"

	"github.com/mcptap/mcptap/tap"
)

// A Peer is one end of the wire as it names itself.
type Peer struct {
	Name, Version, Title string // text from the outside
	Frame                int    // where it was first said
	Where                string // the member it stood in
}

// maxPeers is the most identities kept of one end; more are nobody's identity.
const maxPeers = 64

// peers are the identities of both ends and what their bytes give away.
type peers struct {
	clients, servers []Peer
	known            map[uint64]bool // hashes of identities taken
	traits           [2]traits       // of client and server
}

// observe learns what a message shows about its sender without saying it.
func (o *peers) observe(p *peek, in incoming) {
	if in.dir == tap.C2S || in.dir == tap.S2C {
		o.traits[in.dir-tap.C2S].observe(p)
	}
}

func (o *peers) add(to *[]Peer, b []byte, v span, frame int, where string) {
	if !isObject(b, v) || len(*to) >= maxPeers {
		return
	}
	h := maphash.Bytes(valueSeed, v.of(b)) + uint64(where[0])
	if o.known[h] {
		return
	}
	if o.known == nil {
		o.known = map[uint64]bool{}
	}
	if len(o.known) < 16*maxPeers {
		o.known[h] = true
	}
	p := Peer{Name: short(b, v, "name"), Version: short(b, v, "version"), Title: short(b, v, "title"), Frame: frame, Where: where}
	for _, q := range *to {
		if q.Name == p.Name && q.Version == p.Version {
			return
		}
	}
	*to = append(*to, p)
}

// short is a text member cut to what a name can be.
func short(b []byte, v span, name string) string {
	s := text(b, member(b, v, name))
	return s[:min(len(s), 4*maxName)]
}

func (o *peers) addClient(p *peek, q *params, frame int) {
	o.add(&o.clients, p.body, q.client, frame, "initialize")
	o.add(&o.clients, p.body, q.meta.client, frame, "_meta")
}

// addServer takes serverInfo from the three places it travels in: the answer to
// initialize, _meta of any modern result, and (in drafts) the answer to a probe.
func (o *peers) addServer(p *peek, r *result, frame int) {
	o.add(&o.servers, p.body, r.server, frame, "result")
	o.add(&o.servers, p.body, r.meta.server, frame, "_meta")
}

// Clients and Servers give the identities seen so far: more than one means that
// the peer changed, or that several share the wire.
func (s *Session) Clients() []Peer { return append([]Peer(nil), s.peers.clients...) }

// Servers is to the server's end what Clients is to the client's.
func (s *Session) Servers() []Peer { return append([]Peer(nil), s.peers.servers...) }
