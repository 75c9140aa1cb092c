package rules

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// TestRuleFiles plays the two sections of each file in testdata: the first must
// trigger the rule that the file is named for, the second must not.
func TestRuleFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(id, func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, section := range a.Files {
				if section.Name != "triggers" && section.Name != "does not" {
					t.Fatalf("section %q", section.Name)
				}
				found, all := tableFind(t, id, string(section.Data))
				if want := section.Name == "triggers"; found != want {
					t.Errorf("%s: found %v; all: %s", section.Name, found, all)
				}
			}
		})
	}
}

func tableFind(t *testing.T, id, script string) (found bool, all string) {
	var play tablePlay
	for line := range strings.Lines(script) {
		play.line(t, strings.TrimRight(line, "\n"))
	}
	for _, f := range Check(play.session(), func(i int) []byte { return play.bodies[i] }) {
		all += "\n" + f.Rule.ID + " " + f.Severity.String() + " " + f.Side.String() + ": " + f.Words()
		found = found || f.Rule.ID == id
	}
	return found, all
}

type tablePlay struct {
	now    time.Duration
	s      *decode.Session
	bodies [][]byte
}

func (p *tablePlay) session() *decode.Session {
	if p.s == nil {
		p.s = decode.New(decode.Options{})
	}
	return p.s
}

func (p *tablePlay) line(t *testing.T, line string) {
	t.Helper()
	if line == "" {
		return
	}
	mark, text, _ := strings.Cut(line, " ")
	switch mark {
	case ">":
		p.frame(tap.C2S, text)
	case "<":
		p.frame(tap.S2C, text)
	case "!":
		p.frame(tap.Stderr, text)
	case "@":
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		p.now += d
	case "=":
		if strings.HasPrefix(text, "end") {
			p.session().End(&tap.End{})
			return
		}
		p.session().Event(&tap.Event{Time: p.now, Name: text})
	default:
		t.Fatalf("line %q", line)
	}
}

func (p *tablePlay) frame(dir tap.Dir, text string) {
	p.now += time.Millisecond
	body := []byte(text)
	p.bodies = append(p.bodies, body)
	p.session().Add(&tap.Frame{N: uint64(len(p.bodies)), Time: p.now, Dir: dir, Body: body,
		JSON: dir != tap.Stderr && json.Valid(body) && utf8.Valid(body)})
}

// TestSecretKind holds the shapes of keys against keys, made up, and against what
// is none.
func TestSecretKind(t *testing.T) {
	for text, want := range map[string]string{
		"key sk-ant-api03-Zq8t1LwP0sYk3RvN6mBc9XdHf2":                       "Anthropic key",
		"OPENAI=sk-proj-Zq8t1LwP0sYk3RvN6mBc9XdHf2":                         "API key",
		"https://x:ghp_q8Zt1LwP0sYk3RvN6mBc9XdHf2JgT5aUeW7o@github.com/a":   "GitHub token",
		"Authorization: Bearer q8Zt1LwP0sYk3RvN6mBc9XdHf2":                  "bearer token",
		"xoxb-918273645546-918273645546-q8Zt1LwP0sYk3RvN":                   "Slack token",
		"AKIAQ2ZT7LWPSYK3RVN6":                                              "AWS key id",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IiLCJuIjo3fQ.q8Zt1LwP0sYk3RvN6": "JSON web token",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAq8Zt1LwP":         "private key",
		"AKIAIOSFODNN7EXAMPLE":                                              "",
		"export OPENAI_API_KEY=sk-your-key-here-0":                          "",
		"Authorization: Bearer <your token>":                                "",
		"-----BEGIN PRIVATE KEY-----\n...":                                  "",
		"the task-1234567890123456789012345 ended":                          "",
		"/risk-assessment-2026-01-01-2026-12-31":                            "",
	} {
		if got := secretKind(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestHidden knows who needs characters that do not show.
func TestHidden(t *testing.T) {
	for text, want := range map[string]bool{
		"plain\ttext\r\n":                 false,
		"naïve café – “quoted” …":         false,
		"👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3":  false,
		"🏴\U000E0067\U000E0062\U000E007F": false,
		"می\u200cخواهم":                   false,
		"क्\u200dष":                       false,
		"שלום\u200f (abc)":                false,
		"葛\U000E0100":                     false,
		"read\u200bme":                    true,
		"read\u200dme":                    true,
		"a\U000E0068\U000E0069":           true,
		"abc\u202etxt":                    true,
		"abc\u200f":                       true,
		"\ufeffabc":                       true,
		"a\u3164b":                        true,
		"a\ufe01\ufe02":                   true,
		"a\U000E0101b":                    true,
		"\x1b[8mhidden":                   true,
	} {
		if got := hiddenIn(text); (got != "") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestNoSecretIsRepeated looks for a key in the words of all that is found in a
// session full of it.
func TestNoSecretIsRepeated(t *testing.T) {
	const key = "sk-ant-api03-Zq8t1LwP0sYk3RvN6mBc9XdHf2"
	_, all := tableFind(t, "", strings.ReplaceAll(`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"pattern":"^x"}}}}]}}
> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"a":"KEY","KEY":["KEY"]}}}
< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"k\":\"KEY\"}"}]}}
! started with KEY
`, "KEY", key))
	if n := strings.Count(all, "Anthropic key"); n != 3 {
		t.Errorf("%d secrets found, want 3", n)
	}
	if strings.Contains(all, key) || all == "" {
		t.Error(all)
	}
}
