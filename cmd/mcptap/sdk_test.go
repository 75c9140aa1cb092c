//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

type orderArgs struct {
	Dish string `json:"dish"`
}

type orderResult struct {
	Table string `json:"table"`
}

// sdkServer is a server on the official Go SDK.
func sdkServer() {
	if err := kitchen().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		panic(err)
	}
}

func kitchen() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "kitchen", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "order", Description: "Order a dish."}, func(_ context.Context, _ *mcp.CallToolRequest, in orderArgs) (*mcp.CallToolResult, orderResult, error) {
		if in.Dish == "" {
			return nil, orderResult{}, fmt.Errorf("no dish <given>")
		}
		return nil, orderResult{Table: "window " + strings.Repeat("é", 3)}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "menu"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "What is there to eat?"}}}}, nil
	})
	return s
}

// TestOfficialSDK drives the official Go SDK's client against its server through
// the tap: what the client sees is what it would see without one, and all of it
// is in the journal.
func TestOfficialSDK(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			store := t.TempDir()
			direct := driveSDK(t, revision, exec.Command("sdkserver"))
			tapped := driveSDK(t, revision, exec.Command("mcptap", "--dir", store, "--", "sdkserver"))
			if direct != tapped {
				t.Errorf("direct:\n%s\ntapped:\n%s", direct, tapped)
			}
			checkSDKJournal(t, journalOf(t, store), revision)
		})
	}
}

// driveSDK plays a session and describes what the client saw.
func driveSDK(t *testing.T, revision string, server *exec.Cmd) string {
	t.Helper()
	return driveOver(t, revision, &mcp.CommandTransport{Command: server})
}

func driveOver(t *testing.T, revision string, transport mcp.Transport) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "guest", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	return playSession(ctx, t, session, "soup")
}

// playSession orders one dish, and makes mistakes.
func playSession(ctx context.Context, t *testing.T, session *mcp.ClientSession, dish string) string {
	t.Helper()
	var saw strings.Builder
	note := func(what string, result any, err error) {
		fmt.Fprintf(&saw, "%s: %s %v\n", what, asJSON(t, result), err)
	}
	note("initialize", session.InitializeResult(), nil)
	tools, err := session.ListTools(ctx, nil)
	note("tools/list", tools, err)
	for _, dish := range []string{dish, ""} {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "order", Arguments: map[string]any{"dish": dish}})
		note("order "+dish, result, err)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "no_such_tool"})
	note("no_such_tool", result, err)
	prompt, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "menu"})
	note("menu", prompt, err)
	note("close", nil, session.Close())
	return saw.String()
}

// checkSDKJournal expects the opening of the revision's era, and an answer to
// every request.
func checkSDKJournal(t *testing.T, journal []byte, revision string) {
	t.Helper()
	asked, answered, methods := map[string]bool{}, 0, []string{}
	for _, r := range taptest.Records(t, journal) {
		if r.Frame == nil || r.Frame.Dir == tap.Stderr {
			continue
		}
		m := decode.ParseFrame(r.Frame.Body, r.Frame.JSON, false)
		switch m.Kind {
		case decode.Request:
			methods = append(methods, m.Method)
			asked[m.ID] = true
		case decode.Result, decode.Error:
			answered++
			if !asked[m.ID] {
				t.Errorf("answer %s before its request", m.ID)
			}
		case decode.Stray, decode.Malformed, decode.Batch:
			t.Errorf("frame %d: %s: %s", r.Frame.N, m.Kind, r.Frame.Body)
		}
	}
	opening := "initialize"
	if revision >= "2026-07-28" {
		opening = "server/discover"
	}
	want := []string{opening, "tools/list", "tools/call", "tools/call", "tools/call", "prompts/get"}
	if strings.Join(methods, " ") != strings.Join(want, " ") || answered != len(want) {
		t.Errorf("%v with %d answers, want %v", methods, answered, want)
	}
}
