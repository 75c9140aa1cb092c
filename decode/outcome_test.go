package decode

import (
	stdcmp "cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestHiddenErrors(t *testing.T) {
	long := `{"ok":false,"log":"` + strings.Repeat("x", maxLooked) + `"}` // a failure is short
	for _, c := range []struct {
		tool, text string
		want       Level
	}{
		{"a", `{"ok": false, "error": "no such layer"}`, LevelStrong},
		{"a", `{"success": false, "message": "no"}`, LevelStrong},
		{"a", `{"isError": true}`, LevelStrong},
		{"a", `{"status": "error", "reason": "no"}`, LevelStrong},
		{"a", `{"status": "Failed", "detail": "no", "id": 7}`, LevelStrong},
		{"a", `{"error": "no"}`, LevelStrong},
		{"a", `{"errors": [{"message":"no"}], "code": 7}`, LevelStrong},
		{"a", `{"error": {"message":"no"}, "data": null}`, LevelLikely},
		{"a", `{"ok": true, "error": "no", "items": []}`, LevelLikely},
		{"a", `{"statusCode": 404, "message": "no such page", "path": "/x"}`, LevelLikely},
		{"a", `Error: no`, LevelLikely},
		{"a", "\n Error executing tool", LevelLikely},
		{"a", `Traceback (most recent call last):`, LevelLikely},
		{"a", `Error searching libraries: TypeError: fetch failed`, LevelLikely},
		{"a", `Error rates by region: none`, 0},
		{"a", `winremote error: no`, LevelLikely},
		{"a", `missing required parameter: owner`, LevelNote},
		{"a", `invalid value for parameter x`, LevelNote},
		{"a", `{"data": [1], "errors": [{"message":"no"}]}`, LevelNote},
		{"a", `{"error": null, "items": [1]}`, 0},
		{"a", `{"error": "", "items": [1]}`, 0},
		{"a", `{"ok": true, "items": []}`, 0},
		{"a", `{"status": "error"}`, 0}, // explains nothing
		{"a", `{"status": "ok", "message": "done"}`, 0},
		{"a", `[{"error":"no"},{"ok":false}]`, 0},
		{"a", `{"results": {"error": "no", "ok": false}}`, 0},
		{"a", `The error rate is 5 %`, 0},
		{"a", `No errors`, 0},
		{"a", long, 0},
		{"list_errors", `Error: out of memory at 12:00`, 0},
		{"get_logs", `{"statusCode": 500, "message": "x", "path": "/x"}`, 0},
		{"get_logs", `{"ok": false, "error": "no access"}`, LevelStrong},
	} {
		text, _ := json.Marshal(c.text)
		s, _ := script(t, callLine(1, c.tool, ""), fmt.Sprintf(`< {V2,"id":1,"result":{"content":[{"type":"text","text":%s}]}}`, text))
		got := s.Call(0)
		level := Level(0)
		if got.Hidden != nil {
			level = got.Hidden.Level
		}
		if level != c.want || (got.Outcome == HiddenError) != (c.want >= LevelLikely) {
			t.Errorf("%s: %s: level %v outcome %v, want %v", c.tool, c.text, level, got.Outcome, c.want)
		}
	}
}

func TestHiddenInStructure(t *testing.T) {
	for structured, want := range map[string]Level{
		`{"result":"Error: no"}`:             LevelLikely,
		`{"result":{"ok":false}}`:            LevelStrong,
		`{"ok":false}`:                       LevelStrong,
		`{"result":{"result":{"ok":false}}}`: 0, // unwrapped once
		`{"fine":true}`:                      0,
	} {
		s, _ := script(t, callLine(1, "a", ""), `< {V2,"id":1,"result":{"content":[{"type":"text","text":"x"}],"structuredContent":`+structured+`}}`)
		got := Level(0)
		if h := s.Call(0).Hidden; h != nil {
			got = h.Level
		}
		if got != want {
			t.Errorf("%s: %v, want %v", structured, got, want)
		}
	}
}

