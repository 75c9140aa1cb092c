package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/sessions/neutral"
	"github.com/mcptap/mcptap/tap"
)

// State is what a recording's file says about its tap.
type State string

// The states of a recording.
const (
	Live    State = "live"    // its tap is running
	Ended   State = "ended"   // its tap ended in order
	Crashed State = "crashed" // its tap ended without a last record
)

// Info is what the list of recordings shows of one. It is read from the file's
// two ends, whatever lies between.
type Info struct {
	ID      string
	Path    string
	Size    int64 // of the journal and its side files, in bytes
	State   State
	Kept    bool
	Start   time.Time   // from the header; else from the id of a foreign recording; else the file's age
	Header  *tap.Header // nil if the first line is no header
	Records uint64      // number of the last record
	End     *tap.End    // nil unless State is Ended
	// Length is the time of the last record, its end not counted: a tap may have waited
	// for its client to come back.
	Length time.Duration
	Empty  bool // there is no byte in the journal: it has just begun, or the disk is full
	// Problem is why there is nothing to show of the file: it is no recording at all. ""
	// if it is one, as far as its two ends tell, or may become one.
	Problem string

	foreign *tap.Header // what the first line of a foreign recording says of it, nil if it is none
}

// Label is the session's label: of a foreign recording the name that it has there, of a
// file that is empty or no recording the one in its id.
func (i *Info) Label() string {
	switch {
	case i.Header != nil:
		return i.Header.Label
	case i.foreign != nil && i.foreign.Label != "":
		return i.foreign.Label
	case i.Empty, i.Problem != "", i.foreign != nil:
		_, label := partsOf(i.ID)
		return label
	}
	return ""
}

// HasLength reports whether Length is known: the last line of a foreign recording may
// tell no time.
func (i *Info) HasLength() bool { return i.Length != 0 || i.foreign == nil && i.Problem == "" }

// partsOf gives the start and the label in an id that NewID made; nothing if it is none.
func partsOf(id string) (start time.Time, label string) {
	from, to := strings.IndexByte(id, '-'), strings.LastIndexByte(id, '-')
	start, err := time.Parse(idTime, id[:max(from, 0)])
	if err != nil || to <= from {
		return time.Time{}, ""
	}
	return start, id[from+1 : to]
}

// Short is the end of the id, which is enough to name the session as long as no
// other has the same.
func (i *Info) Short() string { return i.ID[strings.LastIndexByte(i.ID, '-')+1:] }

// List reads the store: every recording, the newest first. A store that does
// not exist is empty.
func (s Store) List() ([]Info, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(files))
	for _, f := range files {
		if i, err := inspect(f.path); err == nil {
			i.Size, i.Kept = f.size, f.kept
			infos = append(infos, i)
		}
	}
	newestFirst(infos)
	return infos, nil
}

// New gives the recordings whose id is not among those that are known, the newest
// first: a look that costs little while nothing begins.
func (s Store) New(known func(id string) bool) ([]Info, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var infos []Info
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), journalExt)
		if !ok || !e.Type().IsRegular() || known(id) {
			continue
		}
		if i, err := inspect(s.Path(id)); err == nil {
			infos = append(infos, i)
		}
	}
	newestFirst(infos)
	return infos, nil
}

func newestFirst(infos []Info) {
	slices.SortFunc(infos, func(a, b Info) int {
		return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(b.ID, a.ID))
	})
}

// files are a recording's files, by what their names say.
type files struct {
	id   string
	path string
	size int64
	side []string
	kept bool
	// marks is the file of marks, "" if there is none. As the mark of keep it is no
	// part of the recording, and does not count in its size.
	marks string
	age   time.Time // when the journal was last written to
}

// files groups the files of the store by recording.
func (s Store) files() (map[string]*files, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := map[string]*files{}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), journalExt); ok && e.Type().IsRegular() {
			found[id] = &files{id: id, path: s.Path(id)}
		}
	}
	for _, e := range entries {
		s.assign(found, e)
	}
	return found, nil
}

