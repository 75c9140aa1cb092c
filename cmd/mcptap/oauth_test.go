//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcptap/mcptap/cmd/internal/oauthtest"
	"github.com/mcptap/mcptap/tap/taptest"
)

// An httpTap is a running 'mcptap http'.
type httpTap struct {
	t     *testing.T
	cmd   *exec.Cmd
	store string
	url   string // for clients
	said  chan string
}

// startHTTP starts a tap in front of the server at url.
func startHTTP(t *testing.T, url string, env []string, flags ...string) *httpTap {
	t.Helper()
	p := &httpTap{t: t, store: t.TempDir(), said: make(chan string, 1)}
	p.cmd = exec.Command("mcptap", append([]string{"--dir", p.store, "http", "--to", url}, flags...)...)
	p.cmd.Env = append(os.Environ(), env...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the tap says %q and then %v", first, err)
	}
	_, first, _ = strings.Cut(first, "mcptap: ")
	p.url, _, _ = strings.Cut(first, " ")
	go func() {
		var rest bytes.Buffer
		_, _ = lines.WriteTo(&rest)
		p.said <- rest.String()
	}()
	return p
}

// end interrupts the tap, checks all its journals, and gives what it said after its
// URL.
func (p *httpTap) end() (said string, journals map[string][]byte) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	said = <-p.said
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the tap: %v", err)
	}
	journals = map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(p.store, "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			p.t.Fatal(err)
		}
		journals[filepath.Base(path)] = b
		if strings.HasSuffix(path, ".jsonl") {
			taptest.Check(p.t, b)
			if endOf(p.t, b) == nil {
				p.t.Errorf("%s has no end", path)
			}
		}
	}
	return said, journals
}

// login connects the official client, with a user who logs in, and uses the server.
func login(t *testing.T, s *oauthtest.Server, url, revision string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	session, err := oauthtest.Connect(ctx, url, revision)
	if err != nil {
		return err
	}
	for range 2 {
		if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "order", Arguments: orderArgs{Dish: "soup"}}); err != nil {
			return err
		}
		s.Expire() // the client has to log in again, or to refresh its token
	}
	return session.Close()
}

// TestLoginThroughTheTap has the official client log in at a strict authorization
// server through the tap; none of the secrets of it reaches the disk.
func TestLoginThroughTheTap(t *testing.T) {
	for name, o := range map[string]oauthtest.Options{
		"same origin":       {},
		"without an issuer": {NoIssuer: true},
		"elsewhere, lax":    {Elsewhere: true, Lax: true},
		"2025-03-26":        {NoResourceMetadata: true},
	} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(name+", "+revision, func(t *testing.T) {
				t.Parallel()
				s := oauthtest.Start(t, o)
				p := startHTTP(t, s.URL, nil)
				if err := login(t, s, p.url, revision); err != nil {
					t.Errorf("%v; refused: %q", err, s.Refused())
				}
				_, journals := p.end()
				checkNoSecrets(t, s, journals)
			})
		}
	}
}

func checkNoSecrets(t *testing.T, s *oauthtest.Server, journals map[string][]byte) {
	t.Helper()
	secrets := s.Secrets()
	if len(secrets) < 5 || len(journals) == 0 {
		t.Errorf("%d secrets, %d files: not much of a test", len(secrets), len(journals))
	}
	for name, journal := range journals {
		for _, secret := range secrets {
			if bytes.Contains(journal, []byte(secret)) {
				t.Errorf("%s holds the secret %s", name, secret)
			}
		}
	}
}

// TestLoginElsewhere is the one that can't work: a strict authorization server on
// another origin. The tap says why, and a token that the tap is given works.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	s := oauthtest.Start(t, oauthtest.Options{Elsewhere: true})
	p := startHTTP(t, s.URL, nil)
	if err := login(t, s, p.url, "2026-07-28"); err == nil {
		t.Error("a strict authorization server elsewhere gives a token for the tap's address")
	}
	said, journals := p.end()
	if !strings.Contains(said, "MCPTAP_AUTHORIZATION") {
		t.Errorf("the tap says %q", said)
	}
	checkNoSecrets(t, s, journals)

	p = startHTTP(t, s.URL, []string{"MCPTAP_AUTHORIZATION=Bearer " + s.Token()})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "guest", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: p.url}, nil)
	if err != nil {
		t.Fatalf("with a token: %v", err)
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "order", Arguments: orderArgs{Dish: "soup"}}); err != nil {
		t.Errorf("with a token: %v", err)
	}
	_ = session.Close()
	_, journals = p.end()
	checkNoSecrets(t, s, journals)
}
