package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// session plays one session in process and returns the lines of both directions.
func session(t *testing.T, era Era) (steps []Step, c2s, s2c []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	var sent, got bytes.Buffer
	served := make(chan error, 1)
	go func() {
		err := Serve(io.TeeReader(serverIn, &sent), io.MultiWriter(&got, serverOut), io.Discard)
		serverOut.Close()
		served <- err
	}()
	steps, err := Drive(ctx, era, clientIn, clientOut)
	if err != nil {
		t.Fatalf("Drive: %v", err)
	}
	if err := <-served; err != nil {
		t.Fatalf("Serve: %v", err)
	}
	return steps, lines(sent.String()), lines(got.String())
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

const (
	modernCall = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_tickets","arguments":{"query":"login"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"lab-client","version":"0.1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	legacyCall = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_tickets","arguments":{"query":"login"}}}`
)

// The published comparison of the eras, 299 bytes against 111, is of these two lines.
func TestPublishedCalls(t *testing.T) {
	_, modern, _ := session(t, Modern)
	if modern[2] != modernCall || len(modern[2]) != 299 {
		t.Errorf("modern call, %d bytes:\n%s", len(modern[2]), modern[2])
	}
	_, legacy, _ := session(t, Legacy)
	if legacy[3] != legacyCall || len(legacy[3]) != 111 {
		t.Errorf("legacy call, %d bytes:\n%s", len(legacy[3]), legacy[3])
	}
}

// The other frames of the published session have known sizes too.
func TestPublishedSizes(t *testing.T) {
	_, modernOut, modernIn := session(t, Modern)
	_, legacyOut, legacyIn := session(t, Legacy)
	for _, c := range []struct {
		what, line string
		size       int
	}{
		{"server/discover", modernOut[0], 250},
		{"its result", modernIn[0], 397},
		{"modern search result", modernIn[2], 432},
		{"modern isError result", modernIn[4], 250},
		{"initialize", legacyOut[0], 157},
		{"its result", legacyIn[0], 306},
		{"notifications/initialized", legacyOut[1], 54},
		{"legacy tools/list", legacyOut[2], 46},
		{"legacy search result", legacyIn[2], 319},
	} {
		if len(c.line) != c.size {
			t.Errorf("%s: %d bytes, want %d:\n%s", c.what, len(c.line), c.size, c.line)
		}
	}
}

func TestDriveSteps(t *testing.T) {
	shared := []Step{
		{"tools/list", "", "ok", "search_tickets, add_comment, assign_ticket"},
		{"tools/call", "search_tickets", "ok", `{"id":"T-101","title":"Login times out on mobile","status":"open","comm…`},
		{"tools/call", "add_comment", "ok", "Comment added to T-102 (1 total)"},
		{"tools/call", "add_comment", "tool error", "Error executing tool add_comment: No ticket T-999"},
		{"tools/call", "close_ticket", "protocol error", "-32602 Unknown tool: close_ticket"},
		{"tools/call", "assign_ticket", "hidden error", "No user robin"},
		{"resources/templates/list", "", "ok", "tickets://{ticket_id}"},
		{"resources/read", "tickets://T-102", "ok", `{"title":"CSV export drops the last row","status":"open","comments":["F…`},
		{"prompts/get", "triage", "ok", "Read ticket T-101, decide its severity (P1-P3) and suggest an owner."},
	}
	openings := map[Era]Step{
		Legacy: {"initialize", "", "ok", "acme-tickets 1.0.0 speaks 2025-11-25"},
		Modern: {"server/discover", "", "ok", "acme-tickets 1.0.0 speaks 2026-07-28"},
	}
	for era, opening := range openings {
		steps, _, _ := session(t, era)
		want := append([]Step{opening}, shared...)
		if len(steps) != len(want) {
			t.Fatalf("%s: %d steps, want %d", era, len(steps), len(want))
		}
		for i := range want {
			if steps[i] != want[i] {
				t.Errorf("%s step %d:\n got %q\nwant %q", era, i+1, steps[i], want[i])
			}
		}
	}
}

func TestRunsAreIdentical(t *testing.T) {
	for _, era := range []Era{Legacy, Modern} {
		_, out1, in1 := session(t, era)
		_, out2, in2 := session(t, era)
		first, second := strings.Join(append(out1, in1...), "\n"), strings.Join(append(out2, in2...), "\n")
		if first != second {
			t.Errorf("%s: two runs differ:\n%s\n\n%s", era, first, second)
		}
	}
}

// The hidden error is one only to who reads the text: the frame says success.
func TestHiddenErrorLooksLikeSuccess(t *testing.T) {
	_, _, answers := session(t, Legacy)
	want := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\n  \"error\": \"No user robin\",\n  \"status\": 404\n}"}],"isError":false}}`
	if answers[6] != want {
		t.Errorf("got  %s\nwant %s", answers[6], want)
	}
}

// fakeServer answers every line with the next of its answers.
func fakeServer(t *testing.T, answers ...string) (io.Reader, io.WriteCloser) {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	go func() {
		defer serverOut.Close()
		buf := make([]byte, 4096)
		for _, a := range answers {
			if _, err := serverIn.Read(buf); err != nil {
				return
			}
			io.WriteString(serverOut, a+"\n")
		}
		io.Copy(io.Discard, serverIn)
	}()
	t.Cleanup(func() { clientIn.Close(); serverIn.Close() })
	return clientIn, clientOut
}

func TestDriveRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		era    Era
		answer string
		want   string
		steps  int
	}{
		{"no such era", "bronze", "", `unknown era "bronze"`, 0},
		{"not JSON", Modern, "hello", "modern session: waiting for the answer to server/discover: invalid character", 0},
		{"another id", Legacy, `{"jsonrpc":"2.0","id":"1","result":{}}`, "legacy session: waiting for the answer to initialize: got a message that is no answer to request 1", 0},
		{"a request", Legacy, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "no answer to request 1", 0},
		{"neither result nor error", Legacy, `{"jsonrpc":"2.0","id":1}`, "has not one of result and error", 0},
		{"another revision", Legacy, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05"}}`, "does not speak 2025-11-25", 1},
		{"no modern revision", Modern, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, "does not speak 2026-07-28", 1},
		{"unknown resultType", Modern, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task"}}`, `unexpected resultType "task"`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, out := fakeServer(t, c.answer)
			steps, err := Drive(t.Context(), c.era, in, out)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if len(steps) != c.steps {
				t.Errorf("steps %v, want %d", steps, c.steps)
			}
			if _, err := out.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the server's input is still open: %v", err)
			}
		})
	}
}

