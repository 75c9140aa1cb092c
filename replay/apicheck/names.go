package apicheck

import (
	"fmt"
	"unicode/utf8"
)

// checkCharacters looks at the tool's part of the name, or at what the host makes of
// it.
func checkCharacters(c *checker, f *Fact) {
	alphabet := alphabetOf(f.Alphabet)
	for i := range c.tools {
		name := c.tools[i].Name
		if name == "" {
			c.report(f, i, "/name", "it has no name")
			continue
		}
		if f.Composed {
			name = c.names[i]
		}
		if odd := oddCharacter(alphabet, name); odd != "" {
			c.report(f, i, "/name", "its name has "+odd)
		}
	}
}

// oddCharacter names the first character that is not in the alphabet.
func oddCharacter(a *alphabet, s string) string {
	for _, c := range s {
		switch {
		case a.has(c):
		case c == ' ':
			return "a space"
		case c > ' ' && c < 0x7f:
			return fmt.Sprintf("the character %q", string(c))
		default:
			return fmt.Sprintf("the character %U", c)
		}
	}
	return ""
}

func checkLength(c *checker, f *Fact) {
	for i := range c.tools {
		name := c.names[i]
		if f.Bare {
			name = c.tools[i].Name
		}
		n := utf8.RuneCountInString(name)
		if f.Pair {
			n = utf8.RuneCountInString(c.tools[i].Server) + utf8.RuneCountInString(c.tools[i].Name)
		}
		if n <= f.Max {
			continue
		}
		what := fmt.Sprintf("its name has %d characters, more than %d", n, f.Max)
		switch {
		case f.Pair:
			what = fmt.Sprintf("its name and that of its server have %d characters together, more than %d", n, f.Max)
		case name != c.tools[i].Name:
			what = fmt.Sprintf("its name is sent as %s, which has %d characters, more than %d", brief(name), n, f.Max)
		}
		c.report(f, i, "/name", what)
	}
}

// checkUnique also tells what becomes the same on the way.
func checkUnique(c *checker, f *Fact) {
	first := map[string]int{}
	for i, name := range c.names {
		other, taken := first[name]
		if !taken {
			first[name] = i
			continue
		}
		a, b := &c.tools[other], &c.tools[i]
		what := "it is listed twice"
		switch {
		case a.Server != b.Server:
			what = fmt.Sprintf("it is sent as %s, as %s of the server %s is", brief(name), brief(a.Name), brief(a.Server))
		case a.Name != b.Name:
			what = fmt.Sprintf("it is sent as %s, as %s is", brief(name), brief(a.Name))
		}
		c.report(f, i, "/name", what)
	}
}

func checkDescription(c *checker, f *Fact) {
	for i := range c.tools {
		if n := utf8.RuneCountInString(c.tools[i].Description); n > f.Max {
			c.report(f, i, "/description", fmt.Sprintf("its description has %d characters, more than %d", n, f.Max))
		}
	}
}

// instructions is the place of what a server says about itself.
const instructions = "/instructions"

func checkInstructions(c *checker, f *Fact, text string) {
	if n := utf8.RuneCountInString(text); n > f.Max {
		c.report(f, -1, instructions, fmt.Sprintf("its instructions have %d characters, more than %d", n, f.Max))
	}
}

func checkCount(c *checker, f *Fact) {
	if n := len(c.tools); n > f.Max {
		c.report(f, -1, "", fmt.Sprintf("there are %d, more than %d", n, f.Max))
	}
}

func checkBody(c *checker, f *Fact) {
	sum := 0
	for i := range c.tools {
		sum += len(c.names[i]) + len(c.tools[i].Description) + len(c.tools[i].Schema)
	}
	if sum > f.Max {
		c.report(f, -1, "", fmt.Sprintf("the definitions have %d bytes, more than %d", sum, f.Max))
	}
}

// pointer writes a JSON pointer of the input schema as one of the definition; it
// is cut, since keys come from the outside.
func pointer(p string) string { return "/inputSchema" + brief(p) }
