package httptap

import (
	"bytes"
	"sync"

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
	size  int  // of the body, if that is known
}

// keepRoom is the largest buffer that a collector keeps for the next frame; larger
// ones are lent.
const keepRoom = 64 << 10

// large lends out buffers: memory that is new with each megabyte costs more than
// all the rest of recording it.
var large sync.Pool

// room makes place for n more bytes.
func (c *collector) room(n int) {
	need := len(c.buf) + n
	if need <= cap(c.buf) {
		return
	}
	if need <= keepRoom {
		c.buf = append(make([]byte, 0, min(keepRoom, max(2*need, 512))), c.buf...)
		return
	}
	bigger, _ := large.Get().(*[]byte)
	if bigger == nil || cap(*bigger) < need {
		b := make([]byte, 0, max(2*need, min(c.size, tap.MaxFrame)))
		bigger = &b
	}
	full := (*bigger)[:len(c.buf)]
	copy(full, c.buf)
	c.release()
	c.buf = full
}

// release gives a large buffer back.
func (c *collector) release() {
	if b := c.buf; cap(b) > keepRoom {
		if c.start > 0 {
			return // frames lie in it: it is left to the collector of garbage
		}
		large.Put(&b)
	}
	c.buf = nil
}

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
		if c.buf = c.buf[:c.start]; c.start == 0 {
			c.release()
		}
	}
	if c.large != nil {
		c.large.Add(b)
		return
	}
	c.room(len(b))
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
	c.start = 0
	if cap(c.buf) > keepRoom && len(rest) == 0 {
		c.release()
	} else {
		c.buf = c.buf[:copy(c.buf, rest)]
	}
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
