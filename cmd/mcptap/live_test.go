//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
)

// A host is what makes a live session.
type liveHost struct {
	cmd   *exec.Cmd
	speak func() // what is left to say once the session is watched; ends the session
}

// scriptedHost is the test itself in the place of a host.
func scriptedHost(t *testing.T, store, label string) liveHost {
	t.Helper()
	c := exec.Command("mcptap", "--dir", store, "--label", label, "--", "fakeserver", "log=hello\n", "echo")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	say := func(n int) {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","method":"%s/%d"}`+"\n", label, n); err != nil {
			t.Error(err)
		}
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	say(0)
	return liveHost{c, func() {
		for n := range 60 {
			say(n + 1)
		}
		_ = in.Close()
	}}
}

// officialHost is a host script on an official SDK, with a server of its own.
func officialHost(peers string) func(t *testing.T, store, label string) liveHost {
	return func(t *testing.T, store, label string) liveHost {
		t.Helper()
		c := exec.Command("node", "drive.mjs", "--mode", "legacy", "--script", "many", "--n", "60", "--", "mcptap", "--dir", store, "--label", label, "--", "node", "features-server.mjs")
		c.Dir, c.Stdout = peers, io.Discard
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return liveHost{c, func() {}}
	}
}

// TestLive: four sessions that begin at the same time appear in lists that are open, and
// each is followed to its end, with no frame missing. MCPTAP_PEERS names a folder with
// official clients and servers, which are then the hosts too.
func TestLive(t *testing.T) {
	hosts := map[string]func(*testing.T, string, string) liveHost{"scripted": scriptedHost}
	if peers := os.Getenv("MCPTAP_PEERS"); peers != "" {
		hosts["official"] = officialHost(peers)
	}
	for name, start := range hosts {
		t.Run(name, func(t *testing.T) { fourLive(t, start) })
	}
}

func fourLive(t *testing.T, start func(*testing.T, string, string) liveHost) {
	store := t.TempDir()
	const together = 4
	var screens [together]*screenTest
	var hosts [together]liveHost
	var shown [together]time.Time
	label := func(i int) string { return fmt.Sprint("live", i) }
	for i := range screens {
		s := onScreen(t, 100, 30, "--dir", store)
		s.fence()
		s.mu.Lock()
		s.onDrawn = func(screen string) {
			if shown[i].IsZero() && strings.Contains(screen, label(i)) {
				shown[i] = time.Now()
			}
		}
		s.mu.Unlock()
		screens[i] = s
	}
	for i := range hosts {
		hosts[i] = start(t, store, label(i))
		t.Cleanup(func() { _ = hosts[i].cmd.Process.Kill() })
	}
	var done sync.WaitGroup
	for i := range screens {
		done.Go(func() { followLive(t, screens[i], hosts[i], store, label(i)) })
	}
	done.Wait()
	for i := range shown {
		info := labelled(t, store, label(i))
		first := info.Start.Add(framesOf(t, info.Path)[0].Time)
		t.Logf("%s was shown %v after its first frame", label(i), shown[i].Sub(first).Round(time.Millisecond))
	}
}

// labelled is the recording that has a label.
func labelled(t *testing.T, store, label string) (info sessions.Info) {
	t.Helper()
	for _, i := range list(t, store) {
		if i.Label() == label {
			info = i
		}
	}
	return info
}

func followLive(t *testing.T, s *screenTest, host liveHost, store, label string) {
	t.Helper()
	s.wait(label)
	s.keys("/" + label + "\r") // it may be any of the rows
	s.until(func(screen string) bool { return strings.Count(screen, "live") < 8 && strings.Contains(screen, label) })
	s.keys("\r")
	s.wait("frame ")
	s.keys("fG")
	s.fence()
	host.speak()
	if err := host.cmd.Wait(); err != nil {
		t.Errorf("the host: %v", err)
	}
	frames := framesOf(t, labelled(t, store, label).Path)
	// Without a key the cursor has come to the last frame.
	last := fmt.Sprintf("─ frame %d ", frames[len(frames)-1].N)
	s.wait(last)
	s.keys("g")
	for _, f := range frames {
		s.wait(fmt.Sprintf("─ frame %d ", f.N))
		row := s.cursorRow()
		want := []string{map[tap.Dir]string{tap.C2S: "→", tap.S2C: "←", tap.Stderr: "·"}[f.Dir]}
		if _, method, ok := strings.Cut(string(f.Body), `"method":"`+label+"/"); ok {
			want = append(want, label+"/"+method[:strings.IndexByte(method, '"')])
		}
		for _, w := range want {
			if !strings.Contains(row, w) {
				t.Errorf("frame %d has no %q in its row: %q", f.N, w, row)
			}
		}
		s.keys("j")
	}
	s.fence()
	if !strings.Contains(s.text(), last) {
		t.Errorf("there are more than %d frames on the screen:\n%s", len(frames), s.text())
	}
	s.keys("q")
	s.ends(0)
}

// cursorRow is the text of the uppermost row with a background.
func (s *screenTest) cursorRow() string {
	if rows := s.lit(50); len(rows) > 0 {
		return strings.Split(s.text(), "\n")[rows[0]]
	}
	return ""
}
