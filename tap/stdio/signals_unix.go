//go:build unix

package stdio

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcptap/mcptap/tap"
)

// passed are the signals that go on to the server.
var passed = []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT}

// ends reports the signals that end a program which does not handle them.
func ends(sig os.Signal) bool {
	return sig == unix.SIGTERM || sig == unix.SIGINT || sig == unix.SIGHUP || sig == unix.SIGQUIT
}

// CatchSignals catches what is to be passed on. It is to be called as early as
// can be: a signal that comes before ends the tap, and the server with it.
//
// SIGINT and SIGHUP that the tap was started with ignored (nohup, a background
// job) stay ignored, for the server too. A closed pipe is seen as an error where
// it is written to; ignoring its signal would make the server ignore it as well.
func CatchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 64)
	for _, s := range passed {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	return signals
}

// passSignals passes each signal on once.
func (r *run) passSignals() {
	keyboard := hasTerminal()
	for s := range r.Signals {
		r.Journal.Event(tap.EventSignal, signalName(s)+" from the host")
		switch {
		case s == unix.SIGTSTP: // ^Z stops the server's whole job, then us
			r.server.signalGroup(s)
			_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
		case s == unix.SIGCONT:
			r.server.signalGroup(s)
		case !ends(s):
			r.server.signal(s)
		default:
			r.passEnding(s, keyboard)
		}
	}
}

// passEnding passes on a signal that ends programs: to the process that the host
// started, as it would go without a tap. What a keyboard sends goes to its whole
// group, as from a terminal; launchers count on that.
func (r *run) passEnding(s os.Signal, keyboard bool) {
	r.mu.Lock()
	r.signal, r.signalAt = signalName(s), time.Now()
	r.mu.Unlock()
	select {
	case <-r.exited:
		r.giveUp.Do(func() { close(r.give) })
		return
	default:
	}
	if keyboard && (s == unix.SIGINT || s == unix.SIGQUIT) {
		r.server.signalGroup(s)
		return
	}
	r.server.signal(s)
}

// hasTerminal reports whether signals may come from a keyboard.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}