func TestDrivePassesOverNotifications(t *testing.T) {
	in, out := fakeServer(t, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}`+"\n\n"+
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05"}}`)
	steps, err := Drive(t.Context(), Legacy, in, out)
	if err == nil || len(steps) != 1 {
		t.Errorf("steps %v, error %v", steps, err)
	}
}

func TestDriveEndsWithItsContext(t *testing.T) {
	for name, connect := range map[string]func() (io.Reader, io.WriteCloser){
		"silent server": func() (io.Reader, io.WriteCloser) { return fakeServer(t, "") },
		"server that does not read": func() (io.Reader, io.WriteCloser) {
			in, _ := io.Pipe()
			_, out := io.Pipe()
			return in, out
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			defer cancel()
			in, out := connect()
			if _, err := Drive(ctx, Modern, in, out); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the context's", err)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("a\x1b[2Jb\n\tc\u202e"); got != "a[2Jb c" {
		t.Errorf("got %q", got)
	}
	if got := []rune(oneLine(strings.Repeat("é", 100))); len(got) != gistWidth {
		t.Errorf("%d characters, want %d", len(got), gistWidth)
	}
}

func TestFramesAreCompact(t *testing.T) {
	for _, era := range []Era{Legacy, Modern} {
		_, c2s, s2c := session(t, era)
		for _, line := range append(c2s, s2c...) {
			var out bytes.Buffer
			if err := json.Compact(&out, []byte(line)); err != nil || out.String() != line {
				t.Errorf("%s: not compact (%v): %s", era, err, line)
			}
		}
	}
}
