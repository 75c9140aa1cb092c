//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcptap/mcptap/cmd/internal/cli"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// TestMain makes this test binary the program under test, too: started under the
// name of a command it is that command. So the tests run real processes, and
// what they run is what was compiled with -race or for coverage.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcptap":     main,
		"fakeserver": fakeServer,
		"sdkserver":  sdkServer,
		"my-agent":   myAgent,

		"broken-mcptap": brokenMcptap,
	})
}

// brokenMcptap is the program with a clock that breaks down when the function asks it
// whose name is in BROKEN_IN, once a session was opened.
func brokenMcptap() {
	var opened atomic.Bool
	os.Exit(cli.Main(os.Args[1:], cli.Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: func() time.Time {
		stack := string(debug.Stack())
		if strings.Contains(stack, "(*Feed).Advance") {
			opened.Store(true)
		}
		if opened.Load() && strings.Contains(stack, os.Getenv("BROKEN_IN")) {
			panic("broken on purpose")
		}
		return time.Now()
	}}))
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("MCPTAP_DIR", filepath.Join(env.WorkDir, "store"))
			env.Setenv("HOME", env.WorkDir)
			corpus, err := filepath.Abs("../../decode/testdata/corpus")
			env.Setenv("CORPUS", corpus)
			if err != nil {
				return err
			}
			plays, err := filepath.Abs("../../replay/claude/testdata")
			env.Setenv("PLAYS", plays) // two servers of one host at the same time
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"journals": checkJournals,
			"status":   status,
			"local":    local,
		},
	})
}

// checkJournals is the verb "journals N": the store has N recordings, each of
// them valid.
func checkJournals(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(filepath.Join(ts.Getenv("MCPTAP_DIR"), "*.jsonl"))
	ts.Check(err)
	if len(args) != 1 || args[0] != itoa(len(found)) {
		ts.Fatalf("%d journals, want %v", len(found), args)
	}
	for _, path := range found {
		b, err := os.ReadFile(path)
		ts.Check(err)
		taptest.Check(scriptTB{ts: ts}, b)
	}
}

// journalOf reads the only recording of a store, and checks it.
func journalOf(t *testing.T, store string) []byte {
	t.Helper()
	infos := list(t, store)
	if len(infos) != 1 {
		t.Fatalf("%d recordings, want 1", len(infos))
	}
	return readJournal(t, infos[0].Path)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readJournal(t *testing.T, path string) []byte {
	t.Helper()
	b := readFile(t, path)
	taptest.Check(t, b)
	return b
}

func list(t *testing.T, store string) []sessions.Info {
	t.Helper()
	infos, err := sessions.Store{Dir: store}.List()
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

func endOf(t *testing.T, journal []byte) *tap.End {
	t.Helper()
	all := taptest.Records(t, journal)
	end := all[len(all)-1].End
	if end == nil {
		t.Fatal("the journal has no end")
	}
	return end
}
