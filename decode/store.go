package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A list grows in pages: nothing is copied while it grows, and at most one page
// is not filled.
type list[T any] struct {
	pages [][]T
	n     int
}

const pageSize = 1 << 12

func (l *list[T]) add(v T) int {
	if l.n%pageSize == 0 {
		l.pages = append(l.pages, make([]T, 0, pageSize))
	}
	last := &l.pages[l.n/pageSize]
	*last = append(*last, v)
	l.n++
	return l.n - 1
}

func (l *list[T]) at(i int) *T { return &l.pages[i/pageSize][i%pageSize] }

// Bounds of what an interner keeps: the names of a session are few, unless
// somebody makes them up.
const (
	maxNames = 1 << 16
	maxName  = 512 // bytes of one
)

// names gives each text a number, 0 for none.
type names struct {
	ids   map[string]uint32
	list  []string
	limit int // bytes of one, if not maxName
}

// elided is the number of a name that is one too many: it stands in the body only.
const elided = ^uint32(0)

func (n *names) id(b []byte) uint32 {
	if id, ok := n.ids[string(b)]; ok {
		return id
	}
	if len(b) > max(maxName, n.limit) {
		return n.id(shortened(b))
	}
	if len(n.list) >= maxNames {
		return elided
	}
	if n.ids == nil {
		n.ids, n.list = map[string]uint32{"": 0}, []string{""}
		if len(b) == 0 {
			return 0
		}
	}
	s := string(b)
	id := uint32(len(n.list))
	n.ids[s], n.list = id, append(n.list, s)
	return id
}

// of interns a string value.
func (n *names) of(b []byte, v span) uint32 {
	if raw, ok := plain(b, v); ok {
		return n.id(raw)
	}
	return n.id([]byte(text(b, v)))
}

// cutMark stands before the hash that takes the place of a long name's end, which has so
// many digits.
const (
	cutMark    = "…#"
	hashDigits = 12
)

// shortened is what is kept of a name that is longer than maxName: its beginning, and a
// hash of the whole, so that two names stay two.
func shortened(b []byte) []byte {
	sum := sha256.Sum256(b)
	at := maxName - len(cutMark) - hashDigits
	for at > 0 && !utf8.RuneStart(b[at]) {
		at--
	}
	out := append(make([]byte, 0, maxName), b[:at]...)
	return hex.AppendEncode(append(out, cutMark...), sum[:hashDigits/2])
}

// Shortened reports whether a name from the index is only the beginning of a long one,
// with a hash for the rest: then all of it stands in the body. A name that happens to
// end in the same way is taken for one; reading the body answers for it as well.
func Shortened(name string) bool {
	at := len(name) - len(cutMark) - hashDigits
	if at <= maxName-len(cutMark)-hashDigits-utf8.UTFMax || !strings.HasPrefix(name[at:], cutMark) {
		return false
	}
	_, err := hex.DecodeString(name[at+len(cutMark):])
	return err == nil
}

// sameName compares a whole name with one from the index.
func sameName(whole, indexed string) bool {
	return whole == indexed || len(whole) > maxName && Shortened(indexed) && string(shortened([]byte(whole))) == indexed
}

func (n *names) name(id uint32) string {
	if int(id) < len(n.list) {
		return n.list[id]
	}
	return ""
}

// An ident is an id or a token as it was sent: a plain integer as its value,
// anything else as a place in the session's arena.
type ident uint64

const (
	identText = 1 << 63
	maxIdent  = 256 // bytes kept of one
)

// idents keeps ids exactly as they were sent.
type idents struct {
	arena []byte
	seed  maphash.Seed
}

// number is the value of raw if raw is exactly how that value is spelt.
func number(raw []byte) (n uint64, ok bool) {
	if len(raw) == 0 || len(raw) > 18 || raw[0] == '0' && len(raw) > 1 {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

func (s *idents) keep(raw []byte) ident {
	if n, ok := number(raw); ok {
		return ident(n)
	}
	raw = s.short(raw)
	at := len(s.arena)
	s.arena = binary.AppendUvarint(s.arena, uint64(len(raw)))
	s.arena = append(s.arena, raw...)
	return ident(at) | identText
}

// short replaces the middle of an id that is too long to keep by its hash.
func (s *idents) short(raw []byte) []byte {
	if len(raw) <= maxIdent {
		return raw
	}
	out := append([]byte(nil), raw[:maxIdent/2]...)
	out = append(out, "…#"...)
	out = strconv.AppendUint(out, maphash.Bytes(s.seed, raw), 16)
	return append(out, '"')
}

func (s *idents) raw(id ident) []byte {
	if id&identText == 0 {
		return strconv.AppendUint(nil, uint64(id), 10)
	}
	at := int(id &^ identText)
	n, k := binary.Uvarint(s.arena[at:])
	return s.arena[at+k : at+k+int(n)]
}

func (s *idents) same(id ident, raw []byte) bool {
	if n, ok := number(raw); ok {
		return id == ident(n)
	}
	return id&identText != 0 && string(canonical(s.raw(id))) == string(canonical(s.short(raw)))
}

// canonical is how a string is told from others: by what it says, however its
// characters are escaped (SDKs differ in that). Anything else is told by its
// spelling.
func canonical(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '"' || bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return []byte(`"` + gjson.ParseBytes(raw).Str + `"`)
}

// hash mixes what a join depends on besides the id.
func (s *idents) hash(scope Scope, salt uint8, raw []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	var prefix [5]byte
	binary.LittleEndian.PutUint32(prefix[:], uint32(scope))
	prefix[4] = salt
	h.Write(prefix[:])
	h.Write(canonical(raw))
	return h.Sum64()
}
