// Package label finds a short name for a recorded session: the server's, as
// far as the command line that starts it tells.
//
// It promises that a label
//   - matches ^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$, has no ".." in it and is no
//     device name of Windows, so that it is safe as a part of a file's name
//     everywhere;
//   - is the same for the same command line: nothing else is looked at, no
//     file, no environment;
//   - holds no secret: secrets are masked before the search, and the value of
//     an option is taken only if the option is known to name what is run.
//
// How a launcher such as npx or docker says what it runs changes from release
// to release and is data: launchers.json, embedded, with the day it was true.
// It is read on first use. After an option that is not in it, only what looks like
// a server is taken for one, so what is new may cost a good label, not a secret.
//
// A label is a guess for people to recognise a session by. It must not be used
// to tell servers apart.
package label

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/mcptap/mcptap/sessions/redact"
)

const (
	maxLen   = 40
	fallback = "session"
)

// Guess returns a label for a session with the server that argv starts:
//
//	npx -y @scope/server-x@1.2          server-x
//	uvx tickets-server@2.1              tickets-server
//	node /a/acme-tickets/dist/index.js  acme-tickets
//	docker run -i host.example/a/b:1    b
//	sh -c 'exec node foo.js'            foo
//
// It is "session" when nothing is left to go by.
func Guess(argv []string) string {
	g := guess{table: launchers()}
	return Clean(g.name(g.run(redact.Command(argv), false)))
}

// Clean makes a label out of any text, such as one that a user gave.
func Clean(s string) string {
	label := spareDevice(trim(squeeze(s)))
	if label = trim(label[:min(len(label), maxLen)]); label == "" {
		return fallback
	}
	return label
}

// squeeze keeps what may be in a label. A dash stands for what was between two
// letters or digits.
func squeeze(s string) string {
	out := make([]byte, 0, maxLen)
	gap := false
	for i := 0; i < len(s) && len(out) < maxLen; i++ {
		c := s[i]
		if !isLabelByte(c) {
			gap = true
			continue
		}
		first := len(out) == 0
		if first && !isAlnum(c) || !first && c == '.' && out[len(out)-1] == '.' {
			continue
		}
		if gap && !first && isAlnum(c) && isAlnum(out[len(out)-1]) {
			out = append(out, '-')
		}
		gap = false
		out = append(out, c)
	}
	return string(out)
}

// trim takes away what a file's name should not end in.
func trim(s string) string { return strings.TrimRight(s, ".-") }

// spareDevice changes a name that is a device on Windows, with or without an
// extension.
func spareDevice(s string) string {
	base, _, _ := strings.Cut(s, ".")
	name := strings.ToUpper(base)
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN", "CONOUT":
	default:
		port := strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")
		if !port || len(name) != 4 || name[3] < '0' || name[3] > '9' {
			return s
		}
	}
	return base + "_" + s[len(base):]
}

func isLabelByte(c byte) bool {
	return isAlnum(c) || c == '.' || c == '_' || c == '-'
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// URL returns a label for a session with the server at u: its host, without what
// most hosts of such servers begin with, and the port if the host is this machine.
//
//	https://mcp.example.com/v1      example.com
//	http://127.0.0.1:3001/mcp       localhost-3001
func URL(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if addr, err := netip.ParseAddr(host); host == "localhost" || err == nil && addr.IsLoopback() {
		return Clean("localhost-" + u.Port())
	}
	for _, prefix := range []string{"mcp.", "www.", "api."} {
		if rest, ok := strings.CutPrefix(host, prefix); ok && strings.Contains(rest, ".") {
			host = rest
			break
		}
	}
	return Clean(host)
}
