package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/sessions/part"
	"github.com/mcptap/mcptap/ui/lineedit"
)

// savePrompt asks for the name of the file that the selection is saved to.
func (s *session) savePrompt() {
	line := new(lineedit.Line)
	line.Set(filepath.Base(strings.TrimSuffix(s.path, ".jsonl")) + "-part.jsonl")
	s.askName(line, styled{s.selectionWords(), s.env.th.Faint})
}

// askName asks for a name; said stands beside it until another key.
func (s *session) askName(line *lineedit.Line, said styled) {
	p := &prompt{label: "save as", line: line, said: said, accept: s.save, cancel: func() tea.Cmd { return nil }}
	p.judge = func(string) styled { return styled{s.selectionWords(), s.env.th.Faint} }
	s.env.root.prompt = p
}

// selectionWords says what would be saved.
func (s *session) selectionWords() string {
	if s.calls.filter == "" {
		return "all of the session; / selects a part first"
	}
	return "what " + s.calls.filter + " selects"
}

// save writes what the filter selects to a new file. A name without a folder is in the
// folder that the program was started in.
func (s *session) save(name string) tea.Cmd {
	selection, whole, path, dir := s.calls.filter, !s.calls.frames, s.path, s.env.Dir
	return func() tea.Msg {
		said, err := saveSelection(path, selection, whole, dir, name)
		return savedMsg{s, name, said, err}
	}
}

func saveSelection(path, selection string, whole bool, dir, name string) (said string, err error) {
	if strings.TrimSpace(name) == "" {
		return "", fmt.Errorf("a file needs a name")
	}
	to := name
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	f, err := filter.Parse(selection)
	if err != nil {
		return "", err
	}
	in, err := sessions.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	l, err := sessions.Load(in, decode.Options{})
	if err != nil {
		return "", err
	}
	marked, err := marks.Load(marks.Path(path))
	if err != nil {
		return "", err
	}
	match, err := f.On(filter.Source{Session: l.Session, Body: l.Bodies(), Label: l.Name(), MarkOf: marked.Get})
	if err != nil {
		return "", err
	}
	n, err := part.Save(l, f, match, marked, to, part.Options{Frames: !whole})
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("it is there already; choose another name")
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no such folder")
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("saved %d of %s to %s", n, plural(l.Len(), "frame"), to), nil
}

// saved tells what became of it: an error stands where the name was asked for.
func (s *session) saved(m savedMsg) tea.Cmd {
	if m.err == nil {
		return send(noteMsg{m.said, false})
	}
	if s.env.root.prompt != nil || s.env.root.top() != screen(s) { // the user is at something else by now
		return send(noteMsg{"saving: " + m.err.Error(), true})
	}
	line := new(lineedit.Line)
	line.Set(m.name)
	s.askName(line, styled{m.err.Error(), s.env.th.Bad})
	return nil
}

// toggleTogether counts the other sessions of the host in what the model reads and
// costs, or leaves them out.
func (s *session) toggleTogether() tea.Cmd {
	s.others = !s.others
	if _, ok := s.side.(*modelPane); ok {
		s.side.stop()
		s.side = newModelPane(s.env, s.path, s.others)
		s.dim()
	}
	words := "this session alone"
	if s.others {
		words = "with the other sessions that the same host had open at that time"
	}
	return tea.Batch(send(noteMsg{words, false}), s.need())
}
