package rules

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/neutral"
	"github.com/mcptap/mcptap/tap"
)

var update = flag.Bool("update", false, "write the golden files anew")

func loadSession(t testing.TB, file string) *script {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sc := &script{s: decode.New(decode.Options{})}
	var in neutral.Translator
	for line := range bytes.Lines(raw) {
		for _, rec := range in.Line(bytes.TrimSuffix(line, []byte("\n")), tap.Record{}) {
			if rec.Bad != nil {
				t.Fatalf("%s: %v", file, rec.Bad)
			}
			sc.take(&rec)
		}
	}
	return sc
}

// TestCorpus compares the findings in recorded sessions with those that were read
// and found right. MCPTAP_CORPUS names a folder with more sessions than testdata.
func TestCorpus(t *testing.T) {
	dir, golden := os.Getenv("MCPTAP_CORPUS"), filepath.Join("testdata", "corpus.golden")
	if dir == "" {
		dir, golden = filepath.Join("..", "testdata", "corpus"), filepath.Join("testdata", "corpus-small.golden")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions in %s: %v", dir, err)
	}
	slices.Sort(files)
	var got strings.Builder
	for _, file := range files {
		fmt.Fprintf(&got, "%s\n", strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		for _, f := range loadSession(t, file).findings() {
			fmt.Fprintf(&got, "  %s\n", strings.ToValidUTF8(describe(&f), "?"))
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}
