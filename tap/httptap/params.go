package httptap

import (
	"net/url"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

type span struct{ from, to int }

// challengeParam finds the value of a parameter in a WWW-Authenticate header
// (RFC 9110, 11.6.1): what is inside the quotes if there are any. Text inside of
// other quoted values is passed over.
func challengeParam(s, name string) (span, bool) {
	word := 0 // where the token that ends before i began
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '=' && strings.EqualFold(strings.TrimRight(s[word:i], " \t"), name):
			return paramValue(s, i+1)
		case c == '"':
			i = closingQuote(s, i+1)
			word = i + 1
		case c == ',' || c == '=':
			word = i + 1
		case (c == ' ' || c == '\t') && !nextIs(s, i, '='):
			word = i + 1
		}
	}
	return span{}, false
}

// nextIs tells whether the next byte that is no blank is c.
func nextIs(s string, i int, c byte) bool {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i < len(s) && s[i] == c
}

func paramValue(s string, i int) (span, bool) {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	if i < len(s) && s[i] == '"' {
		return span{i + 1, closingQuote(s, i+1)}, true
	}
	end := i
	for end < len(s) && strings.IndexByte(" \t,", s[end]) < 0 {
		end++
	}
	return span{i, end}, true
}

// closingQuote is where the quoted string ends that begins before i.
func closingQuote(s string, i int) int {
	for ; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return min(i, len(s))
}

// unquote takes the backslashes out of a quoted string.
func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hasParam tells whether a query or form has a field of this name.
func hasParam(query, name string) bool {
	found := false
	eachParam(query, name, func(string) (string, bool) {
		found = true
		return "", false
	})
	return found
}

// eachParam translates the values of all fields of one name in a query or form,
// and returns what was changed. All other bytes stay.
func eachParam(query, name string, translate func(string) (string, bool)) (string, []change) {
	if !strings.Contains(query, name) && !strings.Contains(query, "%") {
		return query, nil
	}
	var done []change
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		field, value, _ := strings.Cut(pair, "=")
		plainField, err1 := url.QueryUnescape(field)
		plain, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil || plainField != name {
			continue
		}
		if to, ok := translate(plain); ok {
			pairs[i] = field + "=" + url.QueryEscape(to)
			done = append(done, change{plain, to})
		}
	}
	if len(done) == 0 {
		return query, nil
	}
	return strings.Join(pairs, "&"), done
}

// change is a value before and after.
type change struct{ from, to string }

func rewrites(what string, changes []change) []tap.Rewrite {
	var out []tap.Rewrite
	for _, c := range changes {
		out = append(out, tap.Rewrite{What: what, From: c.from, To: c.to})
	}
	return out
}
