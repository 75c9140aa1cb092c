package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/sessions"
)

// fates are what became of a file: in a word for the heading, and in a sentence that
// stays at the bottom.
var fates = map[sessions.Fate]struct{ word, sentence string }{
	sessions.Deleted:  {"deleted", "the recording was deleted; what was read stays here until you leave"},
	sessions.Replaced: {"replaced", "the recording was replaced by another file; go back and open it for what that has"},
	sessions.Cut:      {"cut short", "the recording was cut short; what was read stays here, but not all frames can be opened"},
}

// fateEvery is how often the file of an open session is looked at.
const fateEvery = 500 * time.Millisecond

// watchFile looks at the session's file after a while.
func (s *session) watchFile() tea.Cmd {
	f := s.feed
	return s.env.tick(fateEvery, func(time.Time) tea.Msg { return fateMsg{f, f.Fate()} })
}

// learnFate takes what became of the file. Nothing more is read of one that is gone: its
// tap may be writing on to a file without a name.
func (s *session) learnFate(fate sessions.Fate) tea.Cmd {
	if fate == sessions.There {
		return s.watchFile()
	}
	s.fate, s.status.Live, s.calls.since = fate, false, nil
	s.calls.version++
	return nil
}

// lacks tells why an action can't be done that reads the whole recording once more; ""
// if it can.
func (s *session) lacks(id string) string {
	if s.fate == sessions.There {
		return ""
	}
	switch id {
	case "findings", "stats", "peers", "rent", "diff", "search", "save", "copy-request":
	case "model":
		if s.side != nil {
			return ""
		}
	default:
		return ""
	}
	return "that reads the whole recording once more, which was " + fates[s.fate].word
}

// lasting is the sentence that stays as long as a session is open whose file is gone,
// also on the screens that lie over it; "" if there is none.
func (a *app) lasting() string {
	for _, s := range a.screens {
		if s, ok := s.(*session); ok && s.fate != sessions.There {
			return fates[s.fate].sentence
		}
	}
	return ""
}
