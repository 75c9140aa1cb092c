package safetext

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"slices"
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

func TestJSON(t *testing.T) {
	in := []string{"plain", "\u009b31m", "a\u202eb", "tag\U000e0041", "é漢", "\x7f"}
	var b bytes.Buffer
	if err := json.NewEncoder(JSON(&b)).Encode(in); err != nil {
		t.Fatal(err)
	}
	if want := `["plain","\u009b31m","a\u202eb","tag\udb40\udc41","é漢","\u007f"]` + "\n"; b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
	var out []string
	if err := json.Unmarshal(b.Bytes(), &out); err != nil || !slices.Equal(in, out) {
		t.Errorf("%q, %v", out, err)
	}
}

func TestXML(t *testing.T) {
	type element struct {
		Name string `xml:"name,attr"`
		Text string `xml:",chardata"`
	}
	const in = "a\u009b31m\u202eb\U000e0041é漢\x7f"
	written, err := xml.Marshal(element{in, in})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := XML(&b).Write(written); err != nil {
		t.Fatal(err)
	}
	const want = "a&#x9b;31m&#x202e;b&#xe0041;é漢&#x7f;"
	if got := b.String(); got != `<element name="`+want+`">`+want+"</element>" {
		t.Error(got)
	}
	var out element
	if err := xml.Unmarshal(b.Bytes(), &out); err != nil || out != (element{in, in}) {
		t.Errorf("%q, %v", out, err)
	}
}
