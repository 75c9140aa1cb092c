// Package marks keeps what people pin to frames of a recording: marks, and notes.
//
// It promises that a recording is never written to, that a file is replaced whole or
// not at all, that marks which somebody else has set since are kept when ours are
// saved, and that nothing is overwritten that is no file of marks.
//
// It must not decide where recordings lie, nor read them: a frame is named by its
// number in the journal.
package marks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Ext is what the name of a file of marks ends in, in place of the journal's .jsonl.
const Ext = ".marks.json"

// Path is where the marks of a journal lie: beside it.
func Path(journal string) string { return strings.TrimSuffix(journal, ".jsonl") + Ext }

// A Mark is a frame that somebody has marked.
type Mark struct {
	N    uint64 `json:"n"`              // number of the frame in the journal
	Note string `json:"note,omitempty"` // text of a person; make it safe before it is drawn
}

// Bounds of what is kept: a file of marks is read at once.
const (
	MaxNote  = 16 << 10 // bytes of a note
	maxMarks = 100_000
	maxFile  = 64 << 20
)

// Marks are the marks of one recording. The zero value has none. Its methods may be
// called from several goroutines.
type Marks struct {
	mu      sync.Mutex
	notes   map[uint64]string
	changed map[uint64]bool // since they were loaded or saved
}

// Get gives the note on a frame, and whether it is marked at all.
func (m *Marks) Get(n uint64) (note string, marked bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	note, marked = m.notes[n]
	return note, marked
}

// Len is how many frames are marked.
func (m *Marks) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.notes)
}

// All gives the marks in the order of their frames.
func (m *Marks) All() []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return list(m.notes)
}

func list(notes map[uint64]string) []Mark {
	all := make([]Mark, 0, len(notes))
	for n, note := range notes {
		all = append(all, Mark{n, note})
	}
	slices.SortFunc(all, func(a, b Mark) int { return cmp.Compare(a.N, b.N) })
	return all
}

// Set marks a frame, with a note or with "". It changes a mark that is there.
func (m *Marks) Set(n uint64, note string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, marked := m.notes[n]
	switch {
	case n == 0:
		return errors.New("marking a frame: frames are numbered from 1")
	case len(note) > MaxNote:
		return fmt.Errorf("the note on frame %d has %d bytes; %d is the most, so shorten it", n, len(note), MaxNote)
	case !marked && len(m.notes) >= maxMarks:
		return fmt.Errorf("marking frame %d: there are %d marks, which is the most; clear some", n, maxMarks)
	}
	m.init()
	m.notes[n], m.changed[n] = strings.ToValidUTF8(note, "\uFFFD"), true
	return nil
}

// Clear takes the mark and the note from a frame.
func (m *Marks) Clear(n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.init()
	delete(m.notes, n)
	m.changed[n] = true
}

func (m *Marks) init() {
	if m.notes == nil {
		m.notes = map[uint64]string{}
	}
	if m.changed == nil {
		m.changed = map[uint64]bool{}
	}
}

// file is the layout of a file of marks.
type file struct {
	Version int    `json:"mcptap_marks"`
	Marks   []Mark `json:"marks"`
}

const version = 1

// Load reads the marks that lie at path (see Path). None are there if there is no
// file.
func Load(path string) (*Marks, error) {
	notes, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("reading the marks: %w", err)
	}
	return &Marks{notes: notes}, nil
}

func read(path string) (map[uint64]string, error) {
	notes := map[uint64]string{}
	stat, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notes, nil
	case err != nil:
		return nil, err
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	all, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; move it away if it is not ours", path, err)
	}
	for _, m := range all {
		notes[m.N] = m.Note
	}
	return notes, nil
}

// parse reads a file of marks.
func parse(b []byte) ([]Mark, error) {
	var f file
	if len(b) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err := json.Unmarshal(b, &f); err != nil || f.Version == 0 {
		return nil, errors.New("it holds no marks of mcptap")
	}
	if f.Version > version {
		return nil, fmt.Errorf("it has format version %d, and this mcptap knows versions up to %d", f.Version, version)
	}
	out := slices.DeleteFunc(f.Marks, func(m Mark) bool { return m.N == 0 || len(m.Note) > MaxNote })
	return out[:min(len(out), maxMarks)], nil
}

// Save writes what was set and cleared since the last time into the file at path:
// other marks that are there by now stay. A file without marks is removed. Afterwards
// Get gives those of others too.
func (m *Marks) Save(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.changed) == 0 {
		return nil
	}
	merged, err := read(path)
	if err != nil {
		return fmt.Errorf("keeping the marks: %w", err)
	}
	for n := range m.changed {
		if note, marked := m.notes[n]; marked {
			merged[n] = note
		} else {
			delete(merged, n)
		}
	}
	if err := write(path, merged); err != nil {
		return fmt.Errorf("keeping the marks beside the recording: %w; copy the recording to a folder that you may write to, and mark it there", err)
	}
	m.notes, m.changed = merged, nil
	return nil
}

func write(path string, notes map[uint64]string) error {
	if len(notes) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.MarshalIndent(file{version, list(notes)}, "", " ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".marks-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
