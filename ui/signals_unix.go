//go:build unix

package ui

import (
	"os"
	"syscall"
)

// hangupSignals end the program like its quit key: bubbletea takes the others.
var hangupSignals = []os.Signal{syscall.SIGHUP, syscall.SIGQUIT}
