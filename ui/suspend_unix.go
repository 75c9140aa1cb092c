//go:build unix

package ui

import (
	"os"
	"os/signal"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// suspend stops the program, and what was started with it, until its shell takes it up
// again.
func suspend() tea.Cmd {
	return func() tea.Msg {
		_ = unix.Kill(0, unix.SIGTSTP)
		return nil
	}
}

// canStop reports whether there is a shell that could take the program up again. A program
// that a terminal was opened for has none: its process group is that of the session's
// leader.
func canStop() bool {
	sid, err := unix.Getsid(0)
	return err == nil && sid != unix.Getpgrp()
}

// stops gives the terminal back before the program is stopped, and takes it again when it
// goes on, be it from a stop that could not be seen coming. Bubbletea's own way relies on
// what SIGTSTP does where nobody heeds it; Go does not go back to that.
type stops struct {
	p       *tea.Program
	in      *os.File // the terminal
	signals chan os.Signal
}

// watch heeds the signals until end is called.
func (s *stops) watch() (end func()) {
	s.signals = make(chan os.Signal, 4)
	over := make(chan struct{})
	signal.Notify(s.signals, unix.SIGTSTP, unix.SIGCONT)
	go func() {
		for {
			select {
			case <-over:
				return
			case sig := <-s.signals:
				s.heed(sig)
			}
		}
	}()
	return func() { signal.Stop(s.signals); close(over) }
}

func (s *stops) heed(sig os.Signal) {
	switch {
	case sig == unix.SIGTSTP && canStop():
		_ = s.p.ReleaseTerminal()
		_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
		for sig != unix.SIGCONT { // the stop may come later than Kill returns
			sig = <-s.signals
		}
		_ = s.p.RestoreTerminal()
	case sig == unix.SIGCONT && s.raw(): // nobody has had the terminal
		s.p.Send(tea.ClearScreen())
	case sig == unix.SIGCONT:
		_ = s.p.ReleaseTerminal()
		_ = s.p.RestoreTerminal()
	}
}

// raw reports whether the terminal is as the program needs it.
func (s *stops) raw() bool {
	state, err := term.GetState(s.in.Fd())
	return err == nil && state.Lflag&unix.ICANON == 0
}
