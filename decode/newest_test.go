package decode

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/tap"
)

// TestNewest: of each id the newest call is found, whatever ids look like, as a map by
// their spelling would.
func TestNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New(Options{})
		want := map[string]int{}
		id := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(-3, 300).Draw(t, "n")) }),
			rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("%q", fmt.Sprint(rapid.IntRange(0, 300).Draw(t, "s"))) }),
			rapid.Custom(func(t *rapid.T) string {
				return `"` + strings.Repeat("long", rapid.IntRange(60, 90).Draw(t, "long")) + `"`
			}),
			rapid.SampledFrom([]string{"1.0", "1e0", "123456789012345678901234567890", `""`, `"a\u0062"`}),
		)
		for _, raw := range rapid.SliceOfN(id, 0, 400).Draw(t, "ids") {
			s.Add(&tap.Frame{N: uint64(s.Len() + 1), Dir: tap.C2S, JSON: true, Body: []byte(`{"jsonrpc":"2.0","id":` + raw + `,"method":"ping"}`)})
			want[raw] = s.Calls() - 1
		}
		for raw, c := range want {
			if got, ok := s.find(lane{0, tap.C2S}, []byte(raw)); !ok || int(got) != c {
				t.Fatalf("id %s: call %d, %v, want %d", raw, got, ok, c)
			}
			if _, ok := s.find(lane{0, tap.S2C}, []byte(raw)); ok {
				t.Fatalf("id %s is found in the other direction", raw)
			}
		}
	})
}
