package stdio

import (
	"os"
	"os/signal"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// CatchSignals catches Ctrl-C and Ctrl-Break.
func CatchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt)
	return signals
}

// passSignals passes them on.
func (r *run) passSignals() {
	for s := range r.Signals {
		r.Journal.Event(tap.EventSignal, signalName(s)+" from the host")
		r.mu.Lock()
		r.signal, r.signalAt = signalName(s), time.Now()
		r.mu.Unlock()
		r.server.signalGroup(s)
	}
}
