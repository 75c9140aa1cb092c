package stdio

import "testing"

// What the arguments become was worked out by hand from the two rules: the C
// runtime's for quotation marks and backslashes, and cmd.exe's for carets.
func TestBatchCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `cmd.exe /d /s /c "^"C:\npx.cmd^""`},
		{[]string{"-y", "pkg"}, `cmd.exe /d /s /c "^"C:\npx.cmd^" ^"-y^" ^"pkg^""`},
		{[]string{"a b"}, `cmd.exe /d /s /c "^"C:\npx.cmd^" ^"a^ b^""`},
		{[]string{`say "hi"`}, `cmd.exe /d /s /c "^"C:\npx.cmd^" ^"say^ \^"hi\^"^""`},
		{[]string{`C:\dir\`}, `cmd.exe /d /s /c "^"C:\npx.cmd^" ^"C:\dir\\^""`},
		{[]string{`\"`}, `cmd.exe /d /s /c "^"C:\npx.cmd^" ^"\\\^"^""`},
		{[]string{"100%", "a&b|c"}, `cmd.exe /d /s /c "^"C:\npx.cmd^" ^"100^%^" ^"a^&b^|c^""`},
		{[]string{""}, `cmd.exe /d /s /c "^"C:\npx.cmd^" ^"^""`},
	} {
		if got := batchCommandLine(`C:\npx.cmd`, c.args); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.args, got, c.want)
		}
	}
}
