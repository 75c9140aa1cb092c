//go:build unix

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiffOfRevisions records the same script of the official Go SDK in every
// revision, and compares each recording with the first: it is the same work, the
// totals are what crossed, and nothing that is said to be on one side is on both.
func TestDiffOfRevisions(t *testing.T) {
	store := t.TempDir()
	var paths []string
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		path := filepath.Join(store, revision+".jsonl")
		driveSDK(t, revision, exec.Command("mcptap", "--log", path, "--", "sdkserver"))
		paths = append(paths, path)
	}
	out, err := exec.Command("mcptap", append([]string{"diff", "--json", "--fail-on", "work,outcome,tools"}, paths...)...).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	comparisons := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(comparisons) != len(paths)-1 {
		t.Fatalf("%d comparisons of %d recordings", len(comparisons), len(paths))
	}
	for i, line := range comparisons {
		checkComparison(t, line, paths[0], paths[i+1])
	}
}

type comparison struct {
	A, B struct {
		Revision string
	}
	Bytes map[string]struct{ A, B int64 }
	Rows  []struct {
		Kind, Method, Reason string
		A, B                 json.RawMessage
		Details              []struct {
			What, Reason string
			A, B         int
		}
		Changes []struct{ What, Path, A, B string }
	}
}

func checkComparison(t *testing.T, line, a, b string) {
	t.Helper()
	var c comparison
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		t.Fatal(err)
	}
	total := c.Bytes["total"]
	if total.A != wireBytes(t, a) || total.B != wireBytes(t, b) {
		t.Errorf("%s: totals are %v, on the wire are %d and %d bytes", c.B.Revision, total, wireBytes(t, a), wireBytes(t, b))
	}
	operations := 0
	for _, r := range c.Rows {
		one := string(r.A) == "null" || string(r.B) == "null"
		if one && r.Reason == "" {
			t.Errorf("%s: %s is on one side only", c.B.Revision, r.Method)
		}
		if r.Kind == "operation" && !one {
			operations++
		}
		for _, change := range r.Changes {
			t.Errorf("%s: %s: %+v", c.B.Revision, r.Method, change)
		}
	}
	if operations != 5 { // tools/list, three calls, a prompt
		t.Errorf("%s: %d operations on both sides", c.B.Revision, operations)
	}
}

// wireBytes is what 'show --raw' gives back, both directions together.
func wireBytes(t *testing.T, path string) (n int64) {
	t.Helper()
	for _, dir := range []string{"c2s", "s2c"} {
		out, err := exec.Command("mcptap", "show", path, "--raw", dir).Output()
		if err != nil {
			t.Fatal(err)
		}
		n += int64(len(out))
	}
	return n
}
