//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
)

// TestKilledTapHasRecordedAllThatWasSeen kills the tap with SIGKILL at 100 random
// moments of a busy session. Every frame that the client or the server had
// received whole is in the journal, in its order, and the journal opens.
//
// The server writes each line that it receives to a file, before it answers.
func TestKilledTapHasRecordedAllThatWasSeen(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 10
	}
	for i := range kills {
		t.Run(itoa(i), func(t *testing.T) {
			t.Parallel()
			wire := filepath.Join(t.TempDir(), "wire")
			early := i%5 == 0 // while it starts, else while it is busy
			store, answers := driveAndKill(t, wire, early, time.Duration(rand.IntN(60_000))*time.Microsecond)
			requests, err := os.ReadFile(wire)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			infos := listDead(t, store)
			if len(infos) == 0 && len(answers) == 0 && len(requests) == 0 {
				return // killed before there was anything
			}
			if len(infos) != 1 || infos[0].State != sessions.Crashed {
				t.Fatalf("recordings: %+v", infos)
			}
			checkSeen(t, infos[0].Path, tap.C2S, requests)
			checkSeen(t, infos[0].Path, tap.S2C, answers)
		})
	}
}

// driveAndKill sends requests and reads answers as fast as it can until it kills
// the tap, so long after its start or after the first answer, and returns its store
// and what it received.
func driveAndKill(t *testing.T, wire string, early bool, after time.Duration) (store string, answers []byte) {
	t.Helper()
	p := startTap(t, nil, "wire="+wire)
	go func() {
		w := bufio.NewWriterSize(p.in, 300)
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"pad":"%0*d"}}`+"\n", i, i*37%900, i); err != nil {
				return
			}
		}
	}()
	first := make([]byte, 0, 1)
	if !early {
		first = first[:1]
		if _, err := io.ReadFull(p.out, first); err != nil {
			t.Fatal(err)
		}
	}
	time.AfterFunc(after, func() { _ = p.Process.Kill() })
	rest, err := io.ReadAll(p.out)
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	waitGone(t, wire)
	return p.store, append(first, rest...)
}

// listDead lists a store whose taps are dead. One that was killed between fork
// and exec lives on for a moment in its child, with its lock.
func listDead(t *testing.T, store string) []sessions.Info {
	t.Helper()
	for range 1000 {
		infos := list(t, store)
		if !slices.ContainsFunc(infos, func(i sessions.Info) bool { return i.State == sessions.Live }) {
			return infos
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("a dead tap's recording stays live")
	return nil
}

// waitGone waits until the server has ended, which holds a lock on its file.
func waitGone(t *testing.T, wire string) {
	t.Helper()
	f, err := os.Open(wire)
	if err != nil {
		return // it never came to writing
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
}

// checkSeen expects the whole frames of seen at the beginning of what the
// journal has of this direction.
func checkSeen(t *testing.T, path string, dir tap.Dir, seen []byte) {
	t.Helper()
	seen = seen[:bytes.LastIndexByte(seen, '\n')+1]
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var recorded []byte
	r := tap.NewReader(bytes.NewReader(journal))
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		if rec.Bad != nil || rec.Missing > 0 {
			t.Errorf("line %d: %v, %d missing", rec.Line, rec.Bad, rec.Missing)
		}
		if rec.Frame != nil && rec.Frame.Dir == dir {
			recorded = append(append(recorded, rec.Frame.Body...), rec.Frame.EOL.String()...)
		}
	}
	if !bytes.HasPrefix(recorded, seen) {
		t.Errorf("%v: %d bytes were seen, %d recorded, and they differ", dir, len(seen), len(recorded))
	}
}

// TestFlood sends 300,000 frames both ways at once: none is lost, none is out of
// order, and every answer comes after its request.
func TestFlood(t *testing.T) {
	frames := 300_000
	if testing.Short() {
		frames = 30_000
	}
	p := startTap(t, nil, "answer")
	go func() {
		w := bufio.NewWriterSize(p.in, 1<<16)
		for i := range frames {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i)
		}
		_ = w.Flush()
		_ = p.in.Close()
	}()
	lines := 0
	for s := bufio.NewScanner(p.out); s.Scan(); lines++ {
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, lines); s.Text() != want {
			t.Fatalf("answer %d is %s", lines, s.Text())
		}
	}
	if err := p.Wait(); err != nil || lines != frames {
		t.Fatalf("%d answers, %v", lines, err)
	}
	checkFlood(t, list(t, p.store)[0].Path, frames)
}

func checkFlood(t *testing.T, path string, frames int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, asked, answered := tap.NewReader(f), 0, 0
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		switch {
		case rec.Bad != nil || rec.Missing > 0 || rec.Lost != nil:
			t.Fatalf("line %d: %+v", rec.Line, rec)
		case rec.Frame == nil:
		case rec.Frame.Dir == tap.C2S:
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, asked); string(rec.Frame.Body) != want {
				t.Fatalf("request %d is recorded as %s", asked, rec.Frame.Body)
			}
			asked++
		case rec.Frame.Dir == tap.S2C:
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, answered); string(rec.Frame.Body) != want {
				t.Fatalf("answer %d is recorded as %s", answered, rec.Frame.Body)
			}
			if answered++; answered > asked {
				t.Fatalf("answer %d stands before its request", answered-1)
			}
		}
	}
	if asked != frames || answered != frames {
		t.Errorf("%d requests and %d answers are recorded, want %d", asked, answered, frames)
	}
}

// TestTenTapsAtOnce has ten taps start in one empty store at the same moment.
func TestTenTapsAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	done := make(chan error, 10)
	for range 10 {
		go func() {
			c := exec.Command("mcptap", "--dir", dir, "--", "fakeserver", "echo")
			c.Stdin = bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"))
			out, err := c.Output()
			if err == nil && !bytes.Contains(out, []byte("ping")) {
				err = fmt.Errorf("output %q", out)
			}
			done <- err
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	infos := list(t, dir)
	if len(infos) != 10 {
		t.Errorf("%d recordings", len(infos))
	}
	for _, i := range infos {
		if end := endOf(t, readJournal(t, i.Path)); end.Frames != 2 || end.Exit != 0 {
			t.Errorf("%+v", end)
		}
	}
}
