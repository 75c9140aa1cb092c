// Package calm keeps libraries from talking to the terminal while the program
// starts.
//
// Bubbletea asks the terminal for its background colour in an init function, that
// is in every program that imports it, whatever the program is about to do. A tap
// that somebody starts on a terminal would write that question among its server's
// output, eat what is typed meanwhile, and wait up to five seconds for an answer.
// The question is not asked of a dumb terminal, so the terminal is one until all
// packages are initialized.
//
// That this package comes first follows from the language: packages are
// initialized in the order of their import paths as far as imports allow. This one
// imports os alone; termenv, which asks, imports os too and comes later by its
// path. A test in cmd/mcptap runs the program on a terminal that nobody answers on.
package calm

import "os"

var term, found = os.LookupEnv("TERM")

func init() { _ = os.Setenv("TERM", "dumb") }

// Over gives the environment back as it was. Package ui calls it when it is
// initialized, which is after bubbletea.
func Over() {
	if !found {
		_ = os.Unsetenv("TERM")
		return
	}
	_ = os.Setenv("TERM", term)
}
