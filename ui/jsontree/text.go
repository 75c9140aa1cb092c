package jsontree

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/safetext"
)

// unquote gives what a JSON string says.
func unquote(raw []byte) string { return gjson.ParseBytes(raw).String() }

// start gives what the beginning of a JSON string says, of about n bytes of it.
func start(raw []byte, n int) (s string, whole bool) {
	if len(raw) <= n {
		return unquote(raw), true
	}
	cut := n
	for ; cut > 1 && cut > n-12; cut-- { // not within an escape, nor within a character
		if raw[cut]&0xc0 != 0x80 && bytes.IndexByte(raw[max(1, cut-11):cut], '\\') < 0 {
			break
		}
	}
	return unquote(append(bytes.Clone(raw[:cut]), '"')), false
}

// maxInner is the longest string that is tried as JSON.
const maxInner = 64 << 20

// openString opens what a string holds; false if it is only a short text.
func (t *Tree) openString(k *node, raw []byte) bool {
	k.inner = true
	if looksJSON(raw) && len(raw) <= maxInner {
		if text := []byte(unquote(raw)); json.Valid(text) {
			from := space(text, 0)
			k.become(text, from, value(text, from))
			return true
		}
	}
	if b, ok := decode64(raw); ok {
		k.src, k.to, k.form = b, len(b), dump
		k.breaks = make([]int, (len(b)+bytesPerRow-1)/bytesPerRow)
		return true
	}
	text := []byte(unquote(raw))
	k.src, k.to, k.form, k.ends = text, len(text), lines, bytes.Count(text, []byte("\n"))
	k.breaks = breakLines(text, t.wrap)
	return len(k.breaks) > 1 || len(text) > t.wrap
}

// looksJSON reports a string that begins like a JSON object or array.
func looksJSON(raw []byte) bool {
	s, _ := start(raw, 64)
	s = strings.TrimLeft(s, " \n\r\t")
	return len(s) > 1 && (s[0] == '{' || s[0] == '[') && len(raw) > 4
}

// speaks reports a string that is worth opening unasked: JSON, or several lines.
func speaks(raw []byte) bool {
	return looksJSON(raw) || bytes.Contains(raw[:min(len(raw), 4<<10)], []byte(`\n`))
}

// foldable reports whether a string may hold more than its row shows.
func (t *Tree) foldable(raw []byte) bool {
	return len(raw) > t.wrap || speaks(raw)
}

// min64 is the shortest text taken for bytes.
const min64 = 96

// short64 is that of one whose bytes begin as those of a picture or a sound do.
const short64 = 32

// decode64 reads base64 of either alphabet. Text that only looks like it is left.
func decode64(raw []byte) ([]byte, bool) {
	if !looks64(raw) {
		return nil, false
	}
	s := strings.TrimRight(string(raw[1:len(raw)-1]), "=")
	b, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s))
	return b, err == nil
}

// looks64 looks at the beginning of a string: its alphabet, and whether the bytes
// are not plain text.
func looks64(raw []byte) bool {
	if len(raw) < short64+2 {
		return false
	}
	for _, c := range bytes.TrimRight(raw[1:min(min64, len(raw)-1)], "=") {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("+/-_", c) < 0 {
			return false
		}
	}
	kind := sniff64(raw)
	if len(raw) < min64+2 { // a word may have that alphabet too, but not begin as a picture does
		return (len(raw)-2)%4 == 0 && signed.MatchString(kind)
	}
	return !strings.HasPrefix(kind, "text/plain")
}

// signed are the types that are known by how their bytes begin.
var signed = regexp.MustCompile(`^(image|audio|video|font)/|^application/(pdf|zip|x-gzip|wasm|ogg)`)

// sniff64 tells the type of what base64 holds, by its first bytes.
func sniff64(raw []byte) string {
	head := raw[1 : 1+min((len(raw)-2)&^3, 680)]
	b, err := base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(string(head)))
	if err != nil && len(b) == 0 {
		return "text/plain"
	}
	return http.DetectContentType(b)
}

// maxHash bounds what is decoded and hashed to draw a row.
const maxHash = 4 << 20

