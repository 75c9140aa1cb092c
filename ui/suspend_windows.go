package ui

import (
	"os"

	tea "github.com/charmbracelet/bubbletea"
)

// suspend does nothing: there is no such thing.
func suspend() tea.Cmd { return nil }

// stops are none here.
type stops struct {
	p  *tea.Program
	in *os.File
}

func (s *stops) watch() (end func()) { return func() {} }
