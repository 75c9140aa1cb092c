//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// gone waits until a process does not exist any more.
func gone(t *testing.T, pid string) {
	t.Helper()
	for range 1000 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still there", pid)
}

func events(t *testing.T, journal []byte) (all []string) {
	t.Helper()
	for _, r := range taptest.Records(t, journal) {
		if r.Event != nil {
			all = append(all, strings.TrimSpace(r.Event.Name+" "+r.Event.Detail))
		}
	}
	return all
}

func TestSignalsArePassedOnOnceEach(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "report")
	if got := p.line(); got != "ready" {
		t.Fatal(got)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTERM} {
		if err := p.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if got := p.line(); got != s.String() {
			t.Errorf("%v arrives as %s", s, got)
		}
	}
	journal := p.end(0)
	want := "SIGINT SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGWINCH SIGTERM"
	got := strings.Join(events(t, journal), "; ")
	for s := range strings.FieldsSeq(want) {
		if strings.Count(got, "signal "+s+" from the host") != 1 {
			t.Errorf("events: %s", got)
		}
	}
}

func TestServerThatDiesOfASignal(t *testing.T) {
	t.Parallel()
	for modes, want := range map[string]tap.End{
		"die":    {Exit: 137, Signal: "SIGKILL", Reason: "the server was ended by SIGKILL"},
		"exit=7": {Exit: 7, Reason: "the server ended by itself"},
	} {
		p := startTap(t, nil, modes)
		if got := *endOf(t, p.end(want.Exit)); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestTerminatedServer(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "say=up\n", "forever")
	p.line()
	_ = p.Process.Signal(syscall.SIGTERM)
	want := tap.End{Exit: 143, Signal: "SIGTERM", Reason: "the host sent SIGTERM", Frames: 1}
	if got := *endOf(t, p.end(143)); got != want {
		t.Errorf("%+v", got)
	}
}

func TestServerThatIgnoresTheEndOfItsInput(t *testing.T) {
	t.Parallel()
	p := startTap(t, []string{"--grace", "200ms"}, "say=up\n", "forever")
	p.line()
	_ = p.in.Close()
	journal := p.end(143)
	if got := strings.Join(events(t, journal), "; "); got != "stdin-end; signal SIGTERM sent by mcptap; stdout-end" {
		t.Error(got)
	}
	if !strings.Contains(p.stderr.String(), "mcptap: the server's input has ended and it was silent for 200ms; sending it SIGTERM") {
		t.Errorf("stderr: %s", p.stderr.String())
	}
}

func TestServerThatAnswersLongAfterTheEndOfItsInput(t *testing.T) {
	t.Parallel()
	p := startTap(t, []string{"--grace", "1s"}, "read", "sleep=700", "say=one\n", "sleep=700", "say=two\n")
	_ = p.in.Close()
	if a, b := p.line(), p.line(); a != "one" || b != "two" {
		t.Errorf("%q, %q", a, b)
	}
	p.end(0)
}

func TestServerThatFloodsStandardErrorWithoutReading(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "log-bytes=20000000", "say=done\n")
	go func() { _, _ = p.in.Write(bytes.Repeat([]byte("x"), 1<<20)) }() // nobody reads it
	if got := p.line(); got != "done" {
		t.Error(got)
	}
	journal := p.end(0)
	if n := len(taptest.Raw(t, journal, tap.Stderr)); n != 20_000_000 {
		t.Errorf("%d bytes of standard error recorded", n)
	}
	if p.stderr.Len() < 20_000_000 {
		t.Errorf("%d bytes of standard error passed on", p.stderr.Len())
	}
}

func TestHostThatDoesNotReadStandardError(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	store := t.TempDir()
	c := exec.Command("mcptap", "--dir", store, "--", "fakeserver", "log-bytes=5000000", "say=done\n")
	c.Stderr = w
	out, err := c.Output()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%q, %v", out, err)
	}
	if n := len(taptest.Raw(t, journalOf(t, store), tap.Stderr)); n != 5_000_000 {
		t.Errorf("%d bytes of standard error recorded", n)
	}
}

func TestServerThatExitsRightAfterALargeAnswer(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "say-bytes=3000000")
	time.Sleep(300 * time.Millisecond) // the server is gone by now, but for what the pipes do not hold
	got, err := io.ReadAll(p.out)
	if err != nil || len(got) != 3_000_000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if raw := taptest.Raw(t, p.end(0), tap.S2C); !bytes.Equal(raw, got) {
		t.Errorf("%d bytes recorded", len(raw))
	}
}

