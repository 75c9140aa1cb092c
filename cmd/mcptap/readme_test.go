package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// elsewhere has the README's commands that no script can run: what they need is
// not there in a test.
var elsewhere = map[string]string{
	"go run ./cmd/mcptap demo":                   "mcptap demo",
	"go test ./...":                              "runs this very test",
	"mcptap http --to http://127.0.0.1:3001/mcp": "needs a server at that port",
	"mcptap http --to http://127.0.0.1:3001/mcp --listen 127.0.0.1:8080 -- my-agent": "needs a server at that port",
	"go install github.com/mcptap/mcptap/cmd/mcptap@latest":                          "needs a published module",
}

// TestReadmeCommandsAreTested finds every command of the README in readme.txtar.
func TestReadmeCommandsAreTested(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/readme.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tested := strings.ReplaceAll(string(script), "''", "'") // quoted inside a script
	n := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		for command := range strings.Lines(block[1]) {
			command = strings.TrimSpace(command)
			n++
			if elsewhere[command] == "" && !strings.Contains(tested, command) {
				t.Errorf("no test runs %q", command)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d commands found in the README", n)
	}
}
