package filter_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/tap"
)

// odd is a session with what the recorded ones have none of.
func odd() filter.Source {
	s := decode.New(decode.Options{})
	bodies := []string{
		`{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"add_ticket","arguments":{"title":"CSV export"}}}`,
		`{"jsonrpc":"2.0","id":"7","result":{"isError":true,"content":[{"type":"text","text":"Error: T-12 not found"}]}}`,
		`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"file:///etc/hosts"}}`,
		`{"jsonrpc":"2.0","id":8,"result":{"contents":[{"text":"` + strings.Repeat("x", 5000) + `"}]}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add_ticket"}}`,
		`{"jsonrpc":"2.0","id":9,"result":{"content":[]}}`,
	}
	for i, b := range bodies {
		s.Add(&tap.Frame{N: uint64(i + 1), Time: time.Duration(i*i) * 200 * time.Millisecond, Dir: tap.C2S + tap.Dir(i%2), JSON: true, Body: []byte(b)})
	}
	return filter.Source{
		Session: s, Body: func(i int) []byte { return []byte(bodies[i]) }, Label: "my-slack",
		TurnOf: func(c int) int { return c + 1 },
		MarkOf: func(n uint64) (string, bool) { return "why so slow?", n == 6 },
	}
}

// TestTopic: every filter of 'mcptap help filters' selects something in one of our
// sessions, and not everything.
func TestTopic(t *testing.T) {
	topic, err := os.ReadFile("../../cmd/internal/cli/topics/filters.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(corpus + "*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	sources := []filter.Source{odd()}
	for _, f := range files {
		sources = append(sources, source(load(t, f)))
	}
	n := 0
	for line := range strings.Lines(string(topic)) {
		example := regexp.MustCompile(`^ {4}(\S.*?)(?: {2,}.*)?\n$`).FindStringSubmatch(line)
		if example == nil || strings.HasPrefix(example[1], "mcptap ") {
			continue
		}
		n++
		some, all := 0, 0
		for _, src := range sources {
			_, frames := rows(t, example[1], src)
			some += len(frames)
			all += src.Session.Len()
		}
		if some == 0 || some == all {
			t.Errorf("%s selects %d frames of %d", example[1], some, all)
		}
	}
	if n < 30 {
		t.Errorf("only %d examples found", n)
	}
}
