//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mcptap/mcptap/tap/taptest"
)

// quiet is after how long without output a screen counts as finished.
const quiet = 150 * time.Millisecond

// stopwatch notes when the cells of a terminal changed.
type stopwatch struct {
	s       *screenTest
	screen  string
	changed chan time.Time
}

func watch(s *screenTest) *stopwatch {
	w := &stopwatch{s: s, changed: make(chan time.Time, 1<<16)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onDrawn = func(string) {
		if now := s.emu.Render(); now != w.screen {
			w.screen = now
			w.changed <- time.Now()
		}
	}
	return w
}

// press measures from keys to the first cells that change, and to the last before the
// screen is quiet. Both are 0 if none changes.
func (w *stopwatch) press(keys string, within time.Duration) (first, last time.Duration) {
	for len(w.changed) > 0 {
		<-w.changed
	}
	start := time.Now()
	w.s.keys(keys)
	for wait := within; ; wait = quiet {
		select {
		case at := <-w.changed:
			if last = at.Sub(start); first == 0 {
				first = last
			}
		case <-time.After(wait):
			return first, last
		}
	}
}

// rss is the memory of a process that is in use, in bytes.
func rss(b *testing.B, pid int) int64 {
	b.Helper()
	status := string(readFile(b, fmt.Sprintf("/proc/%d/status", pid)))
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(status)
	if m == nil {
		b.Fatalf("no memory in %s", status)
	}
	kb, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return kb << 10
}

// percentiles are p50, p99 and the largest of some times.
func percentiles(times []time.Duration) string {
	if len(times) == 0 {
		return "-"
	}
	slices.Sort(times)
	ms := func(i int) string { return fmt.Sprintf("%.1f", float64(times[i].Microseconds())/1000) }
	return ms(len(times)/2) + "\t" + ms(len(times)*99/100) + "\t" + ms(len(times)-1)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%d", d.Milliseconds()) }

// BenchmarkBigSession opens a session of a million frames on a terminal and measures what
// somebody in front of it sees: rows, keys, filters, memory. The times are taken when the
// cells of an emulator have changed, so they have the emulator's share in them.
func BenchmarkBigSession(b *testing.B) {
	const frames = 1_000_000
	dir := b.TempDir()
	path, small := filepath.Join(dir, "20261130T120000Z-long-0001.jsonl"), filepath.Join(dir, "20261130T110000Z-long-0002.jsonl")
	generateLong(b, path, frames)
	generateLong(b, small, 10)
	var table bytes.Buffer
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	for b.Loop() {
		s := onScreen(b, 120, 40, "--dir", dir, "browse", small)
		s.wait("tool_1")
		s.fence()
		empty := rss(b, s.cmd.Process.Pid)
		s.keys("q")
		_ = s.cmd.Wait()

		start := time.Now()
		s = onScreen(b, 120, 40, "--dir", dir, "browse", path)
		s.wait("tool_1")
		fmt.Fprintf(out, "first rows, ms\t%s\t\n", milliseconds(time.Since(start)))
		s.wait(humanize.Comma(int64(taptest.LongCalls(frames))) + " call")
		fmt.Fprintf(out, "whole index, ms\t%s\t\n", milliseconds(time.Since(start)))
		w := watch(s)
		w.press("", 3*time.Second)
		fmt.Fprintf(out, "memory, bytes a frame\t%d\t\n", (rss(b, s.cmd.Process.Pid)-empty)/frames)
		keyTable(out, "mcptap", w, map[string]string{"j": "j", "pgdn": "\x1b[6~", "ctrl+f": "\x06", "G": "G", "g": "g"}, func(r *rand.Rand) string {
			return fmt.Sprintf("\x1b[<0;%d;39M\x1b[<0;%d;39m", 2+r.IntN(80), 2+r.IntN(80)) // on the line of time
		})
		fmt.Fprintf(out, "filter\tfirst change, ms\tlast, ms\trows\t\n")
		for _, f := range []string{"tool:tool_4", "status:failed", "tool:tool_4 status:failed", `"no record"`, `"record 4711,"`, `"nothing like it"`} {
			first, last := w.press("g/\x15"+f+"\r", time.Second)
			rows := regexp.MustCompile(`([\d,]+) of [\d,]+`).FindString(s.text())
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t\n", f, milliseconds(first), milliseconds(last), rows)
			w.press("/\x15\r", time.Second)
		}
		s.keys("\x03")
		_ = s.cmd.Wait()
		_ = out.Flush()
		others(b, out, path)
		_ = out.Flush()
	}
	fmt.Printf("\n%s\n", table.String())
}

// others are the same keys in programs that people know, where they are installed.
func others(b *testing.B, out *tabwriter.Writer, path string) {
	for _, args := range [][]string{{"less", "-S", path}, {"lnav", path}} {
		if _, err := exec.LookPath(args[0]); err != nil {
			continue
		}
		c := exec.Command(args[0], args[1:]...)
		c.Env = append(os.Environ(), "HOME="+b.TempDir(), "LESSHISTFILE=-")
		start := time.Now()
		s := commandOnScreen(b, 120, 40, false, c)
		s.wait(`"jsonrpc"`)
		fmt.Fprintf(out, "%s: first rows, ms\t%s\t\n", args[0], milliseconds(time.Since(start)))
		w := watch(s)
		w.press("", 20*time.Second)
		keyTable(out, args[0], w, map[string]string{"j": "j", "pgdn": "\x1b[6~", "ctrl+f": "\x06", "G": "G", "g": "g"}, nil)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// keyTable presses keys at random places of a session. Where there is no key for going
// to one, pages lead there.
func keyTable(out *tabwriter.Writer, name string, w *stopwatch, keys map[string]string, place func(*rand.Rand) string) {
	r := rand.New(rand.NewPCG(1, 2))
	first, all := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range 20 {
		for _, key := range []string{"j", "pgdn", "j", "ctrl+f", "pgdn", "G", "g"} {
			if place != nil && key != "g" {
				w.press(place(r), 200*time.Millisecond)
			}
			if a, b := w.press(keys[key], 2*time.Second); a > 0 {
				first[key], all[key] = append(first[key], a), append(all[key], b)
			}
		}
	}
	fmt.Fprintf(out, "%s, key to cells, ms\tp50\tp99\tmax\tlast cell p50\tp99\tmax\tn\t\n", name)
	for _, key := range []string{"j", "pgdn", "ctrl+f", "G", "g"} {
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t\n", key, percentiles(first[key]), percentiles(all[key]), len(first[key]))
	}
}

func generateLong(b *testing.B, path string, frames int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := taptest.WriteLong(f, strings.TrimSuffix(filepath.Base(path), ".jsonl"), frames); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBigFrame opens a session with one frame of 300 MB, and goes through it.
func BenchmarkBigFrame(b *testing.B) {
	const size = 300 << 20
	path := filepath.Join(b.TempDir(), "20261130T120000Z-frame-0001.jsonl")
	// The tap keeps so long a frame in a file of its own.
	c := exec.Command("mcptap", "--log", path, "--", "fakeserver", `say={"jsonrpc":"2.0","method":"dump","params":{"text":"`, fmt.Sprintf("say-bytes=%d", size), `line="}}`)
	if err := c.Run(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		start := time.Now()
		s := onScreen(b, 120, 40, "--dir", filepath.Dir(path), "browse", path)
		s.wait("dump")
		fmt.Printf("a frame of 300 MB: its row after %s ms, ", milliseconds(time.Since(start)))
		s.wait("─ frame ", "0123456789abcdef")
		fmt.Printf("the frame after %s ms", milliseconds(time.Since(start)))
		w := watch(s)
		w.press("", 5*time.Second)
		for _, key := range []string{"\t", "j", "E", "G", "g", "v", "G", "v", "G"} {
			first, last := w.press(key, 10*time.Second)
			fmt.Printf(", %q %s to %s ms", key, milliseconds(first), milliseconds(last))
		}
		fmt.Printf(", %d MB of memory\n", rss(b, s.cmd.Process.Pid)>>20)
		s.keys("\x03")
		_ = s.cmd.Wait()
	}
}
