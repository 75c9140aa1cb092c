package httptap

import (
	"bytes"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/internal/jsontext"
)

// A collector gathers the bytes of one frame after the other: bodies, or the data
// of events. What outgrows the journal goes to a side file as it comes.
//
// Frames that it gave stay valid until reset.
type collector struct {
	// spill starts taking a frame that outgrew tap.MaxFrame, of which it is shown
	// the beginning.
	spill func(head []byte) *tap.Spill

	buf   []byte
	start int // of the unfinished frame in buf
	check jsontext.Checker
	large *tap.Spill
	some  bool // the unfinished frame has begun
}

// keepRoom is the largest buffer that is kept for the next frame.
const keepRoom = 256 << 10

func newCollector(spill func(head []byte) *tap.Spill) *collector {
	return &collector{spill: spill, check: jsontext.Checker{Breaks: true}}
}

// add takes the next bytes of the unfinished frame.
func (c *collector) add(b []byte) {
	c.some = true
	c.check.Feed(b)
	if c.large == nil && len(c.buf)-c.start+len(b) > tap.MaxFrame {
		c.large = c.spill(c.buf[c.start:])
		c.large.Add(c.buf[c.start:])
		c.buf = c.buf[:c.start]
	}
	if c.large != nil {
		c.large.Add(b)
		return
	}
	c.buf = append(c.buf, b...)
}

// complete reports that the unfinished frame is a whole JSON text.
func (c *collector) complete() bool { return c.some && c.check.Complete() }

// frame ends the frame. With cutEnd, a line end that closes it becomes its EOL.
func (c *collector) frame(dir tap.Dir, cutEnd bool) tap.Frame {
	f := tap.Frame{Dir: dir, EOL: tap.NoEOL, JSON: c.check.Valid()}
	if c.large != nil {
		f.Digest = c.large.Digest()
		c.large = nil
	} else {
		f.Body = c.buf[c.start:len(c.buf):len(c.buf)]
		if cutEnd {
			f.Body, f.EOL = withoutEnd(f.Body)
		}
		c.start = len(c.buf)
	}
	c.check.Reset()
	c.some = false
	return f
}

// reset makes room again: frames given before are void.
func (c *collector) reset() {
	rest := c.buf[c.start:]
	if cap(c.buf) > keepRoom && len(rest) == 0 {
		c.buf = nil
	} else {
		c.buf = c.buf[:copy(c.buf, rest)]
	}
	c.start = 0
}

func withoutEnd(b []byte) ([]byte, tap.EOL) {
	if body, ok := bytes.CutSuffix(b, []byte("\r\n")); ok {
		return body, tap.CRLF
	}
	if body, ok := bytes.CutSuffix(b, []byte("\n")); ok {
		return body, tap.LF
	}
	return b, tap.NoEOL
}
