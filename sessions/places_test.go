package sessions

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestPlaces: what goes in comes out, however far apart the lines of a page are.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p places
		var want []place
		at := int64(0)
		jump := rapid.SampledFrom([]int64{0, 1, 200, 1 << 20, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1 << 40, -300})
		n := rapid.IntRange(0, 2*placesInPage+5).Draw(t, "frames")
		steps := rapid.SliceOfN(jump, 1, 20).Draw(t, "steps")
		for i := range n {
			w := place{at, max(0, steps[i%len(steps)])}
			p.add(w)
			want = append(want, w)
			at = max(0, at+steps[i*7%len(steps)])
		}
		for i, w := range want {
			if got := p.at(i); got != w {
				t.Fatalf("frame %d: %+v, was added as %+v", i, got, w)
			}
		}
		if p.has(n) || p.has(-1) || n > 0 && !p.has(n-1) {
			t.Fatalf("%d frames, and has says otherwise", n)
		}
	})
}
