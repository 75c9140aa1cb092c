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

// TestHostsAgree: both tables know a host by the same names that it gives itself.
func TestHostsAgree(t *testing.T) {
	n := 0
	for _, p := range apicheck.Profiles() {
		h, err := claude.Builtin().Get(p.Name)
		if err != nil {
			continue
		}
		n++
		a, b := slices.Sorted(slices.Values(p.Clients)), slices.Sorted(slices.Values(h.Detect.Clients))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: apicheck knows other clients than claude:\n%s", p.Name, diff)
		}
	}
	if n < 4 {
		t.Errorf("only %d hosts are in both tables", n)
	}
}

// TestRefuserOfAnyHost: a host without facts of its own is judged as the API, by the
// names that it makes.
func TestRefuserOfAnyHost(t *testing.T) {
	p, compose := refuser(nil, "bridge")
	if p.Name != "bridge" || compose == nil {
		t.Fatalf("%+v", p)
	}
	long := strings.Repeat("x", 130)
	if got := compose("my desk", long); got != "my_desk__"+long {
		t.Errorf("a name that is cut is judged as %q", got)
	}
	if p, compose := refuser(nil, "claude-code"); p.Name != "claude-code" || compose != nil {
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