func TestLauncherThatDies(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "child=ignore,forever", "say=up\n", "exit=3")
	leaf := p.line()
	p.line()
	if end := endOf(t, p.end(3)); !strings.Contains(end.Reason, "still holds its output") {
		t.Errorf("reason: %s", end.Reason)
	}
	gone(t, leaf)
	if !strings.Contains(p.stderr.String(), "the server has ended but a process it started still holds its output; ending that too") {
		t.Errorf("stderr: %s", p.stderr.String())
	}
}

func TestHelperThatOnlyLogsIsLeftAlone(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "child=close-stdout,close-stdin,sleep=3000", "say=up\n")
	leaf := p.line()
	p.line()
	p.end(0)
	if _, err := os.Stat("/proc/" + leaf); err != nil {
		t.Error("a process that the server left behind on purpose was ended")
	}
	gone(t, leaf)
}

func TestTerminatedLauncherTakesItsLeafAlong(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "child=ignore,forever", "say=up\n", "forever")
	leaf := p.line()
	p.line()
	_ = p.Process.Signal(syscall.SIGTERM)
	p.end(143)
	gone(t, leaf)
}

func TestKilledTapLeavesNobodyBehind(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "child=ignore,forever", "pid", "ignore", "forever")
	leaf, server := p.line(), p.line()
	_ = p.Process.Kill()
	gone(t, server)
	gone(t, leaf)
}

func TestHostThatDisappears(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	// A host that starts the tap with pipes that die with it.
	host := exec.Command("bash", "-c", `coproc mcptap --dir "$0" -- fakeserver pid say='{"half":' ignore forever
		read -r pid <&"${COPROC[0]}"; echo "$pid"; read -r _`, store)
	hold, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	server, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	gone(t, strings.TrimSpace(server))
	journal := waitEnded(t, store)
	if raw := taptest.Raw(t, journal, tap.S2C); !bytes.HasSuffix(raw, []byte(`{"half":`)) {
		t.Errorf("recorded %q", raw)
	}
	if end := endOf(t, journal); !strings.Contains(end.Reason, "the host is gone") {
		t.Errorf("reason: %s", end.Reason)
	}
}

// waitEnded waits until the only session of a store has its end.
func waitEnded(t *testing.T, store string) []byte {
	t.Helper()
	for range 1000 {
		if infos := list(t, store); len(infos) == 1 && infos[0].State == sessions.Ended {
			return readJournal(t, infos[0].Path)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not ended: %+v", list(t, store))
	return nil
}

func TestServerThatClosesItsInput(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "close-stdin", "say=up\n", "sleep=500")
	p.line()
	var err error
	for range 100 { // what was on its way may still be taken
		if _, err = p.in.Write([]byte("{}\n")); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err == nil {
		t.Error("the host can still write to a server that does not read")
	}
	p.end(0)
}

func TestFiftyMegabytesOnOneLine(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "say-bytes=50000000", "say=\n")
	peak := make(chan int)
	go func() { peak <- peakMemory(p.Process.Pid) }()
	got, err := io.ReadAll(p.out)
	if err != nil || len(got) != 50_000_001 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	f := taptest.Records(t, p.end(0))[1].Frame
	if f == nil || f.Digest == nil || f.Digest.Bytes != 50_000_000 {
		t.Fatalf("%+v", f)
	}
	raw, err := exec.Command("mcptap", "--dir", p.store, "show", "last", "--raw", "s2c").Output()
	if err != nil || !bytes.Equal(raw, got) {
		t.Errorf("show --raw gives %d bytes, %v", len(raw), err)
	}
	if kib := <-peak; kib > 48<<10 && !raceEnabled {
		t.Errorf("the tap took %d KiB of memory", kib)
	}
}

// peakMemory watches a process until it ends, and gives its peak in KiB.
func peakMemory(pid int) (kib int) {
	for {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, found := bytes.Cut(b, []byte("VmHWM:"))
		if err != nil || !found {
			return kib
		}
		_, _ = fmt.Sscan(string(rest), &kib)
		time.Sleep(time.Millisecond)
	}
}

// TestBytesThatBreakOtherTools sends what other taps choke on through an echo:
// the host gets it back, and both directions of the journal are it.
func TestBytesThatBreakOtherTools(t *testing.T) {
	t.Parallel()
	for name, bytes := range map[string]string{
		"crlf":                     "{\"a\":1}\r\n{}\r\n",
		"blank lines":              "\n\n{}\n\r\n",
		"cut character":            "{\"s\":\"é\"}\n",
		"invalid utf-8":            "\xff\xfe{}\n\xc3(\n",
		"line separator":           "{\"s\":\"\u2028\u2029\"}\n",
		"glued":                    "INFO ready{\"jsonrpc\":\"2.0\"}{\"jsonrpc\":\"2.0\"}\n",
		"no end":                   "{\"a\":1}",
		"nul":                      "\x00\x00\n",
		"byte order mark":          "\xef\xbb\xbf{}\n",
		"numbers":                  "{\"id\":123456789012345678901234567890,\"x\":1e400,\"x\":-0}\n",
		"content-length":           "Content-Length: 2\r\n\r\n{}",
		"several lines a message":  "{\n  \"a\": 1\n}\n",
		"several messages a line":  "{}{}\n",
		"escapes":                  "\x1b]0;x\x07\x1b[2J\n",
		"nothing":                  "",
		"deep":                     strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "\n",
		"only a carriage return":   "\r",
		"carriage returns between": "{\"a\":\r1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startTap(t, nil, "echo")
			go func() {
				for i := range len(bytes) { // a byte at a time
					_, _ = p.in.Write([]byte(bytes[i : i+1]))
				}
				_ = p.in.Close()
			}()
			got, err := io.ReadAll(p.out)
			if err != nil || string(got) != bytes {
				t.Errorf("got %q, %v", got, err)
			}
			journal := p.end(0)
			for _, dir := range []tap.Dir{tap.C2S, tap.S2C} {
				if raw := taptest.Raw(t, journal, dir); string(raw) != bytes {
					t.Errorf("%v is recorded as %q", dir, raw)
				}
			}
		})
	}
}