// TestHiddenHabit: what every result of a tool has, with many values, is data.
func TestHiddenHabit(t *testing.T) {
	s := New(Options{})
	outcomes := func() (out []string) {
		for i := range s.Calls() {
			out = append(out, s.Call(i).Outcome.String())
		}
		return out
	}
	for i, status := range []string{"error", "running", "done", "error"} {
		feedLines(s, callLine(i+1, "job", ""), fmt.Sprintf(`< {V2,"id":%d,"result":{"content":[{"type":"text","text":"{\"status\":\"%s\",\"message\":\"m\",\"id\":%d}"}]}}`, i+1, status, i))
		if i == 0 && s.Call(0).Outcome != HiddenError {
			t.Errorf("one result: %v", s.Call(0).Outcome)
		}
	}
	if diff := cmp.Diff([]string{"ok", "ok", "ok", "ok"}, outcomes()); diff != "" {
		t.Error(diff)
	}
}

func TestNotHidden(t *testing.T) {
	s, _ := script(t,
		callLine(1, "a", ""), `< {V2,"id":1,"result":{"content":[{"type":"text","text":"Error: no"}],"isError":true}}`,
		`> {V2,"id":2,"method":"resources/read","params":{"uri":"x:"}}`, `< {V2,"id":2,"result":{"contents":[{"uri":"x:","text":"Error: no"}]}}`,
		callLine(3, "a", ""), `< {V2,"id":3,"result":{"content":[{"type":"text","text":"Error: no"},{"type":"text","text":"2"}]}}`)
	var got []Outcome
	for i := range s.Calls() {
		got = append(got, s.Call(i).Outcome)
	}
	if diff := cmp.Diff([]Outcome{ToolError, OK, OK}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWordLists(t *testing.T) {
	if got := HiddenWordsAsOf(); got != "2026-11-30" {
		t.Errorf("the lists are of %q", got)
	}
	if len(signKeys()) > 200 {
		t.Error("a sign's key is one byte")
	}
}

func TestNameCode(t *testing.T) {
	for _, c := range []struct {
		code     int64
		revision string
		name     string
		spec     bool
	}{
		{-32601, "2024-11-05", "method not found", true},
		{-32601, "", "method not found", true},
		{-32002, "2025-06-18", "resource not found", true},
		{-32002, "2026-07-28", "resource not found", false},
		{-32042, "2025-11-25", "URL elicitation required", true},
		{-32042, "2026-07-28", "URL elicitation required", false},
		{-32022, "2026-07-28", "unsupported protocol version", true},
		{-32022, "2025-11-25", "unsupported protocol version", false},
		{-32001, "2025-11-25", "session not found or request timeout", false},
		{-32015, "2026-07-28", "implementation-defined", false},
		{-32050, "2026-07-28", "reserved", false},
		{0, "2025-11-25", "no code", false},
		{42, "2025-11-25", "application error", false},
	} {
		if got := NameCode(c.code, c.revision); got.Name != c.name || got.Spec != c.spec {
			t.Errorf("%d in %q: %q (spec %v), want %q (spec %v)", c.code, c.revision, got.Name, got.Spec, c.name, c.spec)
		}
	}
}

func TestDescribeError(t *testing.T) {
	for data, want := range map[string]string{
		`{"supported":["2026-07-28","2025-11-25"],"requested":"2027-01-01"}`: "supported versions: 2026-07-28, 2025-11-25, asked for 2027-01-01",
		`{"uri":"file:///nope"}`:                                       "resource file:///nope",
		`{"requiredCapabilities":{"elicitation":{"form":{}}}}`:         `needs the client capabilities {"elicitation":{"form":{}}}`,
		`{"elicitations":[{"url":"https://a/"},{"url":"https://b/"}]}`: "open https://a/, https://b/ first",
		`{"mismatch":{"header":"a","body":"b"}}`:                       "header says a, body says b",
		`"text"`:                                                       "",
	} {
		info, ok := DescribeError([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m","data":`+data+`}}`), "2026-07-28")
		if !ok || info.Detail != want || info.Data != data || info.Message != "m" {
			t.Errorf("%s: %+v, want %q", data, info, want)
		}
	}
	if _, ok := DescribeError([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`), ""); ok {
		t.Error("a result was taken for an error")
	}
}

// TestFailureText: of a result that hides a failure, the words that the server chose.
func TestFailureText(t *testing.T) {
	for _, c := range []struct{ result, want string }{
		{`{"content":[{"type":"text","text":"{\"error\": \"Anak dengan id 999 tidak ditemukan\", \"status\": 404}"}]}`, "Anak dengan id 999 tidak ditemukan"},
		{`{"content":[{"type":"text","text":"{\"errors\": [{\"code\":7,\"message\":\"no such page\"}]}"}]}`, "no such page"},
		{`{"content":[{"type":"image"},{"type":"text","text":" Error: no\n"}]}`, "Error: no"},
		{`{"structuredContent":{"ok":false,"message":"not allowed"},"content":[]}`, "not allowed"},
		{`{"structuredContent":{"result":{"error":{"reason":"later"}}}}`, "later"},
		{`{"structuredContent":{"result":"Error: gone"}}`, "Error: gone"},
		{`{"structuredContent":{"success":false}}`, ""},
		{`{"structuredContent":{"error":true,"message":"full"}}`, "full"},
		{`{"structuredContent":{"error":{"error":{"error":{"error":{"error":{}}}}}}}`, "{}"},
		{`{"content":[]}`, ""},
		{`[]`, ""},
	} {
		if got := FailureText([]byte(`{"jsonrpc":"2.0","id":1,"result":` + c.result + `}`)); got != c.want {
			t.Errorf("%s says %q, want %q", c.result, got, c.want)
		}
	}
}

// TestLongNames: a name that is too long to keep is cut, and still told from others that
// begin in the same way; its tool is found in the list.
func TestLongNames(t *testing.T) {
	long := func(end string) string { return strings.Repeat("näme", 1250) + end }
	list := fmt.Sprintf(`< {V2,"id":9,"result":{"tools":[{"name":%q,"inputSchema":{"type":"object"}}]}}`, long("a"))
	escaped := strings.Repeat(`\u0041`, maxName+88)
	s, _ := script(t, `> {V2,"id":9,"method":"tools/list"}`, list, callLine(1, long("a"), ""), callLine(2, long("b"), ""), callLine(3, long("a"), ""),
		strings.Replace(callLine(4, "E", ""), "E", escaped, 1), fmt.Sprintf(`> {V2,"id":5,"method":%q}`, long("m")))
	names := map[string]bool{}
	for i := 1; i < s.Calls(); i++ {
		c := s.Call(i)
		kept := stdcmp.Or(c.Name, c.Method)
		names[kept] = true
		if !Shortened(kept) || len(kept) > maxName || !utf8.ValidString(kept) {
			t.Errorf("call %d is of %q, %d bytes", i, kept, len(kept))
		}
	}
	if len(names) != 4 || s.Call(1).Name != s.Call(3).Name {
		t.Errorf("%d names, want 4", len(names))
	}
	if !strings.HasPrefix(s.Call(4).Name, "AAAA") {
		t.Errorf("an escaped name is kept as %.20q", s.Call(4).Name)
	}
	unlisted := s.Catalogue().Unlisted()
	if len(unlisted) != 2 || unlisted[0].Call != 2 || unlisted[1].Call != 4 {
		t.Errorf("%+v are not listed", unlisted)
	}
	for _, name := range []string{"", "…#", long(""), strings.Repeat("x", maxName), strings.Repeat("x", maxName-16) + "…#\x1b[2Jzzzzzzzz"} {
		if Shortened(name) {
			t.Errorf("%.20q… counts as cut", name)
		}
	}
}
