package ui

import (
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/density"
	"github.com/mcptap/mcptap/ui/draw"
)

// player plays a session: the cursor goes through it at the pace at which it was
// recorded, or some times faster or slower.
type player struct {
	on    bool
	id    int
	speed float64 // 0 stands for 1
	at    time.Duration
	last  time.Time
}

const (
	playEvery = 33 * time.Millisecond
	maxSpeed  = 1024
	minSpeed  = 1.0 / 64
)

func (p *player) stop() { p.on = false }

func (p *player) rate() float64 {
	if p.speed == 0 {
		return 1
	}
	return p.speed
}

// setRate changes the speed, or says that it goes no further.
func (p *player) setRate(rate float64) tea.Cmd {
	switch {
	case rate > maxSpeed:
		return send(noteMsg{rateWords(p.rate()) + " is as fast as it plays", false})
	case rate < minSpeed:
		return send(noteMsg{rateWords(p.rate()) + " is as slow as it plays; ] and [ step by frames", false})
	}
	p.speed = rate
	if p.on {
		return nil // the clock shows it
	}
	return send(noteMsg{"space plays at " + rateWords(rate), false})
}

// rateWords is a speed as a multiple of the session's own.
func rateWords(rate float64) string {
	if rate < 1 {
		return "×1/" + strconv.FormatFloat(1/rate, 'f', 0, 64)
	}
	return "×" + strconv.FormatFloat(rate, 'f', 0, 64)
}

func (s *session) playTick() tea.Cmd {
	id := s.play.id
	return s.env.tick(playEvery, func(t time.Time) tea.Msg { return playMsg{id, t} })
}

func (s *session) playKey(id string) tea.Cmd {
	p := &s.play
	switch id {
	case "faster":
		return p.setRate(p.rate() * 2)
	case "slower":
		return p.setRate(p.rate() / 2)
	}
	if p.on {
		p.stop()
		return nil
	}
	s.feed.Lock()
	defer s.feed.Unlock()
	p.on, p.last = true, time.Time{}
	p.id++
	p.at = s.calls.moment()
	if s.calls.list.AtEnd() {
		s.calls.goTime(0)
		p.at = s.calls.moment()
	}
	return s.playTick()
}

// playOn moves the cursor to where the session was at the moment that is played.
func (s *session) playOn(m playMsg) tea.Cmd {
	p := &s.play
	if !p.on || m.id != p.id {
		return nil
	}
	if !p.last.IsZero() {
		p.at += time.Duration(float64(m.at.Sub(p.last)) * p.rate())
	}
	p.last = m.at
	s.feed.Lock()
	defer s.feed.Unlock()
	s.calls.goTime(p.at)
	if p.at > s.feed.Density.Last() {
		p.stop()
		return nil
	}
	return s.playTick()
}

// clock draws the line of time: when much happened, when something failed, and where
// the cursor is.
func (s *session) clock(w int) string {
	th := s.env.th
	at := s.calls.moment()
	if s.play.on {
		at = s.play.at
	}
	words := s.clockWords(at)
	l := s.clockWidth(w)
	if l < leastClock {
		return draw.NewLine(w, "").Gap(1).Raw(th.Dim, words).String()
	}
	line := s.feed.Density.Draw(l, at, density.Styles{Past: th.Dim, Future: th.Line, Cursor: th.Title, Bad: th.Bad})
	return " " + line + draw.NewLine(w-l-1, "").Gap(1).Raw(th.Dim, words).String()
}

func (s *session) clockWords(at time.Duration) string {
	words := seconds(at) + " / " + seconds(s.feed.Density.Last()) + " s"
	switch rate := s.play.rate(); {
	case s.play.on:
		words = "▶ " + rateWords(rate) + " " + words
	case rate != 1:
		words = rateWords(rate) + " " + words
	}
	return words
}

// leastClock is the shortest line of time that is worth having.
const leastClock = 8

// clockWidth is the part of the line of time that stands for time. It is the same
// wherever the cursor is.
func (s *session) clockWidth(w int) int {
	return w - 3 - draw.Width(s.clockWords(s.feed.Density.Last()))
}
