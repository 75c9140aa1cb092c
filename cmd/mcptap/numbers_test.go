//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Sessions whose outputs are walked: servers of both eras, one that changes its list,
// errors of all kinds, two servers at once.
var walked = [][]string{
	{"../../replay/claude/testdata/asrama.jsonl"},
	{"../../replay/claude/testdata/asrama.jsonl", "../../replay/claude/testdata/tickets.jsonl"},
	{"../../decode/testdata/corpus/features-ts-legacy-full.jsonl"},
	{"../../decode/testdata/corpus/features-go-noise-kills-client.jsonl"},
	{"../../decode/testdata/corpus/slack-ts-auto.jsonl"},
}

// marked is a number of tokens or an amount that says that it is an estimate, with its
// range behind it, below it, or both.
var marked = regexp.MustCompile(`~?\(?-?\$?[\d,.]+( to |-)\$?[\d,.]+\)?|~-?\$?[\d,.]+`)

// countable are the numbers that were counted or read somewhere, by their words.
var countable = regexp.MustCompile(strings.Join([]string{
	`claude-[a-z]+-[\d-]+`, `mcp[_a-z\d-]*`, `\d+\.\d+; \d+ as Opus [\d.]+, one outside measurement on a new-family model is \d+`,
	`within \d+% for a list of tools, \d+% for one text`, `(5 min|1 h) cache`, `cached for (5 minutes|1 hour)`, `read price of 0\.10 since`,
	`\d+ (of \d+ )?(tools?|servers?|requests?|turns?|definitions?|calls?|places?|more|images?)\b`, `all \d+ requests?`, `request \d+ paid`,
	`read [\d,]+ times`, `[\d.]+ ?[kM]?B\b`, `× \d+`, `frame \d+`, `\d+ blocks came since`, `\d+ of the calls had no answer`,
}, "|"))

// A row of the table of tools begins with a name and the number of calls.
var toolRow = regexp.MustCompile(`^\S.*?  +\d+ +[\d.]+[kM]?B|^\S.*?  +\d+ +~`)

