package decode

import (
	"strings"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// An Exchange is one HTTP request and its answer, as far as they have come. Bodies
// and events are frames. Moments are -1 until they come.
type Exchange struct {
	Index  int
	Number uint32 // in the journal, from 1
	N      uint64 // of its first record

	Method, Target string // the request's; secrets in the target are masked
	Client         string // address of the connection
	Status         int    // 0 until an answer came
	By, Error      string // who ended it (tap.EndServer, ...), and why, as [PlainError] says it

	Start, Head, End time.Duration // the request's head, the answer's, the end

	MCP    bool    // its path is one that messages of MCP go to
	Old    bool    // it is of HTTP+SSE: the stream with an endpoint, or a POST to it
	Stream bool    // it was answered with an event stream
	Sent   Sent    // what was sent in the request's body
	Scope  Scope   // that its ids belong to; 0 if it carried no message and names no session
	Resume Resumed // by Last-Event-ID

	Call   int // the first request in it, -1 if none
	Calls  int // how many requests there were: several in a batch
	Frames int // bodies and events with data

	HeadUp, HeadDown int64 // lengths of the two heads, as HTTP/1.1 writes them
	// SecretUp and SecretDown are the lengths of the values that are masked in the two
	// heads, where that can be told: there is only one in the head. Else they are 0.
	SecretUp, SecretDown int64
	Up, Down             int64 // lengths of the two bodies on the wire; known at the end
	Framing              int64 // bytes of its event stream that are no frame: fields, comments, blank lines

	Endpoint string        // what an endpoint event said (HTTP+SSE)
	First    string        // name of the stream's first event that is not empty: "message", "endpoint", ...
	EventID  bool          // the stream had an event with an id
	Retry    time.Duration // the last retry that the stream asked for, -1 if none
	Quiet    time.Duration // the longest silence of the stream, comments included as far as they are known

	// Known says that the headers are at hand: too many different ones are not kept.
	Known           bool
	request, answer [][2]string
}

// Sent is what kind of messages the body of a request had.
type Sent uint8

// What a request's body can have.
const (
	SentNothing       Sent = 0
	SentRequest       Sent = 1 << iota // a request
	SentNotification                   // a notification
	SentResponse                       // a response
	SentBatch                          // they came in an array
	SentBroken                         // what should have been a message
	SentSeveralBodies                  // several frames, which no body has
)

// Has reports whether all of b are in s.
func (s Sent) Has(b Sent) bool { return s&b == b }

// Resumed is a stream that goes on where another stopped.
type Resumed struct {
	Asked    bool // there was a Last-Event-ID
	Exchange int  // the one whose event it names, -1 if none is known
}

// Header gives a header of the request: those that rules know by name, which are
// Accept, Content-Type, Authorization, Origin, Host, Last-Event-ID and those of MCP.
func (x *Exchange) Header(name string) (value string, ok bool) { return find(x.request, name) }

// Answer gives a header of the answer: Content-Type, Content-Encoding,
// WWW-Authenticate, Location, X-Accel-Buffering and Mcp-Session-Id.
func (x *Exchange) Answer(name string) (value string, ok bool) { return find(x.answer, name) }

// Params gives the Mcp-Param-* headers of the request, their names in lower case.
func (x *Exchange) Params() (out [][2]string) {
	for _, h := range x.request {
		if strings.HasPrefix(h[0], paramPrefix) {
			out = append(out, h)
		}
	}
	return out
}

func find(headers [][2]string, name string) (string, bool) {
	name = strings.ToLower(name)
	for _, h := range headers {
		if h[0] == name {
			return h[1], true
		}
	}
	return "", false
}

// exchange is the index entry of one exchange.
type exchange struct {
	n                                   uint64
	start, head, end, active, quiet     time.Duration
	headUp, headDown, up, down, framing int64
	decoded                             int64 // bytes of a compressed stream
	secretUp, secretDown                int32

	number               uint32
	verb, target, client uint32
	endpoint, first      uint32
	reason               uint32
	request, answer      uint32 // sets of headers
	call, calls          uint32 // index + 1
	frames, newest       uint32 // newest: frame + 1
	resumes              uint32 // exchange + 1
	scope                Scope
	retry                int32 // milliseconds, -1 if none
	status               int16
	sent                 Sent
	by                   uint8
	bits                 exchangeBits
}

type exchangeBits uint8

const (
	exStream exchangeBits = 1 << iota
	exEventID
	exResume  // it has a Last-Event-ID
	exAlien   // its path is one of authorization
	exOldPost // a POST of HTTP+SSE: its answer comes on the stream
	exRPC     // it carried a message, or might have
)

var enders = [...]string{"", tap.EndServer, tap.EndClient, tap.EndBroken, tap.EndTap}

// Exchanges is how many HTTP exchanges there are; 0 on stdio.
func (s *Session) Exchanges() int { return s.web.exchanges.n }

// Exchange gives the exchange of that index as it stands now.
func (s *Session) Exchange(i int) Exchange {
	e := s.web.exchanges.at(i)
	w := &s.web
	x := Exchange{
		Index: i, Number: e.number, N: e.n, Method: w.words.name(e.verb), Target: w.words.name(e.target), Client: w.words.name(e.client),
		Status: int(e.status), By: enders[e.by], Error: w.words.name(e.reason), Start: e.start, Head: e.head, End: e.end,
		Stream: e.bits&exStream != 0, Sent: e.sent, Scope: e.scope, Resume: Resumed{e.bits&exResume != 0, int(e.resumes) - 1},
		Call: int(e.call) - 1, Calls: int(e.calls), Frames: int(e.frames),
		HeadUp: e.headUp, HeadDown: e.headDown, SecretUp: int64(e.secretUp), SecretDown: int64(e.secretDown), Up: e.up, Down: e.down, Framing: e.framing,
		Endpoint: w.words.name(e.endpoint), First: w.words.name(e.first), EventID: e.bits&exEventID != 0,
		Retry: never, Quiet: e.quiet, Known: e.request != elided && e.answer != elided,
		request: w.heads.set(e.request), answer: w.heads.set(e.answer),
	}
	x.Old = e.bits&exOldPost != 0 || e.endpoint != 0
	if e.retry >= 0 {
		x.Retry = time.Duration(e.retry) * time.Millisecond
	}
	x.MCP = e.bits&exAlien == 0 && (e.bits&exRPC != 0 || w.paths[pathOf(x.Target)])
	return x
}

// ExchangeFrames gives the frames of an exchange, in order.
func (s *Session) ExchangeFrames(i int) []int {
	e := s.web.exchanges.at(i)
	out := make([]int, e.frames)
	for k, f := len(out)-1, e.newest; k >= 0 && f != 0; k-- {
		out[k] = int(f) - 1
		f = s.web.carried.at(int(f) - 1).before
	}
	return out
}

// HTTPBytes are what HTTP adds to the frames of a call or of a session, by direction
// (an index is a tap.Dir). Heads are those of the exchanges that the client's frames
// went in; a stream that serves many calls belongs to none of them.
type HTTPBytes struct {
	Heads   [tap.Stderr + 1]int64
	Framing [tap.Stderr + 1]int64 // of event streams: fields, comments, blank lines, events without a message
}

// Total is all of it.
func (b *HTTPBytes) Total() (n int64) {
	for d := range b.Heads {
		n += b.Heads[d] + b.Framing[d]
	}
	return n
}

// Add adds another account.
func (b *HTTPBytes) Add(o *HTTPBytes) {
	for d := range b.Heads {
		b.Heads[d] += o.Heads[d]
		b.Framing[d] += o.Framing[d]
	}
}

// FrameBytes sums up what HTTP adds to some frames: of a Leg, say. Each exchange
// counts once.
func (s *Session) FrameBytes(frames []int) (b HTTPBytes) {
	counted := map[uint32]bool{}
	for _, f := range frames {
		c := s.web.at(f)
		if c == nil {
			continue
		}
		dir := s.frames.at(f).dir
		b.Framing[dir] += int64(c.framing)
		if dir == tap.C2S && !counted[c.exchange] {
			counted[c.exchange] = true
			x := s.web.exchanges.at(int(c.exchange) - 1)
			b.Heads[tap.C2S] += x.headUp
			b.Heads[tap.S2C] += x.headDown
		}
	}
	return b
}
