package diff

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCompareValues(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"equal", `{"a":[1,2.50,null,true,"x"]}`, ` { "a" : [1.0, 25e-1, null, true, "\u0078"] } `, ""},
		{"large numbers", `[9007199254740993]`, `[9007199254740992]`, "r[0]: 9007199254740993 | 9007199254740992"},
		{"types", `{"a":"1"}`, `{"a":1}`, `r.a: "1" | 1`},
		{"more and less", `{"a":1,"b":[1]}`, `{"b":[1,2],"c":null}`, "r.a: 1 | ; r.b[1]:  | 2; r.c:  | null"},
		{"JSON in a text", `["{\"x\":1,\"y\":[]}"]`, `["{ \"y\": [], \"x\": 1.0 }"]`, ""},
		{"JSON after words", `["ok: {\"x\":1}"]`, `["ok: {\"x\":2}"]`, "r[0].x: 1 | 2"},
		{"other words", `["ok {\"x\":1}"]`, `["no {\"x\":1}"]`, `r[0]: "ok {\"x\":1}" | "no {\"x\":1}"`},
		{"a name with a dot", `{"a.b":1}`, `{"a.b":2}`, `r.a\.b: 1 | 2`},
		{"object and array", `{}`, `[]`, "r: {} | []"},
	} {
		a, okA := parse([]byte(c.a))
		b, okB := parse([]byte(c.b))
		if !okA || !okB {
			t.Fatalf("%s is no JSON", c.name)
		}
		var compare comparer
		compare.compare(Path{}.member("r"), a, b)
		var got []string
		for _, l := range compare.leaves {
			va, vb := l.words()
			got = append(got, l.path.String()+": "+va+" | "+vb)
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: got %s, want %s", c.name, s, c.want)
		}
	}
}

