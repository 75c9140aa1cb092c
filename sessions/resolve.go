package sessions

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcptap/mcptap/sessions/internal/nearest"
	"github.com/mcptap/mcptap/sessions/label"
)

// ErrNoSession is the kind of error when a name fits no recording.
var ErrNoSession = errors.New("no such session")

// Resolve finds the recording that a user named: by a path, an id, a label (its newest
// session), any beginning of an id, the four digits at its end, any other part of an id
// or of a label, or "last". A part has to fit one recording only.
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
	if found, err := named(infos, strings.TrimSuffix(name, journalExt)); found != nil || err != nil {
		return deref(found), err
	}
	if notPath != nil {
		return Info{}, notPath
	}
	if i, err := s.byPath(name); err == nil {
		return i, nil
	}
	if found, err := byPart(infos, name); found != nil || err != nil {
		return deref(found), err
	}
	return Info{}, fmt.Errorf("%w: %q is no path, no id, no label and no part of one in %s; %s", ErrNoSession, name, s.Dir, meant(infos, name))
}

func deref(i *Info) Info {
	if i == nil {
		return Info{}
	}
	return *i
}

// named finds what has the name as its id or its label, or an id that begins or ends
// with it.
func named(infos []Info, name string) (*Info, error) {
	clean := label.Clean(name)
	if found := matching(infos, func(i *Info) bool {
		return i.ID == name || i.labelled() && (i.Label() == name || i.Label() == clean)
	}); len(found) > 0 {
		return &found[0], nil // the newest
	}
	for _, fits := range []func(*Info) bool{
		func(i *Info) bool { return strings.HasPrefix(i.ID, name) },
		func(i *Info) bool { return i.Short() == name },
	} {
		switch found := matching(infos, fits); {
		case len(found) == 1:
			return &found[0], nil
		case len(found) > 1:
			return nil, fmt.Errorf("%q fits the ids of %d sessions: %s; write more of it", name, len(found), examples(found))
		}
	}
	return nil, nil
}

// labelled reports a recording that a label means: not a file without a session in it.
func (i *Info) labelled() bool { return !i.Empty && i.Problem == "" && i.Label() != "" }

// byPart finds what has the name somewhere in its id or label, in capitals or not.
func byPart(infos []Info, name string) (*Info, error) {
	part := strings.ToLower(name)
	found := matching(infos, func(i *Info) bool {
		return strings.Contains(strings.ToLower(i.ID), part) || i.labelled() && strings.Contains(strings.ToLower(i.Label()), part)
	})
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return &found[0], nil
	}
	return nil, fmt.Errorf("%q is part of the id or label of %d sessions: %s; write more of it", name, len(found), examples(found))
}

// meant says which recordings somebody may have meant by a name that fits none.
func meant(infos []Info, name string) string {
	var near []string
	least := len(name)
	for i := range infos {
		text := infos[i].ID
		if infos[i].labelled() {
			text = infos[i].Label()
		}
		d, ok := nearest.Like(name, text)
		if !ok || d > least || slices.Contains(near, text) {
			continue
		}
		if d < least {
			least, near = d, nil
		}
		near = append(near, text)
	}
	switch len(near) {
	case 0:
		return "'mcptap ls' lists what there is"
	case 1:
		return "did you mean " + near[0] + "?"
	}
	return "did you mean one of " + someOf(near) + "?"
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
	ids := make([]string, len(infos))
	for i := range infos {
		ids[i] = infos[i].ID
	}
	return someOf(ids)
}

// maxNamed is how many names are told at once.
const maxNamed = 8

func someOf(names []string) string {
	if len(names) > maxNamed {
		names = append(slices.Clone(names[:maxNamed]), "…")
	}
	return strings.Join(names, ", ")
}
