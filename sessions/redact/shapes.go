package redact

import "strings"

// maskShapes masks everything that looks like a token, whatever it is called.
func (t *table) maskShapes(s string) string {
	for _, shape := range t.Shapes {
		if shape.in(s) {
			s = shape.mask(s, t.mask)
		}
	}
	return s
}

func (s *shape) mask(text string, m masker) string {
	re := s.compiled()
	var out strings.Builder
	done := 0
	for _, loc := range re.pattern.FindAllStringSubmatchIndex(text, -1) {
		from, to := loc[2*re.group], loc[2*re.group+1]
		if !s.secret(re, text[from:to]) {
			continue
		}
		out.WriteString(text[done:from])
		out.WriteString(m.of(text[from:to]))
		done = to
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// secret tells whether a match is more than prose that happens to look alike.
func (s *shape) secret(re matcher, match string) bool {
	if match == "" || isMask(match) {
		return false
	}
	if s.Digit && !strings.ContainsAny(match, "0123456789") {
		return false
	}
	return re.except == nil || !re.except.MatchString(match)
}

// maskUserinfo masks user names and passwords in URLs.
func (t *table) maskUserinfo(s string) string {
	w := writer{s: s}
	urls := urlScanner{s: s}
	for urls.next() {
		user, password, ok := urls.userinfo()
		if !ok {
			continue
		}
		if password.from == password.to && t.Users[s[user.from:user.to]] {
			continue // git@ in git+ssh://git@host names no one
		}
		if isMasks(s[user.from:password.to]) {
			continue // a keyed mask has a colon of its own
		}
		for _, part := range []span{user, password} {
			if !t.harmlessValue(s[part.from:part.to]) {
				w.replace(part, t.mask.of(s[part.from:part.to]))
			}
		}
	}
	return w.String()
}

type span struct{ from, to int }

// writer copies s with spans of it replaced, which come in order.
type writer struct {
	s    string
	out  strings.Builder
	done int
}

func (w *writer) replace(at span, with string) {
	w.out.WriteString(w.s[w.done:at.from])
	w.out.WriteString(with)
	w.done = at.to
}

func (w *writer) String() string {
	if w.done == 0 {
		return w.s
	}
	return w.out.String() + w.s[w.done:]
}

// urlScanner finds the URLs in s. What it knows about the word that it is in
// it keeps, so that a word of many "://" costs no more than any other.
type urlScanner struct {
	s       string
	from    int // of the authority
	end     int // of the authority
	wordEnd int
	lastAt  int // the last @ of the word
}

func (u *urlScanner) next() bool {
	i := strings.Index(u.s[u.from:], "://")
	if i < 0 {
		return false
	}
	u.from += i + len("://")
	if u.from >= u.wordEnd {
		u.wordEnd = u.from + indexAny(u.s[u.from:], " \t\r\n\"'`<>")
		u.lastAt = u.from + strings.LastIndexByte(u.s[u.from:u.wordEnd], '@')
	}
	u.end = u.from + indexAny(u.s[u.from:u.wordEnd], "/?#")
	return true
}

// userinfo is what stands before the host. A password with an unescaped / in
// it ends the authority early by the letter of the rules, yet people write it
// and libraries take it: a "port" that is none gives it away.
func (u *urlScanner) userinfo() (user, password span, ok bool) {
	at := u.from + strings.LastIndexByte(u.s[u.from:u.end], '@')
	colon := u.from + strings.IndexByte(u.s[u.from:u.end], ':')
	if at < u.from && colon > u.from && u.lastAt > u.end && !u.isHost(colon) {
		at = u.lastAt
	}
	if at < u.from {
		return span{}, span{}, false
	}
	if colon < u.from || colon > at {
		colon = at
	}
	user, password = span{u.from, colon}, span{min(colon+1, at), at}
	u.from = at
	return user, password, true
}

// isHost tells whether the authority is a host with a port, an IPv6 address,
// or a Windows drive, as in file://C:/x.
func (u *urlScanner) isHost(colon int) bool {
	drive := colon == u.from+1 && colon+1 == u.end
	return drive || u.s[u.from] == '[' || isPort(u.s[colon+1:u.end])
}

func isPort(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// indexAny is strings.IndexAny that takes the end for the first match when
// there is none.
func indexAny(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}
