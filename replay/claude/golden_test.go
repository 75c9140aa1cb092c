package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden compares with what was found right by reading it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// TestGolden tells of some sessions, as some hosts would send them, everything:
// turns, blocks with their notes, what is not known, and the reach of each frame.
func TestGolden(t *testing.T) {
	corpus := filepath.Join("..", "..", "decode", "testdata", "corpus")
	for _, c := range []struct{ file, hosts string }{
		{filepath.Join("testdata", "asrama.jsonl"), "generic claude-code"},
		{filepath.Join("testdata", "tickets.jsonl"), "bridge vscode"},
		{filepath.Join(corpus, "features-ts-legacy-full.jsonl"), "claude-code vscode sdk-helper bridge generic"},
		{filepath.Join(corpus, "features-ts-auto-sibling-full.2.jsonl"), "claude-code"},
		{filepath.Join(corpus, "rough-tickets.jsonl"), "generic"},
		{filepath.Join(corpus, "slack-ts-auto.jsonl"), "mcp-connector"},
	} {
		line := play(t, c.file)
		for host := range strings.FieldsSeq(c.hosts) {
			name := strings.TrimSuffix(filepath.Base(c.file), ".jsonl") + "." + host + ".txt"
			t.Run(name, func(t *testing.T) {
				golden(t, name, describe(NewBook(line, Options{Profile: profile(t, host)})))
			})
		}
	}
}

func describe(b *Book) string {
	var out strings.Builder
	describeTurns(&out, b)
	r := b.Request(b.Turns())
	fmt.Fprintf(&out, "\nrequest %d\n", r.Turn)
	for p := range r.All() {
		describeBlock(&out, p)
	}
	for _, t := range r.LeftOut {
		fmt.Fprintf(&out, "left out: %s\n", t.Name.Tool)
		describeNotes(&out, t.Notes)
	}
	out.WriteString("\nplaceholders\n")
	for _, p := range r.Placeholders() {
		fmt.Fprintf(&out, "%s: %s\n", p.Path, p.What)
	}
	out.WriteString("\nreach\n")
	for i := range b.line.Len() {
		f := b.line.Frame(i)
		reach := b.Reach(f)
		fmt.Fprintf(&out, "frame %d, turn %d: %v, %s\n", b.line.Number(f), reach.Turn, reach.Whole.Verdict, reach.Whole.Why)
		for _, p := range reach.Parts {
			fmt.Fprintf(&out, "    %s: %v, %s\n", p.Path, p.Verdict, p.Why)
		}
	}
	return out.String()
}

func describeTurns(out *strings.Builder, b *Book) {
	fmt.Fprintf(out, "split %+v\n", b.line.Split)
	for i, t := range b.line.Turns {
		fmt.Fprintf(out, "turn %d, frames %d to %d, open %v: %s, %s: %s\n", i+1, t.Before, t.After, t.Open, t.Reason.Rule, t.Reason.Strength, t.Reason.Words)
		for _, c := range t.Calls {
			call := &b.line.Calls[c]
			fmt.Fprintf(out, "    %s, frame %d, %v", call.Tool, b.line.Number(call.Request), call.Answer.Outcome)
			if call.Join.Rule != t.Reason.Rule || call.Join.With != t.Reason.With {
				fmt.Fprintf(out, " (%s, %s: %s)", call.Join.Rule, call.Join.Strength, call.Join.Words)
			}
			out.WriteByte('\n')
		}
	}
	for _, a := range b.line.Apart {
		fmt.Fprintf(out, "apart: %s: %s\n", a.Tool, a.Reason)
	}
}

func describeBlock(out *strings.Builder, p Placed) {
	fmt.Fprintf(out, "%s %s new %v %s", p.Path, p.Kind, p.New, p.Name.Sent)
	for _, l := range p.Links() {
		fmt.Fprintf(out, " <- frame %d %s", l.N, l.Path)
	}
	fmt.Fprintf(out, "\n    %s\n", shorten(p.JSON()))
	describeNotes(out, p.Notes)
	if p.Kind != ToolResult {
		return
	}
	c := p.Content()
	describeNotes(out, c.Notes)
	for _, part := range c.Parts {
		for _, l := range part.Links {
			fmt.Fprintf(out, "    part <- %s\n", l.Path)
		}
	}
}

