package sessions

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mcptap/mcptap/sessions/label"
)

// ErrNoSession is the kind of error when a name fits no recording.
var ErrNoSession = errors.New("no such session")

// Resolve finds the recording that a user named: by a path, an id, any beginning
// of one that is unique, the four digits at its end, a label (its newest
// session), or "last".
func (s Store) Resolve(name string) (Info, error) {
	if name == "" {
		return Info{}, fmt.Errorf("%w: the name is empty", ErrNoSession)
	}
	var notPath error
	if strings.ContainsRune(name, os.PathSeparator) || strings.HasSuffix(name, journalExt) {
		i, err := s.byPath(name)
		if err == nil {
			return i, nil
		}
		notPath = err
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
	clean := label.Clean(name)
	if found := matching(infos, func(i *Info) bool {
		return i.ID == name || !i.Empty && i.Problem == "" && i.Label() != "" && (i.Label() == name || i.Label() == clean)
	}); len(found) > 0 {
		return found[0], nil // the newest
	}
	for _, fits := range []func(*Info) bool{
		func(i *Info) bool { return strings.HasPrefix(i.ID, name) },
		func(i *Info) bool { return i.Short() == name },
	} {
		switch found := matching(infos, fits); {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Info{}, fmt.Errorf("%q fits the ids of %d sessions: %s; write more of it", name, len(found), examples(found))
		}
	}
	if notPath != nil {
		return Info{}, notPath
	}
	if i, err := s.byPath(name); err == nil {
		return i, nil
	}
	return Info{}, fmt.Errorf("%w: %q is no path, no id, no part of an id and no label in %s; 'mcptap ls' lists what there is", ErrNoSession, name, s.Dir)
}

func matching(infos []Info, matches func(*Info) bool) (found []Info) {
	for i := range infos {
		if matches(&infos[i]) {
			found = append(found, infos[i])
		}
	}
	return found
}

func (s Store) byPath(name string) (Info, error) {
	stat, err := os.Stat(name)
	switch {
	case err != nil:
		return Info{}, fmt.Errorf("%w: %w", ErrNoSession, err)
	case !stat.Mode().IsRegular():
		return Info{}, fmt.Errorf("%w: %s is not a file", ErrNoSession, name)
	}
	i, err := inspect(name)
	if err != nil {
		return Info{}, err
	}
	if _, err := os.Stat(strings.TrimSuffix(name, journalExt) + keepExt); err == nil {
		i.Kept = true
	}
	return i, nil
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
