package diff

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Times compares how long the server took for one kind of operation, or for all.
type Times struct {
	Method, Name string // empty: all operations that both have
	CountA       int
	CountB       int
	A, B         time.Duration // medians
	// Changed says that the difference is none that chance, or the session's own
	// noise, explains.
	Changed bool
	How     string  // what that rests on
	P       float64 // of a test: how likely chance alone does as much; else 1
}

// Ratio is how many times as long B took.
func (t *Times) Ratio() float64 {
	if t.A <= 0 {
		return math.Inf(1)
	}
	return float64(t.B) / float64(t.A)
}

// What a difference must come to, to be called one. One in a hundred comparisons of
// two sessions may call chance a change, however many operations they have.
const (
	alpha       = 0.01
	leastRatio  = 1.2
	leastShift  = 100 * time.Microsecond
	testFrom    = 5  // measurements of either side, for a rank test
	pairsFrom   = 10 // pairs, for a signed-rank test
	noiseFrom   = 6  // pairs, to know a session's noise
	outlierFrom = 8  // times the noise, for what was measured too seldom
	outlierMin  = 2  // times as long, at least
	outlierAbs  = 2 * time.Millisecond
)

// timed is one kind of operation.
type timed struct {
	Times
	a, b []float64 // nanoseconds
}

// times compares latencies: of kinds that were measured often enough by a rank-sum
// test, of the others by how far they lie outside what the pairs of the session vary
// by, and of all pairs by a signed-rank test.
func (w *work) times() {
	groups, pairs := w.measure()
	if all, ok := overall(pairs); ok {
		w.d.Times = append(w.d.Times, all)
	}
	noise := noiseOf(pairs)
	var tests []*timed
	for _, g := range groups {
		g.A, g.B = median(g.a), median(g.b)
		g.CountA, g.CountB, g.P = len(g.a), len(g.b), 1
		if min(len(g.a), len(g.b)) >= testFrom {
			g.P = rankSum(g.a, g.b)
			tests = append(tests, g)
			continue
		}
		g.How = "too few measurements for a test"
		if noise.known {
			g.Changed = noise.outside(g.A, g.B)
			g.How = "outside what the other calls vary by"
		}
	}
	holm(tests)
	for _, g := range groups {
		w.d.Times = append(w.d.Times, g.Times)
	}
}

// measure gathers the latencies of the operations that both have: by kind, and pair
// by pair.
func (w *work) measure() (groups []*timed, pairs [][2]float64) {
	by := map[[2]string]*timed{}
	for i := range w.d.Rows {
		r := &w.d.Rows[i]
		if r.Kind != RowOperation || !r.SameWork() || r.A.Took < 0 || r.B.Took < 0 {
			continue
		}
		k := [2]string{r.Method, r.Name}
		g := by[k]
		if g == nil {
			g = &timed{Times: Times{Method: r.Method, Name: r.Name}}
			by[k] = g
			groups = append(groups, g)
		}
		a, b := float64(r.A.Took), float64(r.B.Took)
		g.a, g.b = append(g.a, a), append(g.b, b)
		pairs = append(pairs, [2]float64{a, b})
	}
	return groups, pairs
}

// holm decides on several tests together, so that many of them don't find something
// by their number (Holm, 1979).
func holm(tests []*timed) {
	slices.SortFunc(tests, func(x, y *timed) int { return cmp.Compare(x.P, y.P) })
	stands := true
	for i, g := range tests {
		g.How = "rank-sum test"
		stands = stands && g.P*float64(len(tests)-i) < alpha
		g.Changed = stands && material(g.A, g.B)
	}
}

// material reports a difference large enough to matter to anybody.
func material(a, b time.Duration) bool {
	low, high := min(a, b), max(a, b)
	return high-low >= leastShift && float64(high) >= leastRatio*float64(low)
}

func median(v []float64) time.Duration { return time.Duration(middle(v)) }

func middle(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// noise is how much the pairs of two sessions differ as a rule: by which factor, and
// how widely factors and differences spread.
type noise struct {
	known          bool
	factor, spread float64 // logarithms
	shift, width   float64 // nanoseconds
}

// mad makes a median absolute deviation comparable with a standard deviation.
const mad = 1.4826

// leastSpread is what is taken for noise when pairs hardly differ.
const leastSpread = 0.05

func noiseOf(pairs [][2]float64) (n noise) {
	if len(pairs) < noiseFrom {
		return n
	}
	var factors, shifts []float64
	for _, p := range pairs {
		factors = append(factors, factor(p[0], p[1]))
		shifts = append(shifts, p[1]-p[0])
	}
	n.factor, n.spread = spreadOf(factors)
	n.shift, n.width = spreadOf(shifts)
	n.known, n.spread = true, max(n.spread, leastSpread)
	return n
}

// factor is the logarithm of b/a; what takes less than a microsecond counts as that.
func factor(a, b float64) float64 {
	return math.Log(max(b, float64(time.Microsecond)) / max(a, float64(time.Microsecond)))
}

func spreadOf(v []float64) (center, spread float64) {
	center = middle(v)
	away := make([]float64, len(v))
	for i, x := range v {
		away[i] = math.Abs(x - center)
	}
	return center, mad * middle(away)
}

// outside reports a pair that lies far outside the noise, as a factor and as a
// difference.
func (n *noise) outside(a, b time.Duration) bool {
	off := math.Abs(factor(float64(a), float64(b)) - n.factor)
	shift := math.Abs(float64(b-a) - n.shift)
	return off > math.Log(outlierMin) && off > outlierFrom*n.spread &&
		shift > float64(outlierAbs) && shift > outlierFrom*n.width
}

// overall compares all pairs.
func overall(pairs [][2]float64) (t Times, ok bool) {
	if len(pairs) < pairsFrom {
		return t, false
	}
	var a, b, factors []float64
	for _, p := range pairs {
		a, b, factors = append(a, p[0]), append(b, p[1]), append(factors, factor(p[0], p[1]))
	}
	t = Times{CountA: len(a), CountB: len(b), A: median(a), B: median(b), How: "signed-rank test", P: signedRank(factors)}
	typical := math.Abs(middle(factors))
	t.Changed = t.P < alpha && typical >= math.Log(leastRatio) && max(t.A, t.B)-min(t.A, t.B) >= leastShift
	return t, true
}
