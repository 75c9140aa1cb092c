//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the screens may write to a terminal: nothing else drives it.
var (
	ownSequences = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`\x1b\[[0-9;]*m`,                                 // colours
		`\x1b\[[0-9]*[ABCDGJK]`,                          // the cursor by so many cells or to a column; erase
		`\x1b\[(?:[0-9]*;[0-9]*)?H`,                      // the cursor to a place
		`\x1b\[\?(?:1049|2004|2026|25|7)[hl]`,            // alternate screen, paste, pictures as one, cursor, wrapping
		`\x1b\[\?(?:1000|1002|1003|1006|1015)[hl]`,       // the mouse
		`\x1b\]11;\?\x1b\\`,                              // what is the background?
		`\x1b\]52;c;[A-Za-z0-9+/]*={0,2}(?:\x07|\x1b\\)`, // to the clipboard
	}, "|") + `)`)
	// printedSequences are those of commands that print.
	printedSequences = regexp.MustCompile(`^(?:\x1b\[[0-9;]*m)`)
	noSequences      = regexp.MustCompile(`^\z.`)
)

// scanOutput reads what a program wrote to a terminal. It gives the text without the
// sequences, and what was copied; its error tells the first byte that is neither of the
// sequences allowed nor text that can be shown, and what stands around it.
func scanOutput(raw string, allowed *regexp.Regexp, controls string) (text string, copies []string, err error) {
	var b strings.Builder
	for at := 0; at < len(raw); {
		if raw[at] == 0x1b {
			m := allowed.FindString(raw[at:min(len(raw), at+1<<18)])
			if m == "" {
				return "", nil, around(raw, at, "a sequence that is not the program's own")
			}
			if payload, ok := strings.CutPrefix(m, "\x1b]52;c;"); ok {
				c, err := base64.StdEncoding.DecodeString(strings.TrimRight(payload, "\x07\x1b\\"))
				if err != nil {
					return "", nil, around(raw, at, err.Error())
				}
				copies = append(copies, string(c))
			}
			at += len(m)
			continue
		}
		r, size := utf8.DecodeRuneInString(raw[at:])
		if why := unfit(r, size, controls); why != "" {
			return "", nil, around(raw, at, why)
		}
		b.WriteString(raw[at : at+size])
		at += size
	}
	return b.String(), copies, nil
}

// unfit tells why a character may not be shown; empty if it may.
func unfit(r rune, size int, controls string) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "a byte that is no UTF-8"
	case strings.ContainsRune(controls, r), r == '\u200d':
		return ""
	case unicode.IsControl(r):
		return "a control character"
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
		return "a hidden character"
	}
	return ""
}

func around(raw string, at int, what string) error {
	return fmt.Errorf("%s at byte %d: %q", what, at, raw[max(0, at-80):min(len(raw), at+80)])
}
