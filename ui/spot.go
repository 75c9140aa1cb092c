package ui

import (
	"bytes"
	"encoding/json"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/ui/feed"
)

// A spot is a place in a frame that another screen leads to: a JSON pointer (RFC 6901), or
// texts of which the first counts that stands there. The zero value leads to the frame as
// such.
type spot struct {
	pointer string
	texts   []string
	answer  bool // it is in the answer to the frame
	maybe   bool // it may be nowhere in it
}

func (at *spot) isZero() bool { return at.pointer == "" && len(at.texts) == 0 }

// textSpot is where a text stands whose escapes are undone: in a frame they may be there.
func textSpot(text string) spot {
	texts := []string{text}
	if b, err := json.Marshal(text); err == nil {
		texts = append(texts, string(b[1:len(b)-1]))
	}
	for line := range strings.SplitSeq(text, "\n") { // a row has no more than that
		if line = strings.TrimSpace(line); line != "" && line != text {
			texts = append(texts, line)
			break
		}
	}
	return spot{texts: texts}
}

// A spotter is a page whose rows know a place in the frame that they lead to.
type spotter interface {
	spot(i int) spot
}

func (p *rentPage) spot(i int) (at spot) {
	if i < len(p.v.tools) {
		return spot{pointer: p.v.tools[i].pointer}
	}
	if left := p.v.lines[i-len(p.v.tools)].left; left != nil {
		return spot{pointer: left.pointer}
	}
	return at
}

func (p *searchPage) spot(i int) (at spot) {
	switch r := &p.rows[i]; {
	case r.tool >= 0:
		return spot{pointer: p.v.tools[r.tool].pointer}
	case r.left >= 0:
		return spot{pointer: p.v.left[r.left].pointer}
	}
	return at
}

func (p *findingsPage) spot(i int) (at spot) {
	if f := p.rows[i].Finding; f != nil {
		return findingSpot(f)
	}
	return at
}

// findingSpot is where what a finding names stands in its frame: findings know the frame,
// and of what is in it only names and values.
func findingSpot(f *rules.Finding) (at spot) {
	at.maybe = true
	for _, arg := range f.Args {
		if name := strings.Trim(arg, `"`); len(name) > 1 {
			quoted, _ := json.Marshal(name)
			at.texts = append(at.texts, string(quoted))
		}
	}
	return at
}

// spot is the first place of a row that differs, in a request or in its answer.
func (p *diffPage) spot(i int) (at spot) {
	r := p.at(i)
	if r == nil {
		return at
	}
	for k := range r.Changes {
		c := &r.Changes[k]
		if path, err := diff.ParsePath(c.Path); err == nil && c.Path != "" && leadsIn[c.What] {
			return spot{pointer: path.Pointer(), answer: c.What != diff.WhatArguments}
		}
	}
	return at
}

// leadsIn are the differences whose paths are paths in the frames of a call.
var leadsIn = map[diff.What]bool{diff.WhatArguments: true, diff.WhatResult: true, diff.WhatError: true}

// openSession opens a recording, and puts the cursor on a frame; -1 for none.
func (e *env) openSession(path string, goal int) tea.Cmd { return e.openSpot(path, goal, spot{}) }

// openSpot opens a recording at a spot of a frame.
func (e *env) openSpot(path string, goal int, at spot) tea.Cmd {
	now := e.Now
	return func() tea.Msg {
		f, err := feed.Open(path, now())
		return openedMsg{path: path, feed: f, goal: goal, spot: at, err: err}
	}
}

// openFiltered opens a session with a filter.
func (e *env) openFiltered(path, text string) tea.Cmd {
	open := e.openSession(path, -1)
	return func() tea.Msg {
		msg := open().(openedMsg)
		msg.filter = text
		return msg
	}
}

// leadTo goes to a frame, and in it to a spot. There is one way for all screens that lead
// to a session: what they know of the place comes along.
func (s *session) leadTo(frame int, at spot) {
	if at.answer {
		s.feed.Lock()
		if other := s.feed.Counterpart(frame); other >= 0 {
			frame = other
		}
		s.feed.Unlock()
	}
	s.landed = 0
	s.jump(frame)
	s.frame.lead, s.frame.leadFrame = at, frame
	if at.isZero() {
		return
	}
	if !at.maybe {
		s.focus, s.landed = inFrame, inFrame
	}
	s.arrange()
	if p := &s.frame; p.body != nil && p.body.Frame == frame && p.want == frame {
		p.land()
	}
}

// land puts the cursor on the spot that a screen led to, as soon as its frame is there.
// What was searched for goes on with the next match.
func (p *framePane) land() {
	at, frame := p.lead, p.leadFrame
	p.lead = spot{} // one that another frame came before is over
	if p.body == nil || p.body.Frame != frame || at.isZero() {
		return
	}
	row, ok := p.rowAt(&at)
	if !ok {
		return
	}
	p.changed()
	from, to := p.list.Range()
	p.list.Place(row, (to-from)/3)
}

// rowAt is the row of a spot.
func (p *framePane) rowAt(at *spot) (row int, ok bool) {
	t := p.tree()
	if at.pointer != "" && t != nil {
		return t.At(at.pointer)
	}
	for _, text := range at.texts {
		if t != nil {
			row, ok = t.First(text)
		} else {
			from := bytes.Index(p.body.Bytes, []byte(text))
			row, ok = from/p.perRow(), from >= 0
		}
		if ok {
			p.search = text
			return row, true
		}
	}
	return 0, false
}

// backFromSpot reports that the cursor is still where another screen led to: then one goes
// back to that screen at once.
func (s *session) backFromSpot() bool { return s.landed != 0 && s.focus == s.landed }
