// Package part saves the part of a session that a filter selects as a recording of its
// own, with its marks.
//
// It promises never to touch a file that is there. It must not decide where files lie.
package part

import (
	"errors"
	"fmt"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/sessions/redact"
)

// Options say how a part is saved.
type Options struct {
	Frames bool // frame by frame, not whole operations
	Redact bool // mask secrets, in notes as well
}

// Save writes what a filter selects of a session to a new file at path, and beside it
// the marks on it. match is f joined to the session. It gives how many frames were
// saved.
func Save(l *sessions.Loaded, f *filter.Filter, match *filter.Matcher, marked *marks.Marks, path string, o Options) (saved int, err error) {
	selected := match.Frame
	if !o.Frames {
		in := match.Whole()
		selected = func(i int) bool { return in[i] }
	}
	var kept marks.Marks
	var failed error
	saved, err = l.Save(path, sessions.Excerpt{Selected: selected, Filter: f.String(), Redact: o.Redact, Moved: func(from, to uint64) {
		if note, ok := marked.Get(from); ok {
			if o.Redact {
				note = redact.Text(note)
			}
			failed = errors.Join(failed, kept.Set(to, note))
		}
	}})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(failed, kept.Save(marks.Path(path))); err != nil {
		return saved, fmt.Errorf("%s is saved, but not its marks: %w", path, err)
	}
	return saved, nil
}
