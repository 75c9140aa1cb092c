package toolsearch

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// allowed are the differences that translate admits to.
func allowed(pattern string) bool {
	return strings.Contains(pattern, "(?<=") || strings.Contains(pattern, "(?<!") // Python wants a fixed width
}

// TestPython compares with what Python 3.11 makes of the same patterns
// (testdata/python.py).
func TestPython(t *testing.T) {
	f, err := os.Open("testdata/python.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	var head struct{ Texts []string }
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		t.Fatal(err)
	}
	count, offline := 0, 0
	for lines.Scan() {
		var line [2]string
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		count++
		got, err := verdict(line[0], head.Texts)
		var problem *QueryError
		switch {
		case errors.As(err, &problem) && problem.Code == "":
			offline++
		case got == line[1], line[1] == "error" && allowed(line[0]):
		default:
			expr, _ := translate(line[0])
			t.Errorf("%q: got %s, Python says %s (%s, %v)", line[0], got, line[1], expr, err)
		}
	}
	if count < 700 || offline > 3 {
		t.Errorf("%d patterns, %d of them not tried", count, offline)
	}
}

func verdict(pattern string, texts []string) (out string, err error) {
	expr, err := translate(pattern)
	if err != nil {
		return "error", err
	}
	m := newMatcher(Options{Budget: time.Minute})
	for _, ignore := range []bool{false, true} {
		re, err := compile(expr, ignore)
		if err != nil {
			return "error", err
		}
		for _, text := range texts {
			found, err := m.any(re, []string{text})
			if err != nil {
				return "error", err
			}
			out += map[bool]string{true: "1", false: "0"}[found]
		}
	}
	return out, nil
}
