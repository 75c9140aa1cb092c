package copytext

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

// ErrZero is the error of a word that no shell can take: the end of a word is a zero byte.
var ErrZero = errors.New("it has a zero byte, which no word of a shell command can have")

// Quote writes a word for a shell: plain if it can be, else in single quotes. A line
// end stands in them as it is; what must not reach a terminal is left to printf, since
// $'…' is not known to every sh.
func Quote(word string) (string, error) {
	switch {
	case strings.IndexByte(word, 0) >= 0:
		return "", ErrZero
	case word == "":
		return "''", nil
	case strings.Trim(word, plainBytes) == "":
		return word, nil
	}
	var s strings.Builder
	for len(word) > 0 {
		n := span(word, quotable)
		if n > 0 {
			s.WriteString("'" + strings.ReplaceAll(word[:n], "'", `'\''`) + "'")
		}
		hidden := word[n:]
		hidden = hidden[:span(hidden, func(char string) bool { return !quotable(char) })]
		if hidden != "" { // no line end among it, which $(…) would take away
			s.WriteString(`"$(printf '`)
			octal(&s, hidden, `\`, nil)
			s.WriteString(`')"`)
		}
		word = word[n+len(hidden):]
	}
	return s.String(), nil
}

// quotable reports a character that can stand in single quotes as it is.
func quotable(char string) bool { return char == "\n" || oneLine(char) }

// span is how many bytes the characters of a text take up to the first that is not such.
func span(text string, such func(char string) bool) (n int) {
	for n < len(text) {
		_, size := utf8.DecodeRuneInString(text[n:])
		if !such(text[n : n+size]) {
			break
		}
		n += size
	}
	return n
}

// plainBytes mean nothing to a shell.
const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-"

// oneLine reports text of which all can be seen, and that has no line end or tab.
func oneLine(s string) bool { return !strings.ContainsAny(s, "\n\t\r") && clean([]byte(s)) }

// octal writes text with what can't be seen in octal, and some bytes otherwise. Three
// digits end an escape whatever follows.
func octal(s *strings.Builder, text, escape string, otherwise map[byte]string) {
	for len(text) > 0 {
		_, n := utf8.DecodeRuneInString(text)
		char := text[:n]
		text = text[n:]
		switch o := otherwise[char[0]]; {
		case n == 1 && o != "":
			s.WriteString(o)
		case oneLine(char):
			s.WriteString(char)
		default:
			for i := range len(char) {
				fmt.Fprintf(s, `%s%03o`, escape, char[i])
			}
		}
	}
}

// Print is a command that prints lines, each with a line end. Any bytes can be printed.
func Print(lines ...string) string {
	format, words := `%s\n`, make([]string, len(lines))
	for _, l := range lines {
		if !oneLine(l) {
			format = `%b\n`
		}
	}
	for i, l := range lines {
		if format != `%s\n` {
			l = percentB(l)
		}
		words[i] = "'" + strings.ReplaceAll(l, "'", `'\''`) + "'"
	}
	return "printf '" + format + "' " + strings.Join(words, " ")
}

// percentB writes text so that printf's %b prints it.
func percentB(text string) string {
	var s strings.Builder
	octal(&s, text, `\0`, map[byte]string{'\\': `\\`})
	return s.String()
}

// Pipe is a command that starts a server in its folder and sends it lines. cwd may be "".
func Pipe(lines []string, cwd string, command []string) (string, error) {
	words, err := quoteAll(command)
	if err != nil {
		return "", fmt.Errorf("the server's command line: %w", err)
	}
	if len(words) == 0 {
		return "", errors.New("the recording does not say how the server was started")
	}
	pipe := Print(lines...) + " | " + strings.Join(words, " ")
	if cwd == "" {
		return pipe, nil
	}
	dir, err := Quote(cwd)
	if err != nil {
		return "", fmt.Errorf("the server's folder: %w", err)
	}
	return "cd -- " + dir + " && " + pipe, nil
}

func quoteAll(words []string) ([]string, error) {
	out := make([]string, len(words))
	for i, w := range words {
		q, err := Quote(w)
		if err != nil {
			return nil, err
		}
		out[i] = q
	}
	if len(out) > 0 && out[0] == words[0] && (reserved[out[0]] || strings.Contains(out[0], "=")) { // it would be syntax, or set a variable
		out[0] = "'" + out[0] + "'"
	}
	return out, nil
}

// reserved are words that are syntax where a command begins.
var reserved = map[string]bool{"if": true, "then": true, "else": true, "elif": true, "fi": true, "do": true, "done": true, "case": true, "esac": true, "while": true, "until": true, "for": true, "in": true, "function": true, "select": true, "time": true, "coproc": true}

// An HTTP is a request of HTTP to be sent again.
type HTTP struct {
	Method, URL string
	Headers     [][2]string
	Body        []byte // nil: none
}

// unsent are headers that curl makes by itself, or that belong to a connection.
var unsent = map[string]bool{"host": true, "content-length": true, "connection": true, "accept-encoding": true, "transfer-encoding": true, "content-encoding": true, "te": true, "keep-alive": true, "upgrade": true, "expect": true}

// token is the name of a header as HTTP has it. Curl would take others for its own, as it
// does with the name of a file after an at sign.
var token = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// Curl is the curl command that sends the request.
func Curl(h HTTP) (string, error) {
	words := []string{"curl", "-sgN"} // no globs in the URL, no waiting for a full buffer
	if h.Method != http.MethodGet || h.Body != nil {
		words = append(words, "-X", h.Method)
	}
	for _, header := range h.Headers {
		if !token.MatchString(header[0]) || unsent[strings.ToLower(header[0])] || strings.HasPrefix(strings.ToLower(header[0]), "sec-fetch-") {
			continue
		}
		line := header[0] + ": " + header[1]
		if header[1] == "" { // curl takes the header out if nothing follows the colon
			line = header[0] + ";"
		}
		words = append(words, "-H", line)
	}
	inline := strings.IndexByte(string(h.Body), 0) < 0
	if h.Body != nil && inline {
		words = append(words, "--data-raw", string(h.Body))
	} else if h.Body != nil {
		words = append(words, "--data-binary", "@-")
	}
	quoted, err := quoteAll(append(words, "--url", h.URL))
	if err != nil {
		return "", fmt.Errorf("the request: %w", err)
	}
	command := strings.Join(quoted, " ")
	if inline {
		return command, nil
	}
	return "printf '%b' '" + strings.ReplaceAll(percentB(string(h.Body)), "'", `'\''`) + "' | " + command, nil
}
