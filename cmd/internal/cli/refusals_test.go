package cli

import (
	"slices"
	"testing"

	"github.com/mcptap/mcptap/replay/apicheck"
)

func TestHostNames(t *testing.T) {
	want := []string{hostAuto, hostNone}
	for _, p := range apicheck.Profiles() {
		want = append(want, p.Name)
	}
	if !slices.Equal(hostNames, want) {
		t.Errorf("--for takes %q, and there are %q", hostNames, want)
	}
}
