package diff

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestRankSum(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		// Two of the 252 choices of five ranks lie that far out.
		{"apart", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252},
		{"one value", []float64{4, 4, 4, 4, 4}, []float64{4, 4, 4, 4, 4}, 1},
		// Sums of 2 ranks of 4: 3, 4, 5, 5, 6, 7; {1,3} has 4, so 3, 4, 6 and 7 count.
		{"two and two", []float64{1, 3}, []float64{2, 4}, 4.0 / 6},
		// The lower half of 1..100 against the upper: far beyond any doubt.
		{"many", row(0, 50), row(50, 100), 7.1e-18},
	} {
		got, swapped := rankSum(c.a, c.b), rankSum(c.b, c.a)
		if math.Abs(got-c.want) > 0.02*c.want || math.Abs(got-swapped) > 1e-12 {
			t.Errorf("%s: %v and %v swapped, want %v", c.name, got, swapped, c.want)
		}
	}
}

func row(from, to int) (v []float64) {
	for i := from; i < to; i++ {
		v = append(v, float64(i))
	}
	return v
}

// TestRankSumExactAndNormal: near the size where counting gives way to the normal
// distribution, the two agree.
func TestRankSumExactAndNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		a, b := sample(r, 20, 1), sample(r, 20, 1.4)
		exact := rankSum(a, b)
		approximate := rankSum(append(a, a...), append(b, b...)) // beyond counting; other data, so only its range is checked
		if exact < 0 || exact > 1+1e-9 || approximate < 0 || approximate > 1 {
			t.Fatalf("%v, %v", exact, approximate)
		}
		if approximate > exact+1e-9 && exact < 0.5 {
			t.Errorf("twice the data is less certain: %v, then %v", exact, approximate)
		}
	}
}

// sample gives latencies as they come: many short ones and a long tail.
func sample(r *rand.Rand, n int, factor float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = factor * float64(2*time.Millisecond) * math.Exp(0.4*r.NormFloat64())
	}
	return v
}

// rowsOf makes rows of kinds with the samples that draw gives.
func rowsOf(kinds, times int, draw func(kind int, onB bool) float64) []Row {
	var rows []Row
	for k := range kinds {
		for range times {
			rows = append(rows, Row{
				Method: "tools/call", Name: itoa(k),
				A: &Part{Took: time.Duration(draw(k, false))}, B: &Part{Took: time.Duration(draw(k, true))},
			})
		}
	}
	return rows
}

func changedTimes(rows []Row) (names []string) {
	w := &work{d: &Diff{Rows: rows}}
	w.times()
	for _, t := range w.d.Times {
		if t.Changed {
			names = append(names, t.Name)
		}
	}
	return names
}

// TestNoiseIsNoChange: two sessions of one server, drawn over and over: at most a
// few in a hundred are told to differ in anything.
func TestNoiseIsNoChange(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const sessions = 400
	for _, times := range []int{1, 3, 5, 30} {
		wrong := 0
		for range sessions {
			if len(changedTimes(rowsOf(20, times, func(int, bool) float64 { return sample(r, 1, 1)[0] }))) > 0 {
				wrong++
			}
		}
		t.Logf("%d calls of each of 20 tools: %d of %d sessions told to differ", times, wrong, sessions)
		if wrong > sessions*3/100 {
			t.Errorf("%d calls of each tool: noise is called a change in %d of %d sessions", times, wrong, sessions)
		}
	}
}

// TestChangeIsFound: one tool of twenty takes three times as long.
func TestChangeIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const sessions = 100
	found := 0
	for range sessions {
		got := changedTimes(rowsOf(20, 20, func(k int, onB bool) float64 {
			if k == 7 && onB {
				return sample(r, 1, 3)[0]
			}
			return sample(r, 1, 1)[0]
		}))
		if len(got) == 1 && got[0] == "7" {
			found++
		}
	}
	t.Logf("found alone in %d of %d", found, sessions)
	if found < sessions*95/100 {
		t.Errorf("found in %d of %d sessions", found, sessions)
	}
}

// TestAllSlower: everything takes half as long again.
func TestAllSlower(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	rows := rowsOf(60, 1, func(_ int, onB bool) float64 {
		if onB {
			return sample(r, 1, 1.5)[0]
		}
		return sample(r, 1, 1)[0]
	})
	if got := changedTimes(rows); len(got) != 1 || got[0] != "" {
		t.Errorf("%v", got)
	}
}

// TestLoadIsNoChange: a machine that is three times as slow in one of the sessions
// makes no tool a slower one. What was so much slower among them is found.
func TestLoadIsNoChange(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, slow := range []string{"", "3"} {
		rows := rowsOf(8, 20, func(k int, onB bool) float64 {
			f := 1.0
			if onB {
				f = 3
			}
			if onB && itoa(k) == slow {
				f = 9
			}
			return sample(r, 1, f)[0]
		})
		var got []string
		for _, name := range changedTimes(rows) {
			if name != "" { // all together are slower
				got = append(got, name)
			}
		}
		if len(got) > 1 || len(got) == 1 && got[0] != slow || slow != "" && len(got) == 0 {
			t.Errorf("slow %q, found %v", slow, got)
		}
	}
}
