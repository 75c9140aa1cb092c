package claude

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxAPIName is the longest name of a tool that the API takes in practice; its
// documentation says 64.
const maxAPIName = 128

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// A Name is how a tool is called in a request, and what it took to get there.
type Name struct {
	Sent   string // as the model reads it
	Server string // the server's part before it was composed
	Tool   string // the tool's name on the wire; text from the outside
	// Whole is the name before it was cut; empty if it was not.
	Whole string
	// Refused is the name by the host's own rule, which the API does not take;
	// empty if it does.
	Refused string
	// Over says that the name is longer than the host allows, and that the host
	// leaves such tools out.
	Over bool
	// Pair says that it is the server's and the tool's part together that are too long.
	Pair bool
}

// Judged is the name that the API gets to judge: as the host composes it, also where
// that is refused.
func (n *Name) Judged() string {
	switch {
	case n.Refused != "":
		return n.Refused
	case n.Over && n.Whole != "":
		return n.Whole
	}
	return n.Sent
}

// serverParts gives what stands for each server in the names of its tools.
func (h *Profile) serverParts(names []string) []string {
	out := make([]string, len(names))
	taken := map[string]int{}
	before, _, _ := strings.Cut(h.Name.Template, "{server}")
	for i, n := range names {
		if h.Name.Lower {
			n = strings.ToLower(n)
		}
		n = h.clean(n)
		if h.Name.ServerMax > 0 {
			n = cut(n, h.Name.ServerMax-len(before))
		}
		taken[n]++
		if k := taken[n]; h.Name.Numbered && k > 1 && names[i] != firstOf(names, out, n) {
			n += strconv.Itoa(k)
		}
		out[i] = n
	}
	return out
}

// firstOf gives the server whose part was n first: two sessions of one server are
// one server.
func firstOf(names, parts []string, n string) string {
	for i, p := range parts {
		if p == n {
			return names[i]
		}
	}
	return ""
}

func (h *Profile) clean(s string) string {
	s = h.keep.ReplaceAllString(s, "_")
	for h.Name.Runs && strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	return s
}

// compose makes a tool's name.
func (h *Profile) compose(server, tool string) Name {
	n := Name{Server: server, Tool: tool}
	part := tool
	if !h.Name.ToolAsIs {
		part = notInNames.ReplaceAllString(tool, "_")
	}
	whole := strings.NewReplacer("{server}", server, "{tool}", part).Replace(h.Name.Template)
	n.Sent = notInNames.ReplaceAllString(whole, "_")
	if n.Sent != whole {
		n.Refused = whole
	}
	if n.Sent == "" {
		n.Sent = "_" // a call that names no tool
	}
	if len(n.Sent) > h.Name.Max {
		n.Whole, n.Over = n.Sent, h.Name.Over != overCut
		n.Sent = n.Sent[:h.Name.Max]
	}
	if most := h.Name.PairMax; most > 0 && utf8.RuneCountInString(server)+utf8.RuneCountInString(tool) > most {
		n.Over, n.Pair = true, true
	}
	return n
}

// Shown makes a name from the outside fit into a line for people: quoted if it is
// blank, cut if it is long.
func Shown(name string) string {
	const most = 100
	if strings.TrimSpace(name) == "" {
		return strconv.Quote(name)
	}
	if short := cut(name, most); short != name {
		return short + "…"
	}
	return name
}

// cut gives the first n characters of s, all of them if n is 0 or less.
func cut(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
