package decode

import (
	"fmt"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

// endExchange tells that an HTTP exchange is over: requests that were asked in it
// and have no answer yet get none, as a rule. status is that of its answer, 0 if
// there was none. Where streams can be resumed, the answer may still come. In the
// modern era a client that closes the exchange cancels its request by that
// (basic/patterns/cancellation).
func (s *Session) endExchange(exchange uint32, status int, byClient bool) {
	x := s.web.exchanges.at(int(exchange) - 1)
	if x.bits&exEventID == 0 { // else its stream may be gone on with
		delete(s.exchanges, exchange)
	}
	for c := x.call; c != 0 && c < x.call+x.calls; c++ {
		s.unanswered(c-1, x, status, byClient)
	}
}

func (s *Session) unanswered(c uint32, x *exchange, status int, byClient bool) {
	e := s.calls.at(int(c))
	switch {
	case e.response != 0 || e.outcome != Open:
		return
	case x.bits&exOldPost != 0 && status < 300 && status > 0: // the answer comes on the stream
		return
	}
	s.finish(c)
	switch {
	case e.bits&callListen != 0 && status == 200:
	case byClient && e.era == Modern:
		e.outcome, e.bits = Cancelled, e.bits|callCancelled
	case status == unauthorized:
		e.outcome, e.code = Unauthorized, unauthorized
	default:
		e.outcome, e.code = TransportError, int32(min(max(status, 0), 999))
	}
}

// Statuses that ask for a token, as a connect begins as a rule, or for another one
// (basic/authorization).
const (
	unauthorized = 401
	forbidden    = 403
)

// refused takes an answer that was no answer to its call: that of a server which asks
// for a token first.
func (s *Session) refused(e *call, in incoming) {
	if in.where.exchange == 0 || e.outcome != ProtocolError || in.dir != tap.S2C {
		return
	}
	if i := int(in.where.exchange) - 1; i < s.web.exchanges.n && s.web.exchanges.at(i).status == unauthorized {
		e.outcome, e.code = Unauthorized, unauthorized
	}
}

// turnedAway reports a request that never came to the server, for want of a token or
// a scope: a client sends it once more as it was.
func (s *Session) turnedAway(c uint32) bool {
	e := s.calls.at(int(c))
	return e.outcome == Unauthorized || e.outcome == TransportError && e.code == forbidden
}

// exchangeOf is the exchange that a call was asked in; nil on stdio.
func (s *Session) exchangeOf(e *call) *exchange {
	if c := s.web.at(int(e.request)); c != nil {
		return s.web.exchanges.at(int(c.exchange) - 1)
	}
	return nil
}

// whyEnded says why a call whose exchange is over has no answer.
func (s *Session) whyEnded(x *exchange) string {
	reason := s.web.words.name(x.reason)
	if reason != "" {
		reason = ": " + strings.TrimPrefix(reason, "the answer broke off: ")
	}
	by := enders[x.by]
	switch {
	case x.status >= 300:
		return fmt.Sprintf("HTTP %d", x.status)
	case by == tap.EndClient:
		return "the client closed the connection first"
	case x.status == 0 && by == tap.EndTap:
		return "the tap gave no answer" + reason
	case x.status == 0:
		return "the server gave no answer" + reason
	case x.status == 202:
		return "HTTP 202, which answers notifications"
	case by == tap.EndTap:
		return "the tap ended the exchange" + reason
	case by == tap.EndBroken:
		return fmt.Sprintf("the answer (HTTP %d) broke off", x.status) + reason
	}
	return s.whatCame(x) + reason
}

// streamOver tells of a call of HTTP+SSE whose stream, on which its answer would have
// come, has ended, or of a listen whose own has.
func (s *Session) streamOver(e *call) (why string, over bool) {
	x := s.exchangeOf(e)
	if x == nil {
		return "", false
	}
	if i, ok := s.web.streams[e.scope]; ok && x.bits&exOldPost != 0 {
		x = s.web.exchanges.at(int(i))
	} else if e.bits&callListen == 0 {
		return "", false
	}
	if x.end == never {
		return "", false
	}
	return s.whyStreamEnded(x), true
}

func (s *Session) whyStreamEnded(x *exchange) string {
	switch enders[x.by] {
	case tap.EndClient:
		return "the client closed the event stream"
	case tap.EndBroken:
		return "the event stream broke off"
	case tap.EndTap:
		return "the tap ended the event stream"
	}
	return "the server ended the event stream"
}
