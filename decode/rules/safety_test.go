package rules

import (
	"strings"
	"testing"
)

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
	all := ""
	for _, f := range run(t, strings.ReplaceAll(`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"pattern":"^x"}}}}]}}
> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"a":"KEY","KEY":["KEY"]}}}
< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"k\":\"KEY\"}"}]}}
! started with KEY
`, "KEY", key)).findings() {
		all += f.Words() + "\n"
	}
	if n := strings.Count(all, "Anthropic key"); n != 4 {
		t.Errorf("%d secrets found, want 4", n)
	}
	if strings.Contains(all, key) || all == "" {
		t.Error(all)
	}
}
