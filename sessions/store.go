package sessions

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"github.com/mcptap/mcptap/tap"
)

const (
	journalExt = ".jsonl"
	keepExt    = ".keep"
	idTime     = "20060102T150405Z"
)

// A Store is a folder of recordings.
type Store struct {
	Dir string
}

// DefaultDir is where recordings lie unless the user says otherwise:
// $MCPTAP_DIR, else the platform's folder for a program's state.
func DefaultDir(getenv func(string) string) string {
	if dir := getenv("MCPTAP_DIR"); dir != "" {
		return dir
	}
	state := xdg.StateHome
	if u, err := user.Current(); runtime.GOOS != "windows" && getenv("HOME") == "" && getenv("XDG_STATE_HOME") == "" && err == nil {
		state = filepath.Join(u.HomeDir, ".local", "state") // a host may pass no HOME on
	}
	return filepath.Join(state, "mcptap", "sessions")
}

// NewID names a recording: its start, its label (a result of label.Guess or
// label.Clean), and four digits against two starts within a second.
func NewID(label string, start time.Time) string {
	var entropy [2]byte
	_, _ = rand.Read(entropy[:])
	return start.UTC().Format(idTime) + "-" + label + "-" + hex.EncodeToString(entropy[:])
}

// Path is where the recording with this id lies.
func (s Store) Path(id string) string { return filepath.Join(s.Dir, id+journalExt) }

// Create makes and locks the file of a new recording. A name that is taken
// gives an error that is fs.ErrExist.
func (s Store) Create(id string) (*Recording, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for recordings: %w", err)
	}
	return create(s.Path(id))
}

// CreateFile makes and locks a new recording at path, or, if there is a file
// already, at the first free of path with .2, .3, ... before its extension.
func CreateFile(path string) (*Recording, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for the recording: %w", err)
	}
	ext := filepath.Ext(path)
	base := strings.TrimSuffix(path, ext)
	for n := 2; ; n++ {
		if stat, err := os.Stat(path); err == nil && !stat.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a file that can be recorded to", path)
		}
		r, err := create(path)
		if !errors.Is(err, fs.ErrExist) {
			return r, err
		}
		path = base + "." + strconv.Itoa(n) + ext
	}
}

// A Recording is the file of a session that is being recorded. It is live as
// long as it is open: its process holds a lock on it.
type Recording struct {
	*os.File
	path string
}

func create(path string) (*Recording, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating the recording: %w", err)
	}
	_ = lock(f) // a file system without locks only means that ls can't tell it is live
	return &Recording{f, path}, nil
}

// Side creates a side file of the recording; suffix is tap.SideName's.
func (r *Recording) Side(suffix string) (*os.File, error) {
	path, err := sidePath(r.path, suffix)
	if err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// DropSide removes a side file that could not be completed.
func (r *Recording) DropSide(suffix string) {
	if path, err := sidePath(r.path, suffix); err == nil {
		_ = os.Remove(path)
	}
}

// sidePath is the path of a journal's side file. The suffix may come from a
// journal, so anything but what a tap writes there is refused.
func sidePath(journal, suffix string) (string, error) {
	if !tap.SideName(suffix) {
		return "", fmt.Errorf("%.40q is not the name of a side file", suffix)
	}
	return strings.TrimSuffix(journal, journalExt) + "." + suffix, nil
}
