package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/replay/apicheck"
	"github.com/mcptap/mcptap/replay/claude"
)

// TestHostNames: there is one list of hosts for all commands.
func TestHostNames(t *testing.T) {
	want := append([]string{hostAuto, hostNone}, claude.Builtin().IDs()...)
	for _, p := range apicheck.Profiles() {
		if !slices.Contains(want, p.Name) {
			want = append(want, p.Name)
		}
	}
	if diff := cmp.Diff(want, hostNames); diff != "" {
		t.Errorf("--for takes something else than there is:\n%s", diff)
	}
}

// TestRefuserOfAnyHost: a host without facts of its own is judged as the API, by the
// names that it makes.
func TestRefuserOfAnyHost(t *testing.T) {
	p := refuser(nil, "bridge")
	if p.Name != "bridge" || p.Compose("my desk", "x.y") != "my_desk__x_y" {
		t.Fatalf("%+v", p)
	}
	long := strings.Repeat("x", 130)
	if got := p.Compose("my desk", long); len(got) != 128 {
		t.Errorf("a name that is cut is judged as %q", got)
	}
	if p := refuser(nil, "claude-code"); p.Name != "claude-code" || p.Compose("s", long) != "mcp__s__"+long {
		t.Errorf("%+v", p)
	}
}

// TestHostsPage: the help page has every host and every word for what it does.
func TestHostsPage(t *testing.T) {
	text := hostsText(claude.Builtin())
	for _, name := range hostNames[2:] {
		if !strings.Contains(text, name+": ") {
			t.Errorf("the page has no %s", name)
		}
	}
	for _, h := range claude.Builtin().Profiles {
		if loadingWords[h.Loading] == "" || structuredWords[h.Structured] == "" {
			t.Errorf("%s: no words for %q, %q", h.ID, h.Loading, h.Structured)
		}
	}
}
