//go:build unix

package ui

import (
	"os"
	"syscall"
)

// endSignals end the program like its quit key. Bubbletea's own way closes the
// terminal while it is being read.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
