package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"

	"path/filepath"
)

// TestModel: what the model reads follows the cursor, leads to frames, and can be put
// away.
func TestModel(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.TrueColor, 120, 40).keys("enter")
	d.has("the model reads", "generic, low confidence", "░", "the host's system prompt")
	d.keys("e")
	d.has("turn 1/1", "this request ", "mcp__tickets-modern__add_comment")
	faint := string(d.app.env.th.Faint)
	if s := d.screen(); !strings.Contains(s, faint+"jsonrpc") || strings.Contains(s, faint+"isError") {
		t.Error("what the model never reads is not dim, or what it reads is")
	}
	d.keys("x")
	if strings.Contains(d.screen(), faint+"jsonrpc") {
		t.Error("it is dim, though it is not to be")
	}
	d.keys("tab", "tab", "home", "down*2", "enter")
	d.has("frame 5 result of tools/list", "turn 0/1")
	d.keys("m")
	if s := d.screen(); strings.Contains(s, "┬") {
		t.Errorf("it is still there:\n%s", s)
	}
	small := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys("enter", "e")
	if strings.Contains(small.screen(), "what the model reads") {
		t.Error("it is there on a small screen, unasked")
	}
	small.keys("m")
	small.has("─ calls", "what the model reads · turn 1/1")
}

// TestModelOfALiveSession: the request grows with the session.
func TestModelOfALiveSession(t *testing.T) {
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	write, end := liveWriter(t, store, "fresh")
	write(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	write(tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"first","inputSchema":{"type":"object"}}]}}`)
	d := drive(t, store, colorprofile.NoTTY, 140, 40).keys("enter")
	d.has("● live", "mcp__fresh__first", "turn 0/0")
	write(tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"first","arguments":{"a":1}}}`)
	write(tap.S2C, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"an answer"}]}}`)
	d.tick()
	d.keys("end")
	d.tick()
	d.has("turn 1/1", `calls mcp__fresh__first {"a":1}`, "result an answer")
	end()
}

// TestNothingOfTheFrame: where the model reads nothing of a frame no block stands out, and
// the pane says so.
func TestNothingOfTheFrame(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 120, 40).keys("end", "enter", "home", "down")
	d.has("nothing of this frame")
}

// TestNamesAlike: if one name of a tool has no room, all lose what they have in common.
func TestNamesAlike(t *testing.T) {
	for _, c := range []struct {
		rows   []string
		prefix string
	}{
		{[]string{"mcp__a__x", "mcp__a__y"}, "mcp__a__"},
		{[]string{"mcp__a__x", "", "mcp__b__y"}, ""},
		{[]string{"x"}, ""},
		{nil, ""},
	} {
		var rows []modelRow
		for _, name := range c.rows {
			rows = append(rows, modelRow{name: name})
		}
		if got := commonPrefix(rows); got != c.prefix {
			t.Errorf("%q: %q, want %q", c.rows, got, c.prefix)
		}
	}
	if got := shortName("mcp__a__x", "mcp__a__"); got != "…__x" {
		t.Error(got)
	}
}
