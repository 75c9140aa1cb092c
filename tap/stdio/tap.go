package stdio

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// A Tap is one server command to be run and recorded.
type Tap struct {
	Argv                  []string
	Stdin, Stdout, Stderr *os.File // the host's ends
	Journal               *tap.Writer
	// Grace is how long a server may go on without writing anything after its
	// input has ended, before it is told to end; 0 means for ever. Should the
	// host be gone, it is goneGrace at most.
	Grace time.Duration
	// Warn takes a sentence for the user.
	Warn func(string)
}

const (
	goneGrace = 2 * time.Second // after the end of input, when the host is gone
	termGrace = 5 * time.Second // between SIGTERM and SIGKILL
	// drainGrace is how long output may stay silent after the server has
	// ended, when another process still holds its end open.
	drainGrace = time.Second
	tick       = 50 * time.Millisecond
)

// Exit statuses of a command that can't be started, as shells give them.
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// run is a tap at work.
type run struct {
	*Tap
	server *server
	c2s    *pump
	s2c    *pump
	stderr *pump
	relay  *relay
	parent int // the host's process id

	exited chan struct{} // the server's process has ended
	ending atomic.Bool   // the server was told to end
	give   chan struct{} // closed when the host wants the tap to end now
	giveUp sync.Once

	mu      sync.Mutex
	reasons []string
}

// Run starts the server and returns when it has ended, with the end of the
// journal and an error if the server could not be started. It must be called
// from the main goroutine, with the main thread locked: the kernel ties the
// server's life to the thread that started it.
func (t *Tap) Run() (tap.End, error) {
	// Each direction sits in a blocking system call most of the time. With
	// spare Ps the scheduler leaves them theirs, which saves a hand-over on
	// every frame.
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))

	server, err := start(t.Argv)
	if err != nil {
		return t.Journal.End(tap.End{Exit: err.Status, Reason: err.Error()}), err
	}
	r := &run{Tap: t, server: server, parent: os.Getppid(), exited: make(chan struct{}), give: make(chan struct{})}
	r.relay = newRelay(hostOut(t.Stderr))
	r.c2s = newPump(tap.C2S, hostIn(t.Stdin), server.stdin, t.Journal)
	r.s2c = newPump(tap.S2C, server.stdout, hostOut(t.Stdout), t.Journal)
	r.stderr = newPump(tap.Stderr, server.stderr, r.relay, t.Journal)
	r.stderr.frames = newFramer(tap.Stderr, stderrPiece, nil)
	r.c2s.onEnd = func() { t.Journal.Event(tap.EventStdinEnd, "") }
	r.s2c.onEnd = func() { t.Journal.Event(tap.EventStdoutEnd, "") }

	stopSignals := r.passSignals()
	defer stopSignals()
	for _, p := range []*pump{r.c2s, r.s2c, r.stderr} {
		go p.run()
	}
	go r.afterInput()
	end := r.server.wait()
	close(r.exited)
	r.drain()
	r.server.release()
	end.Reason = r.reason()
	return t.Journal.End(end), nil
}

// stderrPiece bounds what of one stderr line is kept together.
const stderrPiece = 16 << 10

// because notes why the session ends; the first reasons explain the later ones.
func (r *run) because(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, fmt.Sprintf(format, a...))
}

func (r *run) reason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.reasons) > 0:
		return strings.Join(r.reasons, "; ")
	case r.s2c.broken.Load():
		return "the host stopped reading"
	case r.inputEnded():
		return "the host closed the server's input"
	}
	return "the server ended by itself"
}

func (r *run) inputEnded() bool {
	select {
	case <-r.c2s.done:
		return !r.c2s.broken.Load()
	default:
		return false
	}
}

// afterInput ends a server that lingers when its input has ended.
func (r *run) afterInput() {
	select {
	case <-r.c2s.done:
	case <-r.exited:
		return
	}
	why := r.waitQuiet()
	if why == "" {
		return
	}
	r.Warn(why + "; sending it SIGTERM")
	r.because("%s", why)
	r.end(sigTerm)
	select {
	case <-r.exited:
	case <-time.After(termGrace):
		r.Warn("the server did not end on SIGTERM; killing it")
		r.because("it did not end on SIGTERM and was killed")
		r.end(sigKill)
	}
}

// waitQuiet waits until the server has been silent for too long, and says so, or
// has ended, and says nothing.
func (r *run) waitQuiet() string {
	seen, quiet := r.s2c.chunks.Load(), time.Duration(0)
	for ; ; quiet += tick {
		select {
		case <-r.exited:
			return ""
		case <-time.After(tick):
		}
		if now := r.s2c.chunks.Load(); now != seen || !r.s2c.waiting.Load() && !r.ended(r.s2c) {
			seen, quiet = now, 0
		}
		switch {
		case r.hostGone() && quiet >= goneGrace:
			return fmt.Sprintf("the host is gone and the server did not end within %v", goneGrace)
		case r.Grace > 0 && quiet >= r.Grace:
			return fmt.Sprintf("the server's input has ended and it was silent for %v", r.Grace)
		}
	}
}

func (r *run) ended(p *pump) bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (r *run) hostGone() bool {
	return os.Getppid() != r.parent || r.s2c.broken.Load() || hostOut(r.Stdout).broken()
}

// end signals the server's whole group.
func (r *run) end(sig os.Signal) {
	r.ending.Store(true)
	r.Journal.Event(tap.EventSignal, signalName(sig)+" sent by mcptap")
	r.server.signalGroup(sig)
}

// drain waits for what the ended server left in its pipes. A process that it
// started may hold them open for ever: then the wait is bounded.
func (r *run) drain() {
	if !r.await(r.s2c, drainGrace) {
		why := "the server has ended but a process it started still holds its output"
		r.Warn(why + "; ending that too")
		r.because("%s", why)
		r.end(sigTerm)
		if !r.await(r.s2c, drainGrace) {
			r.end(sigKill)
			r.await(r.s2c, drainGrace)
		}
	}
	if r.ending.Load() {
		r.endGroup()
	}
	r.await(r.stderr, drainGrace/4)
	_ = r.relay.Close()
	r.awaitRelay()
}

// await waits for a pump to end, however long its receiver takes, but not longer
// than silence without anything coming in. It reports whether the pump ended.
func (r *run) await(p *pump, silence time.Duration) bool {
	seen, quiet := p.chunks.Load(), time.Duration(0)
	for quiet < silence {
		select {
		case <-p.done:
			return true
		case <-r.give:
			return false
		case <-time.After(tick):
		}
		quiet += tick
		if now := p.chunks.Load(); now != seen || !p.waiting.Load() {
			seen, quiet = now, 0
		}
	}
	return false
}

// endGroup makes sure that nothing of a server that was told to end stays.
func (r *run) endGroup() {
	for waited := time.Duration(0); r.server.groupAlive(); waited += tick {
		if waited >= goneGrace {
			r.end(sigKill)
			return
		}
		time.Sleep(tick)
	}
}

// awaitRelay lets the last lines of standard error out, if they are read.
func (r *run) awaitRelay() {
	select {
	case <-r.relay.done:
	case <-r.give:
	case <-time.After(relayWait):
	}
}
