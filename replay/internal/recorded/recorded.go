// Package recorded gives tests the tools of recorded sessions.
package recorded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
)

// Files gives the recorded sessions of decode and of a package in a folder as deep
// as replay/x; those in the folder of the environment's MCPTAP_CORPUS too.
func Files(t testing.TB) (files []string) {
	t.Helper()
	for _, dir := range []string{"testdata", "../../decode/testdata/corpus", os.Getenv("MCPTAP_CORPUS")} {
		found, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if dir != "" {
			files = append(files, found...)
		}
	}
	if len(files) == 0 {
		t.Fatal("no recorded sessions")
	}
	return files
}

// Load decodes a recorded session.
func Load(t testing.TB, file string) *sessions.Loaded {
	t.Helper()
	s, err := sessions.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Tools gives the definitions of every list of tools in a session, each once.
func Tools(l *sessions.Loaded) (items []decode.Item) {
	seen := map[string]bool{}
	for i := range l.Catalogue().Lists {
		list := &l.Catalogue().Lists[i]
		for _, it := range list.Items {
			if list.Kind == decode.Tools && !seen[string(it.Definition)] {
				seen[string(it.Definition)] = true
				items = append(items, it)
			}
		}
	}
	return items
}
