package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Keep protects a recording of the store from being removed to make room, or ends
// that.
func (s Store) Keep(i Info, keep bool) error {
	if !sameFile(s.Path(i.ID), i.Path) {
		return fmt.Errorf("%s is not in %s, where sessions are removed to make room", i.Path, s.Dir)
	}
	mark := strings.TrimSuffix(i.Path, journalExt) + keepExt
	if keep {
		return os.WriteFile(mark, nil, 0o600)
	}
	if err := os.Remove(mark); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ErrLive is the kind of error when a recording's tap is still running.
var ErrLive = errors.New("the session is live")

// Remove deletes a recording of the store with all its files.
func (s Store) Remove(i Info) error {
	found, err := s.files()
	if err != nil {
		return err
	}
	f := found[i.ID]
	if f == nil || !sameFile(f.path, i.Path) {
		return fmt.Errorf("%s is not in %s; delete the file itself", i.Path, s.Dir)
	}
	return f.remove()
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// remove deletes the files, the journal last, unless its tap is running.
func (f *files) remove() error {
	journal, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer journal.Close()
	if !lockToRemove(journal) {
		return ErrLive
	}
	defer unlock(journal)
	beside := f.side
	if f.kept {
		beside = append(beside, strings.TrimSuffix(f.path, journalExt)+keepExt)
	}
	if f.marks != "" {
		beside = append(beside, f.marks)
	}
	for _, path := range beside {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(f.path)
}

// lockToRemove takes the lock of a recording unless its tap has it. Others who
// ask whether it is live hold it for moments only.
func lockToRemove(f *os.File) bool {
	for range 20 {
		if tryLock(f) {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// Pruned says what was removed from a store to keep it below its limit.
type Pruned struct {
	Sessions int64     `json:"sessions"`
	Bytes    int64     `json:"bytes"`
	Last     time.Time `json:"last"`
}

// young recordings are left alone: their tap may not have locked them yet.
const young = time.Minute

// Prune removes the oldest ended recordings until the store is not larger than
// limit bytes (0: no limit). Live and kept ones stay, even above the limit.
func (s Store) Prune(limit int64, now time.Time) error {
	found, err := s.files()
	if err != nil || limit <= 0 {
		return err
	}
	total := int64(0)
	candidates := make([]*files, 0, len(found))
	for _, f := range found {
		total += f.size
		if !f.kept && now.Sub(f.age) >= young {
			candidates = append(candidates, f)
		}
	}
	slices.SortFunc(candidates, func(a, b *files) int { return cmp.Or(a.age.Compare(b.age), cmp.Compare(a.id, b.id)) })
	var done Pruned
	for _, f := range candidates {
		if total <= limit {
			break
		}
		if f.remove() == nil {
			total -= f.size
			done.Sessions++
			done.Bytes += f.size
		}
	}
	if done.Sessions == 0 {
		return nil
	}
	return s.addPruned(done, now)
}

func (s Store) prunedPath() string { return filepath.Join(s.Dir, "pruned.json") }

// Pruned is what was removed so far; zero if nothing was.
func (s Store) Pruned() Pruned {
	var p Pruned
	if b, err := os.ReadFile(s.prunedPath()); err == nil {
		_ = json.Unmarshal(b, &p)
	}
	return p
}

// addPruned keeps the sum. Taps that start at the same moment take turns.
func (s Store) addPruned(done Pruned, now time.Time) error {
	f, err := os.OpenFile(filepath.Join(s.Dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return err
	}
	p := s.Pruned()
	p.Sessions += done.Sessions
	p.Bytes += done.Bytes
	p.Last = now.UTC().Truncate(time.Second)
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(s.prunedPath(), append(b, '\n'), 0o600)
}