func (s Store) assign(found map[string]*files, e fs.DirEntry) {
	name := e.Name()
	info, err := e.Info()
	if err != nil {
		return
	}
	if id, ok := strings.CutSuffix(name, journalExt); ok && found[id] != nil {
		found[id].size += info.Size()
		found[id].age = info.ModTime()
		return
	}
	if id, ok := strings.CutSuffix(name, keepExt); ok && found[id] != nil {
		found[id].kept = true
		return
	}
	if id, ok := strings.CutSuffix(name, marks.Ext); ok && found[id] != nil && !e.IsDir() {
		found[id].marks = filepath.Join(s.Dir, name)
		return
	}
	for dot := strings.IndexByte(name, '.'); dot >= 0; dot = next(name, dot) {
		if f := found[name[:dot]]; f != nil && tap.SideName(name[dot+1:]) {
			f.size += info.Size()
			f.side = append(f.side, filepath.Join(s.Dir, name))
		}
	}
}

// next is the next dot in name after dot, -1 if there is none.
func next(name string, dot int) int {
	i := strings.IndexByte(name[dot+1:], '.')
	if i < 0 {
		return -1
	}
	return dot + 1 + i
}

// inspect reads the two ends of a journal.
func inspect(path string) (Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	i := Info{ID: strings.TrimSuffix(filepath.Base(path), journalExt), Path: path, Size: stat.Size(), Start: stat.ModTime()}
	i.read(f, func() bool { return live(f) })
	return i, nil
}

// read takes what the two ends of a journal of Size bytes say.
func (i *Info) read(f io.ReaderAt, running func() bool) {
	i.Empty = i.Size == 0
	first := tap.NewReader(io.NewSectionReader(f, 0, firstLine))
	r, err := first.Next()
	if err == nil && r.Header != nil {
		i.Header = r.Header
		if !r.Header.Start.IsZero() {
			i.Start = r.Header.Start
		}
	}
	if i.foreign = neutral.Header(first.Line()); i.foreign != nil {
		if start, _ := partsOf(i.ID); !start.IsZero() {
			i.Start = start
		}
	}
	i.readTail(f, i.Size)
	i.State = state(i.End, running)
	if i.Header == nil && i.Records == 0 && i.State != Live && i.foreign == nil {
		i.Problem = problem(i, r, err, first.Line())
	}
}

// Inspect says of one file what List says of each.
func Inspect(path string) (Info, error) { return inspect(path) }

// problem says what is wrong with a file that has no record in it.
func problem(i *Info, first tap.Record, err error, line []byte) string {
	switch {
	case i.Empty:
		return "the file is empty"
	case err != nil:
		return "its first line has no end"
	case !json.Valid(line):
		return "its first line is not JSON"
	case first.Bad != nil && gjson.GetBytes(line, "mcptap").Exists():
		return first.Bad.Error()
	case first.Bad != nil:
		return "its first line is JSON, but no record of mcptap"
	}
	return "it has no header and no frames"
}

// firstLine bounds the header; a command line is at most 2 MiB on Linux.
const firstLine = 4 << 20

func state(end *tap.End, running func() bool) State {
	switch {
	case end != nil:
		return Ended
	case running():
		return Live
	}
	return Crashed
}

// readTail finds the last complete record, looking back as far as one line of
// ordinary length goes, then further.
func (i *Info) readTail(f io.ReaderAt, size int64) {
	for back := int64(4 << 10); ; back *= 16 {
		from := max(0, size-back)
		tail := make([]byte, size-from)
		n, err := f.ReadAt(tail, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return
		}
		if i.lastRecord(tail[:n], from == 0) || from == 0 || back > 64<<20 || i.End != nil && back > farEnough {
			return
		}
	}
}

// farEnough is how far is looked for the record before the end: without it a length
// includes what came after it.
const farEnough = 1 << 20

// lastRecord takes the last record, and of one that is the end the time of that
// before it.
func (i *Info) lastRecord(tail []byte, whole bool) bool {
	tail = tail[:bytes.LastIndexByte(tail, '\n')+1]
	for len(tail) > 0 {
		at := bytes.LastIndexByte(tail[:len(tail)-1], '\n') + 1
		if at == 0 && !whole {
			return false // the line begins further back
		}
		line := tail[at:]
		tail = tail[:at]
		if i.foreign != nil {
			if t, ok := neutral.Time(line); ok {
				i.Length = t
				return true
			}
			continue
		}
		rec, err := tap.NewReader(bytes.NewReader(line)).Next()
		if err != nil || rec.Bad != nil {
			continue
		}
		n, t := rec.Position()
		i.Records, i.Length = max(i.Records, n), t
		if rec.End == nil {
			return true
		}
		i.End = rec.End
	}
	return false
}
