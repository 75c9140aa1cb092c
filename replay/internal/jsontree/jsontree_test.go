package jsontree

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendKeepsOrderAndSpelling(t *testing.T) {
	const in = ` { "b" : 1.50, "a\u0062" : [ 12345678901234567890 , "x\/y" , null , { } , [ ] ] } `
	n, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"b":1.50,"a\u0062":[12345678901234567890,"x\/y",null,{},[]]}`
	if got := string(n.Append(nil)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if n.Get("ab") == nil {
		t.Error("a key that is spelt with an escape is not found")
	}
}

func TestParseRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"deep":   strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		"open":   strings.Repeat("[", 5_000_000/10),
		"long":   `"` + strings.Repeat("x", MaxBytes) + `"`,
		"many":   "[" + strings.Repeat("1,", MaxNodes) + "1]",
		"twice":  `{"a":1,"a":2}`,
		"broken": `{"a":`,
		"empty":  ``,
	} {
		if _, err := Parse([]byte(in)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSetText(t *testing.T) {
	n, _ := Parse([]byte(`["a<b","\ud800"]`))
	if !n.Items[0].SetText("c<\"d\n") || n.Items[0].Raw != `"c<\"d\n"` {
		t.Errorf("got %s", n.Items[0].Raw)
	}
	if n.Items[1].SetText("x") {
		t.Error("half a surrogate pair was replaced")
	}
}

func TestWalk(t *testing.T) {
	n, err := Parse([]byte(`{"type":"object","properties":{"a/b":{"items":[{"type":"string"},true]},"properties":{"not":{}}},
		"$defs":{"x":{"anyOf":[{"if":{}},{"$ref":"#"}]}},"default":{"properties":{"no":{}}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	Walk(n, func(at Path, _ *Node) { got = append(got, at.Pointer()) })
	want := []string{"", "/properties/a~1b", "/properties/a~1b/items/0", "/properties/properties", "/properties/properties/not",
		"/$defs/x", "/$defs/x/anyOf/0", "/$defs/x/anyOf/0/if", "/$defs/x/anyOf/1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"$ref":"#"}},"x":[1,"\u0000",{"":null}]}`))
	f.Add([]byte(strings.Repeat(`{"items":`, 99) + "1" + strings.Repeat("}", 99)))
	f.Add([]byte("\"\xff\""))
	f.Fuzz(func(t *testing.T, in []byte) {
		n, err := Parse(in)
		if err != nil {
			return
		}
		out := n.Append(nil)
		var want bytes.Buffer
		if err := json.Compact(&want, in); err != nil {
			return // a text that encoding/json does not take for JSON
		}
		if want.String() != string(out) {
			t.Errorf("%q became %q", in, out)
		}
		Walk(n, func(at Path, _ *Node) { _ = at.Pointer() })
	})
}
