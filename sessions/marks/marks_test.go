package marks

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustLoad(t testing.TB, path string) *Marks {
	t.Helper()
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := Path(filepath.Join(t.TempDir(), "x.jsonl"))
	if filepath.Base(path) != "x.marks.json" {
		t.Error(path)
	}
	m := mustLoad(t, path)
	check(t, m.Set(17, "why is this empty?\x1b[2J"))
	check(t, m.Set(3, ""))
	check(t, m.Save(path))
	got := mustLoad(t, path)
	if diff := cmp.Diff([]Mark{{3, ""}, {17, "why is this empty?\x1b[2J"}}, got.All()); diff != "" {
		t.Error(diff)
	}
	if note, marked := got.Get(3); !marked || note != "" || got.Len() != 2 {
		t.Error(note, marked)
	}
	if stat, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && stat.Mode().Perm() != 0o600 {
		t.Error(stat.Mode(), err)
	}
	got.Clear(3)
	got.Clear(17)
	check(t, got.Save(path))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a file without marks stays:", err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if len(left)+len(hidden) > 0 {
		t.Error(left, hidden)
	}
}

// TestOthersMarksStay: two that have the same marks open lose nothing of each other.
func TestOthersMarksStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+Ext)
	a, b := mustLoad(t, path), mustLoad(t, path)
	check(t, a.Set(1, "a"))
	check(t, a.Set(2, "a"))
	check(t, a.Save(path))
	check(t, b.Set(2, "b"))
	check(t, b.Set(3, "b"))
	check(t, b.Save(path))
	a.Clear(1)
	check(t, a.Save(path))
	want := []Mark{{2, "b"}, {3, "b"}}
	if diff := cmp.Diff(want, mustLoad(t, path).All()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, a.All()); diff != "" {
		t.Error(diff)
	}
}

func TestSeveralGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+Ext)
	m := mustLoad(t, path)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_ = m.Set(uint64(i+1), fmt.Sprint(i))
			_ = m.Save(path)
			m.Get(1)
		})
	}
	all.Wait()
	if got := mustLoad(t, path); got.Len() != 8 {
		t.Error(got.All())
	}
}

// TestForeignFiles: what is no file of marks is neither read nor overwritten.
func TestForeignFiles(t *testing.T) {
	for content, wrong := range map[string]string{
		`{"name":"package"}`:                    "it holds no marks of mcptap",
		"":                                      "it holds no marks of mcptap",
		`[]`:                                    "it holds no marks of mcptap",
		`{"mcptap_marks":2,"marks":[{"n":1}]}`:  "format version 2",
		`{"mcptap_marks":1,"marks":[{"n":-1}]}`: "it holds no marks of mcptap",
	} {
		path := filepath.Join(t.TempDir(), "x"+Ext)
		check(t, os.WriteFile(path, []byte(content), 0o600))
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", content, err)
		}
		var m Marks
		check(t, m.Set(1, ""))
		if err := m.Save(path); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", content, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Errorf("%s became %s", content, b)
		}
	}
	dir := filepath.Join(t.TempDir(), "x"+Ext)
	check(t, os.Mkdir(dir, 0o700))
	if _, err := Load(dir); err == nil {
		t.Error("a folder is read")
	}
}

func TestNoPlace(t *testing.T) {
	var m Marks
	check(t, m.Set(1, ""))
	err := m.Save(filepath.Join(t.TempDir(), "gone", "x"+Ext))
	if err == nil || !strings.Contains(err.Error(), "copy the recording to a folder that you may write to") {
		t.Error(err)
	}
	if _, marked := m.Get(1); !marked {
		t.Error("the mark is gone")
	}
}

func TestBounds(t *testing.T) {
	var m Marks
	if m.Set(0, "") == nil || m.Set(1, strings.Repeat("x", MaxNote+1)) == nil {
		t.Error("set without an error")
	}
	check(t, m.Set(1, "\xff"))
	if note, _ := m.Get(1); note != "\uFFFD" {
		t.Errorf("%q", note)
	}
	for i := range maxMarks - 1 {
		check(t, m.Set(uint64(i+2), ""))
	}
	if m.Set(maxMarks+5, "") == nil {
		t.Error("no bound")
	}
	check(t, m.Set(7, "changed"))
}

// TestProperty: what is saved is what a map would hold.
func TestProperty(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprint(runs)+Ext)
		want, m := map[uint64]string{}, &Marks{}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			n := rapid.Uint64Range(1, 5).Draw(rt, "n")
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				m.Clear(n)
				delete(want, n)
			case 1:
				check(t, m.Save(path))
			case 2:
				check(t, m.Save(path))
				m = mustLoad(t, path)
			default:
				note := rapid.String().Draw(rt, "note")
				check(t, m.Set(n, note))
				want[n] = strings.ToValidUTF8(note, "\uFFFD")
			}
		}
		check(t, m.Save(path))
		if diff := cmp.Diff(list(want), mustLoad(t, path).All()); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// FuzzParse reads arbitrary bytes as a file of marks.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcptap_marks":1,"marks":[{"n":17,"note":"x"},{"n":0}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parse(b)
		if err != nil {
			return
		}
		for _, m := range all {
			if m.N == 0 || len(m.Note) > MaxNote {
				t.Fatal(m)
			}
		}
	})
}
