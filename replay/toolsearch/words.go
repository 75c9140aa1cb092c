package toolsearch

import (
	"strings"
	"unicode"
)

// Words splits a text as the BM25 engine is taken to: at everything that is no
// letter or digit, and inside camelCase; in lower case.
func Words(s string) (words []string) {
	runes := []rune(s)
	eachWord(runes, func(from, to int) { words = append(words, strings.ToLower(string(runes[from:to]))) })
	return words
}

// eachWord tells where the words of a text are.
func eachWord(runes []rune, word func(from, to int)) {
	start := -1
	end := func(i int) {
		if start >= 0 {
			word(start, i)
		}
		start = -1
	}
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end(i)
			continue
		case start >= 0 && humpAt(runes, i):
			end(i)
		}
		if start < 0 {
			start = i
		}
	}
	end(len(runes))
}

// humpAt reports whether a new word begins inside camelCase: at B in aB, and in
// ABc, but not in AB.
func humpAt(r []rune, i int) bool {
	if !unicode.IsUpper(r[i]) {
		return false
	}
	return !unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])
}

// fold takes plain English plurals away, if the index is to.
func (x *Index) fold(w string) string {
	if !x.plural || len(w) < 4 {
		return w
	}
	for _, end := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(w, end) {
			return w
		}
	}
	if stem, ok := strings.CutSuffix(w, "ies"); ok {
		return stem + "y"
	}
	for _, end := range []string{"shes", "ches", "xes", "zes", "sses"} {
		if strings.HasSuffix(w, end) {
			return strings.TrimSuffix(w, "es")
		}
	}
	return strings.TrimSuffix(w, "s")
}
