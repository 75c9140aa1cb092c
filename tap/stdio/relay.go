package stdio

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	relayRoom = 4 << 20
	relayWait = 5 * time.Second
)

// A relay passes standard error on without ever making its writer wait for long.
// A server that logs freezes when nobody reads its standard error, so the tap
// always reads it; a host that does not read ours gets a note in place of what
// it missed (the journal has it all).
type relay struct {
	out io.Writer

	mu      sync.Mutex
	changed sync.Cond // queue, stuck or closed changed
	queue   []byte
	taken   int64 // bytes that out took
	stuck   bool  // out took nothing for relayWait, or is broken
	dropped int64
	closed  bool
	done    chan struct{}
}

func newRelay(out io.Writer) *relay {
	r := &relay{out: out, done: make(chan struct{})}
	r.changed.L = &r.mu
	go r.run()
	return r
}

// Write queues b. It waits for room, but not longer than relayWait, and not at
// all while the reader is known to be stuck.
func (r *relay) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue)+len(b) > relayRoom && !r.stuck {
		r.waitForRoom(len(b))
	}
	if len(r.queue)+len(b) > relayRoom {
		r.dropped += int64(len(b))
		return len(b), nil
	}
	if r.dropped > 0 {
		r.queue = fmt.Appendf(r.queue, "\nmcptap: %d bytes of standard error were not passed on, since nobody read it; the recording has them\n", r.dropped)
		r.dropped = 0
	}
	r.queue = append(r.queue, b...)
	r.changed.Broadcast()
	return len(b), nil
}

func (r *relay) waitForRoom(n int) {
	seen := r.taken
	var timer *time.Timer
	timer = time.AfterFunc(relayWait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.taken == seen {
			r.stuck = true
			r.changed.Broadcast()
			return
		}
		seen = r.taken
		timer.Reset(relayWait)
	})
	defer timer.Stop()
	for len(r.queue)+n > relayRoom && !r.stuck {
		r.changed.Wait()
	}
}

// Close lets what is queued go out, if somebody reads it.
func (r *relay) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.changed.Broadcast()
	return nil
}

func (r *relay) run() {
	defer close(r.done)
	var batch []byte
	for {
		r.mu.Lock()
		for len(r.queue) == 0 && !r.closed {
			r.changed.Wait()
		}
		if len(r.queue) == 0 {
			r.mu.Unlock()
			return
		}
		batch, r.queue = r.queue, batch[:0]
		r.changed.Broadcast()
		r.mu.Unlock()
		if !r.pass(batch) {
			return
		}
	}
}

// pass writes b in pieces, so that a slow reader can be told from one that is
// stuck. It reports false once out is broken: then the relay stays stuck.
func (r *relay) pass(b []byte) bool {
	for len(b) > 0 {
		n, err := r.out.Write(b[:min(len(b), readSize)])
		b = b[n:]
		r.mu.Lock()
		r.taken += int64(n)
		r.stuck = err != nil
		r.mu.Unlock()
		if err != nil {
			return false
		}
	}
	return true
}
