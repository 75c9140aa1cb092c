package tokens

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// Basis is where a count comes from.
type Basis string

// The bases.
const (
	Estimated Basis = "estimated" // by rules: not Claude's tokenizer
	Counted   Basis = "counted"   // by Anthropic: a usage or count_tokens
	Mixed     Basis = "mixed"     // a sum of both
)

// A Count is a number of tokens: the likely one, and the range it is taken to lie
// in. It prints itself with ~ and the range unless all of it was counted by
// Anthropic, whatever the verb, so that an estimate can't be taken for a
// measurement by accident. The zero Count is nothing, exactly.
type Count struct {
	low, mid, high float64
	basis          Basis
	reason         string
}

// Exact is a count that Anthropic made. source says how, such as "count_tokens".
func Exact(n int, source string) Count {
	f := float64(n)
	return Count{f, f, f, Counted, source}
}

// Between is an estimate made elsewhere. The bounds are put in order.
func Between(low, mid, high float64, reason string) Count {
	mid = finite(mid)
	return Count{min(finite(low), mid), mid, max(finite(high), mid), Estimated, reason}
}

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// Bounds gives the range and what lies in it, in tokens, to reckon with. To show
// a count, print it.
func (c Count) Bounds() (low, mid, high float64) { return c.low, c.mid, c.high }

// Basis says where the count comes from.
func (c Count) Basis() Basis {
	if c.basis == "" {
		return Counted
	}
	return c.basis
}

// Reason says why it is believed, and what its range rests on.
func (c Count) Reason() string { return c.reason }

// IsZero reports whether there is nothing.
func (c Count) IsZero() bool { return c.low == 0 && c.mid == 0 && c.high == 0 }

// Plus adds two counts. The ranges add up too: errors of one estimator go the
// same way.
func (c Count) Plus(d Count) Count {
	return Count{c.low + d.low, c.mid + d.mid, c.high + d.high, c.blend(d), c.reasons(d)}
}

// Minus takes a part away from a whole that holds it: what is left has the range
// of both, since nobody knows which of them erred. Less than nothing is possible.
func (c Count) Minus(d Count) Count {
	return Count{c.low - d.high, c.mid - d.mid, c.high - d.low, c.blend(d), c.reasons(d)}
}

// Times is the same count n times over, as on n requests.
func (c Count) Times(n int) Count {
	f := float64(n)
	c.low, c.mid, c.high = c.low*f, c.mid*f, c.high*f
	return c
}

// Sum adds counts up.
func Sum(counts ...Count) (sum Count) {
	for _, c := range counts {
		sum = sum.Plus(c)
	}
	return sum
}

func (c Count) blend(d Count) Basis {
	switch {
	case d.IsZero(), c.basis == d.basis:
		return c.basis
	case c.IsZero():
		return d.basis
	}
	return Mixed
}

// maxReason bounds the reasons of a sum.
const maxReason = 1000

func (c Count) reasons(d Count) string {
	switch {
	case d.IsZero() && c.reason != "", d.reason == "", strings.Contains(c.reason, d.reason), len(c.reason)+len(d.reason) > maxReason:
		return c.reason
	case c.reason == "" || strings.Contains(d.reason, c.reason):
		return d.reason
	}
	all := strings.Split(c.reason, "; ")
	for part := range strings.SplitSeq(d.reason, "; ") {
		if !slices.Contains(all, part) {
			all = append(all, part)
		}
	}
	return strings.Join(all, "; ")
}

// String gives "~1,200 (1,000-1,400)" for an estimate, "1,234" for what was
// counted.
func (c Count) String() string {
	if c.Basis() == Counted {
		return whole(c.mid)
	}
	return c.Short() + " (" + c.Range() + ")"
}

// Range gives "1,000-1,400", or "-20 to 300"; nothing for what was counted.
func (c Count) Range() string {
	switch {
	case c.Basis() == Counted:
		return ""
	case c.low < 0:
		return rounded(c.low) + " to " + rounded(c.high)
	}
	return rounded(c.low) + "-" + rounded(c.high)
}

// Short leaves the range away, not the ~. It is for cells of a table where the
// range or the size of the error stands beside it.
func (c Count) Short() string {
	if c.Basis() == Counted {
		return whole(c.mid)
	}
	return "~" + rounded(c.mid)
}

// Format writes String, whatever the verb, at the width that is asked for.
func (c Count) Format(f fmt.State, _ rune) {
	s := c.String()
	if w, ok := f.Width(); ok {
		pad := strings.Repeat(" ", max(0, w-len(s)))
		if f.Flag('-') {
			s += pad
		} else {
			s = pad + s
		}
	}
	_, _ = f.Write([]byte(s))
}

// MarshalJSON writes low, mid, high (whole tokens), basis and reason.
func (c Count) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Low    int64  `json:"low"`
		Mid    int64  `json:"mid"`
		High   int64  `json:"high"`
		Basis  Basis  `json:"basis"`
		Reason string `json:"reason,omitempty"`
	}{int64(math.Round(c.low)), int64(math.Round(c.mid)), int64(math.Round(c.high)), c.Basis(), c.reason})
}

func whole(f float64) string { return humanize.Comma(int64(math.Round(f))) }

// rounded gives two significant digits from a thousand on: more would be invented.
func rounded(f float64) string {
	if math.Abs(f) < 1000 {
		return whole(f)
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(f)))-1)
	return whole(math.Round(f/unit) * unit)
}
