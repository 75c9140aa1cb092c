package ui

import tea "github.com/charmbracelet/bubbletea"

// suspend does nothing: there is no such thing.
func suspend() tea.Cmd { return nil }