// TestExcerpts: of two long texts that are shown where they differ can be seen.
func TestExcerpts(t *testing.T) {
	long := strings.Repeat("é and so on, ", 30)
	for _, c := range [][2]string{{"a", "b"}, {long + "x", long + "y"}, {long + "x" + long, long + "y" + long}, {"x" + long, "y" + long}, {long, long + "more"}, {"", long}} {
		a, b := Excerpts(c[0], c[1], 60)
		if a == b || !utf8.ValidString(a+b) || max(len(a), len(b)) > 60+len("…") {
			t.Errorf("%q and %q", a, b)
		}
	}
	x := script{`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, `< {"jsonrpc":"2.0","id":1,"result":{"text":"` + long + `x"}}`}
	y := script{x[0], strings.Replace(x[1], `x"}}`, `y"}}`, 1)}
	for _, r := range Compare(x.side("a"), y.side("b"), Options{}).Rows {
		if len(r.Changes) != 1 || r.Changes[0].A == r.Changes[0].B {
			t.Errorf("%+v", r.Changes)
		}
	}
}

func TestVolatile(t *testing.T) {
	start := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct{ name, a, b, want string }{
		{"uuid", `"a8098c1a-f86e-11da-bd1a-00112444be1e"`, `"6FA459EA-EE8A-3CA4-894E-DB77E160355E"`, kindUUID},
		{"uuid in a text", `"run a8098c1a-f86e-11da-bd1a-00112444be1e done"`, `"run 6fa459ea-ee8a-3ca4-894e-db77e160355e done"`, kindUUID},
		{"uuid and another text", `"run a8098c1a-f86e-11da-bd1a-00112444be1e done"`, `"run 6fa459ea-ee8a-3ca4-894e-db77e160355e failed"`, ""},
		{"now", `"2026-11-30T10:00:01Z"`, `"2026-11-30T12:00:01.5+01:00"`, kindTime},
		{"a moment of the data", `"2024-02-01T10:00:01Z"`, `"2024-03-01T10:00:01Z"`, ""},
		{"a date", `"2026-11-30"`, `"2026-12-01"`, ""},
		{"a clock", `"created at 2:10:31 PM"`, `"created at 2:13:06 PM"`, kindTime},
		{"took", `"done in 12.5 ms"`, `"done in 3 ms"`, kindDuration},
		{"token", `"sk9fQ2x7Lp0aZr4TnB8wYc"`, `"Hd72kkPq0z1Lm3XwVe55Rt"`, kindToken},
		{"words", `"a long text without any digit in it"`, `"another long text without any digit"`, ""},
		{"names", `"T-101"`, `"T-102"`, ""},
		{"epoch", `1790000000123`, `1790000001123`, kindTime},
		{"number", `17`, `18`, ""},
	} {
		a, _ := parse([]byte(c.a))
		b, _ := parse([]byte(c.b))
		l := leaf{path: Path{}.member("result").member("createdAt"), a: a, b: b, hasA: true, hasB: true}
		if got := (clocks{start, start}).volatileKind(&l, true); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	elapsed := leaf{path: Path{}.member("elapsed_ms"), a: parsed("12"), b: parsed("19"), hasA: true, hasB: true}
	if got := (clocks{}).volatileKind(&elapsed, true); got != kindDuration {
		t.Errorf("elapsed: %q", got)
	}
	if got := (clocks{}).volatileKind(&elapsed, false); got != "" {
		t.Errorf("a duration that a client asks for: %q", got)
	}
}

func parsed(s string) any {
	v, _ := parse([]byte(s))
	return v
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"result.a", "result.a", true}, {"result.a", "result.a.b[0]", true}, {"result.a.b", "result.a", false}, {"result.a", "result.ab", false},
		{"$.result.items[*].age", "result.items[12].age", true}, {"result.items[1].age", "result.items[12].age", false}, {"result.*.age", "result.x.age", true},
		{"result.*", "result[0]", false}, {`result.a\.b`, `result.a\.b`, true}, {`result.a\.b`, "result.a.b", false}, {"[*].x", "[3].x", true},
	} {
		pattern, err := ParsePath(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		path, err := ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := pattern.covers(path); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.path, got)
		}
	}
	for _, wrong := range []string{"", "a..b", "a[", "a[x]", "a[-1]", ".a", "a[0]b", "a."} {
		if p, err := ParsePath(wrong); err == nil {
			t.Errorf("%q is read as %s", wrong, p)
		}
	}
}

// FuzzPath: what is read can be written and read again.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"result.a[0].b", "$.x[*].*", `a\.b\[c\\`, "[3]", "a[99999999999]", "a.\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		again, err := ParsePath(p.String())
		if err != nil || again.String() != p.String() || !p.covers(again) || !again.covers(p) {
			t.Errorf("%q is %s, then %s: %v", s, p, again, err)
		}
	})
}

// FuzzCompare: whatever crossed, a session does not differ from itself, what crossed
// is in the rows, and the other end sees the same.
func FuzzCompare(f *testing.F) {
	f.Add(strings.Join(play([]act{{`> {"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"x"}}`, `< {"jsonrpc":"2.0","id":ID,"result":{"content":[]}}`}}), "\n"), 3)
	f.Add("> [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n< [{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]\n> {\"jsonrpc\":\"2.0\",\"id\":\"2\",\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{\"toolsListChanged\":true}}}", 1)
	f.Add("> {\"id\":1,\"method\":\"tools/list\"}\n< {\"id\":1,\"result\":{\"tools\":[{\"name\":7},{},[],\"x\"]}}", 0)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		var s script
		for _, l := range strings.Split(text, "\n") {
			if len(l) > 2 && (l[:2] == "> " || l[:2] == "< ") {
				s = append(s, l)
			}
		}
		cut = min(max(cut, 0), len(s))
		a, b := s.side("a"), s[cut:].side("b")
		// The rules have fuzz tests of their own, and take most of the time.
		compare := func(a, b Side) *Diff {
			w := newWork(a, b, Options{})
			w.compare()
			return w.d
		}
		if d := compare(a, a); !d.Same() {
			t.Errorf("differs from itself:\n%s", describe(d))
		}
		ab, ba := compare(a, b), compare(b, a)
		if ab.Bill.A != ba.Bill.B || ab.Bill.B != ba.Bill.A || len(ab.Rows) != len(ba.Rows) {
			t.Errorf("from one end\n%s\nfrom the other\n%s", describe(ab), describe(ba))
		}
		total := ab.Bill.A.Total()
		for _, l := range s {
			total -= int64(len(l) - 2 + 1)
		}
		if total != 0 {
			t.Errorf("%d bytes are in no row, or in two", total)
		}
	})
}
