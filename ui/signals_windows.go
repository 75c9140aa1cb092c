package ui

import "os"

// hangupSignals are none: bubbletea takes what there is.
var hangupSignals []os.Signal
