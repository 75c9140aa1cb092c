package ui

import "os"

// endSignals end the program like its quit key.
var endSignals = []os.Signal{os.Interrupt}