// TestFullDisk records to a file system of 64 KiB; whoever may not mount one has a
// limit on the length of files instead.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	c, full := exec.Command("mcptap", "--dir", dir, "--", "fakeserver", "echo"), "no space left"
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).Run(); err == nil {
		t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	} else {
		c, full = exec.Command("bash", "-c", `ulimit -f 64; exec "$@"`, "bash", "mcptap", "--dir", dir, "--", "fakeserver", "echo"), "file too large"
	}
	var sent bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&sent, `{"jsonrpc":"2.0","id":%d,"method":"x","params":{"pad":"%0100d"}}`+"\n", i, i)
	}
	c.Stdin = bytes.NewReader(sent.Bytes())
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || !bytes.Equal(out, sent.Bytes()) {
		t.Errorf("the session suffered: %d of %d bytes, %v", len(out), sent.Len(), err)
	}
	if strings.Count(stderr.String(), "mcptap: ") != 1 || !strings.Contains(stderr.String(), full) {
		t.Errorf("stderr: %s", stderr.String())
	}
	shown, err := exec.Command("mcptap", "--dir", dir, "show", "last", "--frames").Output()
	if err != nil || !bytes.Contains(shown, []byte("\tlost\t")) {
		t.Errorf("the recording does not say what is lost: %q, %v", shown, err)
	}
}

func TestUnwritableStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("mcptap", "--dir", filepath.Join(file, "store"), "--", "fakeserver", "echo")
	c.Stdin = strings.NewReader("{}\n")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || string(out) != "{}\n" {
		t.Errorf("%q, %v", out, err)
	}
	if strings.Count(stderr.String(), "mcptap: ") != 1 || !strings.Contains(stderr.String(), "not recording") {
		t.Errorf("stderr: %s", stderr.String())
	}
}