func describeNotes(out *strings.Builder, notes []Note) {
	for _, n := range notes {
		fmt.Fprintf(out, "    ! %s: %s\n", n.Kind, n.Words)
	}
}

func shorten(b []byte) string {
	if len(b) > 600 {
		return string(b[:300]) + " ... " + string(b[len(b)-200:])
	}
	return string(b)
}

// TestArticle is the case of a server whose tools were described in an article on
// what a model reads, field by field.
func TestArticle(t *testing.T) {
	b := NewBook(play(t, filepath.Join("testdata", "asrama.jsonl")), Options{})
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Request(1).JSON(), "", "  "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	golden(t, "asrama.request.json", indented.String())

	type block struct {
		Type, Text, Name, ID string
		ToolUseID            string `json:"tool_use_id"`
		IsError              *bool  `json:"is_error"`
		Content              []struct{ Type, Text string }
	}
	var r struct {
		Tools []struct {
			Name, Description string
			InputSchema       struct {
				Type       string
				Properties map[string]any
			} `json:"input_schema"`
		}
		System   []block
		Messages []struct {
			Role    string
			Content []block
		}
	}
	if err := json.Unmarshal(b.Request(1).JSON(), &r); err != nil {
		t.Fatal(err)
	}
	first := r.Tools[0]
	if first.Name != "mcp__asrama__cari_anak" || first.InputSchema.Type != "object" || len(first.InputSchema.Properties) != 4 {
		t.Errorf("the first tool is %+v", first)
	}
	if !strings.Contains(first.Description, "kamar.\n    Semua filter opsional.") {
		t.Errorf("the description lost its indentation: %q", first.Description)
	}
	if !strings.Contains(r.System[1].Text, "Akses read-only ke data anak asrama") {
		t.Errorf("the system prompt lacks the instructions: %+v", r.System)
	}
	if len(r.Messages) != 3 {
		t.Fatalf("%d messages, want 3", len(r.Messages))
	}
	use, result := r.Messages[1], r.Messages[2]
	if use.Role != "assistant" || len(use.Content) != 3 || use.Content[1].Name != "mcp__asrama__cari_anak" || use.Content[2].Name != "mcp__asrama__detail_anak" {
		t.Errorf("the calls are %+v", use)
	}
	if result.Role != "user" || len(result.Content) != 2 {
		t.Fatalf("the results are %+v", result)
	}
	for i, c := range result.Content {
		if c.Type != "tool_result" || c.ToolUseID != use.Content[i+1].ID || c.IsError != nil {
			t.Errorf("result %d is %+v", i, c)
		}
	}
	if text := result.Content[1].Content[0].Text; !strings.Contains(text, "tidak ditemukan") {
		t.Errorf("the hidden error reads %q", text)
	}
	notes := b.Request(1).Messages[2].Blocks[1].Notes
	if len(notes) != 1 || notes[0].Kind != NoteHiddenError || !strings.Contains(notes[0].Words, "reads as success") {
		t.Errorf("the hidden error's notes are %+v", notes)
	}
}

// TestTurnsByTime has two calls that follow from each other and two at once.
func TestTurnsByTime(t *testing.T) {
	line := play(t, filepath.Join("testdata", "tickets.jsonl"))
	var got []int
	for _, turn := range line.Turns {
		got = append(got, len(turn.Calls))
	}
	if diff := cmp.Diff([]int{1, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
	b := NewBook(line, Options{Profile: profile(t, "bridge")})
	if name := b.Request(0).Tools[0].Name.Sent; name != "tickets__search_tickets" {
		t.Errorf("the bridge calls it %s", name)
	}
}

// TestTogether merges two servers of one host into one conversation.
func TestTogether(t *testing.T) {
	b := NewBook(play(t, filepath.Join("testdata", "asrama.jsonl"), filepath.Join("testdata", "tickets.jsonl")), Options{})
	golden(t, "together.txt", describe(b))
	last := b.Request(b.Turns())
	if found := Check(last.JSON()); len(found) > 0 {
		t.Error(found)
	}
	use := last.Messages[len(last.Messages)-2]
	if b.Turns() != 4 || len(use.Blocks) != 4 {
		t.Errorf("%d turns, and the last asks %d times", b.Turns(), len(use.Blocks)-1)
	}
	if len(last.Tools) != 7 {
		t.Errorf("%d tools, want those of both servers", len(last.Tools))
	}
}
