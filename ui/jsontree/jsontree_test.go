package jsontree

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

func draws(t *Tree, width int) string {
	th := theme.New(colorprofile.NoTTY, true)
	var b strings.Builder
	for i := range t.Len() {
		b.WriteString(strings.TrimRight(t.Draw(i, width, th, ""), " ") + "\n")
	}
	return b.String()
}

func TestDraw(t *testing.T) {
	png := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 200)...))
	text := `{"id": 7, "ok":true, "none":[], "rows":[{"a":1.50,"b":null}], "json":"{\"x\":[1,2]}", "text":"one\ntwo\tthree", "image":"` + png + `", "esc":"a\u001b[31m\u202eb"}`
	want := `  id 7
  ok true
  none []
▾ rows [1]
  ▾ 0 {2}
      a 1.50
      b null
▾ json JSON in a string, 1
  ▾ x [2]
      0 1
      1 2
▾ text text, 2 lines
  │ one
  │ two    three
▸ image image/png, 208 B, sha256 ` + "%s" + `
  esc "a␛[31m\u202eb"
`
	tree := New([]byte(text), 60)
	got := draws(tree, 60)
	sum := strings.Fields(strings.SplitAfter(got, "sha256 ")[1])[0]
	if want = fmt.Sprintf(want, sum); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFold(t *testing.T) {
	tree := New([]byte(`{"a":{"b":{"c":[1,2,3]}},"d":4}`), 60)
	all := draws(tree, 40)
	if row := tree.Close(3); row != 2 {
		t.Errorf("closing c from within goes to row %d, want 2", row)
	}
	if got := draws(tree, 40); got != "▾ a {1}\n  ▾ b {1}\n    ▸ c [1,2,3]\n  d 4\n" {
		t.Errorf("closed:\n%s", got)
	}
	if !tree.Open(2) || draws(tree, 40) != all {
		t.Errorf("opened again:\n%s", draws(tree, 40))
	}
	tree.CloseAll()
	if got := draws(tree, 40); got != "▸ a {\"b\":{\"c\":[1,2,3]}}\n  d 4\n" {
		t.Errorf("all closed:\n%s", got)
	}
	if tree.OpenAll(); draws(tree, 40) != all {
		t.Errorf("all open:\n%s", draws(tree, 40))
	}
}

func TestFind(t *testing.T) {
	tree := New([]byte(`{"a":{"needle":1},"b":["x","has a Needle in it",{"deep":[{"k":"NEEDLE"}]}],"c":"{\"in\":\"needle\"}","d":"line\nneedle\nline"}`), 60)
	tree.CloseAll()
	var got []string
	row := -1
	for range 6 {
		next, ok := tree.Find("needle", max(row, 0))
		if !ok {
			t.Fatal("not found")
		}
		row = next
		got = append(got, tree.Path(row))
	}
	want := []string{"a.needle", "b.1", "b.2.deep.0.k", "c.@fromstr.in", "d", "a.needle"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, ok := tree.Find("nowhere", 0); ok {
		t.Error("found what is not there")
	}
}

// values of any shape, as text.
func genJSON(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kinds := 4
		if depth > 0 {
			kinds = 7
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return fmt.Sprint(rapid.IntRange(-1000, 1000).Draw(t, "number"))
		case 1:
			return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
		case 2, 3:
			return quote(rapid.StringMatching(`[a-zA-Z .*\\"\n{}@|#-]{0,12}`).Draw(t, "string"))
		case 4:
			return "[" + strings.Join(rapid.SliceOfN(genJSON(depth-1), 0, 4).Draw(t, "array"), " , ") + "]"
		case 5:
			return quote(genJSON(depth-1).Draw(t, "inner"))
		}
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z.*?|#@!\\ ]{1,6}`), 0, 4, rapid.ID).Draw(t, "keys")
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = quote(k) + ":" + genJSON(depth-1).Draw(t, "value")
		}
		return "{" + strings.Join(parts, ",") + "}"
	})
}

func quote(s string) string { return string(gjson.AppendJSONString(nil, s)) }

// TestPaths: what a row shows is what gjson finds at the path that the row gives.
func TestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := `{"root":` + genJSON(4).Draw(t, "json") + "}"
		tree := New([]byte(text), 40)
		tree.OpenAll()
		for row := range tree.Len() {
			if r := tree.locate(row); r.n.form != members {
				continue
			}
			path := tree.Path(row)
			if got := gjson.Get(text, path).Raw; got != string(tree.Value(row)) {
				t.Fatalf("%s: row %d, path %q: gjson has %q, the row %q", text, row, path, got, tree.Value(row))
			}
		}
	})
}

