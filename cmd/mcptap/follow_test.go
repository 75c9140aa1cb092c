//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"testing"
)

// TestFollowAllClients follows a tap on HTTP: what each of its clients does is seen,
// also of one that comes later, and told apart.
func TestFollowAllClients(t *testing.T) {
	way := ways["sessions"]
	server := httptest.NewServer(way.handler())
	defer server.Close()
	p := startHTTP(t, server.URL+"/mcp")
	first, _ := guest(t.Context(), t, p.url, "early", way.revision, false)
	f := exec.Command("mcptap", "--dir", p.store, "follow", "--json", "--once")
	out, err := f.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	rows := bufio.NewScanner(out)
	rows.Buffer(nil, 16<<20)
	calls := map[string]string{} // by session
	seen := func(what string) bool {
		for rows.Scan() {
			var j struct{ Session, Label, Client, Method string }
			if err := json.Unmarshal(rows.Bytes(), &j); err != nil || j.Session == "" || j.Label == "" {
				t.Fatalf("%v: %s", err, rows.Bytes())
			}
			if runtime.GOOS == "linux" && j.Client == "" {
				t.Errorf("the client's process is missing: %s", rows.Bytes())
			}
			if j.Method != "" {
				calls[j.Session] += j.Method + " "
			}
			if j.Method == what {
				return true
			}
		}
		return false
	}
	if !seen("initialize") {
		t.Error("the client that was there before is not seen")
	}
	second, _ := guest(t.Context(), t, p.url, "late", way.revision, false)
	if _, err := second.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !seen("tools/list") {
		t.Error("the client that came later is not seen")
	}
	_, _ = first.Close(), second.Close()
	p.end()
	if seen("never") {
		t.Error("what was never sent is seen")
	}
	if err := f.Wait(); err != nil {
		t.Error(err)
	}
	if len(calls) != 2 {
		t.Errorf("%d sessions: %v", len(calls), calls)
	}
}
