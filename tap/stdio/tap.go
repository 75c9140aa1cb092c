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
	// Signals are those that CatchSignals caught; nil passes none on.
	Signals <-chan os.Signal
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
	// toldGrace is how long after a signal of the host an end of the server is
	// taken for its effect. A server may handle the signal and go on.
	toldGrace = 10 * time.Second
	tick      = 50 * time.Millisecond
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
	ending atomic.Bool   // we told the server to end
	give   chan struct{} // closed when the host wants the tap to end now
	giveUp sync.Once

	mu       sync.Mutex
	reasons  []string
	signal   string    // the last ending signal of the host
	signalAt time.Time // when it came
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
	r.c2s.onEnd = r.endEvent(tap.EventStdinEnd, tap.EventStdinBroken)
	r.s2c.onEnd = r.endEvent(tap.EventStdoutEnd, tap.EventStdoutBroken)

	go r.passSignals()
	for _, p := range []*pump{r.c2s, r.s2c, r.stderr} {
		go p.run()
	}
	go r.afterInput()
	end := r.server.wait()
	told := r.told()
	close(r.exited)
	r.drain(end.Exit == 0, told)
	r.server.release()
	end.Reason = r.reason(&end, told)
	return t.Journal.End(end), nil
}

// endEvent records how a direction ended: by its sender, or since its receiver
// took no more.
func (r *run) endEvent(ended, broken string) func(error) {
	return func(err error) {
		if err == nil {
			r.Journal.Event(ended, "")
			return
		}
		r.Journal.Event(broken, err.Error())
	}
}

// stderrPiece bounds what of one stderr line is kept together.
const stderrPiece = 16 << 10

// because notes why the session ends; the first reasons explain the later ones.
func (r *run) because(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, fmt.Sprintf(format, a...))
}

// told is the signal of the host that the server's end is the effect of; "" if
// there is none.
func (r *run) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.signalAt) > toldGrace {
		return ""
	}
	return r.signal
}

// reason says who ended the session.
func (r *run) reason(end *tap.End, told string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.reasons) > 0:
		return strings.Join(r.reasons, "; ")
	case told != "":
		return "the host sent " + told
	case r.s2c.failed() != nil:
		return "writing to the host failed: " + r.s2c.failed().Error()
	case end.Signal != "":
		return "the server was ended by " + end.Signal
	case end.Exit == 0 && r.inputEnded():
		return "the host closed the server's input"
	}
	return "the server ended by itself"
}

// inputEnded reports that the host has closed the server's input.
func (r *run) inputEnded() bool { return r.ended(r.c2s) && r.c2s.failed() == nil }

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
	seen, quiet, grace := r.s2c.chunks.Load(), time.Duration(0), r.Grace
	if !r.inputEnded() { // the server closed it itself
		grace = 0
	}
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
		case r.Grace > 0 && quiet >= goneGrace && r.hostGone():
			return fmt.Sprintf("the host is gone and the server did not end within %v", goneGrace)
		case grace > 0 && quiet >= grace:
			return fmt.Sprintf("the server's input has ended and it was silent for %v", grace)
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

// hostGone reports that nobody is left on the other side: our parent has ended,
// and so has whoever read our output. Either alone is ordinary: a background job
// whose shell has ended, a client that closes both pipes and waits.
func (r *run) hostGone() bool {
	return os.Getppid() != r.parent && (r.s2c.failed() != nil || hostOut(r.Stdout).broken())
}

// end signals the server's whole group.
func (r *run) end(sig os.Signal) {
	r.ending.Store(true)
	r.Journal.Event(tap.EventSignal, signalName(sig)+" sent by mcptap")
	r.server.signalGroup(sig)
}

// drain waits for what the ended server left in its pipes. A process that it
// started may hold them open for ever: then the wait is bounded.
//
// A launcher that ends well and leaves the server to a process it started is a
// session that goes on, as long as somebody reads its input: only its silence is
// bounded. After a signal of the host, a host that does not read is not waited for.
func (r *run) drain(well bool, told string) {
	if told != "" && r.server.groupAlive() { // a launcher that did not pass the signal on
		r.end(sigTerm)
	}
	silence := drainGrace
	if well && told == "" && !r.ended(r.c2s) && !r.server.inputUnread() {
		silence = r.Grace
	}
	if !r.await(r.s2c, silence, told != "") {
		r.endRest()
	}
	if r.ending.Load() || told != "" {
		r.endGroup()
	}
	r.await(r.stderr, drainGrace/4, told != "")
	_ = r.relay.Close()
	r.awaitRelay()
}

// endRest ends what the server left behind with its output still open.
func (r *run) endRest() {
	if r.s2c.waiting.Load() { // else it is the host who does not read
		why := "the server has ended but a process it started still holds its output"
		r.Warn(why + "; ending that too")
		r.because("%s", why)
	}
	r.end(sigTerm)
	if !r.await(r.s2c, drainGrace, true) {
		r.end(sigKill)
		r.await(r.s2c, drainGrace, true)
	}
}

// await waits for a pump to end, but not longer than silence (0: for ever)
// without anything coming in. However long its receiver takes is no silence,
// unless strict. It reports whether the pump ended.
func (r *run) await(p *pump, silence time.Duration, strict bool) bool {
	seen, quiet := p.chunks.Load(), time.Duration(0)
	for silence == 0 || quiet < silence {
		select {
		case <-p.done:
			return true
		case <-r.give:
			return false
		case <-time.After(tick):
		}
		quiet += tick
		if now := p.chunks.Load(); now != seen || !p.waiting.Load() && !strict {
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
