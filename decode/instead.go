package decode

import (
	"fmt"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

// whatCame says what an exchange that ended in order had in place of the answer to
// its call.
func (s *Session) whatCame(x *exchange) string {
	c := s.cameIn(x)
	switch {
	case c.wrongType:
		return "the id of the answer has another JSON type"
	case c.strange:
		return "the answer has another id"
	case c.answers && x.calls > 1:
		return "the answer to the batch leaves it out"
	case x.bits&exStream != 0:
		return "the event stream ended without it"
	case c.body != 0:
		return fmt.Sprintf("HTTP %d with ", x.status) + s.bodyInstead(x, c.body-1)
	case c.some:
		return fmt.Sprintf("HTTP %d without an answer", x.status)
	}
	return fmt.Sprintf("HTTP %d without a message", x.status)
}

// came is what the server sent in one exchange.
type came struct {
	some      bool   // anything
	answers   bool   // a response, or several
	strange   bool   // one whose id nobody asked for
	wrongType bool   // one whose id fits but for its JSON type
	body      uint32 // frame + 1 of a body that is no message
}

func (s *Session) cameIn(x *exchange) (c came) {
	for at := x.newest; at != 0; at = s.web.carried.at(int(at) - 1).before {
		f := s.frames.at(int(at) - 1)
		if f.dir != tap.S2C {
			continue
		}
		c.some = true
		switch f.kind {
		case kindBatch:
			for i := s.batches[f.call].from; i < s.batches[f.call].to; i++ {
				m := s.parts.at(i)
				c.message(m.kind, m.bits)
			}
		case kindBody, kindStray, kindMalformed:
			c.body = at
		default:
			c.message(f.kind, f.bits)
		}
	}
	return c
}

func (c *came) message(k kind, bits frameBits) {
	if k != kindResult && k != kindError {
		return
	}
	c.answers = true
	c.strange = c.strange || bits&bitOrphan != 0
	c.wrongType = c.wrongType || bits&bitWrongID != 0
}

// bodyInstead says what a body is that should have been a message.
func (s *Session) bodyInstead(x *exchange, frame uint32) string {
	f, bits := s.frames.at(int(frame)), s.web.carried.at(int(frame)).bits
	media, _, _ := strings.Cut(s.web.heads.get(x.answer, "content-type"), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	coding := s.web.heads.get(x.answer, "content-encoding")
	switch {
	case coding != "" && !strings.EqualFold(coding, "identity") && bits&carriedDecoded == 0:
		return fmt.Sprintf("a body that could not be decoded (Content-Encoding: %s)", cutWord(coding))
	case media != "" && !strings.HasSuffix(media, "json"):
		return cutWord(media) + " instead of a message"
	case bits&carriedJSON != 0:
		return "JSON that is no message"
	}
	switch kind := strays[f.stray]; kind {
	case StrayBOM:
		return "a byte order mark before the message"
	case StrayEncoding:
		return "a body that is not UTF-8"
	default:
		return fmt.Sprintf("a body that is no JSON: %s", kind)
	}
}

// cutWord keeps what a header says to a length that a sentence bears.
func cutWord(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
