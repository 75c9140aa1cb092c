package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/internal/httpscript"
	"github.com/mcptap/mcptap/tap"
)

// A script is a session as lines of text:
//
//	> {...}             client to server
//	< {...}             server to client
//	! text              standard error
//	@ 250ms             the time that passes before the next line
//	= stdin-end         an event: stdin-end, stdout-end, signal
//	= end exit=0        the end: exit=status, signal=NAME
//	= lost 2            frames that were not recorded
//	= http URL          the session is not that of a process; the server is at URL
//
// Lines of package httpscript are exchanges of an HTTP session.
//
// \r at the end of a line is a carriage return before its line feed, \0 says that
// the line has no end at all; {V2 stands for {"jsonrpc":"2.0", and META for the
// _meta members that a modern request needs.
type script struct {
	s      *decode.Session
	bodies [][]byte
	now    time.Duration
	n      uint64
}

func run(t testing.TB, text string) *script {
	t.Helper()
	sc := &script{s: decode.New(decode.Options{})}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		if err := sc.line(mark, rest); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	return sc
}

func (sc *script) line(mark, rest string) error {
	sc.now += time.Millisecond
	switch mark {
	case ">":
		sc.frame(tap.C2S, rest)
	case "<":
		sc.frame(tap.S2C, rest)
	case "!":
		sc.frame(tap.Stderr, rest)
	case "@":
		d, err := time.ParseDuration(rest)
		sc.now += d
		return err
	case "=":
		return sc.record(strings.Fields(rest))
	default:
		rec, ok := httpscript.Line(mark+" "+rest, sc.n+1, sc.now)
		if !ok {
			return fmt.Errorf("unknown mark %q", mark)
		}
		sc.n++
		if rec.Frame != nil {
			rec.Frame.Body = []byte(pad(string(rec.Frame.Body)))
			rec.Frame.JSON = json.Valid(rec.Frame.Body) && utf8.Valid(rec.Frame.Body)
		}
		sc.take(&rec)
	}
	return nil
}

// take feeds a record, and keeps the body of a frame.
func (sc *script) take(rec *tap.Record) {
	if rec.Frame != nil {
		sc.bodies = append(sc.bodies, rec.Frame.Body)
	}
	sc.s.Record(rec)
}

func (sc *script) frame(dir tap.Dir, body string) {
	f := tap.Frame{Dir: dir, Time: sc.now}
	for suffix, eol := range map[string]tap.EOL{`\r`: tap.CRLF, `\0`: tap.NoEOL} {
		if b, ok := strings.CutSuffix(body, suffix); ok {
			body, f.EOL = b, eol
		}
	}
	f.Body = []byte(pad(httpscript.Expand(body)))
	sc.add(&f)
}

func pad(s string) string {
	before, rest, ok := strings.Cut(s, "PAD(")
	count, after, closed := strings.Cut(rest, ")")
	n, err := strconv.Atoi(count)
	if !ok || !closed || err != nil || n < 0 || n > 16<<20 {
		return s
	}
	return before + strings.Repeat("x", n) + after
}

func (sc *script) add(f *tap.Frame) {
	sc.n++
	f.N, f.JSON = sc.n, f.Dir != tap.Stderr && json.Valid(f.Body) && utf8.Valid(f.Body)
	sc.bodies = append(sc.bodies, f.Body)
	sc.s.Add(f)
}

// record adds what is no frame. The reader's records know their time, so it goes
// through one.
func (sc *script) record(words []string) error {
	switch words[0] {
	case "http":
		sc.s.Record(&tap.Record{Header: &tap.Header{Transport: "http", URL: strings.Join(words[1:], " ")}})
	case "lost":
		n, err := strconv.ParseInt(words[1], 10, 64)
		sc.s.Lost(&tap.Lost{Frames: n})
		return err
	case "end":
		return sc.end(words[1:])
	default:
		return sc.replay(fmt.Sprintf(`{"n":%d,"t":%d,"event":%q}`, sc.n+1, sc.now.Nanoseconds(), words[0]))
	}
	return nil
}

