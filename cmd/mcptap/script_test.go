//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func itoa(n int) string { return strconv.Itoa(n) }

// scriptTB lets checks that take a testing.TB fail a script.
type scriptTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (scriptTB) Helper()                             {}
func (s scriptTB) Errorf(format string, args ...any) { s.ts.Fatalf(format, args...) }
func (s scriptTB) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }

// status is the verb "status N COMMAND ARGS...": the command's exit status is N.
// Its output is that of exec.
func status(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARGUMENTS]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		got = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s\nstderr: %s", got, args[0], ts.ReadFile("stderr"))
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
