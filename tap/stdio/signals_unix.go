//go:build unix

package stdio

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/mcptap/mcptap/tap"
)

// passed are the signals that go on to the server. Those that end programs go to
// its whole group, as a terminal would send them; the others mean the program
// that the host started, and would kill a shell in front of it.
var passed = []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH}

func ends(sig os.Signal) bool {
	return sig == unix.SIGTERM || sig == unix.SIGINT || sig == unix.SIGHUP || sig == unix.SIGQUIT
}

// passSignals passes each signal on once. A signal that the tap was started with
// ignored (nohup) stays ignored.
func (r *run) passSignals() (stop func()) {
	signals := make(chan os.Signal, 16)
	for _, s := range passed {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	// A closed pipe is seen as an error where it is written to. Ignoring the
	// signal instead would make the server ignore it too.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, unix.SIGPIPE)
	go func() {
		for s := range signals {
			r.passSignal(s)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

func (r *run) passSignal(s os.Signal) {
	r.Journal.Event(tap.EventSignal, signalName(s)+" from the host")
	if !ends(s) {
		r.server.signal(s)
		return
	}
	r.ending.Store(true)
	r.because("the host sent %s", signalName(s))
	r.server.signalGroup(s)
	select {
	case <-r.exited:
		r.giveUp.Do(func() { close(r.give) })
	default:
	}
}
