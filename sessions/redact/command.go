package redact

import "strings"

// Command returns a copy of a command line with its secrets masked. Beside what
// [Text] finds in each argument, it knows which argument is the value of the
// one before it. Every value of a container's environment is masked (-e
// KEY=value), whatever it is called. The number of arguments stays.
func Command(argv []string) []string {
	if argv == nil {
		return nil
	}
	c := command{table: data()}
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = c.argument(arg)
	}
	return out
}

// want is what the arguments so far say about the next one.
type want int

const (
	anything    want = iota
	secretValue      // the value of --api-key
	environment      // KEY=value, after -e
	header           // Name: value, after -H
	headerValue      // value, after -H Name
	script           // commands, after sh -c
)

type command struct {
	*table
	want  want
	pairs bool // -e takes a name and a value, two arguments
}

// argument masks the next argument. All decisions are made on text that is
// swept already, so that a second time decides the same.
func (c *command) argument(arg string) string {
	arg = sweep(c.table, arg, true)
	w := c.want
	c.want = anything
	if w == anything || c.isOption(arg) {
		return c.plain(arg)
	}
	switch w {
	case environment:
		return c.environment(arg)
	case header:
		return c.header(arg)
	case script:
		return arg
	}
	return c.maskValue(arg, w)
}

// maskValue masks a value whole, but for a header's scheme.
func (c *command) maskValue(v string, w want) string {
	n := 0
	if w == headerValue {
		n = c.schemeLen(v)
	}
	if c.harmlessValue(v[n:]) {
		return v
	}
	return v[:n] + Mask
}

// environment handles what follows -e: KEY=value, or KEY and then the value,
// or a bare KEY, which hands a variable down.
func (c *command) environment(arg string) string {
	if masked, ok := maskEnv(arg); ok {
		return masked
	}
	if c.pairs {
		c.want = secretValue
		return arg
	}
	return c.plain(arg)
}

// maskEnv masks the value in KEY=value, whatever it is.
func maskEnv(arg string) (string, bool) {
	key, value, ok := strings.Cut(arg, "=")
	if !ok || key == "" || strings.ContainsAny(key, " \t\r\n") {
		return arg, false
	}
	if value != "" {
		value = Mask
	}
	return key + "=" + value, true
}

// header handles what follows -H: Name: value, or a name and then the value.
func (c *command) header(arg string) string {
	if masked, ok := c.maskHeader(arg); ok {
		return masked
	}
	if isName(arg) && c.secretHeader(arg) {
		c.want = headerValue
		return arg
	}
	return c.plain(arg)
}

// maskHeader masks the value in Name: value if the name says it is a secret.
func (c *command) maskHeader(arg string) (string, bool) {
	name, value, ok := strings.Cut(arg, ":")
	name = strings.TrimSpace(name)
	if !ok || !isName(name) || !c.secretHeader(name) {
		return arg, false
	}
	rest := strings.TrimLeft(value, " \t")
	return arg[:len(arg)-len(rest)] + c.maskValue(rest, headerValue), true
}

// plain masks an argument that nothing before it announced, and sees what it
// announces itself.
func (c *command) plain(arg string) string {
	name, sep, value := splitOption(arg)
	if name == "" {
		return c.word(arg)
	}
	if sep == "" {
		c.want = c.wanted(name)
		return arg
	}
	if masked, ok := c.attached(name, sep+value); ok {
		return masked
	}
	switch w := c.wanted(name); {
	case w == environment:
		value, _ = maskEnv(value)
	case w == header:
		value, _ = c.maskHeader(value)
	case w == secretValue || c.secretOption(name):
		value = c.maskValue(value, secretValue)
	}
	return name + sep + value
}

// attached handles a short option with its value right behind it: -eKEY=value
// and -HName: value.
func (c *command) attached(name, rest string) (string, bool) {
	if len(name) < 3 || name[1] == '-' || !isUpper(name[2]) {
		return "", false
	}
	option, value := name[:2], name[2:]+rest
	ok := false
	switch c.wanted(option) {
	case environment:
		value, ok = maskEnv(value)
	case header:
		value, ok = c.maskHeader(value)
	}
	return option + value, ok
}

// wanted is what the option announces.
func (c *command) wanted(option string) want {
	switch {
	case c.EnvOptions[option] || c.isEnvCluster(option):
		return environment
	case c.HeaderOptions[option]:
		return header
	case c.ScriptOptions[option]:
		return script
	case option[0] == '-' && c.secretOption(option):
		return secretValue
	}
	return anything
}

// isEnvCluster tells whether short switches are followed by -e in one
// argument, as in docker run -ite KEY=value.
func (c *command) isEnvCluster(option string) bool {
	switches, ok := strings.CutSuffix(option, "e")
	return ok && c.EnvOptions["-e"] && len(switches) > 1 && switches[0] == '-' &&
		strings.Trim(switches[1:], c.EnvCluster) == ""
}

// word handles an argument that is no option. As KEY=value it is taken whole:
// its value may have blanks in it, since no shell will split it any more.
func (c *command) word(arg string) string {
	key, value, ok := strings.Cut(arg, "=")
	if ok && isName(key) && c.secretName(key) && !isVersion(value) {
		return key + "=" + c.maskValue(value, secretValue)
	}
	c.pairs = c.pairs || c.PairPrograms[program(arg)]
	if c.ScriptOptions[arg] {
		c.want = script // cmd /c
	}
	return arg
}

// isVersion tells whether what follows the = makes it a requirement of a
// package, as in token-counter==1.0.
func isVersion(value string) bool {
	return len(value) > 1 && value[0] == '=' && isDigit(value[1])
}

// program is the bare name of a program, from its path or its package.
func program(arg string) string {
	arg = arg[strings.LastIndexAny(arg, `/\`)+1:]
	arg, _, _ = strings.Cut(arg, "@")
	return strings.TrimSuffix(arg, ".exe")
}

// isOption tells whether an argument is an option although a value could stand
// there. A secret may start with a dash, so it takes more than that: two
// dashes and a name, one dash and a letter, or a name that is known.
func (c *command) isOption(arg string) bool {
	name, _, _ := splitOption(arg)
	switch {
	case arg == "--":
		return true
	case name == "" || arg[0] != '-':
		return false
	case len(name) == 2 || strings.HasPrefix(name, "--"):
		return true
	}
	return c.wanted(name) != anything
}

// splitOption splits "--name=value" and "/name:value". The name keeps its
// dashes; it is empty when the argument is no option.
func splitOption(arg string) (name, sep, value string) {
	dashes := len(arg) - len(strings.TrimLeft(arg, "-"))
	slash := dashes == 0 && strings.HasPrefix(arg, "/")
	start := dashes
	if slash {
		start = 1
	}
	if start == 0 || start > 2 || start == len(arg) || !isLetter(arg[start]) {
		return "", "", ""
	}
	end := start
	for end < len(arg) && isNameByte(arg[end]) {
		end++
	}
	switch {
	case end == len(arg) && !slash:
		return arg, "", ""
	case end < len(arg) && (arg[end] == '=' || arg[end] == ':'):
		return arg[:end], arg[end : end+1], arg[end+1:]
	}
	return "", "", ""
}

// isName tells whether s could be the name of a variable or a header.
func isName(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '_' {
		return false
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}
