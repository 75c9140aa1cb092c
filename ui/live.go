package ui

import (
	"sync"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
)

// liveSums sums up sessions that are being recorded. It reads on where it stopped, so
// that a long session costs what has come since. Commands use it, one at a time.
type liveSums struct {
	sync.Mutex
	open map[string]*sessions.Loaded
	file map[string]*sessions.Session
}

// of gives the sums of the sessions that are live, and closes what no longer is.
func (l *liveSums) of(infos []sessions.Info) map[string]sessions.Summary {
	l.Lock()
	defer l.Unlock()
	out := map[string]sessions.Summary{}
	for i := range infos {
		if infos[i].State != sessions.Live {
			continue
		}
		if s := l.get(&infos[i]); s != nil && s.More() == nil {
			out[infos[i].ID] = sessions.Summarize(s.Session)
		}
	}
	for id, f := range l.file {
		if _, live := out[id]; !live {
			_ = f.Close()
			delete(l.file, id)
			delete(l.open, id)
		}
	}
	return out
}

func (l *liveSums) get(i *sessions.Info) *sessions.Loaded {
	if s := l.open[i.ID]; s != nil {
		return s
	}
	f, err := sessions.Open(i.Path)
	if err != nil {
		return nil
	}
	if l.open == nil {
		l.open, l.file = map[string]*sessions.Loaded{}, map[string]*sessions.Session{}
	}
	l.file[i.ID], l.open[i.ID] = f, sessions.Begin(f, decode.Options{NoListings: true})
	return l.open[i.ID]
}
