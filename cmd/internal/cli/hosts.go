package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/replay/apicheck"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/sessions"
)

// What --for takes besides the names of hosts.
const (
	hostAuto = "auto"
	hostNone = "none"
)

// hostNames is what --for takes: every host profile of request, and those of which
// only refusals are known. TestHostNames keeps it whole. It is no look into the data,
// since a tap that starts does not wait for them.
var hostNames = []string{
	hostAuto, hostNone,
	"claude-code", "claude-desktop", "mcp-connector", "sdk-helper", "bridge", "vscode", "cursor", "langchain", "generic",
	"api", "managed-agents", "ts-sdk",
}

// refuser is who refuses definitions, for --for.
func refuser(l *sessions.Loaded, id string) *apicheck.Profile {
	if p, ok := apicheck.Named(id); ok {
		return p
	}
	if h, err := claude.Builtin().Get(id); err == nil {
		return apicheck.For(h)
	}
	return apicheck.ProfileOf(clientOf(l)) // auto
}

// clientOf is what the client of a session calls itself.
func clientOf(l *sessions.Loaded) string {
	clients := l.Clients()
	if len(clients) == 0 {
		return ""
	}
	return clients[len(clients)-1].Name
}

// hostsMark is where the page on hosts has the list that is made of the data.
const hostsMark = "{hosts}"

// fillHosts puts the list of hosts into its help page, when somebody wants to read it.
func fillHosts(c *cobra.Command) {
	if strings.Contains(c.Long, hostsMark) {
		c.Long = strings.ReplaceAll(c.Long, hostsMark, strings.TrimSpace(hostsText(claude.Builtin())))
	}
}

// hostsText lists all hosts with what is known of them and on what evidence.
func hostsText(set *claude.Profiles) string {
	var b strings.Builder
	for i := range set.Profiles {
		h := &set.Profiles[i]
		fmt.Fprintf(&b, "%s: %s; confidence %s, as of %s\n", h.ID, h.Title, h.Confidence, h.Date)
		entry(&b, "names", nameWords(h))
		entry(&b, "definitions", loadingWords[h.Loading])
		entry(&b, "structured", structuredWords[h.Structured])
		entry(&b, "known by", strings.Join(append(h.Detect.Clients, h.Detect.Meta...), ", "))
		entry(&b, "evidence", h.Evidence)
		entry(&b, "assumed", strings.Join(h.Assumed, ", "))
		if p, ok := apicheck.Named(h.ID); ok {
			entry(&b, "check --for", fmt.Sprintf("%d facts about what it refuses, as of %s", len(p.Facts), apicheck.Date()))
		}
		b.WriteString("\n")
	}
	for _, p := range apicheck.Profiles() {
		if _, err := set.Get(p.Name); err == nil {
			continue
		}
		fmt.Fprintf(&b, "%s: %s; only for check --for\n", p.Name, p.Title)
		entry(&b, "check --for", fmt.Sprintf("%d facts about what it refuses, as of %s", len(p.Facts), apicheck.Date()))
		b.WriteString("\n")
	}
	return b.String()
}

// nameWords says how a host composes a name, and how long it may be.
func nameWords(h *claude.Profile) string {
	s := fmt.Sprintf("%s, up to %d characters", h.Name.Template, h.Name.Max)
	if h.Name.PairMax > 0 {
		s += fmt.Sprintf(", server and tool together up to %d", h.Name.PairMax)
	}
	return s
}

var loadingWords = map[string]string{
	claude.LoadUpfront:        "all in every request",
	claude.LoadDeferredNames:  "names in every request, definitions when a search finds them",
	claude.LoadDeferredHidden: "when a search finds them",
}

var structuredWords = map[string]string{
	"prefer":   "structuredContent in place of the text",
	"if_empty": "structuredContent only if there is no content",
	"both":     "text and structuredContent",
	"ignore":   "text only",
}

// entry writes a line of a list, and goes on below where it is long.
func entry(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	const indent = 18
	lines := strings.Split(ansi.Wordwrap(text, 84-indent, ""), "\n")
	fmt.Fprintf(b, "    %-*s%s\n", indent-4, name, lines[0])
	for _, l := range lines[1:] {
		b.WriteString(strings.Repeat(" ", indent) + l + "\n")
	}
}
