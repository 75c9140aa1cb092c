package sessions

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrNoSession is the kind of error when a name fits no recording.
var ErrNoSession = errors.New("no such session")

// Resolve finds the recording that a user named: by a path, an id or any unique
// prefix of one, a label (its newest session), or "last".
func (s Store) Resolve(name string) (Info, error) {
	if i, ok := s.byPath(name); ok {
		return i, nil
	}
	infos, err := s.List()
	if err != nil {
		return Info{}, fmt.Errorf("reading the folder of recordings: %w", err)
	}
	if name == "last" {
		if len(infos) == 0 {
			return Info{}, fmt.Errorf("%w: nothing is recorded in %s yet; put 'mcptap --' in front of a server's command", ErrNoSession, s.Dir)
		}
		return infos[0], nil
	}
	if i, ok := byID(infos, name); ok {
		return i, nil
	}
	byPrefix := prefixed(infos, name)
	switch {
	case len(byPrefix) == 1:
		return byPrefix[0], nil
	case len(byPrefix) > 1:
		return Info{}, fmt.Errorf("%q begins the ids of %d sessions: %s; write more of it", name, len(byPrefix), examples(byPrefix))
	}
	for _, i := range infos { // the newest comes first
		if i.Label() == name {
			return i, nil
		}
	}
	return Info{}, fmt.Errorf("%w: %q is no path, no id, no beginning of an id and no label in %s; 'mcptap ls' lists what there is", ErrNoSession, name, s.Dir)
}

func (s Store) byPath(name string) (Info, bool) {
	if stat, err := os.Stat(name); err != nil || stat.IsDir() {
		return Info{}, false
	}
	i, err := inspect(name)
	if err != nil {
		return Info{}, false
	}
	if _, err := os.Stat(strings.TrimSuffix(name, journalExt) + keepExt); err == nil {
		i.Kept = true
	}
	return i, true
}

func byID(infos []Info, id string) (Info, bool) {
	for _, i := range infos {
		if i.ID == id {
			return i, true
		}
	}
	return Info{}, false
}

func prefixed(infos []Info, prefix string) (found []Info) {
	for _, i := range infos {
		if prefix != "" && strings.HasPrefix(i.ID, prefix) {
			found = append(found, i)
		}
	}
	return found
}

func examples(infos []Info) string {
	ids := []string{}
	for _, i := range infos[:min(3, len(infos))] {
		ids = append(ids, i.ID)
	}
	if len(infos) > 3 {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}
