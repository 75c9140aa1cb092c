package decode

import "regexp"

// PlainError says what a tap kept of an error of the network in words that ask for no
// knowledge of Go. What it does not know it leaves as it is.
func PlainError(s string) string {
	if s == "" {
		return ""
	}
	for _, w := range goWords {
		s = w.from.ReplaceAllString(s, w.to)
	}
	return s
}

// goWords are errors of Go's libraries and of the system (net, io, syscall, compress),
// the longer before those that are a part of them.
var goWords = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\bhttp: proxy error: |\b(?:net/)?http: |\bHTTP/1\.x transport connection broken: |\b(?:gzip|zlib|flate|brotli): `), ""},
	{regexp.MustCompile(`\b(?:read|write) tcp \S+->\S+: (?:read: |write: )?`), ""},
	{regexp.MustCompile(`\bdial tcp (\S+): (?:connect: )?connection refused`), "$1 refused the connection"},
	{regexp.MustCompile(`\bdial tcp(?: \S+)?: lookup (\S+?)(?: on \S+)?: no such host`), "the name $1 is not known"},
	{regexp.MustCompile(`\bdial tcp (\S+): (?:connect: )?`), "connecting to $1: "},
	{regexp.MustCompile(`( encoding of the body): (?:decoding the body: )?(?:the encoded body was cut off|unexpected EOF|EOF)`), "$1: it was cut off"},
	{regexp.MustCompile(`( encoding of the body): decoding the body: `), "$1: "},
	{regexp.MustCompile(`( encoding of the body): invalid header`), "$1: it is none"},
	{regexp.MustCompile(`\binvalid checksum\b`), "the checksum is wrong"},
	{regexp.MustCompile(`\bunexpected EOF\b`), "the connection ended in the middle"},
	{regexp.MustCompile(`\bEOF\b`), "the connection was closed"},
	{regexp.MustCompile(`\bconnection reset by peer\b`), "the connection was reset"},
	{regexp.MustCompile(`\bbroken pipe\b`), "the connection was closed"},
	{regexp.MustCompile(`\bcontext canceled\b`), "it was given up"},
	{regexp.MustCompile(`\b(?:context deadline exceeded|i/o timeout)\b`), "it took too long"},
}
