package copytext

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ in, want, notice string }{
		{"plain\ttext\r\nof two lines", "plain\ttext\r\nof two lines", ""},
		{`{"a": "é漢👩‍💻"}`, `{"a": "é漢👩‍💻"}`, ""},
		{"{\r\n \"a\":\"\u009b\x7f\"}", "{\r\n \"a\":\"\\u009b\\u007f\"}", `2 hidden characters written as \u009b and the like`},
		{"\"\U000e0041\"", `"\udb40\udc41"`, `1 hidden character written as \udb40\udc41`},
		{"a\x1b[2J\xff\r", `a\x1b[2J\xff\x0d`, `3 hidden characters written as \x1b and the like`},
		{"gpj\u202eexe", `gpj\xe2\x80\xaeexe`, `1 hidden character written as \xe2\x80\xae`},
	} {
		got := Of([]byte(c.in))
		if got.String != c.want || got.Notice() != c.notice {
			t.Errorf("Of(%q) = %q, %q; want %q, %q", c.in, got.String, got.Notice(), c.want, c.notice)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add([]byte("a\x1b[2J\xff\u202e"))
	f.Add([]byte("{\"a\":\"\u009b\"}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Of(b)
		harmless(t, strings.NewReplacer("\n", "", "\t", "", "\r", "").Replace(got.String))
		if got.Escaped == 0 && got.String != string(b) {
			t.Errorf("%q became %q, and nothing is said of it", b, got.String)
		}
		if !utf8.Valid(b) || !json.Valid(b) {
			return
		}
		var before, after bytes.Buffer
		if json.Compact(&before, b) != nil || json.Compact(&after, []byte(got.String)) != nil {
			t.Fatalf("%q is no JSON any more: %q", b, got.String)
		}
		var x, y any
		if json.Unmarshal(b, &x) == nil {
			if err := json.Unmarshal([]byte(got.String), &y); err != nil {
				t.Error(err)
			}
			a, _ := json.Marshal(x)
			c, _ := json.Marshal(y)
			if !bytes.Equal(a, c) {
				t.Errorf("%q says something else: %q", b, got.String)
			}
		}
	})
}

func harmless(t interface{ Errorf(string, ...any) }, s string) {
	for _, r := range s {
		if unicode.IsControl(r) || r != '\u200d' && unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
			t.Errorf("%U is in %q", r, s)
		}
	}
}

// wild are bytes that shells, terminals and printf take for something.
var wild = rapid.OneOf(
	rapid.String(),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"'", `"`, `\`, "$(id)", "`id`", "!", "\n", "\t", "\x1b[2J", "%s", "%", "-n", "~", "*", "0", "7", "a", "é", "\u202e", "\xff", "é"[:1], "#", ";", " ", `\0`, `\x41`, "=", "{a,b}"})), func(s []string) string { return strings.Join(s, "") }),
)

func withoutZero(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// shells are those of this machine that commands have to be right for. On many of them
// sh is dash, on others bash.
func shells(t *testing.T) (names []string) {
	for _, name := range []string{"sh", "bash", "dash"} {
		if _, err := exec.LookPath(name); err == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatal("there is no shell")
	}
	return names
}

// shell runs a command in a shell and gives what it printed.
func shell(t *rapid.T, name, dir, command string) (stdout string) {
	cmd := exec.Command(name, "-c", command)
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %q: %v", name, command, err)
	}
	return string(out)
}

// fakes makes a folder with programs that print what they were given: curl and server.
func fakes(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"curl", "server"} {
		script := "#!/bin/sh\nprintf '%s\\0' \"$@\"\ncase \" $* \" in *' @- '*) cat;; esac\ncase \"$0\" in */server) cat;; esac\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestQuote: a shell reads the word that was meant, and a terminal nothing that drives it.
func TestQuote(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"", "''"}, {"a-b", "a-b"}, {"it's", `'it'\''s'`}, {"a\nb\n", "'a\nb\n'"},
		{"a\x01\x02b", `'a'"$(printf '\001\002')"'b'`}, {"\r\n", "\"$(printf '\\015')\"'\n'"},
	} {
		if got, err := Quote(c.word); err != nil || got != c.want {
			t.Errorf("%q is %s (%v), want %s", c.word, got, err, c.want)
		}
	}
	dir, names := fakes(t), shells(t)
	rapid.Check(t, func(t *rapid.T) {
		words := make([]string, 0, 20) // many at a time: a shell takes a while to start
		command := "printf '%s\\0'"
		for _, w := range rapid.SliceOfN(wild, 1, 20).Draw(t, "words") {
			w = withoutZero(w)
			q, err := Quote(w)
			if err != nil {
				t.Fatal(err)
			}
			words, command = append(words, w), command+" "+q
		}
		harmless(t, strings.ReplaceAll(command, "\n", ""))
		for _, name := range names {
			if got, want := shell(t, name, dir, command), strings.Join(words, "\x00")+"\x00"; got != want {
				t.Fatalf("%s read %q, want %q, of %s", name, got, want, command)
			}
		}
	})
	if _, err := Quote("a\x00b"); err == nil {
		t.Error("a zero byte is a word")
	}
}

