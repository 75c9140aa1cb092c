package redact

import "strings"

// secretName tells whether a value under this name is a secret: the name of an
// option, an environment variable, a JSON member, a header or a parameter.
func (t *table) secretName(name string) bool {
	words := splitName(name)
	if len(words) == 0 || t.harmlessName(words) {
		return false
	}
	last := words[len(words)-1]
	if t.LastWords[last] || t.Names[strings.Join(words, "")] {
		return true
	}
	if t.UpperLastWords[last] && len(words) > 1 && name == strings.ToUpper(name) {
		return true // OPENAI_KEY, but not issueKey
	}
	for _, word := range words {
		if t.Words[word] {
			return true
		}
	}
	return hasPhrase(words, t.Phrases) ||
		hasSuffix(last, t.WordSuffixes) ||
		hasSuffix(strings.Join(words, ""), t.Suffixes)
}

// harmlessName tells whether a name with a secret-like word in it means
// something about a secret (token-limit, api-key-file) or another thing
// altogether (progressToken, primary-key).
func (t *table) harmlessName(words []string) bool {
	return t.HarmlessFirst[words[0]] ||
		t.HarmlessLast[words[len(words)-1]] ||
		hasPhrase(words, t.HarmlessPhrases)
}

// secretOption is secretName for an option, whose bare "key" says more than a
// member's would.
func (t *table) secretOption(name string) bool {
	name = strings.TrimLeft(name, "-/")
	if t.SecretOptions[strings.ToLower(name)] || t.secretName(name) {
		return true
	}
	for _, prefix := range t.DefinePrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && t.secretName(rest) {
			return true // -Dtoken=x
		}
	}
	return false
}

func (t *table) secretHeader(name string) bool {
	return t.Headers[strings.ToLower(name)] || t.secretName(name)
}

func (t *table) secretQuery(name string) bool {
	return t.Query[strings.ToLower(name)] || t.secretName(name)
}

// harmlessValue tells whether a secret-like name has a value that gives nothing
// away: a switch, or a reference to a variable.
func (t *table) harmlessValue(v string) bool {
	if v == "" || isMask(v) || t.HarmlessValues[strings.ToLower(v)] {
		return true
	}
	return (v[0] == '$' || v[0] == '%') && t.referencePattern().MatchString(v)
}

// splitName splits a name into lower-case words: "GITHUB_TOKEN2", "githubToken"
// and "github-token" are all github, token.
func splitName(name string) []string {
	var words []string
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
	}
	for i := range len(name) {
		switch {
		case !isLetter(name[i]):
			flush(i)
			start = i + 1
		case i > start && startsHump(name, i):
			flush(i)
			start = i
		}
	}
	flush(len(name))
	return words
}

// startsHump tells whether a new word of a camelCase name starts at i: the K of
// apiKey and of APIKey.
func startsHump(name string, i int) bool {
	if !isUpper(name[i]) {
		return false
	}
	if !isUpper(name[i-1]) {
		return true
	}
	return i+1 < len(name) && isLetter(name[i+1]) && !isUpper(name[i+1])
}

// hasPhrase tells whether one of the phrases is a run of whole words.
func hasPhrase(words, phrases []string) bool {
	if len(words) < 2 {
		return false
	}
	text := " " + strings.Join(words, " ") + " "
	for _, phrase := range phrases {
		if i := strings.Index(text, phrase); i > 0 && text[i-1] == ' ' && text[i+len(phrase)] == ' ' {
			return true
		}
	}
	return false
}

func hasSuffix(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }

// isNameByte tells whether c may stand in a name before a = or a colon.
func isNameByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == '[' || c == ']'
}
