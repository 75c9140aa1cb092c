package replay

import (
	"testing"
	"time"

	"github.com/mcptap/mcptap/replay/internal/talk"
)

// told is a session that a test makes up.
type told struct {
	*talk.Talk
	name  string
	start time.Time
}

func newTalk(name string) *told { return &told{Talk: talk.New(), name: name} }

func (t *told) session() *Session {
	return &Session{Session: t.Session, Body: t.Body, Name: t.name, Start: t.start}
}

func line(t testing.TB, talks ...*told) *Timeline {
	t.Helper()
	all := make([]*Session, len(talks))
	for i, k := range talks {
		all[i] = k.session()
	}
	return New(Options{}, all...)
}
