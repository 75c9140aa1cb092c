package redact

import "strings"

const (
	maxName    = 64  // bytes of a name before = or a colon that are looked at
	maxKey     = 100 // bytes of a quoted member name
	maxCommand = 256 // bytes of a $(command)
)

// pairs scans a text once from left to right for names with values. Looking
// back for a name and ahead for the end of a member's name is bounded, and a
// masked value is passed over, so the scan is linear.
type pairs struct {
	*table
	writer
	i    int  // what is left of it is done
	deep bool // see sweep
}

func (t *table) maskPairs(s string, deep bool) string {
	p := &pairs{table: t, writer: writer{s: s}, deep: deep}
	for p.i < len(s) {
		j := p.i + indexAny(s[p.i:], "=:\"'-")
		p.i = j + 1
		if j == len(s) {
			break
		}
		switch s[j] {
		case '=':
			p.assignment(j)
		case ':':
			p.header(j)
		case '-':
			p.option(j)
		default:
			p.member(j)
		}
	}
	return p.String()
}

// assignment handles KEY=value, ?key=value and key = value.
func (p *pairs) assignment(eq int) {
	end, value := eq, eq+1
	if eq > 0 && isBlank(p.s[eq-1]) && p.at(value) == ' ' {
		end, value = eq-1, eq+2
	}
	from := p.nameBefore(end)
	name := p.s[from:end]
	if name == "" || p.at(eq+1) == '=' {
		return
	}
	query := from > 0 && strings.IndexByte("?&#", p.s[from-1]) >= 0
	if p.secretName(name) || query && p.secretQuery(name) || isOptionName(name) && p.secretOption(name) {
		p.value(value)
	}
}

// header handles Name: value, where a blank has to follow the colon: without
// one it is as likely the tag of an image or the port of a host.
func (p *pairs) header(colon int) {
	if !isBlank(p.at(colon + 1)) {
		return
	}
	name := p.s[p.nameBefore(colon):colon]
	value := skipBlanks(p.s, colon+1)
	switch {
	case p.Headers[strings.ToLower(name)] || strings.Contains(name, "-") && !isOptionName(name) && p.secretName(name):
		p.headerValue(value)
	case p.ColonNames[strings.ToLower(name)] || strings.Contains(name, "_") && p.secretName(name):
		p.value(value)
	}
}

// headerValue masks up to the end of the line or of the quoted string that the
// header is in. A scheme says nothing secret and stays.
func (p *pairs) headerValue(from int) {
	end := from + indexAny(p.s[from:], "\r\n\"'`")
	from += p.schemeLen(p.s[from:end])
	value := strings.TrimRight(p.s[from:end], " \t\\")
	if !p.Schemes[strings.ToLower(value)] {
		p.secret(span{from, from + len(value)}, "")
	}
	p.i = max(p.i, end)
}

// schemeLen is the length of "Bearer " and the like at the start of v.
func (t *table) schemeLen(v string) int {
	n := indexAny(v, " \t")
	if n == len(v) || !t.Schemes[strings.ToLower(v[:n])] {
		return 0
	}
	return skipBlanks(v, n)
}

// option handles --name value inside a longer text.
func (p *pairs) option(dash int) {
	if dash > 0 && strings.IndexByte(" \t\r\n\"'`([=,", p.s[dash-1]) < 0 {
		return
	}
	from := dash
	for from < len(p.s) && from < dash+2 && p.s[from] == '-' {
		from++
	}
	end := from
	for end < len(p.s) && end < from+maxName && isNameByte(p.s[end]) {
		end++
	}
	p.i = max(end, dash+1)
	if end-from < 2 || !p.secretOption(p.s[from:end]) {
		return
	}
	switch value := skipBlanks(p.s, end); {
	case p.at(end) == ':' && !isSpace(p.at(end+1)):
		p.value(end + 1)
	case value > end && p.at(value) != '-':
		p.value(value)
	}
}

// member handles "name": value in JSON, in JSON inside a JSON string, and in
// what Python prints, and "--name", "value" in a list of arguments.
func (p *pairs) member(quote int) {
	q, ok := quoteAt(p.s, quote)
	if !ok {
		return
	}
	end := quote + 1 + indexAny(p.s[quote+1:min(quote+1+maxKey, len(p.s))], "\"'\n")
	if p.at(end) != q.char || backslashes(p.s[quote+1:end]) != q.depth {
		return
	}
	name := p.s[quote+1 : end-q.depth]
	if hasMask(name) {
		return // no name, and what was masked in it must not decide anything
	}
	next := skipSpace(p.s, end+1)
	switch {
	case p.at(next) == ':' && p.secretHeader(name):
		p.memberValue(skipSpace(p.s, next+1), q)
	case p.at(next) == ',' && isOptionName(name) && p.secretOption(name):
		value := skipSpace(p.s, next+1)
		if o, ok := p.opening(value); ok && p.at(o+1) != '-' {
			p.value(value)
		}
	}
}

func (p *pairs) memberValue(from int, name quote) {
	switch c := p.at(from); {
	case c == '[' || c == '{' && p.deep:
		p.tree(from)
	case c == '{':
		// left to the members in it
	default:
		if end := numberEnd(p.s, from); end > from {
			p.secret(span{from, end}, name.String()) // quoted, so that JSON stays JSON
			return
		}
		p.value(from)
	}
}

