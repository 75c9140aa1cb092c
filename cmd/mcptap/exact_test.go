//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/creack/pty"
	"github.com/tidwall/gjson"
)

// countTokens stands in for Anthropic's endpoint: 7 tokens, 300 more with tools, and
// one for each three bytes of a tool.
func countTokens(t *testing.T, requests *atomic.Int64) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/messages/count_tokens" || r.Header.Get("x-api-key") != "sk-test-key" {
			t.Errorf("%s, with key %q", r.URL.Path, r.Header.Get("x-api-key"))
		}
		n := 7
		for i, tool := range gjson.GetBytes(body, "tools").Array() {
			if i == 0 {
				n += 300
			}
			n += len(tool.Raw) / 3
		}
		_ = json.NewEncoder(w).Encode(map[string]int{"input_tokens": n})
	}))
	t.Cleanup(s.Close)
	return s
}

// TestExact has a stand-in count, and looks at what is printed of it.
func TestExact(t *testing.T) {
	var requests atomic.Int64
	server := countTokens(t, &requests)
	cache := t.TempDir()
	run := func(args ...string) (stdout, stderr string) {
		c := exec.Command("mcptap", append(args, "../../replay/claude/testdata/asrama.jsonl")...)
		c.Env = append(os.Environ(), "ANTHROPIC_API_KEY=sk-test-key", "ANTHROPIC_BASE_URL="+server.URL, "XDG_CACHE_HOME="+cache)
		var out, said strings.Builder
		c.Stdout, c.Stderr = &out, &said
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said.String())
		}
		return out.String(), said.String()
	}
	lines, said := run("rent", "--exact", "--yes")
	if n := requests.Load(); n != 6 {
		t.Errorf("%d requests, want one without tools, one with all, and one less each of 4", n)
	}
	if !strings.Contains(said, "--exact sends 6 requests") || !strings.Contains(said, strings.TrimPrefix(server.URL, "http://")) || strings.Contains(said+lines, "sk-test") {
		t.Errorf("it says %q", said)
	}
	for line := range strings.Lines(lines) {
		if cell := strings.Split(line, "\t")[4]; !regexp.MustCompile(`^\d+$`).MatchString(cell) {
			t.Errorf("a counted definition prints as %q", cell)
		}
	}
	all, _ := run("rent", "--exact", "--yes", "--json")
	if n := requests.Load(); n != 6 {
		t.Errorf("%d requests: what is known was asked again", n)
	}
	o := gjson.Parse(all)
	if o.Get("sent.tools.0.per_request.basis").String() != "counted" || o.Get("sent.per_request.basis").String() != "mixed" || o.Get("calibration.samples").Int() != 4 || o.Get("calibration.factor").Float() <= 0 {
		t.Errorf("%s", o.Get("calibration").Raw+o.Get("sent.tools.0.per_request").Raw+o.Get("sent.per_request").Raw)
	}
	one, _ := run("request", "--exact", "--yes", "--turn", "1")
	if n := requests.Load(); n != 7 || !regexp.MustCompile(`^1\t\d[\d,]*\t~`).MatchString(one) {
		t.Errorf("%d requests, and %q", n, one)
	}
	deferred, said := run("request", "--exact", "--yes", "--json", "--host", "claude-code")
	if o := gjson.Parse(deferred); o.Get("counted.basis").String() != "mixed" || o.Get("added.mid").Float() <= 0 || o.Get("turn").Int() != 2 || !strings.Contains(said, "4 deferred definitions can't be counted as such") {
		t.Errorf("of deferred tools: %s, %s", deferred, said)
	}
	whole, said := run("rent", "--exact=list", "--yes", "--json")
	if o := gjson.Parse(whole); o.Get("calibration.samples").Int() != 1 || o.Get("sent.tools.0.per_request.basis").String() != "estimated" || strings.Contains(said, "sends") {
		t.Errorf("of the list, whose answers are known: %s, %s", o.Get("calibration").Raw, said)
	}
	kept, err := filepath.Glob(filepath.Join(cache, "mcptap", "tokens", "*"))
	if err != nil || len(kept) != 8 {
		t.Errorf("%d answers kept: %v", len(kept), err)
	}
}

// TestExactAsks: on a terminal it asks, and sends nothing unless somebody agrees.
func TestExactAsks(t *testing.T) {
	for answer, want := range map[string]struct {
		requests int64
		status   int
		says     string
	}{"n\n": {0, 2, "nothing was sent"}, "\n": {0, 2, "nothing was sent"}, "y\n": {6, 0, "tools were counted by Anthropic"}} {
		t.Run(strings.TrimSpace(answer), func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			server := countTokens(t, &requests)
			c := exec.Command("mcptap", "rent", "--exact", "../../replay/claude/testdata/asrama.jsonl")
			c.Env = append(os.Environ(), "ANTHROPIC_API_KEY=sk-test-key", "ANTHROPIC_BASE_URL="+server.URL, "XDG_CACHE_HOME="+t.TempDir(), "NO_COLOR=1")
			f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 200})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(answer); err != nil {
				t.Fatal(err)
			}
			out, _ := io.ReadAll(f) // Linux ends a terminal with an error
			_ = c.Wait()
			if got := c.ProcessState.ExitCode(); got != want.status || requests.Load() != want.requests || !strings.Contains(string(out), want.says) {
				t.Errorf("exit status %d, %d requests: %s", got, requests.Load(), out)
			}
			if !strings.Contains(string(out), "send it? [y/N]") {
				t.Errorf("it does not ask: %s", out)
			}
		})
	}
}
