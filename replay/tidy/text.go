package tidy

import (
	"strings"

	"github.com/mcptap/mcptap/replay/internal/jsontree"
)

func (t *tidier) indentation() {
	if d := t.root.Get("description"); tidyText(d) {
		t.path, t.places = "/description", 1
	}
	t.walk(func(at jsontree.Path, s *jsontree.Node) {
		if tidyText(s.Get("description")) {
			t.found(at, "description")
		}
	})
}

func tidyText(n *jsontree.Node) bool {
	if !n.IsString() {
		return false
	}
	text := n.Text()
	clean := dedent(text)
	return clean != text && n.SetText(clean)
}

// dedent takes the indentation of source code out of a docstring, as Python's
// inspect.cleandoc does, but only where the text shows that it is one: it begins
// with an empty line, its second line is empty, or its last one is nothing but
// indentation. No word changes, nor what is indented further than the rest.
func dedent(text string) string {
	for {
		next := dedentOnce(text)
		if next == text {
			return text
		}
		text = next
	}
}

func dedentOnce(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	last := len(lines) - 1
	docstring := last > 0 && (blank(lines[0]) || blank(lines[1]) || blank(lines[last]) && lines[last] != "")
	margin := ""
	if docstring {
		margin = marginOf(lines[1:])
	}
	for i, line := range lines {
		switch {
		case blank(line):
			lines[i] = ""
		case i > 0:
			lines[i] = strings.TrimPrefix(line, margin)
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), " \t\n")
}

func blank(line string) bool { return strings.Trim(line, " \t") == "" }

// marginOf is the white space that all lines begin with, empty ones left out.
func marginOf(lines []string) (margin string) {
	first := true
	for _, line := range lines {
		if blank(line) {
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if first {
			margin, first = indent, false
		}
		for !strings.HasPrefix(indent, margin) {
			margin = margin[:len(margin)-1]
		}
	}
	return margin
}

// titles takes out those that the name of the argument, or of the tool, says too.
func (t *tidier) titles() {
	t.walk(func(at jsontree.Path, s *jsontree.Node) {
		title := s.Get("title")
		if title.IsString() && t.repeats(at, title.Text()) {
			s.Delete("title")
			t.found(at, "title")
		}
	})
}

// repeats knows what pydantic writes: "Max Results" for max_results, and
// "searchArguments" for the arguments of search.
func (t *tidier) repeats(at jsontree.Path, title string) bool {
	said := letters(title)
	if len(at) == 0 {
		rest, ok := strings.CutPrefix(said, letters(t.tool))
		switch rest {
		case "", "arguments", "args", "input", "params", "parameters", "schema":
			return ok
		}
		return false
	}
	if len(at) < 2 || !names[at[len(at)-2]] {
		return false
	}
	return said == letters(at[len(at)-1])
}

// names are the members whose own members have names.
var names = map[string]bool{"properties": true, "$defs": true, "definitions": true}

// letters are what a name is made of, without case and separators.
func letters(s string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case ' ', '_', '-', '.':
			return -1
		}
		return c
	}, strings.ToLower(s))
}