// TestPrint: any bytes can be piped, also by the plainest shell there is.
func TestPrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(wild, 1, 6).Draw(t, "lines")
		command := Print(lines...)
		harmless(t, command)
		out, err := exec.Command("sh", "-c", command).Output()
		if want := strings.Join(lines, "\n") + "\n"; err != nil || string(out) != want {
			t.Fatalf("sh printed %q (%v), want %q, of %s", out, err, want, command)
		}
	})
}

func TestPipe(t *testing.T) {
	dir, names := fakes(t), shells(t)
	got, err := Pipe([]string{`{"a":"it's"}`}, "/tmp", []string{"server", "--name", "it's", ""})
	if want := `cd -- /tmp && printf '%s\n' '{"a":"it'\''s"}' | server --name 'it'\''s' ''`; err != nil || got != want {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
	if _, err := Pipe([]string{"x"}, "", nil); err == nil {
		t.Error("a server without a command can be started")
	}
	rapid.Check(t, func(t *rapid.T) {
		line, arg := wild.Draw(t, "line"), withoutZero(wild.Draw(t, "argument"))
		command, err := Pipe([]string{line}, "", []string{"server", arg})
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, strings.ReplaceAll(command, "\n", ""))
		for _, name := range names {
			if got, want := shell(t, name, dir, command), arg+"\x00"+line+"\n"; got != want {
				t.Fatalf("by %s the server got %q, want %q, of %s", name, got, want, command)
			}
		}
	})
}

// TestCurl: curl is given the request as it was recorded.
func TestCurl(t *testing.T) {
	dir, names := fakes(t), shells(t)
	got, err := Curl(HTTP{"POST", "http://127.0.0.1:8100/mcp?a=b&c", [][2]string{{"Host", "x"}, {"Accept", "text/event-stream"}, {"Authorization", "Bearer «redacted:10cb7b»"}, {"X-Empty", ""}, {"@/etc/passwd", ""}}, []byte(`{"id":1}`)})
	want := `curl -sgN -X POST -H 'Accept: text/event-stream' -H 'Authorization: Bearer «redacted:10cb7b»' -H 'X-Empty;' --data-raw '{"id":1}' --url 'http://127.0.0.1:8100/mcp?a=b&c'`
	if err != nil || got != want {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		h := HTTP{"POST", withoutZero(wild.Draw(t, "url")), [][2]string{{"X-A", "v" + withoutZero(wild.Draw(t, "header"))}}, []byte(wild.Draw(t, "body"))}
		command, err := Curl(h)
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, strings.ReplaceAll(command, "\n", ""))
		args := []string{"-sgN", "-X", "POST", "-H", "X-A: " + h.Headers[0][1]}
		if bytes.IndexByte(h.Body, 0) < 0 {
			args = append(args, "--data-raw", string(h.Body), "--url", h.URL, "")
		} else {
			args = append(args, "--data-binary", "@-", "--url", h.URL, string(h.Body))
		}
		for _, name := range names {
			if got, want := shell(t, name, dir, command), strings.Join(args, "\x00"); got != want {
				t.Fatalf("by %s curl got %q, want %q, of %s", name, got, want, command)
			}
		}
	})
}
