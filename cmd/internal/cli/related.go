package cli

import (
	"slices"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/sessions"
)

// siblingSpan is how far apart a probe and its session may begin.
const siblingSpan = 2 * time.Minute

// sibling finds the other half of a session whose server was probed in a process
// of its own: the session of a probe, or the probe of a session.
func (a *app) sibling(l *sessions.Loaded) (id, reason string) { return siblingIn(a.store(), l) }

func siblingIn(store sessions.Store, l *sessions.Loaded) (id, reason string) {
	me := l.Opening()
	if l.Header == nil || !me.OnlyProbe && !me.Eras.NoOpening {
		return "", ""
	}
	infos, err := store.List()
	if err != nil {
		return "", ""
	}
	for i := range infos {
		if infos[i].ID == l.Header.Session || infos[i].Start.Sub(l.Header.Start).Abs() > siblingSpan || !sameServer(&infos[i], l) {
			continue
		}
		other, err := loadPath(infos[i].Path)
		if err != nil {
			continue
		}
		probe, main := me, other.Opening()
		if !me.OnlyProbe {
			probe, main = main, me
		}
		if reason, ok := decode.IsProbeOf(probe, main); ok {
			return infos[i].ID, reason
		}
	}
	return "", ""
}

// sameServer compares by what was tapped: a command, or a URL.
func sameServer(i *sessions.Info, l *sessions.Loaded) bool {
	return i.Header != nil && slices.Equal(i.Header.Command, l.Header.Command) && i.Header.URL == l.Header.URL
}

// since compares a session's definitions with those of the newest session of the
// same server before it.
func (a *app) since(l *sessions.Loaded) []rules.Finding {
	if l.Header == nil || len(l.Catalogue().Lists) == 0 {
		return nil
	}
	infos, err := a.store().List()
	if err != nil {
		return nil
	}
	for i := range infos { // the newest first
		if !sameServer(&infos[i], l) || !infos[i].Start.Before(l.Header.Start) {
			continue
		}
		earlier, err := loadPath(infos[i].Path)
		if err != nil || len(earlier.Catalogue().Lists) == 0 {
			continue
		}
		now, then := sessions.Summarize(l.Session), sessions.Summarize(earlier.Session)
		return rules.CheckSince(l.Session, earlier.Catalogue(), infos[i].ID, now.Server == then.Server)
	}
	return nil
}

func loadPath(path string) (*sessions.Loaded, error) {
	s, err := sessions.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return sessions.Load(s, decode.Options{})
}
