package diff

import (
	"cmp"
	"math"
	"slices"
)

// ranked are values with their ranks, equal ones sharing theirs. Ranks are doubled,
// so that shared ones are whole numbers.
type ranked struct {
	ranks []int   // doubled, by place in the input
	ties  float64 // sum of t^3-t over groups of t equal values
}

func rank(v []float64) ranked {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(v[i], v[j]) })
	r := ranked{ranks: make([]int, len(v))}
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			r.ranks[i] = from + to + 1 // twice the mean of from+1..to
		}
		n := float64(to - from)
		r.ties += n*n*n - n
		from = to
	}
	return r
}

// exactUpTo is up to how many values a rank-sum test counts every arrangement.
const exactUpTo = 24

// rankSum is the two-sided p-value of the Mann-Whitney-Wilcoxon test: how likely two
// samples of one distribution have rank sums that far apart.
func rankSum(a, b []float64) float64 {
	r := rank(slices.Concat(a, b))
	sum := 0
	for _, x := range r.ranks[:len(a)] {
		sum += x
	}
	if len(a)+len(b) <= exactUpTo {
		return exactRankSum(r.ranks, len(a), sum)
	}
	n, m := float64(len(a)), float64(len(b))
	all := n + m
	variance := n * m / 12 * (all + 1 - r.ties/(all*(all-1)))
	return normal(float64(sum)/2-n*(all+1)/2, variance)
}

// exactRankSum counts the choices of n ranks whose sum lies at least as far from the
// middle.
func exactRankSum(ranks []int, n, sum int) float64 {
	total := 0
	for _, x := range ranks {
		total += x
	}
	ways := make([][]float64, n+1) // ways[k][s]: choices of k ranks with sum s
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, x := range ranks {
		for k := n; k > 0; k-- {
			for s := total; s >= x; s-- {
				ways[k][s] += ways[k-1][s-x]
			}
		}
	}
	// The middle is n*total/len; both sides of the comparison are times len.
	far := abs(sum*len(ranks) - n*total)
	extreme, all := 0.0, 0.0
	for s, c := range ways[n] {
		all += c
		if abs(s*len(ranks)-n*total) >= far {
			extreme += c
		}
	}
	return extreme / all
}

func abs(n int) int { return max(n, -n) }

// signedRank is the two-sided p-value of Wilcoxon's signed-rank test: how likely
// differences that are as often above zero as below come out that one-sided.
func signedRank(differences []float64) float64 {
	var sizes []float64
	var positive []bool
	for _, d := range differences {
		if d != 0 {
			sizes, positive = append(sizes, math.Abs(d)), append(positive, d > 0)
		}
	}
	r := rank(sizes)
	sum := 0
	for i, x := range r.ranks {
		if positive[i] {
			sum += x
		}
	}
	n := float64(len(sizes))
	return normal(float64(sum)/2-n*(n+1)/4, n*(n+1)*(2*n+1)/24-r.ties/48)
}

// normal is the two-sided p-value of a deviation under a normal distribution, with
// the correction for ranks being whole.
func normal(deviation, variance float64) float64 {
	if variance <= 0 {
		return 1
	}
	z := max(0, math.Abs(deviation)-0.5) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}
