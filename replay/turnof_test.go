package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTurnOf: calls have the turn they are counted to, also once a session has grown.
func TestTurnOf(t *testing.T) {
	s := played()
	of := TurnOf(s.session())
	var got []int
	for c := range s.Calls() {
		got = append(got, of(c))
	}
	if diff := cmp.Diff([]int{0, 1, 2, 2, 0}, got); diff != "" { // listing, a call, two at once, listing
		t.Error(diff)
	}
	s.Answer(9100, s.Ask(9000, "late", "{}", ""), "x")
	if got := of(s.Calls() - 1); got != 3 {
		t.Errorf("the call that came later is of turn %d, want 3", got)
	}
}
