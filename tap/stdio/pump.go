package stdio

import (
	"io"
	"sync/atomic"

	"github.com/mcptap/mcptap/tap"
)

// A pump carries one direction: it reads a chunk, records the frames that the
// chunk finishes, then passes the chunk on.
type pump struct {
	src     io.ReadCloser
	dst     io.WriteCloser
	frames  *framer
	journal *tap.Writer
	onEnd   func(error) // src has ended, or dst took no more, for this reason

	chunks  atomic.Int64          // chunks read so far
	waiting atomic.Bool           // in a read
	broken  atomic.Pointer[error] // why dst took no more
	done    chan struct{}
}

func newPump(dir tap.Dir, src io.ReadCloser, dst io.WriteCloser, journal *tap.Writer) *pump {
	spill := func() *tap.Spill { return journal.Spill(dir) }
	return &pump{src: src, dst: dst, frames: newFramer(dir, tap.MaxFrame, spill), journal: journal, onEnd: func(error) {}, done: make(chan struct{})}
}

// run pumps until src ends, dst takes no more or the journal has ended. It
// closes both sides, so that either end learns what happened to the other.
func (p *pump) run() {
	defer close(p.done)
	for p.step() {
	}
	if frames := p.frames.close(); len(frames) > 0 {
		p.journal.Record(frames)
	}
	p.onEnd(p.failed())
	_ = p.dst.Close()
	_ = p.src.Close()
}

// failed is why the receiver took no more; nil as long as it does.
func (p *pump) failed() error {
	if err := p.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// step moves one chunk and reports whether there may be more.
func (p *pump) step() bool {
	room := p.frames.room()
	p.waiting.Store(true)
	n, err := p.src.Read(room)
	p.waiting.Store(false)
	if n > 0 {
		p.chunks.Add(1)
		if frames := p.frames.take(n); len(frames) > 0 && !p.journal.Record(frames) {
			return false
		}
		if _, err := p.dst.Write(room[:n]); err != nil {
			failure := err // of its own: err must stay off the heap
			p.broken.Store(&failure)
			return false
		}
	}
	return err == nil
}
