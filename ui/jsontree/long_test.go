package jsontree

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/ui/theme"
)

// many is a text of so many lines in a JSON text.
func many(line string, n int) []byte {
	return []byte(`{"id":1,"result":{"text":"` + strings.Repeat(line+`\n`, n) + `","more":[1,2,3]}}`)
}

// TestManyLines: the end of a string with a million escapes is found by one walk over it;
// a walk for each escape would take hours.
func TestManyLines(t *testing.T) {
	const n = 1000000
	tree := New(many("ü漢", n), 40)
	if got, want := draws(tree, 60), "▾ result {2}\n  ▸ text \"ü漢␊ü漢"; !strings.Contains(got, want) {
		t.Fatalf("%s", got)
	}
	before := tree.Len()
	row, ok := tree.RowOf("result", "text")
	if !ok || !tree.LongOpen(row) || !tree.LongAll() || !tree.Open(row) {
		t.Fatalf("row %d does not open", row)
	}
	if got := tree.Len(); got != before+n {
		t.Errorf("%d rows, want %d", got, before+n)
	}
	if s := tree.Draw(row, 60, theme.New(colorprofile.NoTTY, true), ""); !strings.Contains(s, "text, 1000001 lines") {
		t.Errorf("%q", s)
	}
	if tree.LongWrap(80) {
		t.Error("a text that is broken at its line ends only does not depend on the width")
	}
}

// TestQuoted: the end of a string is where it is when each byte is looked at.
func TestQuoted(t *testing.T) {
	slow := func(b []byte) int {
		for i := 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(b)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(`"` + rapid.StringMatching(`[a\\"]{0,40}`).Draw(t, "text"))
		if got, want := quoted(b, 0), slow(b); got != want {
			t.Fatalf("%q ends at %d, want %d", b, got, want)
		}
	})
}

// TestFindIn: what is found is the first there is, letters of ASCII in either case.
func TestFindIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(rapid.StringMatching(`[abAB. ]{0,40}`).Draw(t, "text"))
		what := rapid.StringMatching(`[abAB.]{1,3}`).Draw(t, "what")
		f := finder{what: []byte(what)}
		if got, want := f.in(b), bytes.Index(bytes.ToLower(b), bytes.ToLower([]byte(what))); got != want {
			t.Fatalf("%q in %q: at %d, want %d", what, b, got, want)
		}
	})
}

// TestFindMany: a search that almost hits in every line ends, and one may hit over the end
// of a row.
func TestFindMany(t *testing.T) {
	tree := New(many("LINE of text", 1000000), 40)
	row, _ := tree.RowOf("result", "text")
	tree.Open(row)
	if at, ok := tree.Find("lint", 0); ok {
		t.Errorf("found in row %d", at)
	}
	tree = New([]byte(`{"a":"one\n`+strings.Repeat("x", 30)+` needle in hay\nlast"}`), 36)
	if at, ok := tree.Find("x needle", 0); !ok || at != 2 {
		t.Errorf("row %d %t:\n%s", at, ok, draws(tree, 60))
	}
}

// TestClone: what is done with a clone is not done with the tree, and what the clone shows
// is what the tree would.
func TestClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(`{"root":` + genJSON(4).Draw(t, "json") + "}")
		tree := New(text, 40)
		before := draws(tree, 60)
		clone, other := tree.Clone(), New(text, 40)
		for range 10 {
			row := rapid.IntRange(0, clone.Len()-1).Draw(t, "row")
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0:
				clone.Open(row)
				other.Open(row)
			case 1:
				clone.Close(row)
				other.Close(row)
			case 2:
				clone.SetWrap(20)
				other.SetWrap(20)
			case 3:
				clone.OpenAll()
				other.OpenAll()
			}
			clone = clone.Clone()
		}
		if got := draws(tree, 60); got != before {
			t.Fatalf("the tree was\n%s\nand is\n%s", before, got)
		}
		if got, want := draws(clone, 60), draws(other, 60); got != want {
			t.Fatalf("the clone shows\n%s\nwant\n%s", got, want)
		}
	})
}

// TestCellsOf: a width that was measured before is that of the first time.
func TestCellsOf(t *testing.T) {
	for r, want := range map[rune]int{'a': 1, '\t': 4, 'ü': 1, '漢': 2, '\u0301': 0, '\u200b': 6, '😀': 2, 0x1b: 1} {
		for range 2 {
			if got := cellsOf(r); got != want {
				t.Errorf("%U takes %d cells, want %d", r, got, want)
			}
		}
	}
}

// BenchmarkManyLines makes a tree of an answer with very many lines, and opens them.
func BenchmarkManyLines(b *testing.B) {
	for name, line := range map[string]string{"ascii": "line of text, u", "latin": "line of text, ü", "cjk": "漢字漢字漢字"} {
		b.Run(name, func(b *testing.B) {
			text := many(line, 1500000)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tree := New(text, 80)
				row, _ := tree.RowOf("result", "text")
				tree.Open(row)
			}
		})
	}
}

// BenchmarkWrap breaks a text that is broken at the width anew.
func BenchmarkWrap(b *testing.B) {
	for name, line := range map[string]string{"ascii": "line of text, u ", "latin": "line of text, ü ", "cjk": "漢字漢字漢字"} {
		b.Run(name, func(b *testing.B) {
			text := bytes.Repeat([]byte(strings.Repeat(line, 10)+"\n"), maxWrap/(10*len(line)+1))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				breakLines(text, 80)
			}
		})
	}
}
