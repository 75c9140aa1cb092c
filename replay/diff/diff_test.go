package diff

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

var update = flag.Bool("update", false, "write the golden files anew")

func timeOf(ms int64) time.Duration { return time.Duration(ms) }

// pairsAtHand are sessions of one server in different eras, transports or clients.
var pairsAtHand = [][2]string{
	{"features-ts-legacy-full", "features-ts-auto-sibling-full.2"},
	{"features-ts-legacy-full", "features-go-auto-full"},
	{"features-ts-legacy-full", "http-features-sessions-ts-legacy-full"},
	{"http-features-sessions-ts-legacy-full", "features-go-auto-full"},
	{"features-go-auto-full", "features-go-noise-kills-client"},
	{"asrama-silent-probe-ts-inplace", "asrama-crlf-ts-auto"},
	{"http-mcpremote-tickets-legacy", "http-rough-tickets-modern"},
	{"http-features-sessions-ts-legacy-full", "features-ts-auto-sibling-full.2"},
	{"sse-playwright-ts-legacy", "http-401-ts-auto"},
}

func TestGolden(t *testing.T) {
	for _, p := range pairsAtHand {
		t.Run(p[0]+"/"+p[1], func(t *testing.T) {
			got := describe(Compare(recorded(t, p[0]), recorded(t, p[1]), Options{})) + "\n"
			golden := filepath.Join("testdata", "golden", p[0]+"-"+p[1]+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSelf: a session differs in nothing from itself.
func TestSelf(t *testing.T) {
	for _, name := range all(t) {
		a := recorded(t, name)
		d := Compare(a, a, Options{})
		if !d.Same() || len(d.Volatile) > 0 || d.Model.Known && !d.Model.Same {
			t.Errorf("%s: %s", name, describe(d))
		}
		if e := d.BreakEven(); e.Unknown == "" && (e.Fixed != 0 || e.PerCall != 0 || e.Calls != -1) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestMirror: from the other end everything is on the other side.
func TestMirror(t *testing.T) {
	names := all(t)
	for i, a := range names {
		b := names[(i+1)%len(names)] // neighbours often have the same server
		ab := Compare(recorded(t, a), recorded(t, b), Options{})
		ba := Compare(recorded(t, b), recorded(t, a), Options{})
		ab.Model, ba.Model = Model{}, Model{}
		ab.Volatile, ba.Volatile = nil, nil // told by the order of A
		if d := cmp.Diff(sorted(ba, nil), mirror(ab)); d != "" {
			t.Errorf("%s and %s: %s", a, b, d)
		}
	}
}

// wire is what crossed in one direction, in bytes.
func wire(s *decode.Session, dir tap.Dir) (n int64) {
	for i := range s.Len() {
		if f := s.Frame(i); f.Dir == dir {
			n += f.Size
		}
	}
	return n
}

// checkHTTP compares what HTTP added to the rows of a side with the session's totals.
func checkHTTP(t interface{ Errorf(string, ...any) }, s Side, c *Cost) {
	want := s.Session.Totals().HTTP
	for _, d := range []struct {
		dir tap.Dir
		got Bytes
	}{{tap.C2S, c.C2S}, {tap.S2C, c.S2C}} {
		if d.got.Heads.Total() != want.Heads[d.dir] || d.got.Framing != want.Framing[d.dir] {
			t.Errorf("%s, %s: %d bytes of heads and %d of framing in the rows, %d and %d in the session", s.Name, d.dir,
				d.got.Heads.Total(), d.got.Framing, want.Heads[d.dir], want.Framing[d.dir])
		}
		for part, n := range d.got.Heads {
			if n < 0 {
				t.Errorf("%s, %s: %d bytes of %s", s.Name, d.dir, n, HeadPart(part))
			}
		}
	}
}

// TestTotals: every byte of both directions is in exactly one row, and what HTTP adds
// to them as well.
func TestTotals(t *testing.T) {
	names := all(t)
	for i, name := range names {
		a, b := recorded(t, name), recorded(t, names[len(names)-1-i])
		d := Compare(a, b, Options{})
		for _, c := range []struct {
			side Side
			cost Cost
		}{{a, d.Bill.A}, {b, d.Bill.B}} {
			checkHTTP(t, c.side, &c.cost)
			if got, want := c.cost.C2S.Frames(), wire(c.side.Session, tap.C2S); got != want {
				t.Errorf("%s: %d bytes from the client in the rows, %d on the wire", c.side.Name, got, want)
			}
			if got, want := c.cost.S2C.Frames(), wire(c.side.Session, tap.S2C); got != want {
				t.Errorf("%s: %d bytes from the server in the rows, %d on the wire", c.side.Name, got, want)
			}
		}
		var rows Cost
		seen := map[int]bool{}
		for i := range d.Rows {
			if p := d.Rows[i].A; p != nil {
				rows.Add(&p.Bytes)
				for _, f := range p.Frames {
					if seen[f] && len(a.Session.Frame(f).Batch) == 0 {
						t.Errorf("%s: frame %d is in two rows", name, f)
					}
					seen[f] = true
				}
			}
		}
		if rows != d.Bill.A {
			t.Errorf("%s: the rows do not add up", name)
		}
	}
}

// TestNoEraIsAFalseDifference: of two full sessions of one script in both eras,
// nothing stands on one side without a reason.
func TestNoEraIsAFalseDifference(t *testing.T) {
	d := Compare(recorded(t, "features-ts-legacy-full"), recorded(t, "features-ts-auto-sibling-full.2"), Options{})
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.OneSided() && r.Reason == "" || r.Moved || len(r.Changes) > 0 {
			t.Errorf("%s %s: %+v", r.Method, r.Name, r)
		}
		for _, in := range r.Details {
			if in.Reason == "" && in.A != in.B {
				t.Errorf("%s %s: %+v", r.Method, r.Name, in)
			}
		}
	}
}

func TestParallelIsNoMove(t *testing.T) {
	ask := func(id, name string) string {
		return `> {"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `"}}`
	}
	answer := func(id string) string { return `< {"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}` }
	atOnce := script{ask("1", "a"), ask("2", "b"), answer("1"), answer("2")}
	atOnceSwapped := script{ask("1", "b"), ask("2", "a"), answer("2"), answer("1")}
	inTurn := script{ask("1", "a"), answer("1"), ask("2", "b"), answer("2")}
	inTurnSwapped := script{ask("1", "b"), answer("1"), ask("2", "a"), answer("2")}
	for _, c := range []struct {
		name  string
		a, b  script
		moved int
	}{{"at once", atOnce, atOnceSwapped, 0}, {"once at once", atOnce, inTurnSwapped, 0}, {"in turn", inTurn, inTurnSwapped, 1}} {
		d := Compare(c.a.side("a"), c.b.side("b"), Options{})
		moved := 0
		for i := range d.Rows {
			if d.Rows[i].OneSided() {
				t.Errorf("%s: %s", c.name, describe(d))
			}
			if d.Rows[i].Moved {
				moved++
			}
		}
		if moved != c.moved {
			t.Errorf("%s: %d moved, want %d", c.name, moved, c.moved)
		}
	}
}

func TestHandlesAndRepeats(t *testing.T) {
	session := func(handle, when, request string) script {
		return script{
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open","arguments":{}}}`,
			`< {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"handle\":\"` + handle + `\",\"at\":\"` + when + `\"}"}]}}`,
			`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"handle":"` + handle + `","request":"` + request + `"}}}`,
			`< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"same"}]}}`,
		}
	}
	a := session("h-1", "2026-11-30T10:00:00Z", "a8098c1a-f86e-11da-bd1a-00112444be1e")
	b := session("h-7", "2026-11-30T11:30:00Z", "6fa459ea-ee8a-3ca4-894e-db77e160355e")
	d := Compare(a.side("a"), b.side("b"), Options{})
	want := []string{
		"varies: time tools/call open result.content[0].text.at, 1 times",
		"varies: handle tools/call read params.arguments.handle, 1 times",
		"varies: uuid tools/call read params.arguments.request, 1 times",
		"varies: handle tools/call open result.content[0].text.handle, 1 times",
	}
	if diff := cmp.Diff(want, aside(d)); diff != "" || !d.Same() {
		t.Error(diff, describe(d))
	}

	other := session("h-7", "2026-11-30T11:30:00Z", "x")
	other[2] = strings.Replace(other[2], "h-7", "h-9", 1) // no result gave that out
	d = Compare(a.side("a"), other.side("b"), Options{})
	if !strings.Contains(describe(d), `arguments params.arguments.handle: "h-1" | "h-9"`) {
		t.Error(describe(d))
	}

	twice := append(slices.Clone(a),
		`> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{}}}`,
		`< {"jsonrpc":"2.0","id":3,"result":{"content":[],"isError":true}}`,
		`> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read"}}`,
		`< {"jsonrpc":"2.0","id":4,"result":{"content":[],"isError":true}}`)
	d = Compare(twice[:6].side("a"), twice.side("b"), Options{})
	if !strings.Contains(describe(d), "operation tools/call read: - | #7 1 tool error 72+64 (it repeats #5, which ended as tool error)") {
		t.Error(describe(d))
	}
}

// TestPages: a list in pages is the list.
func TestPages(t *testing.T) {
	list := `> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	one := script{list, `< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`}
	pages := script{
		list, `< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}}`, `< {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"c"},{"name":"b","description":"new"}]}}`,
	}
	d := Compare(one.side("a"), pages.side("b"), Options{})
	want := `operation tools/list : #1 1 ok 47+85 | #1 2 ok 118+168
tools "b" changed, model true, 1 times
  description:  | "new"
tools "" reordered, model true, 1 times
model: same false, broken by "c"`
	if diff := cmp.Diff(want, describe(d)); diff != "" {
		t.Error(diff)
	}
}

// TestIgnore: what is ignored is no difference.
func TestIgnore(t *testing.T) {
	session := func(n string) script {
		return script{
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":` + n + `}}}`,
			`< {"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"rows":[{"n":` + n + `},{"n":5}]}}}`,
		}
	}
	var ignore []Path
	for _, s := range []string{"result.structuredContent.rows[*].n", "params.arguments"} {
		p, err := ParsePath(s)
		if err != nil {
			t.Fatal(err)
		}
		ignore = append(ignore, p)
	}
	a, b := session("1").side("a"), session("2").side("b")
	if d := Compare(a, b, Options{Ignore: ignore}); !d.Same() {
		t.Error(describe(d))
	}
	if d := Compare(a, b, Options{Ignore: ignore[:1]}); len(d.Rows) != 1 || len(d.Rows[0].Changes) != 1 || d.Rows[0].Changes[0].What != WhatArguments {
		t.Error(describe(d))
	}
}