// numberEnd is where the number ends that starts at from, or from if there is
// none or more than a number.
func numberEnd(s string, from int) int {
	end := from
	for end < len(s) && (isDigit(s[end]) || strings.IndexByte("+-.eE", s[end]) >= 0) {
		end++
	}
	if end == len(s) || isSpace(s[end]) || strings.IndexByte(",]}", s[end]) >= 0 {
		return end
	}
	return from
}

// tree masks all strings that are values below the bracket at from. It ends
// with the bracket's partner, or where the text is no JSON any more.
func (p *pairs) tree(from int) {
	level := 0
	for p.i = from; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == '[' || c == '{':
			level++
		case c == ']' || c == '}':
			level--
		case c == '"' || c == '\'':
			p.leaf(p.i)
		case !isLetter(c) && !isDigit(c) && !isSpace(c) && strings.IndexByte(`:,+-.\`, c) < 0:
			return
		}
		if level == 0 {
			p.i++
			return
		}
	}
}

// leaf masks the string that opens at i, unless it is the name of a member.
func (p *pairs) leaf(i int) {
	q, ok := quoteAt(p.s, i)
	if !ok {
		return
	}
	end, next := q.find(p.s, i+1)
	if p.at(skipSpace(p.s, next)) != ':' {
		p.secret(span{i + 1, end}, "")
	}
	p.i = next - 1
}

// value masks the value at from: what is inside the quotes when it is quoted,
// else up to what ends a word, without the punctuation that closes it.
func (p *pairs) value(from int) {
	if open, ok := p.opening(from); ok {
		q, _ := quoteAt(p.s, open)
		end, next := q.find(p.s, open+1)
		from = open + 1 + p.schemeLen(p.s[open+1:end])
		p.secret(span{from, end}, "")
		p.i = max(p.i, next)
		return
	}
	end, next := p.bareValue(from)
	p.secret(span{from, end}, "")
	p.i = max(p.i, next)
}

// bareValue is where a value without quotes ends, and where the text goes on.
func (p *pairs) bareValue(from int) (end, next int) {
	rest := p.s[from:]
	if strings.HasPrefix(rest, "$(") { // the shell's for what a command prints
		if n := strings.IndexAny(rest[:min(len(rest), maxCommand)], ")\r\n"); n >= 0 && rest[n] == ')' {
			return from + n + 1, from + n + 1
		}
	}
	run := rest[:indexAny(rest, " \t\r\n\"'`;&<>|")]
	return from + len(strings.TrimRight(run, `\,.:)]}`)), from + len(run)
}

// secret masks a span unless what stands there gives nothing away.
func (p *pairs) secret(at span, around string) {
	if at.from < at.to && !p.harmlessValue(p.s[at.from:at.to]) {
		p.replace(at, around+p.mask.of(p.s[at.from:at.to])+around)
		p.i = max(p.i, at.to)
	}
}

// opening is where the quote is that opens at from, behind its backslashes.
func (p *pairs) opening(from int) (int, bool) {
	i := from
	for p.at(i) == '\\' {
		i++
	}
	if c := p.at(i); c != '"' && c != '\'' {
		return 0, false
	}
	_, ok := quoteAt(p.s, i)
	return i, ok
}

// nameBefore is where the name starts that ends before end.
func (p *pairs) nameBefore(end int) int {
	from := end
	for from > p.done && end-from < maxName && isNameByte(p.s[from-1]) {
		from--
	}
	return from
}

// at is the byte at i, or 0 behind the end.
func (p *pairs) at(i int) byte {
	if i < len(p.s) {
		return p.s[i]
	}
	return 0
}

// quote is a quotation mark that opens a string, and how many backslashes
// stand before it and before its partner: none in JSON, 1 in JSON inside a
// JSON string, 3 one deeper, and so on.
type quote struct {
	char  byte
	depth int
}

func quoteAt(s string, i int) (quote, bool) {
	n := backslashes(s[max(0, i-8):i])
	return quote{s[i], n}, n == 0 || n == 1 || n == 3 || n == 7
}

func (q quote) String() string { return strings.Repeat(`\`, q.depth) + string(q.char) }

// find returns where the string ends that starts at from, and where the text
// goes on. A string that the text or the string around it cuts off ends there.
func (q quote) find(s string, from int) (end, next int) {
	for i := from; i < len(s); i++ {
		if s[i] != q.char {
			continue
		}
		n := backslashes(s[max(from, i-64):i])
		if n < q.depth {
			return i - n, i
		}
		if n%(2*(q.depth+1)) == q.depth {
			return i - q.depth, i + 1
		}
	}
	return len(s), len(s)
}

// backslashes is how many of them s ends in.
func backslashes(s string) int {
	return len(s) - len(strings.TrimRight(s, `\`))
}

func isOptionName(s string) bool { return len(s) > 1 && s[0] == '-' }
func isBlank(c byte) bool        { return c == ' ' || c == '\t' }
func isSpace(c byte) bool        { return isBlank(c) || c == '\r' || c == '\n' }

func skipBlanks(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

func skipSpace(s string, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}
