package filter

import "testing"

// Finds lets tests outside look for a text.
func Finds(text string, in []byte) bool { return newNeedle(text).in(in) }

func TestText(t *testing.T) {
	for _, c := range []struct {
		text, in string
		want     bool
	}{
		{"ü", "für", true},
		{"ü", `f\u00fcr`, true},
		{"ü", `f\u00FCr`, true},
		{"Ü", `{\"a\":\"f\\u00fcr\"}`, true},
		{"ü", `f\u00fdr`, false},
		{"ü", `f\u00f`, false},
		{"ü", "fu\u0308r", false},
		{"für alle", `F\u00dcR ALLE`, true},
		{"😀", `\ud83d\ude00`, true},
		{"😀", `\\ud83d\\ude00`, true},
		{"😀", `\ud83d`, false},
		{"😀", `\ud83d\u0041`, false},
		{"a\nb", `a\nb`, true},
		{`{"a":1}`, `{\"a\":1}`, true},
		{`c:\new`, `C:\\new`, true},
		{`c:\new`, `C:\new`, true},
		{`\`, `a\\b`, true},
		{`\`, "ab", false},
		{"http://x", `http:\/\/x`, true},
		{"k", "\u212a", true},
		{"\u212a", "K", true},
		{"straSSe", "straße", false},
		{"s", "ſ", true},
		{"aab", "aaaab", true},
		{"abc", "ab", false},
		{"", "", true},
		{"x", "", false},
		{"\ufffd", "\xff", false},
		{"σ", "ς", true},
	} {
		if got := Finds(c.text, []byte(c.in)); got != c.want {
			t.Errorf("%q in %q: %v", c.text, c.in, got)
		}
	}
}

func TestTextAllocates(t *testing.T) {
	n := newNeedle("Grüße")
	b := []byte(`{"text":"viele gr\u00fc\u00dfe"}`)
	if got := testing.AllocsPerRun(100, func() { n.in(b) }); got != 0 || !n.in(b) {
		t.Errorf("%v allocations", got)
	}
}

func TestRegexUndoesEscapes(t *testing.T) {
	for pattern, in := range map[string]string{"gr.ße": `gr\u00fc\u00dfe`, `"a":\s*1`: `{\"a\": 1}`, `^x\\y$`: `x\\y`, `\\u00fc`: `\u00fc`} {
		f := finderOf(pattern)
		if !f([]byte(in)) {
			t.Errorf("/%s/ in %s", pattern, in)
		}
	}
}

func finderOf(expression string) func([]byte) bool {
	p := pattern{form: regex, text: expression}
	return p.finder()
}
