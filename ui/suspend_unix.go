//go:build unix

package ui

import (
	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
)

// suspend stops the program until its shell takes it up again. A program that a terminal
// was opened for has no such shell: its process group is that of the session's leader,
// the kernel drops the signal, and bubbletea would wait for ever.
func suspend() tea.Cmd {
	if sid, err := unix.Getsid(0); err != nil || sid == unix.Getpgrp() {
		return nil
	}
	return tea.Suspend
}
