package ui

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/marks"
)

// TestSave: what the filter selects goes to a new file with its marks; one that is there
// is left alone, and that is said where the name was asked for.
func TestSave(t *testing.T) {
	d := open(t, "enter", "e", "b", "/", "+tool:add_comment", "enter", "w")
	d.has("save as 20261130T125130Z-tickets-modern-3c4d-part.jsonl", "what tool:add_comment selects")
	d.keys("ctrl+u", "+mine.jsonl", "enter")
	to := filepath.Join(d.app.env.Dir, "mine.jsonl")
	if want := "saved 4 of 21 frames to " + to; d.app.note.text != want {
		t.Errorf("it says %q, not %q", d.app.note.text, want)
	}
	d.has("saved 4 of 21 frames to", "mine.jsonl")
	in, err := sessions.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	l, err := sessions.Load(in, decode.Options{})
	if err != nil || l.Calls() != 2 || l.Call(0).Name != "add_comment" {
		t.Errorf("%d calls were saved, %v", l.Calls(), err)
	}
	if m, err := marks.Load(marks.Path(to)); err != nil || m.Len() != 1 {
		t.Errorf("the mark did not go along: %v", err)
	}
	before, _ := os.ReadFile(to)
	d.keys("esc", "w", "ctrl+u", "+mine.jsonl", "enter")
	d.has("save as mine.jsonl", "it is there already; choose another name")
	if after, _ := os.ReadFile(to); string(after) != string(before) {
		t.Error("the file that was there is another now")
	}
	d.keys("ctrl+u", "+no/such/folder/x.jsonl", "enter")
	d.has("save as no/such/folder/x.jsonl", "there is no folder no")
	d.keys("ctrl+u", "+~/mine.jsonl", "enter")
	d.has("save as ~/mine.jsonl", "which folder ~ is can't be told; name it in full")
	d.keys("esc")
	d.has("─ calls")
}

// TestSaveAtHome: ~ is the home folder, as in a shell, and what is missing in it is said.
func TestSaveAtHome(t *testing.T) {
	d := open(t, "enter", "e", "b")
	home := t.TempDir()
	d.app.env.Home = home
	if err := os.Mkdir(filepath.Join(home, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.keys("w", "ctrl+u", "+~/docs/mine.jsonl", "enter")
	d.has("saved 21 of 21 frames to ")
	if _, err := os.Stat(filepath.Join(home, "docs", "mine.jsonl")); err != nil {
		t.Error(err)
	}
	d.keys("w", "ctrl+u", "+~/docs/no/such/x.jsonl", "enter")
	d.has("save as ~/docs/no/such/x.jsonl", "there is no folder ~/docs/no ")
	d.keys("ctrl+u", "+~other.jsonl", "enter")
	d.has("saved 21 of 21 frames to ", "~other.jsonl")
	if _, err := os.Stat(filepath.Join(d.app.env.Dir, "~other.jsonl")); err != nil {
		t.Error(err)
	}
}
