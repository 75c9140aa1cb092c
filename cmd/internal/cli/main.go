// Package cli is the command line of mcptap: one file a command, and the one
// place where streams, environment and clock meet the packages that do the work.
//
// It promises that standard output is the answer and nothing else, that what it
// says to the user goes to standard error in lines that begin with "mcptap: ",
// and that every way out has the exit status of 'mcptap help exit-codes'.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/mcptap/mcptap/ui/safetext"
)

// Exit statuses of every command but the taps, which give their server's.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Env is the outside world of a command.
type Env struct {
	Stdin, Stdout, Stderr *os.File
	Getenv                func(string) string
	Now                   func() time.Time
}

// app is one run of the program.
type app struct {
	Env
	dir    string // --dir
	status int    // exit status if there is no error
}

// Main runs the command line and returns the exit status. It must be called from
// the main goroutine with the main thread locked (see tap/stdio).
func Main(args []string, env Env) int {
	a := &app{Env: env}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.Execute()
	switch {
	case err == nil:
		return a.status
	case errors.Is(err, syscall.EPIPE): // the reader of our output has seen enough
		return exitOK
	}
	a.say("%s", err)
	var u usageError
	if errors.As(err, &u) {
		return exitUsage
	}
	return exitFailed
}

// usageError is the kind of error that comes from how a command was written.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// say tells the user something, a line for each line of the sentence.
func (a *app) say(format string, args ...any) {
	for line := range strings.SplitSeq(strings.TrimSuffix(fmt.Sprintf(format, args...), "\n"), "\n") {
		_, _ = io.WriteString(a.Stderr, "mcptap: "+safetext.Line(line)+"\n")
	}
}
