package cli

import (
	"fmt"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
)

// withSession opens the session that a user named, decodes what there is of it,
// and closes it when do is done. What was passed over is said at the end.
func (a *app) withSession(name string, o decode.Options, do func(*sessions.Session, *sessions.Loaded) error) error {
	s, err := a.open(name)
	if err != nil {
		return err
	}
	defer s.Close()
	return a.withOpened(s, o, do)
}

// withOpened is withSession for a session that is open; it leaves it open.
func (a *app) withOpened(s *sessions.Session, o decode.Options, do func(*sessions.Session, *sessions.Loaded) error) error {
	l, err := sessions.Load(s, o)
	if err != nil {
		return err
	}
	if err = do(s, l); err != nil {
		a.sayRemarks(l)
		return err
	}
	a.sayWhole(s, l)
	return nil
}

// sayWhole tells what is to be known of a session that was read.
func (a *app) sayWhole(s *sessions.Session, l *sessions.Loaded) {
	passed := a.sayRemarks(l)
	if lost := l.Gaps().Lost; lost > 0 && (l.Header == nil || l.Header.Excerpt == nil) {
		a.say("%d frames crossed that could not be recorded; 'show --frames' says where", lost)
	}
	a.sayEnd(l.Header, l.Records, passed, l.End != nil || s.Running() || s.Foreign())
}

// sayRemarks tells which lines were passed over, and gives how many they are.
func (a *app) sayRemarks(l *sessions.Loaded) (passed int) {
	var bad remarks
	for _, r := range l.Remarks {
		bad.add(r)
	}
	bad.n = max(bad.n, l.Passed)
	if r, ok := l.Unfinished(); ok {
		bad.add(r)
	}
	bad.say(a)
	return bad.n
}

// excerptWords says what an excerpt is a part of.
func excerptWords(e *tap.Excerpt) string {
	s := fmt.Sprintf("this is an excerpt of session %s, which had %d frames", e.Of, e.Frames)
	if e.Filter != "" {
		s += "; selected by: " + e.Filter
	}
	if e.Redacted {
		s += "; secrets are masked, so lengths are not those that crossed"
	}
	return s
}

// followLoaded calls show after every growth of a session until its tap has ended; it
// is called at least once, and once more at the end.
func (a *app) followLoaded(s *sessions.Session, l *sessions.Loaded, show func(last bool) error) error {
	for {
		running := s.Running()
		if err := l.More(); err != nil {
			return err
		}
		if err := show(!running); err != nil || !running {
			return err
		}
		a.pause()
	}
}