// TestTransparency compares what a server is given with and without a tap.
func TestTransparency(t *testing.T) {
	args := []string{"args", "cwd", "env", "--label", "-x", "", "a b", `"q"`, `\`, "*", "--", "--help"}
	direct, err := exec.Command("fakeserver", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	tapped, err := exec.Command("mcptap", append([]string{"--dir", t.TempDir(), "--", "fakeserver"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(direct, tapped) {
		t.Errorf("direct:\n%s\ntapped:\n%s", direct, tapped)
	}
}

// TestHostThatWaitsWithoutReading terminates a tap and waits for it, as hosts do,
// while more output is pending than pipes hold.
func TestHostThatWaitsWithoutReading(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "say-bytes=3000000", "forever")
	if _, err := p.out.ReadByte(); err != nil {
		t.Fatal(err)
	}
	_ = p.Process.Signal(syscall.SIGTERM)
	_, _ = p.Process.Wait() // hangs if the tap waits for its reader
	if end := endOf(t, journalOf(t, p.store)); end.Reason != "the host sent SIGTERM" {
		t.Errorf("%+v", end)
	}
}

func TestSignalLeavesTheServersHelpersAlone(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "save")
	p.line()
	_ = p.Process.Signal(syscall.SIGTERM)
	if got := p.line(); got != "saved" {
		t.Error(got)
	}
	p.end(0)
}

// TestForkingServer has a launcher that ends well while the process that it
// started serves on the same pipes.
func TestForkingServer(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "fork=echo")
	p.line() // the child's process id
	for i := range 3 {
		time.Sleep(time.Second) // longer than what a dead launcher's leftovers are given
		fmt.Fprintf(p.in, "%d\n", i)
		if got := p.line(); got != itoa(i) {
			t.Fatalf("answer %s", got)
		}
	}
	_ = p.in.Close()
	p.end(0)
}

func TestHandledSignalIsForgotten(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "report", "exit=3")
	p.line()
	for range 50 {
		_ = p.Process.Signal(syscall.SIGHUP)
		if got := p.line(); got != "hangup" {
			t.Fatal(got)
		}
	}
	_ = p.Process.Signal(syscall.SIGTERM)
	p.line()
	if end := endOf(t, p.end(3)); end.Reason != "the host sent SIGTERM" {
		t.Errorf("%+v", end)
	}
}

func TestServerThatMayTakeForEver(t *testing.T) {
	t.Parallel()
	p := startTap(t, []string{"--grace", "0"}, "sleep=1500", "say=done\n")
	_ = p.in.Close()
	if got := p.line(); got != "done" {
		t.Error(got)
	}
	p.end(0)
}

func TestServerThatClosedItsInputMayTakeItsTime(t *testing.T) {
	t.Parallel()
	p := startTap(t, []string{"--grace", "200ms"}, "close-stdin", "say=up\n", "sleep=1500", "say=done\n")
	p.line()
	for range 50 {
		if _, err := p.in.Write([]byte("{}\n")); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if got := p.line(); got != "done" {
		t.Error(got)
	}
	if got := strings.Join(events(t, p.end(0)), "; "); !strings.Contains(got, "stdin-broken broken pipe") {
		t.Error(got)
	}
}

func TestStoppedTapStopsItsServer(t *testing.T) {
	t.Parallel()
	p := startTap(t, nil, "pid", "forever")
	pid := p.line()
	_ = p.Process.Signal(syscall.SIGTSTP)
	waitState(t, pid, "T")
	waitState(t, itoa(p.Process.Pid), "T")
	_ = p.Process.Signal(syscall.SIGCONT)
	waitState(t, pid, "S")
	_ = p.Process.Signal(syscall.SIGTERM)
	p.end(143)
}

// waitState waits until a process is in one of the states of proc(5).
func waitState(t *testing.T, pid, state string) {
	t.Helper()
	var got string
	for range 1000 {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		got = string(b[bytes.LastIndexByte(b, ')')+2:][:1])
		if strings.Contains(state, got) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %s is in state %s, want %s", pid, got, state)
}

// TestServerThatTouchesTheTerminal is stopped by the terminal, since its group is
// not in the foreground; a signal ends it all the same.
func TestServerThatTouchesTheTerminal(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	cmd := exec.Command("mcptap", "--dir", store, "--", "sh", "-c", "echo $$ >&2; stty -echo </dev/tty; sleep 60")
	f, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	waitState(t, strings.TrimSpace(line), "TS")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 143 {
		t.Errorf("exit status %d", got)
	}
}

// TestEarlySignal sends SIGTERM at once: whatever moment it meets, no server is
// left, and a recording that was begun has its end or is seen to have none.
func TestEarlySignal(t *testing.T) {
	t.Parallel()
	for i := range 30 {
		store := t.TempDir()
		c := exec.Command("mcptap", "--dir", store, "--", "fakeserver", "forever")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		for _, info := range listDead(t, store) {
			if info.State == sessions.Ended && info.End.Exit != 143 {
				t.Errorf("after %d ms: %+v", i, info.End)
			}
		}
	}
}

func TestPathThatIsNotSet(t *testing.T) {
	tap, err := exec.LookPath("mcptap")
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{{"HOME=" + t.TempDir()}, {"HOME=" + t.TempDir(), "PATH="}} {
		c := exec.Command(tap, "--dir", t.TempDir(), "--", "ls")
		c.Env, c.Dir = env, "/bin"
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", env, err, out)
		}
	}
}
