//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcptap/mcptap/cmd/internal/oauthtest"
)

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
				p := startHTTP(t, s.URL)
				if err := login(t, s, p.url, revision); err != nil {
					t.Errorf("%v; refused: %q", err, s.Refused())
				}
				p.end()
				checkNoSecrets(t, s, p.store)
			})
		}
	}
}

// checkNoSecrets looks into every file of a store.
func checkNoSecrets(t *testing.T, s *oauthtest.Server, store string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(store, "*"))
	secrets := s.Secrets()
	if err != nil || len(secrets) < 5 || len(files) == 0 {
		t.Errorf("%d secrets, %d files, %v: not much of a test", len(secrets), len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds the secret %s", file, secret)
			}
		}
	}
}

// TestLoginElsewhere is the one that can't work: a strict authorization server on
// another origin. The tap says why, and a token that the tap is given works.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	s := oauthtest.Start(t, oauthtest.Options{Elsewhere: true})
	p := startHTTP(t, s.URL)
	if err := login(t, s, p.url, "2026-07-28"); err == nil {
		t.Error("a strict authorization server elsewhere gives a token for the tap's address")
	}
	_, said := p.end()
	if !strings.Contains(said, "MCPTAP_AUTHORIZATION") {
		t.Errorf("the tap says %q", said)
	}
	checkNoSecrets(t, s, p.store)

	p = startHTTPWith(t, []string{"MCPTAP_AUTHORIZATION=Bearer " + s.Token()}, s.URL)
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
	p.end()
	checkNoSecrets(t, s, p.store)
}
