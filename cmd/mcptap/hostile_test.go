//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/tap"
)

// evil is text that drives terminals, hides what it is, or is no text.
const evil = "\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31m\x1b[?1049l\x1bP0;1|q\x1b\\" +
	"\u009b31m\u009d0;t\u009c\u202egpj.exe\u2066\u200b\u2028\u2029\U000e0041\U000e0042\ue000\r\n\x00\b\x7f"

// rawEvil are those of its characters that JSON allows to stand unescaped.
const rawEvil = "\u009b31m\u009d0;t\u009c\u202egpj.exe\u2066\u200b\u2028\u2029\U000e0041\U000e0042\ue000\x7f"

// hostileJournal writes recordings in which everything that comes from outside is
// hostile. It gives the words that stand before what is evil, all of which have to be
// seen. In a brief one nobody says so much about himself that there is no room for the
// folder, the host and the end.
func hostileJournal(t testing.TB, store, id string, brief bool) (words []string) {
	t.Helper()
	frames := 0
	t.Helper()
	word := func(place string) string {
		w := "Q" + place + "Q"
		words = append(words, w)
		return w
	}
	// escaped and raw are a JSON string, with escapes and without any.
	escaped := func(place string) string { return asQuoted(t, word(place)+evil) }
	raw := func(place string) string { return `"` + word(place) + rawEvil + `"` }
	hidden := asQuoted(t, evil)
	about, host := escaped, escaped("host")
	if brief {
		host = asQuoted(t, "QhostQ\x1b[2J")
		about = func(string) string { return `"x"` }
	}
	name := asQuoted(t, word("tool")+strings.Repeat("tool漢👩\u200d💻\x1b[2J", 5000/9))
	levels := 4990 // of two, and what is around it
	if brief {
		levels = 50
	}
	deep := strings.Repeat(`{"a":[`, levels) + strings.Repeat("]}", levels)
	lines := []string{fmt.Sprintf(`{"mcptap":1,"session":%s,"start":"2026-11-30T13:00:00Z","transport":"stdio","command":[%s],"cwd":%s,"host":{"pid":%d,"name":%s},"label":%s}`,
		asQuoted(t, id), about("command"), raw("folder"), len(id)+int(id[len(id)-1]), host, escaped("label"))}
	record := func(time int64, dir, rest string) {
		frames++
		lines = append(lines, fmt.Sprintf(`{"n":%d,"t":%d,"dir":%q,%s}`, frames, time, dir, rest))
	}
	message := func(time int64, dir, body string, args ...any) {
		record(time, dir, `"msg":{"jsonrpc":"2.0",`+fmt.Sprintf(body, args...)+`}`)
	}
	message(1000, "c2s", `"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{%s:{%s:%s}},"clientInfo":{"name":%s,"version":%s}}`, hidden, escaped("capability"), hidden, about("client"), hidden)
	message(2000, "s2c", `"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},%s:{}},"serverInfo":{"name":%s,"version":%s},"instructions":%s}`, raw("feature"), raw("server"), hidden, escaped("instructions"))
	record(2500, "stderr", `"text":`+escaped("stderr"))
	message(3000, "c2s", `"id":2,"method":"tools/list"`)
	message(4000, "s2c", `"id":2,"result":{"tools":[{"name":%s,"description":%s,"inputSchema":{"type":"object","properties":{%s:{"type":"string","description":%s}}}},{"name":"plain","title":%s,"description":%s,"inputSchema":{"type":"object"}}]}`, name, escaped("description"), raw("property"), hidden, escaped("title"), raw("other"))
	message(1000000000, "c2s", `"id":%s,"method":"tools/call","params":{"name":%s,"arguments":{%s:%s}}`, hidden, name, escaped("argument"), raw("value"))
	message(500, "s2c", `"id":%s,"result":{"isError":true,"content":[{"type":"text","text":%s},{"type":%s,"text":%s}]}`, hidden, escaped("failure"), hidden, raw("content"))
	message(600, "c2s", `"id":7,"method":%s`, escaped("method"))
	message(700, "s2c", `"id":7,"error":{"code":-1,"message":%s,"data":%s}`, escaped("error"), deep)
	message(800, "c2s", `"id":8,"method":"resources/read","params":{"uri":%s}`, escaped("uri"))
	message(900, "s2c", `"id":8,"result":{"contents":[{"uri":%s,"mimeType":%s,"text":%s}]}`, hidden, escaped("mime"), asQuoted(t, `{"`+word("inner")+evil+`":"`+evil+`"}`))
	message(950, "c2s", `"id":9,"method":"tools/call","params":{"name":"plain","arguments":{"deep":%s}}`, deep)
	message(960, "s2c", `"id":9,"result":{"content":[{"type":"text","text":%s}],"structuredContent":{"error":%s}}`, asQuoted(t, deep), escaped("payload"))
	message(970, "s2c", `"method":%s,"params":{"text":%s}`, raw("notification"), asQuoted(t, word("long")+strings.Repeat("0123456789", 1<<20)))
	message(9000000000000000000, "s2c", `"id":%s,"method":"sampling/createMessage","params":{"messages":[{"role":%s,"content":{"type":"text","text":%s}}]}`, escaped("sampling"), hidden, hidden)
	record(10, "s2c", `"text":`+escaped("stray"))
	record(10, "s2c", `"text":`+asQuoted(t, strings.Repeat(`{"a":[`, 5001)+strings.Repeat("]}", 5001)))
	record(11, "s2c", `"b64":"G11vdGhlcgf/G1sySpswG1A="`)
	lines = append(lines, fmt.Sprintf(`{"n":%d,"t":5,"end":{"exit":1,"reason":%s,"frames":%d,"lost":0}}`, frames+1, escaped("reason"), frames))
	path := filepath.Join(store, id+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := marks.Load(marks.Path(path))
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(frames) {
		if err := m.Set(n+1, word("note")); err != nil {
			t.Fatal(err)
		}
		words = words[:len(words)-1]
	}
	if err := m.Save(marks.Path(path)); err != nil {
		t.Fatal(err)
	}
	b := strings.ReplaceAll(string(readFile(t, marks.Path(path))), "QnoteQ", strings.Trim(asQuoted(t, "QnoteQ"+evil), `"`))
	if err := os.WriteFile(marks.Path(path), []byte(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return append(words, "QnoteQ")
}

func asQuoted(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// clipped is from about which size on a terminal's clipboard takes no text.
const clipped = 60000

// paste is text as a terminal pastes it.
func paste(s string) string {
	return "\x1b[200~" + strings.ReplaceAll(s, "\x1b[201~", "") + "\x1b[201~"
}

// hostileWalk visits every screen of a hostile session, and copies all there is.
func hostileWalk(s *screenTest, frames []*tap.Frame) {
	s.t.Helper()
	press := func(keys ...string) {
		s.t.Helper()
		for _, k := range keys {
			s.keys(k)
			s.fence()
		}
	}
	prompt := func(keys, typed string) { // a line to write on, which is left with escape
		s.t.Helper()
		s.keys(keys + paste(evil+typed))
		s.wait(typed)
		s.keys("\x1b")
		s.until(func(screen string) bool { return !strings.Contains(screen, typed) })
	}
	s.wait("QlabelQ")
	boxes := strings.Count(s.text(), "╭")
	s.keys("D") // asks whether to delete it
	s.until(func(screen string) bool { return strings.Count(screen, "╭") > boxes })
	press("n", "j")
	prompt("/", "QtypedQ")
	s.keys("k\r")
	s.wait("frame ")
	press("fg")
	mode := 0
	for _, f := range frames {
		s.wait(fmt.Sprintf("frame %d ", f.N))
		if len(f.Body) < clipped {
			s.copied("y")
		}
		tree := json.Valid(f.Body)
		for seen := 0; seen < 3 || tree && mode != 0; seen++ { // as tree, as text, as bytes
			press("v")
			if mode = (mode + 1) % 3; mode == 0 && !tree {
				mode = 1
			}
		}
		press("\t", "E", "\x06", "G", "\x02")
		if len(f.Body) < clipped {
			s.copied("y")
		}
		if tree {
			press("k")
			s.copied("Y")
		}
		prompt("/", "QsearchQ")
		press("lg\x7f") // back to the list
		s.keys("j")
	}
	press("fg")
	prompt("/", "QfilterQ")
	press("l", "j", "m", "\t\t", "j", "m", "z", "z")
	for _, report := range []string{"r", "t", "i", "p", "?"} {
		press(report, "j", "G", "o", "g", "\x7f")
	}
	s.keys("S" + paste(evil+"QqueryQ"))
	s.wait("QqueryQ")
	press("\r")
	press("\x7f", "d", "\r", "j", "jj", "G", "\x7f")
	prompt("N", "QnotedQ")
	prompt(":", "QpaletteQ")
	prompt("w\x15", "QsaveQ")
	s.keys("w\x15" + paste(evil+"QsavedQ"))
	s.wait("QsavedQ")
	before := s.text()
	s.keys("\r") // such a name is refused
	s.until(func(screen string) bool { return screen != before })
	s.keys("\x03")
}

// TestHostileCommands prints a hostile session with every command, on a terminal and to
// a pipe: colours, line ends and tabs are all there is beside text that can be seen.
func TestHostileCommands(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	hostileJournal(t, store, "20261130T125900Z-evil-0002", true)
	hostileJournal(t, store, "20261130T130000Z-evil-0001", false)
	for _, command := range []string{
		"ls", "ls --json", "show evil-0001", "show evil-0001 --json", "show evil-0001 --frames", "show evil-0001 --frames --json", "stats evil-0001", "stats evil-0001 --json",
		"check evil-0001", "check evil-0001 --json", "check evil-0001 --junit", "check evil-0001 --sarif", "request evil-0002", "request evil-0002 --json", "rent evil-0001", "rent evil-0001 --json",
		"search evil-0001 tool", "search evil-0001 tool --json", "diff evil-0002 evil-0001", "diff evil-0002 evil-0001 --json", "follow evil-0001 --once", "follow evil-0001 --once --json",
		"browse evil-0001 --plain", "diff evil-0002 evil-0001 --junit", "show QnoneQ\x1b[2J",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			args := []string{"--dir", store}
			for _, a := range strings.Fields(command) {
				if strings.HasPrefix(a, "evil-") {
					a = filepath.Join(store, map[string]string{"evil-0001": "20261130T130000Z-evil-0001.jsonl", "evil-0002": "20261130T125900Z-evil-0002.jsonl"}[a])
				}
				args = append(args, a)
			}
			shown := printedOnTerminal(t, args)
			if _, _, err := scanOutput(shown, printedSequences, "\r\n\t"); err != nil {
				t.Errorf("on a terminal: %v", err)
			}
			c := exec.Command("mcptap", args...)
			var said strings.Builder
			c.Stderr = &said
			piped, _ := c.Output() // some end with a status that says what they found
			for name, text := range map[string]string{"standard output": string(piped), "standard error": said.String()} {
				if _, _, err := scanOutput(text, noSequences, "\n\t"); err != nil && (name != "standard output" || !strings.HasSuffix(command, "json") && !strings.HasPrefix(command, "request")) { // JSON is as it was
					t.Errorf("%s to a pipe: %v", name, err)
				}
			}
			if !anyWord.MatchString(string(piped) + said.String()) {
				t.Errorf("nothing hostile is in what it prints:\n%s%s", piped, said.String())
			}
		})
	}
}

// anyWord stands before what is evil; of names that a model gets only letters are left.
var anyWord = regexp.MustCompile(`Q[a-z]+Q|mcp__x__link`)

// printedOnTerminal is what a command prints on a terminal of its own, whatever its exit
// status.
func printedOnTerminal(t *testing.T, args []string) string {
	t.Helper()
	c := exec.Command("mcptap", args...)
	c.Env = append(c.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=")
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\x04"); err != nil { // nothing to be read
		t.Fatal(err)
	}
	out, _ := io.ReadAll(f) // Linux ends a terminal with an error
	_ = c.Wait()
	return strings.TrimPrefix(string(out), "^D\b\b") // the terminal's own echo
}

// TestHostileScreens looks at a hostile session on terminals of three sizes. What the
// terminal is sent are the program's own sequences, and text that can be seen; so is all
// that is copied.
func TestHostileScreens(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]bool{}
	t.Run("sizes", func(t *testing.T) {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}} {
			t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				store := t.TempDir()
				words := hostileJournal(t, store, "20261130T125900Z-evil-0002", true)
				words = append(words, hostileJournal(t, store, "20261130T130000Z-evil-0001", false)...)
				c := exec.Command("mcptap", "--dir", store)
				c.Dir = t.TempDir()
				s := commandOnScreen(t, size[0], size[1], false, c)
				hostileWalk(s, framesOf(t, filepath.Join(store, "20261130T130000Z-evil-0001.jsonl")))
				s.ends(0)
				text, copies, err := scanOutput(s.written(), ownSequences, "\r\n")
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range copies {
					if _, _, err := scanOutput(c, noSequences, "\r\n\t"); err != nil {
						t.Errorf("a copy has %v", err)
					}
				}
				if len(copies) < 20 {
					t.Errorf("%d copies", len(copies))
				}
				mu.Lock()
				defer mu.Unlock()
				for _, w := range words {
					seen[w] = seen[w] || strings.Contains(text, w)
				}
			})
		}
	})
	for w, yes := range seen {
		if !yes {
			t.Errorf("%s was on none of the screens: this test does not see it", w)
		}
	}
}
