// Package nearest finds what somebody may have meant who mistyped a word.
package nearest

import "strings"

// Word is the word of a list that somebody may have meant, "" if none is close.
func Word(word string, words []string) string {
	best, least := "", 3
	for _, w := range words {
		if len(word) > longest || len(w) > longest {
			continue
		}
		row := edits(strings.ToLower(word), w, false)
		if d := row[len(w)]; d < least && d < len(w) {
			best, least = w, d
		}
	}
	return best
}

// longest is the longest word that is looked at, in bytes: longer ones are texts.
const longest = 24

// Like reports whether some part of a text is nearly the word, and how many edits lie
// between them.
func Like(word, text string) (distance int, ok bool) {
	if word == "" || len(word) > 4*longest || len(text) > 16*longest {
		return 0, false
	}
	row := edits(strings.ToLower(word), strings.ToLower(text), true)
	distance = row[0]
	for _, d := range row {
		distance = min(distance, d)
	}
	return distance, distance <= max(1, (len(word)+1)/4) && distance < len(word)/2
}

// edits are how many letters of a have to be put in, taken out, replaced or swapped with
// their neighbour, to make of it each beginning of b. With anywhere the best part of b
// that ends there is meant instead.
func edits(a, b string, anywhere bool) []int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := 0; j < len(b) && !anywhere; j++ {
		rows[0][j+1] = j + 1
	}
	for i := range len(a) {
		for j := range len(b) {
			change := rows[i][j]
			if a[i] != b[j] {
				change++
			}
			rows[i+1][j+1] = min(change, rows[i][j+1]+1, rows[i+1][j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				rows[i+1][j+1] = min(rows[i+1][j+1], rows[i-1][j-1]+1)
			}
		}
	}
	return rows[len(a)]
}
