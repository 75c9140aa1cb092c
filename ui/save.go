package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
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

// save writes what the filter selects to a new file.
func (s *session) save(name string) tea.Cmd {
	selection, whole, path, folders := s.calls.filter, !s.calls.frames, s.path, folders{s.env.Dir, s.env.Home}
	return func() tea.Msg {
		said, err := saveSelection(path, selection, whole, folders, name)
		return savedMsg{s, name, said, err}
	}
}

// folders are those that a name can begin in without saying so.
type folders struct {
	dir  string // of a name without a folder; "": the one that the program was started in
	home string // "" if it is not known
}

// path is the file that a name means, as in a shell: ~/x is in the home folder.
func (f folders) path(name string) (string, error) {
	rest, home := strings.CutPrefix(name, "~")
	switch {
	case strings.TrimSpace(name) == "":
		return "", errors.New("a file needs a name")
	case home && (rest == "" || os.IsPathSeparator(rest[0])):
		if f.home == "" {
			return "", errors.New("which folder ~ is can't be told; name it in full")
		}
		return filepath.Join(f.home, rest), nil
	case filepath.IsAbs(name):
		return name, nil
	}
	return filepath.Join(f.dir, name), nil
}

// missing is the uppermost folder of a name that is not there, as it is named.
func (f folders) missing(name string) string {
	folder := filepath.Dir(name)
	for up := filepath.Dir(folder); up != folder; up = filepath.Dir(up) {
		if path, err := f.path(up); err != nil || there(path) {
			break
		}
		folder = up
	}
	return folder
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func saveSelection(path, selection string, whole bool, in folders, name string) (said string, err error) {
	to, err := in.path(name)
	if err != nil {
		return "", err
	}
	f, err := filter.Parse(selection)
	if err != nil {
		return "", err
	}
	recording, err := sessions.Open(path)
	if err != nil {
		return "", err
	}
	defer recording.Close()
	l, err := sessions.Load(recording, decode.Options{})
	if err != nil {
		return "", err
	}
	marked, err := marks.Load(marks.Path(path))
	if err != nil {
		return "", err
	}
	match, err := f.On(filter.Source{Session: l.Session, Body: l.Bodies(), Label: l.Name(), MarkOf: marked.Get, TurnOf: replay.TurnOf(playedSession(l))})
	if err != nil {
		return "", err
	}
	n, err := part.Save(l, f, match, marked, to, part.Options{Frames: !whole})
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("it is there already; choose another name")
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %s", in.missing(name))
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