func TestPointer(t *testing.T) {
	tree := New([]byte(`{"a/b":[{"m~n":"one\ntwo"}],"json":"{\"x\":[1]}"}`), 40)
	var got []string
	for row := range tree.Len() {
		got = append(got, tree.Pointer(row))
	}
	want := []string{"/a~1b", "/a~1b/0", "/a~1b/0/m~0n", "/a~1b/0/m~0n", "/a~1b/0/m~0n", "/json", "/json", "/json"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRowsAgree: rows, their parents and their numbers fit together however values
// are opened and closed.
func TestRowsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := New([]byte(`{"root":`+genJSON(4).Draw(t, "json")+"}"), 40)
		for range 20 {
			row := rapid.IntRange(0, tree.Len()-1).Draw(t, "row")
			if rapid.Bool().Draw(t, "open") {
				tree.Open(row)
			} else {
				tree.Close(row)
			}
			for row := range tree.Len() {
				r := tree.locate(row)
				if got := tree.rowOf(r.n, r.i); got != row {
					t.Fatalf("row %d says it is %d", row, got)
				}
				if p := tree.Parent(row); p > row {
					t.Fatalf("row %d is in row %d", row, p)
				}
			}
		}
	})
}

func FuzzTree(f *testing.F) {
	files, _ := filepath.Glob("../../decode/testdata/corpus/*.jsonl")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			if len(line) < 4096 {
				f.Add([]byte(gjson.GetBytes(line, "msg").Raw), "text", 20)
			}
		}
	}
	f.Add([]byte(`{"a":"\u00`), "a", 1)
	f.Add([]byte(strings.Repeat("[", 300)), "[", 3)
	f.Add([]byte(`{"\ud800":"`+strings.Repeat("QUJD", 60)+`"}`), "x", 0)
	th := theme.New(colorprofile.TrueColor, true)
	f.Fuzz(func(t *testing.T, text []byte, what string, width int) {
		width = min(max(width, 0), 300)
		tree := New(text, width)
		tree.OpenAll()
		row := 0
		for range 4 {
			next, ok := tree.Find(what, row)
			if !ok {
				break
			}
			row = next
		}
		for row := range min(tree.Len(), 200) {
			line := tree.Draw(row, width, th, "")
			if w := draw.Width(line); w != width {
				t.Fatalf("row %d of %q is %d cells wide, want %d: %q", row, text, w, width, line)
			}
			_, _ = tree.Path(row), tree.Value(row)
		}
		tree.SetWrap(width / 2)
		if row < tree.Len() {
			tree.Close(row)
		}
	})
}

// TestDeep opens ten thousand levels one by one.
func TestDeep(t *testing.T) {
	const depth = 10000
	tree := New([]byte(strings.Repeat(`{"a":[`, depth/2)+strings.Repeat("]}", depth/2)), 60)
	for row := 0; tree.Open(row) || tree.IsOpen(row); row++ {
		if row > depth {
			t.Fatal("deeper than it is")
		}
	}
	if tree.Len() != depth-1 { // the innermost is empty
		t.Errorf("%d rows, want %d", tree.Len(), depth-1)
	}
	if got := strings.Count(tree.Path(tree.Len()-1), "a"); got != depth/2 {
		t.Errorf("the path has %d steps, want %d", got, depth/2)
	}
}

// BenchmarkHuge opens a text of 300 MB and draws a screen of it.
func BenchmarkHuge(b *testing.B) {
	record := []byte(`{"id":12345,"title":"a ticket that is like the others","tags":["a","b"],"done":false},`)
	text := append([]byte(`{"result":{"rows":[`), bytes.Repeat(record, 300<<20/len(record))...)
	text = append(text[:len(text)-1], "]}}"...)
	text[bytes.LastIndexByte(text, '1')] = '7' // so that there is one to find
	th := theme.New(colorprofile.TrueColor, true)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		start := time.Now()
		tree := New(text, 80)
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/first")
		tree.Open(1)
		start = time.Now()
		for row := range 40 {
			tree.Draw(tree.Len()-1-row, 80, th, "")
		}
		b.ReportMetric(float64(time.Since(start).Microseconds()), "us/screen")
	}
}

