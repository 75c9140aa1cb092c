package decode

import "github.com/mcptap/mcptap/tap"

// postOf gives the exchange of a response that stands in the answer to a POST of
// Streamable HTTP: only a request of that POST can be what it answers
// (basic/transports). It is nil where other messages say what was asked: on stdio, in
// a stream that the client opened or resumed with GET, on that of HTTP+SSE, in the
// body of a request, and where what the POST carried was not recorded.
func (s *Session) postOf(in incoming) *exchange {
	c := s.web.at(in.frame)
	if c == nil || in.dir != tap.S2C {
		return nil
	}
	x := s.web.exchanges.at(int(c.exchange) - 1)
	unknown := x.sent == SentNothing || x.sent == SentBatch // alone: a batch that was too long to keep
	if x.bits&exOldPost != 0 || unknown || s.web.words.name(x.verb) != verbPost {
		return nil
	}
	return x
}

// maxOwn is how many requests of a batch are looked through for one whose id a later
// exchange has used again.
const maxOwn = 1 << 10

// askedIn finds the call of an exchange with that id, the oldest open one if there are
// several, and whether it is open.
func (s *Session) askedIn(x *exchange, l lane, raw []byte) (c uint32, known, open bool) {
	newest, ok := s.find(l, raw)
	if !ok {
		return 0, false, false
	}
	if c, open = s.oldest(newest); open && x.asks(c) {
		s.dequeue(newest)
		return c, true, true
	}
	if x.calls > 1 && !open && x.asks(newest) {
		return newest, true, false
	}
	for i := range min(x.calls, maxOwn) {
		at := x.call - 1 + i
		if !s.isAt(at, l, raw) {
			continue
		}
		c, known = at, true
		if s.calls.at(int(at)).response == 0 {
			return at, true, true
		}
	}
	return c, known, false
}

// asks reports whether a call was asked in the exchange.
func (x *exchange) asks(c uint32) bool { return x.calls > 0 && c+1 >= x.call && c+1 < x.call+x.calls }
