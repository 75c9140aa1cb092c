package stdio

import (
	"os"
	"os/signal"

	"github.com/mcptap/mcptap/tap"
)

// passSignals passes Ctrl-C and Ctrl-Break on.
func (r *run) passSignals() (stop func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt)
	go func() {
		for s := range signals {
			r.Journal.Event(tap.EventSignal, signalName(s)+" from the host")
			r.ending.Store(true)
			r.because("the host sent %s", signalName(s))
			r.server.signalGroup(s)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}