func walkedOutput(t *testing.T, args []string, terminal uint16) string {
	t.Helper()
	if terminal > 0 {
		return onTerminal(t, terminal, "NO_COLOR=1", args...)
	}
	out, err := exec.Command("mcptap", args...).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

var date = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

var digit = regexp.MustCompile(`.{0,40}\d.{0,20}`)

// unwrapped is a page in one line, without the rows of the table of tools.
func unwrapped(page string) string {
	var out []string
	for line := range strings.Lines(page) {
		if !toolRow.MatchString(line) {
			out = append(out, strings.Fields(line)...)
		}
	}
	return strings.Join(out, " ")
}

// TestRentPageNumbers: every number of the page is marked as an estimate, or is of a
// kind that was counted.
func TestRentPageNumbers(t *testing.T) {
	for _, files := range walked {
		for _, host := range []string{"generic", "claude-code", "mcp-connector"} {
			for _, columns := range []uint16{80, 120, 160} {
				args := append([]string{"rent", "--host", host}, files...)
				page := walkedOutput(t, args, columns)
				if n := len(regexp.MustCompile(`~-?\$?\d`).FindAllString(page, -1)); n < 10 {
					t.Errorf("%v: only %d estimates on the page", args, n)
				}
				rest := countable.ReplaceAllString(marked.ReplaceAllString(date.ReplaceAllString(unwrapped(page), "·"), "§"), "·")
				for _, left := range digit.FindAllString(rest, -1) {
					t.Errorf("%v, %d columns: a number that does not say what it is: %q", args, columns, left)
				}
				for line := range strings.Lines(page) {
					if cells := strings.Fields(line); toolRow.MatchString(line) && !slices.ContainsFunc(cells, func(c string) bool { return strings.HasPrefix(c, "~") }) {
						t.Errorf("%v: a row without an estimate: %q", args, line)
					}
				}
			}
		}
	}
}

// before finds the numbers that are said to be tokens, and amounts.
var before = regexp.MustCompile(`(\S*\d\S*)(?: \([^)]*\))? tokens?\b|(\S*\$\d\S*)`)

// TestTokensAreMarked: wherever a text says that a number is tokens or money, it says
// that it is an estimate, or who counted.
func TestTokensAreMarked(t *testing.T) {
	for _, files := range walked {
		for _, command := range []string{"request", "request --turn all --changes", "rent", "rent --tidy", "search --from-calls", "check --fail-on none", "check --for claude-code --fail-on none"} {
			for _, columns := range []uint16{0, 80, 120} {
				args := append(strings.Fields(command), files...)
				if command == "request" && columns == 0 {
					continue // the body of the request, in which all is the server's
				}
				for _, m := range before.FindAllStringSubmatch(date.ReplaceAllString(strings.Join(strings.Fields(walkedOutput(t, args, columns)), " "), "day"), -1) {
					if n := m[1] + m[2]; !strings.HasPrefix(strings.TrimLeft(n, "("), "~") && !isRange(n) {
						t.Errorf("%v: %q is not marked", args, m[0])
					}
				}
			}
		}
	}
}

// isRange reports the range that stands beside or below its estimate.
func isRange(s string) bool {
	return regexp.MustCompile(`^\(?\$[\d.]+-\$[\d.]+\)?,?$`).MatchString(s)
}

// counted are the members of our JSON whose numbers were counted or measured, or are
// indexes and settings.
var counted = []string{
	"turn", "turns", "requests", "requests_name_only", "session", "frame", "request", "calls", "bytes", "bytes_wire", "bytes_before", "bytes_after", "places", "definitions",
	"unused", "reads", "resent", "images_not_counted", "limit", "rank", "best", "worst", "missed", "ways", "of", "count", "factor", "error", "samples", "counted_tokens",
}

// foreign are members that hold what a server said, or what is sent, as it is.
var foreign = []string{"block", "original", "tidied", "definition"}

// TestJSONNumbers: every number in JSON stands in an object that says what it rests on
// (basis, counted, estimated), or is a count.
func TestJSONNumbers(t *testing.T) {
	seen := 0
	for _, files := range walked {
		for _, command := range []string{"request --links", "request --changes", "rent --json", "rent --tidy --json", "search --from-calls --json", "search --json", "check --json --fail-on none"} {
			args := append(strings.Fields(command), files...)
			if command == "search --json" {
				args = append(args, "a")
			}
			for line := range strings.Lines(compactJSON(t, walkedOutput(t, args, 0))) {
				var v any
				if err := json.Unmarshal([]byte(line), &v); err != nil {
					t.Fatalf("%v: %v", args, err)
				}
				walkNumbers(v, "", false, func(path, key string, isMarked bool) {
					seen++
					if !isMarked && !slices.Contains(counted, key) {
						t.Errorf("%v: the number at %s does not say what it is", args, path)
					}
				})
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d numbers seen", seen)
	}
}

func compactJSON(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	d := json.NewDecoder(strings.NewReader(s))
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		var v any
		_ = json.Unmarshal(raw, &v)
		one, _ := json.Marshal(v)
		b.Write(append(one, '\n'))
	}
	return b.String()
}

func walkNumbers(v any, path string, isMarked bool, visit func(path, key string, isMarked bool)) {
	switch v := v.(type) {
	case map[string]any:
		for _, mark := range []string{"basis", "counted", "estimated"} {
			_, there := v[mark]
			isMarked = isMarked || there
		}
		for k, x := range v {
			if _, isBool := x.(bool); isBool || slices.Contains(foreign, k) {
				continue
			}
			walkNumbers(x, path+"/"+k, isMarked, visit)
		}
	case []any:
		for i, x := range v {
			walkNumbers(x, fmt.Sprintf("%s/%d", path, i), isMarked, visit)
		}
	case float64:
		parts := strings.Split(path, "/")
		key := parts[len(parts)-1]
		for i := len(parts) - 1; i > 0 && regexp.MustCompile(`^\d+$`).MatchString(key); i-- {
			key = parts[i-1]
		}
		visit(path, key, isMarked)
	}
}
