package sessions_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
)

func never() bool { return false }

func mentions(t *testing.T, path, word string) bool {
	t.Helper()
	f, err := filter.Parse(`"` + word + `"`)
	if err != nil {
		t.Fatal(err)
	}
	may, err := sessions.Mentions(path, f.Needs(), never)
	if err != nil {
		t.Fatal(err)
	}
	return may
}

// TestMentions: a recording that has a text in a frame is never passed over, and most
// that do not have it are.
func TestMentions(t *testing.T) {
	var files []string
	for _, dir := range []string{"samples/recordings", "../ui/testdata/store", "../decode/testdata/corpus"} {
		some, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(some) == 0 {
			t.Fatal(dir, err)
		}
		files = append(files, some...)
	}
	passed := 0
	for _, path := range files {
		for _, word := range []string{"ticket", "ü", "漢字", "😀", "not found", "2025-11-25", "no such text at all"} {
			if mentions(t, path, word) {
				continue
			}
			passed++
			if selects(t, path, word) {
				t.Errorf("%s has %s, and was passed over", path, word)
			}
		}
	}
	if passed == 0 {
		t.Error("nothing was ever passed over")
	}
}

func selects(t *testing.T, path, word string) bool {
	t.Helper()
	s, err := sessions.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := filter.Parse(`"` + word + `"`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.On(filter.Source{Session: l.Session, Body: l.Body})
	if err != nil {
		t.Fatal(err)
	}
	found, _ := m.Frames(nil, 0, l.Len(), nil)
	return len(found) > 0
}

// TestMentionsLongLines: lines may be longer than what is read at once, and the text
// may stand where two pieces meet.
func TestMentionsLongLines(t *testing.T) {
	const piece = 1 << 20
	for name, content := range map[string]string{
		"across":   strings.Repeat("x", piece/2) + "\n" + strings.Repeat("x", piece/2-4) + "needle\n",
		"long":     strings.Repeat("x", 3*piece) + "needle" + strings.Repeat("x", piece) + "\nend\n",
		"last":     strings.Repeat(strings.Repeat("x", 999)+"\n", 3000) + "needle",
		"exactly":  strings.Repeat("x", piece-7) + "needle\n",
		"at first": "needle" + strings.Repeat("x", 2*piece),
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if !mentions(t, path, "needle") {
			t.Errorf("%s: it is not found", name)
		}
		if mentions(t, path, "needless") {
			t.Errorf("%s: what is not there is found", name)
		}
	}
}

func TestMentionsEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if _, err := sessions.Mentions(path, nil, never); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := sessions.Mentions(t.TempDir(), nil, never); err == nil {
		t.Error("a folder is read")
	}
	for _, line := range []string{`{"meta":{"x":1}}`, `{"n":1,"t":1,"dir":"c2s","b64":"bmVlZGxl"}`, `{"n":1,"t":1,"dir":"c2s","file":"x","bytes":9000000}`} {
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if !mentions(t, path, "needle") {
			t.Errorf("%s: what it holds elsewhere is passed over", line)
		}
	}
	if _, err := sessions.Mentions(path, nil, func() bool { return true }); !errors.Is(err, sessions.ErrStopped) {
		t.Errorf("stopped: %v", err)
	}
}
