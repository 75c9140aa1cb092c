package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/feed"
)

// A sidePane is a third pane of the session's screen, beside calls and frame: it shows
// something else of the moment that the cursor is on. The session's lock is held
// whenever one of its methods runs, but for commands, which take it themselves.
type sidePane interface {
	// title is what stands above it.
	title() (name, rest string)
	// need gives a command for what is not there yet of a frame, w cells wide; nil if
	// nothing is missing.
	need(f *feed.Feed, frame, w int) tea.Cmd
	// take is given every message; it drops what it did not ask for.
	take(msg tea.Msg)
	// do performs an action of the place inSide; false if it has no such thing.
	do(id string) bool
	// leads is the frame that its cursor's row comes from; -1 if there is none.
	leads() int
	// never reports for a frame whether a member, named by a JSON pointer, counts for
	// nothing here; nil if that is not known.
	never(frame int) func(pointer string) bool
	// stop ends it: it is not shown any more.
	stop()
	// click is a click on a line of it.
	click(line int)
	// view draws exactly h lines of w cells.
	view(w, h int, focus bool) []string
}

// toggleReach dims in the frame what the model never reads, or shows all alike, and says
// what it did: of many frames there is nothing to see of it.
func (s *session) toggleReach() tea.Cmd {
	p := &s.frame
	if p.never == nil {
		return send(noteMsg{"what the model never reads is not known here; m shows what it reads", false})
	}
	p.bright = !p.bright
	p.ver++
	if p.bright {
		return send(noteMsg{"all is shown alike", false})
	}
	return send(noteMsg{"what the model never reads is dim", false})
}
