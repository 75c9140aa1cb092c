package nearest

import "testing"

func TestWord(t *testing.T) {
	words := []string{"tool", "name", "status"}
	for word, want := range map[string]string{"tol": "tool", "tolo": "tool", "STATSU": "status", "xyz": "", "": ""} {
		if got := Word(word, words); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestLike(t *testing.T) {
	const label = "gotickets-ts-legacy-errors"
	for word, want := range map[string]bool{"legasy-errors": true, "gotikets": true, "LEGACY": true, "weather": false, "zz": false, "": false} {
		if d, got := Like(word, label); got != want {
			t.Errorf("%q: %d %v", word, d, got)
		}
	}
}
