package safetext

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"plain":                     "plain",
		"näive 漢字 👩\u200d💻":         "näive 漢字 👩\u200d💻",
		"a\x1b]0;title\x07b":        "a␛]0;title␇b",
		"two\r\nlines":              "two␍␊lines",
		"\x7f":                      "␡",
		"\u009b31m":                 `\u009b31m`,
		"safe\u202egpj.exe":         `safe\u202egpj.exe`,
		"zero\u200bwidth":           `zero\u200bwidth`,
		"sep\u2028":                 `sep\u2028`,
		"tag\U000e0041":             `tag\ue0041`,
		"bad\xff\xc3(":              `bad\xff\xc3(`,
		"a real \ufffd replacement": "a real \ufffd replacement",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b[2Jb\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q: not UTF-8", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || r != joiner && unicode.Is(unicode.Cf, r) {
				t.Errorf("Line(%q) has %U", s, r)
			}
		}
		if again := Line(got); again != got {
			t.Errorf("not stable: %q, then %q", got, again)
		}
	})
}