// describe64 is the type, size and hash of what base64 holds; of what is long, its type
// and size, without a look at whether it is base64 to its end.
func describe64(raw []byte) string {
	kind := sniff64(raw)
	if kind == "application/octet-stream" {
		kind = "bytes"
	}
	if len(raw) > maxHash {
		text := bytes.TrimRight(raw[1:len(raw)-1], "=")
		return kind + ", " + humanize.Bytes(uint64(base64.RawStdEncoding.DecodedLen(len(text))))
	}
	b, ok := decode64(raw)
	if !ok {
		return "not base64 to its end"
	}
	sum := sha256.Sum256(b)
	return kind + ", " + humanize.Bytes(uint64(len(b))) + ", sha256 " + hex.EncodeToString(sum[:6]) + "…"
}

// Wrapping is for texts that people read; longer ones break at line ends only, and
// after so many bytes.
const (
	maxWrap = 1 << 20
	maxLine = 4 << 10
)

// breakLines gives where the rows of a text begin, at most width cells each.
func breakLines(text []byte, width int) []int {
	var at []int
	for from := 0; from <= len(text); {
		end := bytes.IndexByte(text[from:], '\n')
		if end < 0 {
			end = len(text) - from
		}
		if from < len(text) || from == 0 {
			at = appendBreaks(at, text, from, from+end, width, len(text) > maxWrap)
		}
		from += end + 1
	}
	return at
}

func appendBreaks(at []int, text []byte, from, to, width int, coarse bool) []int {
	at = append(at, from)
	for {
		next := fit(text, from, to, width, coarse)
		if next >= to {
			return at
		}
		at, from = append(at, next), next
	}
}

// fit gives where the row that begins at from must end: behind a space if there is
// one.
func fit(text []byte, from, to, width int, coarse bool) int {
	if coarse && to-from <= maxLine || to-from <= width && !coarse && ascii(text[from:to]) {
		return to
	}
	cells, word := 0, -1
	for i := from; i < to; {
		r, size := utf8.DecodeRune(text[i:to])
		cells += cellsOf(r)
		if cells > width && i > from && !coarse || i-from > maxLine {
			if word > from {
				return word
			}
			return i
		}
		if i += size; r == ' ' {
			word = i
		}
	}
	return to
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

const tab = "    "

// cellsOf is how many cells a character takes.
func cellsOf(r rune) int {
	switch {
	case r == '\t':
		return len(tab)
	case ' ' <= r && r < 0x7f:
		return 1
	case int(r) < len(measured):
		if n := measured[r].Load(); n > 0 {
			return int(n) - 1
		}
		n := draw.Width(safetext.Line(string(r)))
		measured[r].Store(uint32(n) + 1)
		return n
	}
	return draw.Width(safetext.Line(string(r)))
}

// measured is how many cells characters take, and one; 0 of those nobody asked for.
// Measuring one takes as long as a hundred of ASCII.
var measured [1 << 16]atomic.Uint32

// line gives the i-th row of a text.
func (n *node) line(i int) string {
	from, to := n.extent(i)
	return untab(n.src[from:to])
}

// extent is where the i-th row of a text stands, without its line end.
func (n *node) extent(i int) (from, to int) {
	from, to = n.breaks[i], len(n.src)
	if i+1 < len(n.breaks) {
		to = n.breaks[i+1]
	}
	b := bytes.TrimSuffix(bytes.TrimSuffix(n.src[from:to], []byte("\n")), []byte("\r"))
	return from, from + len(b)
}

func untab(b []byte) string { return strings.ReplaceAll(string(b), "\t", tab) }

const bytesPerRow = 16

// Hex is one row of a dump: the place, the bytes, and what of them can be read.
func Hex(b []byte, row int) string { return HexRow(b, row, bytesPerRow) }

// HexRow is Hex for n bytes a row.
func HexRow(b []byte, row, n int) string {
	from := row * n
	if from >= len(b) {
		return ""
	}
	piece := b[from:min(from+n, len(b))]
	var s strings.Builder
	s.WriteString(offset(from))
	for i := range n {
		if i%8 == 0 {
			s.WriteByte(' ')
		}
		if i < len(piece) {
			s.WriteByte(' ')
			s.WriteString(hex.EncodeToString(piece[i : i+1]))
		} else {
			s.WriteString("   ")
		}
	}
	s.WriteString("  ")
	for _, c := range piece {
		if c < ' ' || c >= 0x7f {
			c = '.'
		}
		s.WriteByte(c)
	}
	return s.String()
}

func offset(n int) string {
	s := hex.EncodeToString([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	return s
}
