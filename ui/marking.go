package ui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/lineedit"
)

func loadMarks(f *feed.Feed, path string) tea.Cmd {
	return func() tea.Msg {
		m, err := marks.Load(marks.Path(path))
		return marksMsg{f, m, err}
	}
}

// tookMarks keeps the marks that were read.
func (s *session) tookMarks(m marksMsg) tea.Cmd {
	if m.err != nil {
		return send(noteMsg{"reading the marks: " + m.err.Error(), true})
	}
	s.calls.marks = m.marks
	s.calls.version++
	if s.calls.matcher != nil || s.calls.filter == "" {
		return nil
	}
	text := s.calls.filter // it asks for marks, and was set before they were there
	s.calls.filter = ""
	return s.begin(text)
}

// markedFrame is the number of the frame at the cursor; ok is false if there is none,
// or the marks are not there yet.
func (s *session) markedFrame() (n uint64, ok bool) {
	frame := s.calls.frameAtCursor()
	if frame < 0 || s.calls.marks == nil {
		return 0, false
	}
	return s.feed.Frame(frame).N, true
}

// mark marks the frame at the cursor, or takes its mark and note away.
func (s *session) mark() tea.Cmd {
	n, ok := s.markedFrame()
	if !ok {
		return nil
	}
	words := "marked frame " + strconv.FormatUint(n, 10)
	if _, marked := s.calls.marks.Get(n); marked {
		s.calls.marks.Clear(n)
		words = "frame " + strconv.FormatUint(n, 10) + " is not marked any more"
	} else if err := s.calls.marks.Set(n, ""); err != nil {
		return send(noteMsg{"marking: " + err.Error(), true})
	}
	return s.saveMarks(words)
}

// annotate lets the user write a note on the frame at the cursor.
func (s *session) annotate() {
	n, ok := s.markedFrame()
	if !ok {
		return
	}
	line := new(lineedit.Line)
	note, _ := s.calls.marks.Get(n)
	line.Set(note)
	s.env.root.prompt = &prompt{label: "note on frame " + strconv.FormatUint(n, 10), line: line, accept: func(text string) tea.Cmd {
		if err := s.calls.marks.Set(n, text); err != nil {
			return send(noteMsg{"marking: " + err.Error(), true})
		}
		return tea.Batch(s.saveMarks("noted on frame "+strconv.FormatUint(n, 10)), s.need())
	}, cancel: func() tea.Cmd { return nil }}
}

func (s *session) saveMarks(words string) tea.Cmd {
	s.calls.version++
	m, path := s.calls.marks, marks.Path(s.path)
	return func() tea.Msg {
		if err := m.Save(path); err != nil {
			return noteMsg{"keeping the marks: " + err.Error(), true}
		}
		return noteMsg{words, false}
	}
}

// isMarked reports a mark on one of an operation's frames.
func (c *calls) isMarked(o *decode.Operation) bool {
	if c.marks == nil || c.marks.Len() == 0 {
		return false
	}
	for _, leg := range o.Legs {
		for _, frame := range leg.Frames {
			if _, marked := c.marks.Get(c.feed.Frame(frame).N); marked {
				return true
			}
		}
	}
	return false
}

func (c *calls) frameMarked(frame int) bool {
	if c.marks == nil || c.marks.Len() == 0 {
		return false
	}
	_, marked := c.marks.Get(c.feed.Frame(frame).N)
	return marked
}

// noteOf is the note on a frame, for the line above it.
func (c *calls) noteOf(frame int) string {
	if frame < 0 || !c.frameMarked(frame) {
		return ""
	}
	note, _ := c.marks.Get(c.feed.Frame(frame).N)
	if note == "" {
		return "★ marked"
	}
	return "★ " + note
}
