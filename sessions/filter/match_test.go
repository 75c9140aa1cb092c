package filter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
)

const corpus = "../../decode/testdata/corpus/"

func load(t testing.TB, file string) *sessions.Loaded {
	t.Helper()
	s, err := sessions.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// source has a turn for every third call and two marks.
func source(l *sessions.Loaded) filter.Source {
	return filter.Source{
		Session: l.Session, Body: l.Body, Label: "sample",
		TurnOf: func(c int) int { return c / 3 },
		MarkOf: func(n uint64) (string, bool) {
			switch n {
			case 3:
				return "", true
			case 8:
				return "Warum leer?", true
			}
			return "", false
		},
	}
}

func matcher(t testing.TB, text string, src filter.Source) *filter.Matcher {
	t.Helper()
	f, err := filter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.On(src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// rows are the numbers of the calls and of the frames that a filter selects.
func rows(t testing.TB, text string, src filter.Source) (calls, frames []uint64) {
	m := matcher(t, text, src)
	s := src.Session
	found, _ := m.Calls(nil, 0, s.Calls(), nil)
	for _, c := range found {
		calls = append(calls, s.Frame(s.Call(c).Request).N)
	}
	found, _ = m.Frames(nil, 0, s.Len(), nil)
	for _, i := range found {
		frames = append(frames, s.Frame(i).N)
	}
	return calls, frames
}

// TestMeaning has, by session and filter, the numbers of the first frames of the
// operations that are selected, and of the frames.
func TestMeaning(t *testing.T) {
	for _, c := range []struct{ file, filter, calls, frames string }{
		{"features-go-noise-kills-client", "tool:fail_*", "[14 16 18]", "[14 15 16 17 18 19]"},
		{"features-go-noise-kills-client", "status:hidden-error", "[18]", "[18 19]"},
		{"features-go-noise-kills-client", "status:failed not tool:*", "[10 12]", "[10 11 12 13]"},
		{"features-go-noise-kills-client", "code:-32602 and code<0", "[8 10 12]", "[8 9 10 11 12 13]"},
		{"features-go-noise-kills-client", "name:nowhere://x", "[10]", "[10 11]"},
		{"features-go-noise-kills-client", "kind:stray", "[]", "[23 24]"},
		{"features-go-noise-kills-client", "kind:error", "[8 10 12]", "[9 11 13]"},
		{"features-go-noise-kills-client", "kind:listen", "[4]", "[4 6]"},
		{"features-go-noise-kills-client", "ms>100", "[1]", "[1 3]"},
		{"features-go-noise-kills-client", "bytes>3k", "[5]", "[7]"},
		{"features-go-noise-kills-client", "n>=16 n<20", "[16 18]", "[16 17 18 19]"},
		{"features-go-noise-kills-client", "t<2ms", "[1]", "[1]"},
		{"features-go-noise-kills-client", "dir:stderr", "[]", "[2]"},
		{"features-go-noise-kills-client", "thrown", "[14]", "[15]"},
		{"features-go-noise-kills-client", "path:result.isError=true not text:flagged", "[14 20]", "[15 21]"},
		{"features-go-noise-kills-client", "path:params.name=fail_?la*", "[16]", "[16]"},
		{"features-go-noise-kills-client", `path:result.content.#.text=/^input VALID/i`, "[20]", "[21]"},
		{"features-go-noise-kills-client", "mark:yes", "[1 8]", "[3 8]"},
		{"features-go-noise-kills-client", `note:"warum L"`, "[8]", "[8]"},
		{"features-go-noise-kills-client", "turn:2", "[14 16 18]", "[14 15 16 17 18 19]"},
		{"features-go-noise-kills-client", "server:sample and id:1", "[1]", "[1 3]"},
		{"features-ts-legacy-full", "tool:ask_user", "[37]", "[37 40]"},
		{"features-ts-legacy-full", "method:elicitation/* tool:ask_user", "[37]", "[]"},
		{"features-ts-legacy-full", "kind:notification method:notifications/progress", "[69]", "[70 72 74 76]"},
		{"rough-tickets", "kind:malformed", "[]", "[11 26]"},
	} {
		calls, frames := rows(t, c.filter, source(load(t, corpus+c.file+".jsonl")))
		if got := fmt.Sprint(calls); got != c.calls {
			t.Errorf("%s: %s: calls %s, want %s", c.file, c.filter, got, c.calls)
		}
		if got := fmt.Sprint(frames); got != c.frames {
			t.Errorf("%s: %s: frames %s, want %s", c.file, c.filter, got, c.frames)
		}
	}
}

// someFilters use every field.
var someFilters = []string{"tool:*a*", "name:/e/", "method:tools/*", "status:failed", "status:ok", "dir:s2c", "kind:request", "kind:rounds", "id:/[13]/", "server:sample",
	"turn>2", "ms>1", "t>10ms", "bytes>300", "n>20", "code<0", "mark:yes", "mark:no", "note:leer", "text:error", "/[0-9]{3}/", "path:result", "path:params.name=echo"}

// TestLogic: and, or and not are those of logic, for every call and frame of real
// sessions, and the same whatever is asked first.
func TestLogic(t *testing.T) {
	files, err := filepath.Glob(corpus + "*.jsonl")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	var loaded []*sessions.Loaded
	for _, f := range files {
		loaded = append(loaded, load(t, f))
	}
	rapid.Check(t, func(rt *rapid.T) {
		l := rapid.SampledFrom(loaded).Draw(rt, "session")
		one := rapid.SampledFrom(someFilters)
		a, b, c := one.Draw(rt, "a"), one.Draw(rt, "b"), one.Draw(rt, "c")
		equal := func(x, y string) {
			xc, xf := rows(t, x, source(l))
			yc, yf := rows(t, y, source(l))
			if !slices.Equal(xc, yc) || !slices.Equal(xf, yf) {
				rt.Fatalf("%s selects %v, %v\n%s selects %v, %v", x, xc, xf, y, yc, yf)
			}
		}
		equal(a, "not not "+a)
		equal(a+" and "+b, b+" and "+a)
		equal(a+" or "+b, b+" or "+a)
		equal("not ("+a+" and "+b+")", "not "+a+" or not "+b)
		equal("not ("+a+" or "+b+")", "not "+a+" and not "+b)
		equal(a+" and ("+b+" or "+c+")", a+" "+b+" or "+a+" "+c)
		equal(a, a+" or "+a+" and "+b)
		all, none := a+" or not "+a, a+" and not "+a
		equal(all, "")
		equal(none, "not "+"("+all+")")
	})
}

// TestLazy: frames are looked into only when the other terms leave it open, and each
// of them once for all terms that do.
func TestLazy(t *testing.T) {
	l := load(t, corpus+"features-go-noise-kills-client.jsonl")
	src := source(l)
	looked := 0
	src.Body = func(i int) []byte { looked++; return l.Body(i) }
	for text, want := range map[string]int{
		"text:thrown and tool:nothing":               0,
		"path:result or n>0":                         0,
		"not (text:a or n>0)":                        0,
		"tool:fail_throw and text:zzz":               2,
		"(text:zzz or path:zzz or /zzz/) kind:stray": 2,
	} {
		looked = 0
		matcher(t, text, src).Frames(nil, 0, l.Len(), nil)
		if looked != want {
			t.Errorf("%s: %d frames looked into, want %d", text, looked, want)
		}
	}
}

func TestMissingParts(t *testing.T) {
	l := load(t, corpus+"slack-ts-auto.jsonl")
	for text, want := range map[string]string{
		"turn:1": "turn: needs", "mark:yes": "mark: and note: need", "a or note:x": "mark: and note: need", "not text:a": "their bytes are not at hand", "tool:a": "",
	} {
		f, err := filter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.On(filter.Source{Session: l.Session})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestScan: a scan that is stopped and goes on finds what one that is not does.
func TestScan(t *testing.T) {
	l := load(t, corpus+"features-ts-legacy-full.jsonl")
	m := matcher(t, "dir:s2c", source(l))
	want, next := m.Frames(nil, 0, l.Len()+10, nil)
	if next != l.Len() || len(want) == 0 {
		t.Fatal(next, len(want))
	}
	var got []int
	stops := 0
	for i := 0; i < l.Len(); stops++ {
		got, i = m.Frames(got, i, l.Len(), func() bool { return true })
	}
	if !slices.Equal(got, want) || stops < 2 {
		t.Errorf("%d stops: %v, want %v", stops, got, want)
	}
	src := source(l)
	src.Body = func(int) []byte { return make([]byte, 1<<20) }
	if _, next := matcher(t, "zzz", src).Frames(nil, 3, l.Len(), func() bool { return true }); next != 4 {
		t.Errorf("stopped at %d after a long frame", next)
	}
	if found, next := m.Calls(nil, 10, 5, nil); len(found) != 0 || next != 10 {
		t.Error(found, next)
	}
}

// TestLive: what a filter says of an open call changes when it is answered.
func TestLive(t *testing.T) {
	l := load(t, corpus+"slack-ts-auto.jsonl")
	s := decode.New(decode.Options{})
	m := matcher(t, "status:open tool:slack_list_channels", filter.Source{Session: s})
	var said []bool
	for i := range l.Len() {
		s.Add(l.TapFrame(i))
		if s.Calls() == 4 {
			said = append(said, m.Call(3))
		}
	}
	if len(said) < 2 || !said[0] || said[len(said)-1] {
		t.Error(said)
	}
}

func TestVocabulary(t *testing.T) {
	l := load(t, corpus+"slack-ts-auto.jsonl")
	var v filter.Vocabulary
	steps := 0
	for v.Grow(l.Session, "slack", 2) {
		steps++
	}
	got := ""
	for _, field := range []string{"tool:", "method:t", "server:"} {
		for _, c := range filter.Complete(field, len(field), &v) {
			got += c.Text + " (" + c.About + ") "
		}
	}
	if want := `slack_list_channels (once) slack_post_message (once) tools/call (2 times) tools/list (once) `; !strings.HasPrefix(got, want) || steps != 2 {
		t.Errorf("%d steps: %s", steps, got)
	}

	var all, other filter.Vocabulary
	other.Grow(load(t, "../../ui/testdata/store/20261129T081500Z-school-5e6f.jsonl").Session, "canteen", 100)
	all.Merge(&v)
	all.Merge(&other)
	all.Merge(new(filter.Vocabulary))
	for text, want := range map[string]string{"tool:sl": "slack_list_channels", "tool:me": "menu", "server:can": "canteen", "server:sla": `"Slack MCP Server"`} {
		if c := filter.Complete(text, len(text), &all); len(c) == 0 || c[0].Text != want {
			t.Errorf("%s may become %v of both sessions", text, c)
		}
	}
}

// TestCorpus runs every filter over every session of a larger corpus.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("MCPTAP_CORPUS")
	if dir == "" {
		dir = corpus
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		l := load(t, file)
		src := source(l)
		for _, text := range someFilters {
			yes, _ := rows(t, text, src)
			no, _ := rows(t, "not "+text, src)
			all, _ := rows(t, "", src)
			if len(yes)+len(no) != len(all) {
				t.Errorf("%s: %s selects %d calls of %d, and its negation %d", file, text, len(yes), len(all), len(no))
			}
		}
	}
}

// FuzzText hides a text in JSON, with its escapes as deep as the input says: it is
// found in any letter case.
func FuzzText(f *testing.F) {
	f.Add("Grüße \"x\"\n😀", "pre", uint8(2), true)
	f.Add(`C:\new`, `\u`, uint8(1), false)
	f.Fuzz(func(t *testing.T, text, around string, depth uint8, ascii bool) {
		text, around = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(around, "?")
		if text == "" || strings.ContainsAny(text, `\`) && depth%4 != 1 { // how deep a backslash is meant nobody can tell
			return
		}
		body := around + text + around
		if strings.HasSuffix(around, `\`) {
			return // the text begins within an escape then
		}
		for range depth % 4 {
			b, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			body = string(b)
			if ascii {
				body = toASCII(body)
			}
		}
		if !filter.Finds(text, []byte(body)) {
			t.Errorf("%q is not found in %s", text, body)
		}
		if up := strings.ToUpper(text); strings.EqualFold(up, text) && !filter.Finds(up, []byte(body)) {
			t.Errorf("%q is not found in %s", up, body)
		}
	})
}

// toASCII writes what is not ASCII as escapes, as Python does.
func toASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
