//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/sessions/samples"
	"github.com/mcptap/mcptap/ui/safetext"
)

var update = flag.Bool("update", false, "write the screens anew")

// onTerminal runs a command on a terminal of the given width and gives what it
// printed there.
func onTerminal(t *testing.T, columns uint16, env string, args ...string) string {
	t.Helper()
	c := exec.Command("mcptap", args...)
	c.Env = append(os.Environ(), "TERM=xterm-256color", env)
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, _ := io.ReadAll(f) // Linux ends a terminal with an error
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n")))
}

// TestScreens compares what commands print on terminals of several widths with
// what was found right by looking at it.
func TestScreens(t *testing.T) {
	for _, c := range []struct{ name, command, session string }{
		{"show", "show", "features-go-noise-kills-client"},
		{"frames", "show --frames", "features-go-noise-kills-client"},
		{"rounds", "show", "features-ts-auto-sibling-full.2"},
		{"stats", "stats", "slack-ts-auto"},
		{"diff", "diff ../../decode/testdata/corpus/features-ts-legacy-full.jsonl", "features-go-auto-full"},
		{"request", "request --host claude-code", "features-go-noise-kills-client"},
		{"rent", "rent", "slack-ts-auto"},
		{"tidy", "rent --tidy", "rough-asrama"},
		{"rent-deferred", "rent --host claude-code", "features-ts-legacy-full"},
	} {
		for _, columns := range []uint16{40, 60, 80, 120, 200} {
			for _, colour := range []string{"NO_COLOR=1", "NO_COLOR="} {
				name := fmt.Sprintf("%s-%d", c.name, columns)
				if colour == "NO_COLOR=" {
					name += "-colour"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					args := append(strings.Fields(c.command), "../../decode/testdata/corpus/"+c.session+".jsonl")
					compareScreen(t, name, onTerminal(t, columns, colour, args...), int(columns))
				})
			}
		}
	}
}

// TestReasonsInFull: however narrow a terminal is, it tells why calls failed, and a pipe
// tells it in the row.
func TestReasonsInFull(t *testing.T) {
	const session = "../../decode/testdata/corpus/features-go-noise-kills-client.jsonl"
	const long = "Input validation error: Invalid arguments for tool echo: data must have required property 'text'"
	for _, columns := range []uint16{40, 80, 120} {
		shown := strings.Join(strings.Fields(onTerminal(t, columns, "NO_COLOR=1", "show", session)), " ")
		for _, want := range []string{long, "Tool no_such_tool not found (-32602 invalid params)", "flagged as an error"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%d columns: %q is not in\n%s", columns, want, shown)
			}
		}
		if strings.Contains(shown, "-32602 …") || strings.Contains(shown, "Input valid…") {
			t.Errorf("%d columns: a reason is there twice:\n%s", columns, shown)
		}
	}
	piped, err := exec.Command("mcptap", "show", session).Output()
	if err != nil || !strings.Contains(string(piped), "\ttool error\t"+long+"\n") {
		t.Errorf("%v\n%s", err, piped)
	}
}

// TestPicture: what screenshots/make.sh makes a picture of is what the command prints.
func TestPicture(t *testing.T) {
	store, err := samples.Store(filepath.Join(t.TempDir(), "samples"))
	if err != nil {
		t.Fatal(err)
	}
	got := "$ mcptap show tickets-2026\n" + onTerminal(t, 150, "NO_COLOR=", "--dir", store.Dir, "show", "tickets-2026")
	const golden = "../../screenshots/frames/show.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is old; 'make screenshots' draws the pictures anew\n%s", golden, diff)
	}
}

// TestRequestJSONOnATerminal: JSON that a terminal shows means the same as that which
// is piped, and nothing in it drives the terminal.
func TestRequestJSONOnATerminal(t *testing.T) {
	args := []string{"request", "--json", "../../decode/testdata/corpus/features-ts-legacy-full.jsonl"}
	shown := onTerminal(t, 80, "NO_COLOR=1", args...)
	shown = shown[strings.Index(shown, "{\n"):] // standard error is on the same terminal
	for line := range strings.Lines(shown) {
		if line = strings.TrimSuffix(line, "\n"); safetext.Line(line) != line {
			t.Errorf("a line that is not safe: %q", line)
		}
	}
	piped, err := exec.Command("mcptap", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal([]byte(shown), &a) != nil || json.Unmarshal(piped, &b) != nil {
		t.Fatal("it is no JSON")
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(shown, `\u202e`) {
		t.Error("the session has no hidden character: this test sees nothing")
	}
}

func compareScreen(t *testing.T, name, got string, columns int) {
	t.Helper()
	for line := range strings.Lines(got) {
		if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > columns {
			t.Errorf("a line of %d columns: %q", w, line)
		}
	}
	golden := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestTapOnATerminal types a request into a tap, as somebody trying a server by
// hand does, and ends it with ^D and with ^C.
func TestTapOnATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		key    string
		status int
	}{"end of input": {"\x04", 0}, "interrupt": {"\x03", 130}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := t.TempDir()
			cmd := exec.Command("mcptap", "--dir", store, "--", "fakeserver", "echo")
			f, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"); err != nil {
				t.Fatal(err)
			}
			echoed := make([]byte, 0, 200)
			for b := make([]byte, 200); bytes.Count(echoed, []byte("ping")) < 2; { // the terminal's echo, then the server's
				n, err := f.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				echoed = append(echoed, b[:n]...)
			}
			if _, err := f.WriteString(c.key); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, f)
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("exit status %d, want %d", got, c.status)
			}
			if end := endOf(t, journalOf(t, store)); end.Frames != 2 {
				t.Errorf("%+v", end)
			}
		})
	}
}

// TestListNamesClients: behind one HTTP tap there are many clients, and a list tells
// them apart where there is room.
func TestListNamesClients(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"claude", "node"} {
		id := fmt.Sprintf("20261130T12000%dZ-mcp-000%d", i, i)
		header := fmt.Sprintf(`{"mcptap":1,"session":%q,"start":"2026-11-30T12:00:0%dZ","transport":"http","label":"mcp","host":{"pid":471%d,"name":%q}}`, id, i, i, name)
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(header+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "20261130T130000Z-full-0003.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := "MCPTAP_DIR=" + dir
	wide, narrow := onTerminal(t, 200, env, "ls"), onTerminal(t, 80, env, "ls")
	for _, want := range []string{"claude 4710", "node 4711", "full"} {
		if !strings.Contains(wide, want) {
			t.Errorf("%q is not in\n%s", want, wide)
		}
	}
	if strings.Contains(narrow, "4710") || !strings.Contains(narrow, "empty") {
		t.Error(narrow)
	}
	c := exec.Command("mcptap", "ls", "--json")
	c.Env = append(os.Environ(), env)
	out, err := c.Output()
	for _, want := range []string{`"host":{"pid":4711,"name":"node"}`, `"label":"full","state":"crashed"`, `"empty":true`} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %q is not in\n%s", err, want, out)
		}
	}
}
