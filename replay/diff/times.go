package diff

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Times compares how long the server took for one kind of operation, or for all.
type Times struct {
	Method, Name string // empty: all operations that both have, see [Times.All]
	CountA       int
	CountB       int
	A, B         time.Duration // medians
	// Changed says that the difference is none that chance, or the session's own
	// noise, explains.
	Changed bool
	How     string  // what that rests on
	P       float64 // of a test: how likely chance alone does as much; else 1
}

// All reports the comparison of all operations together: load on a machine moves them
// as a slower server does.
func (t *Times) All() bool { return t.Method == "" }

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
	testFrom    = 5                     // measurements of either side, for a rank test
	pairsFrom   = 10                    // pairs, for a signed-rank test
	noiseFrom   = 6                     // pairs, to know a session's noise
	outlierFrom = 8                     // times the noise, for what was measured too seldom
	outlierMin  = 2                     // times as long, at least
	outlierAbs  = 50 * time.Millisecond // more than a collector's or a scheduler's pause
)

// timed is one kind of operation.
type timed struct {
	Times
	a, b  []float64 // nanoseconds
	usual float64   // by which factor the other kinds differ
	alone bool      // there are no other kinds to tell load by
}

// times compares latencies: of kinds that were measured often enough by a rank-sum
// test, of the others by how far they lie outside what the pairs of the session vary
// by. Both go by what the other kinds did: a busy machine, or another transport, moves
// all of them at once, and two sessions can't tell that from a slower server. So what
// all pairs did together is told apart, as a signed-rank test finds it.
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
			others, known := othersFactor(g, groups, len(pairs), &noise)
			g.usual, g.alone = math.Exp(others), !known
			g.P = rankSum(g.a, scaled(g.b, 1/g.usual))
			tests = append(tests, g)
			continue
		}
		g.How = "too few measurements for a test"
		if noise.known {
			g.Changed = noise.outside(g.A, g.B)
			g.How = "few measurements, but far outside what the other calls vary by"
		}
	}
	holm(tests)
	for _, g := range groups {
		w.d.Times = append(w.d.Times, g.Times)
	}
}

// othersFactor is by which factor, as a logarithm, kinds other than this one differ, if
// there are enough of them to know. A kind that is few of the pairs hardly moves their
// median.
func othersFactor(g *timed, groups []*timed, pairs int, n *noise) (factorOfOthers float64, known bool) {
	if 3*len(g.a) < pairs {
		return n.factor, true
	}
	var factors []float64
	for _, o := range groups {
		for i := range o.a {
			if o != g {
				factors = append(factors, factor(o.a[i], o.b[i]))
			}
		}
	}
	if len(factors) < noiseFrom {
		return 0, false
	}
	return middle(factors), true
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] * by
	}
	return out
}

// measure gathers the latencies of the operations that both have: by kind, and pair
// by pair.
func (w *work) measure() (groups []*timed, pairs [][2]float64) {
	by := map[[2]string]*timed{}
	for i := range w.d.Rows {
		r := &w.d.Rows[i]
		if r.Kind != RowOperation || !r.SameWork() || r.A.Took < 0 || r.B.Took < 0 || w.a.startsUp(r.A) || w.b.startsUp(r.B) {
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

// startsUp reports an operation that waited for its server to start: the first one of
// a session that another process was probed for.
func (s *source) startsUp(p *Part) bool {
	return s != nil && p.Call == 0 && s.eras.NoOpening
}

// holm decides on several tests together, so that many of them don't find something
// by their number (Holm, 1979).
func holm(tests []*timed) {
	slices.SortFunc(tests, func(x, y *timed) int { return cmp.Compare(x.P, y.P) })
	stands := true
	for i, g := range tests {
		g.How = "rank-sum test"
		if g.alone {
			g.How += "; too few other operations to tell load from it"
		}
		stands = stands && g.P*float64(len(tests)-i) < alpha
		g.Changed = stands && material(g.A, g.B) && material(g.A, time.Duration(float64(g.B)/g.usual))
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
