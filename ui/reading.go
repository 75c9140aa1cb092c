package ui

import (
	"math"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/sessions"
)

// A reading is a session read once more, with the others of its host if they are asked
// for, as the requests of that host: neither a session nor a book may be used by two at
// once. Only commands make and use one.
type reading struct {
	loaded []*sessions.Loaded // the session on the screen first
	line   *replay.Timeline
	book   *claude.Book
	table  *tokens.Table
	meter  *ledger.Meter
	open   []*sessions.Session
}

func (r *reading) close() {
	for _, s := range r.open {
		_ = s.Close()
	}
}

func (r *reading) load(path string) error {
	s, err := sessions.Open(path)
	if err != nil {
		return err
	}
	r.open = append(r.open, s)
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		return err
	}
	r.loaded = append(r.loaded, l)
	return nil
}

// readBook reads a session, and with others those that the same host had open at that
// time.
func readBook(e *env, path string, others bool) (*reading, error) {
	r := &reading{table: tokens.Default()}
	if err := r.fill(e, path, others); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *reading) fill(e *env, path string, others bool) error {
	if err := r.load(path); err != nil {
		return err
	}
	if others && e.Together != nil {
		for _, other := range e.Together(r.loaded[0]) {
			if err := r.load(other); err != nil {
				return err
			}
		}
	}
	played := make([]*replay.Session, len(r.loaded))
	for i, l := range r.loaded {
		played[i] = playedSession(l)
	}
	r.line = replay.New(replay.Options{}, played...)
	set := claude.Builtin()
	model, err := r.table.Model(set.Defaults.Model)
	if err != nil {
		if model, err = r.table.Model(""); err != nil {
			return err
		}
	}
	r.meter = ledger.NewMeter(r.table.Estimator(model))
	profile, reason := set.Detect(r.line)
	r.book = claude.NewBook(r.line, claude.Options{Profile: profile, Reason: reason, Tokens: func(text string) int {
		_, mid, _ := r.meter.Estimator().Text(text).Bounds()
		return int(math.Round(mid))
	}})
	return nil
}

func playedSession(l *sessions.Loaded) *replay.Session {
	one := &replay.Session{Session: l.Session, Body: l.Body, Name: l.ServerName()}
	if l.Header != nil {
		one.Start = l.Header.Start
	}
	return one
}
