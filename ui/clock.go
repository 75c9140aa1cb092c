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
)

func (p *player) stop() { p.on = false }

func (p *player) rate() float64 {
	if p.speed == 0 {
		return 1
	}
	return p.speed
}

func (s *session) playTick() tea.Cmd {
	id := s.play.id
	return s.env.tick(playEvery, func(t time.Time) tea.Msg { return playMsg{id, t} })
}

func (s *session) playKey(id string) tea.Cmd {
	p := &s.play
	switch id {
	case "faster":
		p.speed = min(p.rate()*2, maxSpeed)
		return nil
	case "slower":
		p.speed = max(p.rate()/2, 1.0/maxSpeed)
		return nil
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
	words := seconds(at) + " / " + seconds(s.feed.Density.Last()) + " s"
	if s.play.on {
		words = "▶ " + words
	}
	if r := s.play.rate(); r != 1 {
		words += "  ×" + strconv.FormatFloat(r, 'g', 4, 64)
	}
	l := s.clockWidth(w)
	if l < 8 {
		return draw.NewLine(w, "").Gap(1).Raw(th.Dim, words).String()
	}
	line := s.feed.Density.Draw(l, at, density.Styles{Past: th.Dim, Future: th.Faint, Cursor: th.Title + th.Match, Bad: th.Bad})
	return " " + line + " " + draw.NewLine(w-l-2, "").Raw(th.Dim, words).String()
}

// clockWidth is the part of the line of time that stands for time.
func (s *session) clockWidth(w int) int { return w - 34 }
