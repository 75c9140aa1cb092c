//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// tapped is a tap that runs in a test, with the test in the place of the host.
type tapped struct {
	*exec.Cmd
	t      *testing.T
	store  string
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

// startTap starts "mcptap FLAGS -- fakeserver MODES".
func startTap(t *testing.T, flags []string, modes ...string) *tapped {
	t.Helper()
	store := t.TempDir()
	args := append(append([]string{"--dir", store}, flags...), "--", "fakeserver")
	p := &tapped{Cmd: exec.Command("mcptap", append(args, modes...)...), t: t, store: store}
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	p.Cmd.Stderr = &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

func (p *tapped) line() string {
	p.t.Helper()
	s, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading a line: %q, %v; stderr: %s", s, err, p.stderr.String())
	}
	return strings.TrimSuffix(s, "\n")
}

// end waits for the tap, expects its exit status, and returns its journal. A tap
// that never ends fails by the time limit of the whole test.
func (p *tapped) end(status int) []byte {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.Wait()
	if got := p.ProcessState.ExitCode(); got != status {
		p.t.Errorf("exit status %d, want %d; stderr: %s", got, status, p.stderr.String())
	}
	return journalOf(p.t, p.store)
}