// TestOpenAll: all there is opens, however large one object is; what would be too much
// says so in its row, and opens by itself.
func TestOpenAll(t *testing.T) {
	rows := strings.Repeat(`{"a":1,"b":[2]},`, 20000)
	tree := New([]byte(`{"id":1,"rows":[`+rows+`{"a":1,"b":[2]}]}`), 80)
	tree.OpenAll()
	if want := 2 + 20001*4; tree.Len() != want {
		t.Errorf("%d rows of %d", tree.Len(), want)
	}
	if s := tree.Draw(tree.Len()-1, 80, theme.New(colorprofile.NoTTY, true), ""); !strings.Contains(s, "0 2") {
		t.Errorf("the last row is %q", s)
	}
	tree = New([]byte(`{"few":{"x":[1,2]},"many":[`+strings.Repeat("0,", allRows)+`0],"none":{}}`), 80)
	tree.OpenAll()
	if got, want := draws(tree, 60), "▾ few {1}\n  ▾ x [2]\n      0 1\n      1 2\n▸ many ["+fmt.Sprint(allRows+1)+" items] enter shows more\n  none {}\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !tree.Open(4) || tree.Len() < allRows {
		t.Error("it does not open")
	}
}

func TestRowOf(t *testing.T) {
	tree := New([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"},"x":[]}`), 80)
	for _, c := range []struct {
		names string
		row   int
		ok    bool
	}{{"jsonrpc", 0, true}, {"error", 2, true}, {"error message", 4, true}, {"x", 5, true}, {"x y", 0, false}, {"id y", 0, false}, {"result", 0, false}, {"error data", 0, false}} {
		if row, ok := tree.RowOf(strings.Fields(c.names)...); row != c.row || ok != c.ok {
			t.Errorf("%s is in row %d %t, want %d %t", c.names, row, ok, c.row, c.ok)
		}
	}
	tree.CloseAll()
	if _, ok := tree.RowOf("error", "message"); ok {
		t.Error("a row that is not open is there")
	}
	if _, ok := New([]byte(`7`), 80).RowOf("id"); ok {
		t.Error("a number has members")
	}
}

// TestAt: a pointer leads to its value, or as far on its way as there is something; what
// hides it is opened. First finds from the top, whatever is open.
func TestAt(t *testing.T) {
	const text = `{"id":1,"result":{"tools":[{"name":"a"},{"name":"b","x/y":{"~":[1,2]}}],"text":"{\"deep\":[7,8]}"}}`
	for _, c := range []struct{ pointer, want string }{
		{"/result/tools/1", `{"name":"b","x/y":{"~":[1,2]}}`},
		{"/result/tools/1/x~1y/~0/1", "2"},
		{"/result/text/deep/1", "8"},
		{"/result/tools/7", `[{"name":"a"},{"name":"b","x/y":{"~":[1,2]}}]`},
		{"/id/no/further", "1"},
		{"/nothing", ""}, {"", ""},
	} {
		tree := New([]byte(text), 40)
		tree.CloseAll()
		row, ok := tree.At(c.pointer)
		if ok != (c.want != "") || ok && string(tree.Value(row)) != c.want {
			t.Errorf("%q leads to row %d, %s, %v", c.pointer, row, tree.Value(row), ok)
		}
	}
	tree := New([]byte(text), 40)
	tree.CloseAll()
	if row, ok := tree.First("name"); !ok || tree.Pointer(row) != "/result/tools/0/name" {
		t.Errorf("the first name is at %s", tree.Pointer(row))
	}
	if _, ok := tree.First("nowhere"); ok {
		t.Error("it is somewhere")
	}
}

// TestSmallMedia: a picture or a sound is told by how it begins, however small it is; words
// and ids of the same alphabet stay what they are.
func TestSmallMedia(t *testing.T) {
	for text, media := range map[string]bool{
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=": true,
		"UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=":                                 true,
		"R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=":                                                     true,
		"d41d8cd98f00b204e9800998ecf8427e":                                                             false,
		"iVBORw0KGgo=":                                                                                 false,
		"550e8400e29b41d4a716446655440000abcdefabcdefabcd":                                             false,
		"TheQuickBrownFoxJumpsOverTheLazyDogAgain":                                                     false,
	} {
		if got := looks64([]byte(`"` + text + `"`)); got != media {
			t.Errorf("%s: %t, want %t", text, got, media)
		}
	}
}
