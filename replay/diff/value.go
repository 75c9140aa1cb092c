package diff

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// parse reads a JSON text into maps, slices, strings, json.Number, bool and nil. Of
// a member that is there twice the last one counts, as for most readers.
func parse(b []byte) (v any, ok bool) {
	if len(b) == 0 {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

// inner is the JSON that travels in a text, if a text ends in it: an object or an
// array, with words before it or without.
func inner(s string) (words string, v any, ok bool) {
	i := strings.IndexAny(s, "{[")
	if i < 0 {
		return "", nil, false
	}
	v, ok = parse([]byte(s[i:]))
	return strings.TrimRight(s[:i], " \t\r\n"), v, ok
}

// canonical writes a value in one way: members sorted, numbers by value.
func canonical(v any) string {
	var b strings.Builder
	writeCanonical(&b, v)
	return b.String()
}

func writeCanonical(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(strconv.Quote(k))
			b.WriteByte(':')
			writeCanonical(b, v[k])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for _, e := range v {
			writeCanonical(b, e)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(sameNumber(string(v)))
	case string:
		b.WriteString(strconv.Quote(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
}

// sameNumber spells a number in one way without losing a digit: 1, 1.0 and 10e-1
// are one number, 9007199254740993 and 9007199254740992 are two.
func sameNumber(s string) string {
	mantissa, exponent, sign := s, 0, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil {
			return s
		}
		mantissa, exponent = s[:i], n
	}
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		mantissa, sign = rest, "-"
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	return sign + short + "e" + strconv.Itoa(exponent-len(fraction)+len(digits)-len(short))
}

// sortedKeys gives the names of members that any of the objects has.
func sortedKeys[V any](objects ...map[string]V) []string {
	all := map[string]bool{}
	for _, m := range objects {
		for k := range m {
			all[k] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// jsonOf writes a value as JSON, cut to what fits a line.
func jsonOf(v any) string { return cut(wholeJSON(v)) }

func wholeJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxShown is how much of a value a difference shows, in bytes.
const maxShown = 200

func cut(s string) string { return cutAt(s, maxShown) }

func cutAt(s string, room int) string {
	if len(s) <= room {
		return s
	}
	return s[:charAt(s, room)] + "…"
}

// charAt is i, or where the character that i lies within begins.
func charAt(s string, i int) int {
	for i > 0 && i < len(s) && s[i]&0xc0 == 0x80 {
		i--
	}
	return i
}

// Excerpts cuts two texts that differ to about room bytes each, so that the place where
// they begin to differ is in what is left. Dots stand for what is not.
func Excerpts(a, b string, room int) (string, string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if max(len(a), len(b)) > room && same > room/2 {
		from := charAt(a, same-room/4)
		a, b = "…"+a[from:], "…"+b[from:]
	}
	return cutAt(a, room), cutAt(b, room)
}
