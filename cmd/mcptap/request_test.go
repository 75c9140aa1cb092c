package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRequestThatIsRefused: an answer that makes the request larger than the API takes
// is printed all the same, and said.
func TestRequestThatIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "large.jsonl")
	lines := `{"mcptap":1,"session":"20261130T120000Z-large-0001","start":"2026-11-30T12:00:00Z","transport":"stdio","command":["server"],"label":"large"}
{"n":1,"t":1000,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"all","arguments":{}}}}
{"n":2,"t":2000,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("many words ", 3<<20) + `"}]}}}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("mcptap", "--dir", t.TempDir(), "request", file)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatal(err, errs.String())
	}
	if want := "the API would refuse this request: it has 34"; !strings.Contains(errs.String(), want) {
		t.Errorf("%q is missing in:\n%s", want, errs.String())
	}
	if out.Len() < 33<<20 {
		t.Errorf("%d bytes of request", out.Len())
	}
}
