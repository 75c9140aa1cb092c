package diff

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// longest is how long a common subsequence there is, the slow way.
func longest(a, b []int) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// TestPropertyAlign: pairs are equal, in order, as many as there can be, and the
// same from both ends.
func TestPropertyAlign(t *testing.T) {
	keys := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 40)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := keys.Draw(rt, "a"), keys.Draw(rt, "b")
		got := align(a, b)
		last := pair{-1, -1}
		for _, p := range got {
			if a[p.a] != b[p.b] || p.a <= last.a || p.b <= last.b {
				rt.Fatalf("%v after %v", p, last)
			}
			last = p
		}
		if want := longest(a, b); len(got) != want {
			rt.Errorf("%d pairs, %d are possible: %v", len(got), want, got)
		}
		if d := cmp.Diff(got, swapped(align(b, a)), cmp.AllowUnexported(pair{}), cmpopts.EquateEmpty()); d != "" {
			rt.Error(d)
		}
	})
}

// shuffled gives n keys and the same with blocks of them in another order.
func shuffled(n, block, kinds int) (a, b []int) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		a = append(a, r.IntN(kinds))
	}
	b = slices.Clone(a)
	for part := range slices.Chunk(b, block) {
		r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	return a, b
}

// TestAlignFarApart: sequences that many edits lie between are aligned as well, only
// not always at best.
func TestAlignFarApart(t *testing.T) {
	for _, kinds := range []int{3, 1000, 1 << 30} {
		a, b := shuffled(5000, 10, kinds)
		got := align(a, b)
		if len(got) < 1000 {
			t.Errorf("%d kinds: %d pairs of %d", kinds, len(got), len(a))
		}
		last := pair{-1, -1}
		for _, p := range got {
			if a[p.a] != b[p.b] || p.a <= last.a || p.b <= last.b {
				t.Fatalf("%d kinds: %v after %v", kinds, p, last)
			}
			last = p
		}
	}
}

// TestAlignRepeated: of a long session that asks the same over and over, with many gaps,
// every call that is left finds its own.
func TestAlignRepeated(t *testing.T) {
	var a, b []int
	for i := range 50_000 {
		a = append(a, i%500)
		if i%97 != 0 {
			b = append(b, i%500)
		}
	}
	if got := align(a, b); len(got) != len(b) {
		t.Errorf("%d pairs of %d", len(got), len(b))
	}
}

// BenchmarkAlign tells whether the time grows with the length: ns/key should not
// change between the sizes.
func BenchmarkAlign(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, c := range []struct {
			name         string
			block, kinds int
		}{{"same", 1, 50}, {"parallel", 8, 50}, {"unlike", 100_000, 50}, {"unlike-unique", 100_000, 1 << 40}} {
			x, y := shuffled(n, c.block, c.kinds)
			b.Run(c.name+"/"+itoa(n), func(b *testing.B) {
				for range b.N {
					align(x, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
			})
		}
	}
}
