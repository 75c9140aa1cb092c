package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func valid(b []byte, cut int) bool {
	var c Checker
	for len(b) > cut {
		c.Feed(b[:cut])
		b = b[cut:]
	}
	c.Feed(b)
	return c.Valid()
}

// want is the definition in terms of the standard library.
func want(b []byte) bool {
	return json.Valid(b) && utf8.Valid(b) && !bytes.ContainsAny(b, "\r\n")
}

var texts = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"q":"x"}}}`,
	`{}`, `[]`, `[[],{}]`, `{"a":[1,{"b":null}]}`, `[1,]`, `[,1]`, `{"a":}`, `{"a"}`, `{"a":1,}`, `{1:2}`, `{]`, `[}`, `]`, `}`, `[`, `{`,
	`0`, `-0`, `-`, `01`, `1.`, `1.5`, `.5`, `1e`, `1e+`, `1e+5`, `1E-5`, `1e400`, `-01`, `1.5.5`, `1-`, `[1 ]`, `[1 2]`, `1 1`, `+1`, `0x1`,
	`true`, `false`, `null`, `tru`, `truee`, `nul`, `nan`, `NaN`, `Infinity`, `TRUE`,
	`""`, `"a`, `"\n"`, `"\u00e9"`, `"\u00g9"`, `"\ud800"`, `"\x"`, `"\`, `"\u12`, `"é€😀"`, "\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\u2028\"", "\"\x7f\"", "\"\x01\"", "\"a\tb\"",
	` {"a" : 1}  `, "\t1\t", "1\r", "\r1", "[1,\r2]", "1\n", "\xef\xbb\xbf{}", "\x00", ``, ` `, `"a""b"`, `"a":1`, `{"a":1}{"b":2}`, `{"a":1 "b":2}`, `not json`,
	`{"a":"` + strings.Repeat("x", 100) + `"}`, `"` + strings.Repeat(`\"`, 50) + `"`, `"` + strings.Repeat("é", 77) + `"`,
	`"` + strings.Repeat("x", 31) + "\x1f" + strings.Repeat("x", 31) + `"`,
}

func TestCheckerAgreesWithTheStandardLibrary(t *testing.T) {
	for _, s := range texts {
		for _, cut := range []int{1, 2, 3, 7, 1 << 20} {
			if got := valid([]byte(s), cut); got != want([]byte(s)) {
				t.Errorf("%q in pieces of %d: %v, want %v", s, cut, got, want([]byte(s)))
			}
		}
	}
}

func TestBreaksAreSpaceWhereTheyAreAllowed(t *testing.T) {
	for _, s := range texts {
		c := Checker{Breaks: true}
		c.Feed([]byte(s))
		if want := json.Valid([]byte(s)) && utf8.ValidString(s); c.Valid() != want {
			t.Errorf("%q: %v, want %v", s, c.Valid(), want)
		}
	}
}

func TestComplete(t *testing.T) {
	for text, want := range map[string][2]bool{
		`{"a":1}`: {true, false}, " [1]\n": {true, false}, `12`: {false, false}, `{"a":`: {false, false}, `{}}`: {false, true}, ``: {false, false},
	} {
		c := Checker{Breaks: true}
		c.Feed([]byte(text))
		if got := [2]bool{c.Complete(), c.Failed()}; got != want {
			t.Errorf("%q: complete, failed: %v, want %v", text, got, want)
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) []byte {
		return []byte(strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2))
	}
	if !valid(nest(MaxDepth), 1000) {
		t.Errorf("%d levels: not valid", MaxDepth)
	}
	if valid(nest(MaxDepth+2), 1000) {
		t.Errorf("%d levels: valid", MaxDepth+2)
	}
}

func TestResetForgetsEverything(t *testing.T) {
	var c Checker
	for _, s := range texts {
		c.Feed([]byte(s))
		c.Reset()
		if c.Feed([]byte(`{"a":[1]}`)); !c.Valid() {
			t.Errorf("not valid after %q", s)
		}
		c.Reset()
	}
}

func FuzzChecker(f *testing.F) {
	for i, s := range texts {
		f.Add([]byte(s), i%9)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		if bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) >= MaxDepth {
			return
		}
		if got := valid(b, max(cut, 1)); got != want(b) {
			t.Errorf("%q in pieces of %d: %v, want %v", b, cut, got, want(b))
		}
	})
}

func BenchmarkChecker(b *testing.B) {
	small := []byte(texts[0])
	large := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}}`)
	escaped, err := json.Marshal(strings.Repeat(texts[0], 1<<13))
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{"small": small, "large": large, "escaped": escaped} {
		b.Run(name, func(b *testing.B) {
			var c Checker
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				c.Reset()
				c.Feed(text)
				if !c.Valid() {
					b.Fatal("not valid")
				}
			}
		})
	}
}