func (sc *script) end(words []string) error {
	e := map[string]any{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		e[name] = value
		if n, err := strconv.Atoi(value); err == nil {
			e[name] = n
		}
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return sc.replay(fmt.Sprintf(`{"n":%d,"t":%d,"end":%s}`, sc.n+1, sc.now.Nanoseconds(), raw))
}

// replay feeds one line of a journal.
func (sc *script) replay(line string) error {
	r, err := tap.NewReader(strings.NewReader(line + "\n")).Next()
	if err != nil || r.Bad != nil {
		return fmt.Errorf("%s: %w", line, errors.Join(err, r.Bad))
	}
	r.Missing = 0
	sc.n++
	sc.s.Record(&r)
	return nil
}

func (sc *script) findings() []Finding {
	return Check(sc.s, func(i int) []byte { return sc.bodies[i] })
}

// TestRules runs the two sessions that each rule has in testdata: one that breaks
// it, and one near it that does not.
func TestRules(t *testing.T) {
	for _, r := range Rules() {
		if r.check == nil {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			file, err := txtar.ParseFile(filepath.Join("testdata", r.ID+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{"triggers": true, "does not": false}
			for _, f := range file.Files {
				name := strings.TrimRight(f.Name, " 0123456789")
				expected, ok := want[name]
				if !ok {
					t.Fatalf("unknown section %q", f.Name)
				}
				testSection(t, r, f.Name, string(f.Data), expected)
			}
			if len(file.Files) < 2 || len(strings.TrimSpace(string(file.Comment))) == 0 {
				t.Error("needs a paragraph and both sections")
			}
		})
	}
}

func testSection(t *testing.T, r *Rule, section, text string, expected bool) {
	t.Helper()
	found := false
	all := run(t, text).findings()
	for i := range all {
		f := &all[i]
		if f.Rule != r {
			continue
		}
		found = true
		if strings.Contains(f.Words(), "$") {
			t.Errorf("%s: an argument is missing: %s", section, f.Words())
		}
	}
	if found != expected {
		var others []string
		for i := range all {
			others = append(others, describe(&all[i]))
		}
		t.Errorf("%s: found %v, want %v; all:\n%s", section, found, expected, strings.Join(others, "\n"))
	}
}

// TestTables asks of every rule what the other parts of the program count on.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		switch {
		case seen[r.ID]:
			t.Errorf("%s is there twice", r.ID)
		case r.Severity == 0 || r.Side == 0 || r.Title == "" || r.Words == "":
			t.Errorf("%s lacks a field", r.ID)
		case strings.HasSuffix(r.Title, ".") || strings.HasSuffix(r.Words, "."):
			t.Errorf("%s ends with a full stop", r.ID)
		}
		seen[r.ID] = true
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if id := strings.TrimSuffix(filepath.Base(f), ".txt"); !seen[id] {
			t.Errorf("%s is for no rule", f)
		}
	}
}

func describe(f *Finding) string {
	return fmt.Sprintf("%-8s %-7s %-6s frame %d x%d  %s", f.Rule.ID, f.Severity, f.Side, f.Frame, f.Count, f.Words())
}

// FuzzCheck: whatever the lines are, nothing panics, and every finding can be
// put in words.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	f.Add(">1 {\"id\":0,\"method\":\"\"}\n> {\"id\":0,\"method\":\"\"}\n>1 {\"id\":0,\"method\":\"\"}\n.1")
	f.Fuzz(func(_ *testing.T, text string) {
		text = strings.ReplaceAll(text, "PAD(", "") // length is no use here
		sc := &script{s: decode.New(decode.Options{})}
		for line := range strings.Lines(text) {
			mark, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			switch mark {
			case "@":
			case "=":
				if words := strings.Fields(rest); len(words) == 2 && words[0] == "end" {
					_ = sc.record(words)
				}
			default:
				_ = sc.line(mark, rest)
			}
		}
		for _, found := range sc.findings() {
			_ = found.Words()
		}
	})
}

// BenchmarkCheck has sessions in which most of what is cheap once could be done
// once a frame: rounds, a stream, noise, and one long batch.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		var rounds, asked, answered strings.Builder
		rounds.WriteString(`> {V2,"id":"l","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["file:///a"]},"_meta":{META}}}` + "\n")
		for i := range n {
			fmt.Fprintf(&rounds, `> {V2,"id":%d,"method":"tools/call","params":{"name":"a","requestState":"s","_meta":{META}}}`+"\n", i)
			rounds.WriteString(`< {V2,"method":"notifications/resources/updated","params":{"uri":"file:///a","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}` + "\n< {\n")
			fmt.Fprintf(&rounds, `< {V2,"id":%d,"result":{"resultType":"input_required","requestState":"s"}}`+"\n", i)
			fmt.Fprintf(&asked, `,{V2,"id":%d,"method":"tools/call","params":{"name":"a","_meta":{META}}}`, i)
			fmt.Fprintf(&answered, `,{V2,"id":%d,"result":{}}`, i)
		}
		batch := "> [" + asked.String()[1:] + "]\n< [" + answered.String()[1:] + "]\n"
		for name, text := range map[string]string{"rounds": rounds.String(), "batch": batch} {
			sc := run(b, text)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					sc.findings()
				}
			})
		}
	}
}
