//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	Bytes     map[string]struct{ A, B int64 }
	BreakEven struct {
		Fixed, Calls int64
		PerCall      float64 `json:"per_call"`
	} `json:"break_even"`
	Rows []struct {
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
	heads := int64(0)
	for _, part := range []string{"Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "Mcp-Session-Id", "other headers"} {
		heads += c.Bytes[part].B
	}
	if heads != c.Bytes["headers"].B {
		t.Errorf("%s: headers take %d bytes, their parts %d", c.B.Revision, c.Bytes["headers"].B, heads)
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

// wireBytes is what 'show --raw' gives back, both directions together. Of what came over
// HTTP that has a line end more for each body, and not the heads and the framing that
// stats tells.
func wireBytes(t *testing.T, path string) (n int64) {
	t.Helper()
	for _, dir := range []string{"c2s", "s2c"} {
		n += int64(len(output(t, "show", path, "--raw", dir)))
	}
	var stats struct {
		Frames int64
		HTTP   map[string]struct{ Heads, Framing int64 } `json:"bytes_http"`
	}
	if err := json.Unmarshal(output(t, "stats", path, "--json"), &stats); err != nil {
		t.Fatal(err)
	}
	if stats.HTTP == nil {
		return n
	}
	for _, h := range stats.HTTP {
		n += h.Heads + h.Framing
	}
	return n - stats.Frames
}

func output(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.Command("mcptap", args...).Output()
	if err != nil {
		t.Fatalf("mcptap %v: %v: %s", args, err, out)
	}
	return out
}

// overHTTP has a client use a server of the official Go SDK through a tap, and gives
// the recording.
func overHTTP(t *testing.T, revision string, drive func(transport mcp.Transport)) (path string) {
	t.Helper()
	server := kitchen()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: revision >= "2026-07-28"})
	s := httptest.NewServer(handler)
	defer s.Close()
	p := startHTTP(t, s.URL)
	drive(&mcp.StreamableClientTransport{Endpoint: p.url})
	if journals, _ := p.end(); len(journals) != 1 {
		t.Fatalf("%d recordings", len(journals))
	}
	files, err := filepath.Glob(filepath.Join(p.store, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

// TestDiffOfTransports compares the same script of one SDK over stdio and over HTTP, in
// both eras: it is the same work, and totals are what crossed, heads and all.
func TestDiffOfTransports(t *testing.T) {
	var paths []string
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		stdio := filepath.Join(t.TempDir(), revision+".jsonl")
		driveSDK(t, revision, exec.Command("mcptap", "--log", stdio, "--", "sdkserver"))
		paths = append(paths, stdio, overHTTP(t, revision, func(transport mcp.Transport) { driveOver(t, revision, transport) }))
	}
	for i, a := range paths {
		for _, b := range paths[i+1:] {
			checkComparison(t, string(output(t, "diff", "--json", "--fail-on", "work,outcome,tools", a, b)), a, b)
		}
	}
}

// TestBreakEvenOverHTTP drives as many calls as a comparison says the eras break even
// at, and one less.
func TestBreakEvenOverHTTP(t *testing.T) {
	drive := func(calls int64) (c comparison) {
		var paths []string
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			paths = append(paths, overHTTP(t, revision, func(transport mcp.Transport) { callOften(t, revision, transport, calls) }))
		}
		if err := json.Unmarshal(output(t, "diff", "--json", paths[0], paths[1]), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	said := drive(1).BreakEven
	if said.Calls < 2 || said.Fixed >= 0 || said.PerCall <= 0 {
		t.Fatalf("%+v", said)
	}
	for _, calls := range []int64{said.Calls - 1, said.Calls} {
		c := drive(calls)
		if total := c.Bytes["total"]; (total.B > total.A) != (calls == said.Calls) {
			t.Errorf("%d calls: %d and %d bytes; they were to break even at %d", calls, total.A, total.B, said.Calls)
		}
		if c.BreakEven.Calls != said.Calls {
			t.Errorf("%d calls break even at %d, one at %d", calls, c.BreakEven.Calls, said.Calls)
		}
	}
}

func callOften(t *testing.T, revision string, transport mcp.Transport, calls int64) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "guest", Version: "1.0.0"}, nil)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	for range calls {
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "order", Arguments: orderArgs{Dish: "soup"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
}
