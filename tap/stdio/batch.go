package stdio

import "strings"

// batchCommandLine is the command line that makes cmd.exe run a batch file with
// exactly these arguments. cmd.exe reads the line before the batch file does, so
// what it takes for syntax is escaped with carets, after the quoting that the
// program behind the batch file undoes. This is where npx.cmd and its like break
// arguments with spaces, quotes or percent signs.
func batchCommandLine(path string, args []string) string {
	var b strings.Builder
	b.WriteString(`cmd.exe /d /s /c "`)
	b.WriteString(caret(quote(path)))
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(caret(quote(a)))
	}
	b.WriteByte('"')
	return b.String()
}

// quote puts an argument into quotation marks as the Microsoft C runtime reads
// them: backslashes count only before a quotation mark.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(s[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
	return b.String()
}

func caret(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`()[]%!^"`+"`<>&|;, *?", s[i]) >= 0 {
			b.WriteByte('^')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
