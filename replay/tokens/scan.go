package tokens

import (
	"unicode"
	"unicode/utf8"
)

// runs is what a text holds, in units of each kind, before any weight. It adds
// up, so a list is the sum of its tools.
type runs struct {
	word    float64 // runs of letters
	caps    float64 // runs of capitals only
	digits  float64
	punct   float64
	newline float64
	space   float64
	other   float64 // letters that are not Latin, emoji, symbols: tokens at once
}

func (r *runs) add(s runs) {
	r.word += s.word
	r.caps += s.caps
	r.digits += s.digits
	r.punct += s.punct
	r.newline += s.newline
	r.space += s.space
	r.other += s.other
}

// class is the kind of run a byte of ASCII belongs to.
type class uint8

const (
	punctClass class = iota // also control characters
	upperClass
	lowerClass
	digitClass
	newlineClass
	spaceClass
	wideClass // begins a rune outside ASCII
)

var classes = func() (t [256]class) {
	for b := range t {
		switch {
		case b >= utf8.RuneSelf:
			t[b] = wideClass
		case b >= 'A' && b <= 'Z':
			t[b] = upperClass
		case b >= 'a' && b <= 'z':
			t[b] = lowerClass
		case b >= '0' && b <= '9':
			t[b] = digitClass
		case b == '\n' || b == '\r':
			t[b] = newlineClass
		case b == ' ' || b == '\t':
			t[b] = spaceClass
		}
	}
	return t
}()

// scan cuts a text into runs in one pass. It takes any bytes.
func scan[T string | []byte](text T, u *Units) (r runs) {
	for i := 0; i < len(text); {
		switch classes[text[i]] {
		case upperClass, lowerClass:
			i = r.letters(letters(text, i), u)
		case digitClass:
			end := span(text, i, digitClass)
			r.digits += float64((end - i + 2) / 3)
			i = end
		case punctClass:
			end := span(text, i, punctClass)
			r.punct += u.punct(end - i)
			i = end
		case newlineClass:
			r.newline++
			i = lineEnd(text, i)
		case spaceClass:
			end := span(text, i, spaceClass)
			if end-i > 1 || text[i] == '\t' || end < len(text) && classes[text[end]] == digitClass {
				r.space++ // a tab between fields is measured to cost what a comma does
			}
			i = end
		default:
			i = wide(text, i, u, &r)
		}
	}
	return r
}

func span[T string | []byte](text T, i int, c class) int {
	for i < len(text) && classes[text[i]] == c {
		i++
	}
	return i
}

// lineEnd takes a line feed, a CR LF or a CR, and the next line's indent: its
// width is free.
func lineEnd[T string | []byte](text T, i int) int {
	if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
		i++
	}
	return span(text, i+1, spaceClass)
}

// a word is a run of Latin letters.
type word struct {
	end, length int // in bytes; in letters
	capitals    bool
}

// letters finds the end of a word. Letters with marks belong to it: prose in
// French and German is measured to behave like English.
func letters[T string | []byte](text T, i int) word {
	w := word{capitals: true}
	for i < len(text) {
		switch classes[text[i]] {
		case upperClass:
			i++
		case lowerClass:
			w.capitals = false
			i++
		case wideClass:
			r, size := decode(text, i)
			if !latin(r) {
				w.end = i
				return w
			}
			w.capitals = w.capitals && unicode.IsUpper(r)
			i += size
		default:
			w.end = i
			return w
		}
		w.length++
	}
	w.end = i
	return w
}

func (r *runs) letters(w word, u *Units) int {
	if w.capitals && w.length >= 2 {
		r.caps += float64(w.length) / u.CapsLetters
	} else {
		r.word += u.word(w.length)
	}
	return w.end
}

// wide handles what is not ASCII.
func wide[T string | []byte](text T, i int, u *Units, r *runs) int {
	c, size := decode(text, i)
	switch {
	case latin(c):
		return r.letters(letters(text, i), u)
	case emoji(c):
		r.other += u.Emoji
	case joiner(c): // part of the emoji before it
	default:
		r.other += u.OtherRune
	}
	return i + size
}

// decode is utf8.DecodeRune for both kinds of text.
func decode[T string | []byte](text T, i int) (rune, int) {
	return utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
}

func latin(r rune) bool { return unicode.Is(unicode.Latin, r) }

// joiner is a variation selector, a zero-width joiner or a skin tone: measured
// emoji hold theirs.
func joiner(r rune) bool {
	return r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff
}

func emoji(r rune) bool {
	return r >= 0x2600 && r <= 0x27bf || r >= 0x1f000 && r <= 0x1faff && !joiner(r)
}