func TestTokens(t *testing.T) {
	a := recorded(t, "features-ts-legacy-full")
	d := Compare(a, a, Options{Tokens: func(text []byte) (low, mid, high int) { return len(text) / 5, len(text) / 4, len(text) / 3 }})
	if m := d.Model; m.A != m.B || m.A.Count != 21 || m.A.Low == 0 || m.A.Low >= m.A.Mid || m.A.Mid >= m.A.High {
		t.Errorf("%+v", m)
	}
}

// TestOtherArguments: what asks for something else is paired with what is nearest to
// it, and its answer is no difference.
func TestOtherArguments(t *testing.T) {
	session := func(arguments ...string) (s script) {
		for i, a := range arguments {
			s = append(s, `> {"jsonrpc":"2.0","id":`+itoa(i)+`,"method":"tools/call","params":{"name":"find","arguments":`+a+`}}`,
				`< {"jsonrpc":"2.0","id":`+itoa(i)+`,"result":{"content":[{"type":"text","text":"`+itoa(len(a))+`"}]}}`)
		}
		return s
	}
	a := session(`{"q":"x","n":1}`, `{"q":"y","n":1}`, `{"q":"z"}`)
	b := session(`{"q":"other"}`, `{"q":"y","n":1,"all":true}`, `{"q":"x","n":1,"all":true}`, `{"q":"more"}`)
	d := Compare(a.side("a"), b.side("b"), Options{})
	want := `operation tools/call find: #1 1 ok 100+76 | #5 1 ok 111+76
  arguments params.arguments.all:  | true
operation tools/call find: - | #7 1 ok 97+76
operation tools/call find: #3 1 ok 100+76 | #3 1 ok 111+76
  arguments params.arguments.all:  | true
operation tools/call find: #5 1 ok 94+75 | #1 1 ok 98+76
  arguments params.arguments.q: "z" | "other"
`
	if diff := cmp.Diff(want, describe(d)); diff != "" {
		t.Error(diff)
	}
	if e := d.BreakEven(); e.Unknown == "" || d.Bill.Calls.Count != 0 {
		t.Errorf("%+v: calls that ask for other things say nothing of what a call costs", e)
	}
}
