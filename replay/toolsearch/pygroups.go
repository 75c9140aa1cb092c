package toolsearch

import (
	"strconv"
	"strings"
	"unicode"
)

// open reads what an opening parenthesis begins.
func (t *translator) open() error {
	if t.peek(1) != '?' {
		t.i++
		t.capture("")
		return nil
	}
	t.i += 2
	c := t.peek(0)
	switch {
	case c == 'P':
		return t.python()
	case c == ':' || c == '=' || c == '!' || c == '>':
		t.i++
		t.enter("(?"+string(c), scope{verbose: t.verbose()})
		return nil
	case c == '<' && (t.peek(1) == '=' || t.peek(1) == '!'):
		t.enter("(?<"+string(t.peek(1)), scope{verbose: t.verbose()})
		t.i += 2
		return nil
	case c == '#':
		return t.comment()
	case c == '(':
		return t.condition()
	case c == '-' || unicode.IsLetter(c):
		return t.flags()
	}
	return t.fault("(?%s is no group", string(c))
}

func (t *translator) enter(text string, s scope) {
	t.scopes = append(t.scopes, s)
	t.put(text, nothing)
}

func (t *translator) capture(name string) {
	t.groups++
	text := "("
	if name != "" {
		t.named[name] = t.groups
		text = "(?<" + groupName(t.groups) + ">"
	}
	t.enter(text, scope{verbose: t.verbose(), group: t.groups})
}

// groupName gives a named group a name that regexp2 takes; references go by number.
func groupName(n int) string { return "g" + strconv.Itoa(n) }

// python reads (?P<name>...) and (?P=name).
func (t *translator) python() error {
	c := t.peek(1)
	t.i += 2
	end := map[rune]rune{'<': '>', '=': ')'}[c]
	if end == 0 {
		return t.fault("(?P%s is no group", string(c))
	}
	name, err := t.until(end)
	if err != nil {
		return err
	}
	if !isIdentifier(name) {
		return t.fault("%q is no name of a group", name)
	}
	group, exists := t.named[name]
	switch {
	case c == '=' && !exists:
		return t.fault("there is no group %s", name)
	case c == '=':
		return t.refer(group, name)
	case exists:
		return t.fault("there are two groups %s", name)
	}
	t.capture(name)
	return nil
}

// until reads up to a character, and over it.
func (t *translator) until(end rune) (string, error) {
	start := t.i
	for ; !t.done(); t.i++ {
		if t.peek(0) == end {
			t.i++
			return string(t.in[start : t.i-1]), nil
		}
	}
	return "", t.fault("missing %s", string(end))
}

func isIdentifier(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}

// comment leaves (?#...) out; what stood before it is what a quantifier repeats.
func (t *translator) comment() error {
	_, err := t.until(')')
	return err
}

// condition reads (?(group)yes|no).
func (t *translator) condition() error {
	t.i++
	name, err := t.until(')')
	if err != nil {
		return err
	}
	group, exists := t.named[name]
	if n, err := strconv.Atoi(name); err == nil && digits(name) {
		group, exists = n, n > 0 && n < 100
		t.asked = max(t.asked, n)
	}
	if !exists {
		return t.fault("there is no group %s", name)
	}
	t.enter("(?("+strconv.Itoa(group)+")", scope{verbose: t.verbose()})
	return nil
}

// flags reads (?ims), which Python takes at the very start only, and (?i-s:...).
func (t *translator) flags() error {
	start := t.i - 2
	s := scope{verbose: t.verbose()}
	var on, off strings.Builder
	set := &on
	for ; ; t.i++ {
		c := t.peek(0)
		switch c {
		case 'i', 'm', 's', 'x':
			set.WriteRune(c)
			if c == 'x' {
				s.verbose = set == &on
			}
		case 'a':
			return unsupported("the flag a")
		case 'u':
			if set == &off {
				return t.fault("the flag u can't be taken away")
			}
		case '-':
			if set == &off {
				return t.fault("two - in flags")
			}
			set = &off
		case ':':
			t.i++
			return t.scoped(on.String(), off.String(), set == &off, s)
		case ')':
			t.i++
			return t.global(on.String(), set == &off, start, s)
		default:
			return t.fault("there is no flag %q", string(c))
		}
	}
}

// verboseOff takes the flag x away: the translation has no more white space to
// pass over, and writes escapes for that which counts.
func verboseOff(flags string) string { return strings.ReplaceAll(flags, "x", "") }

func (t *translator) scoped(on, off string, minus bool, s scope) error {
	switch {
	case minus && off == "":
		return t.fault("missing flag after -")
	case strings.ContainsAny(on, off) && off != "":
		return t.fault("a flag is set and taken away")
	}
	text := "(?" + verboseOff(on)
	if off := verboseOff(off); off != "" {
		text += "-" + off
	}
	t.enter(text+":", s)
	return nil
}

func (t *translator) global(on string, minus bool, start int, s scope) error {
	if minus || !t.onlyFlags(start) {
		return t.fault("flags for the whole pattern stand at its start")
	}
	t.scopes[0].verbose = t.scopes[0].verbose || s.verbose
	if on = verboseOff(on); on != "" {
		t.put("(?"+on+")", nothing)
	}
	return nil
}

// onlyFlags reports whether nothing but groups of flags comes before.
func (t *translator) onlyFlags(start int) bool {
	for _, group := range strings.SplitAfter(string(t.in[:start]), ")") {
		if group != "" && (!strings.HasPrefix(group, "(?") || strings.ContainsAny(group, ":=!<>#")) {
			return false
		}
	}
	return true
}
