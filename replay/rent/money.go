package rent

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/mcptap/mcptap/replay/tokens"
)

// Money is an amount in USD that follows from a count of tokens, and has its range. It
// prints itself with ~ unless the tokens were counted.
type Money struct {
	low, mid, high float64
	known          bool
	exact          bool
}

// money is a count at a rate in USD per token.
func money(c tokens.Count, rate float64, known bool) Money {
	if !known {
		return Money{exact: true}
	}
	low, mid, high := c.Bounds()
	return Money{low * rate, mid * rate, high * rate, known, c.Basis() == tokens.Counted}
}

// plus adds two amounts; the zero Money is no amount, and adds nothing.
func (m Money) plus(n Money) Money {
	switch {
	case m == Money{}:
		return n
	case n == Money{}:
		return m
	}
	return Money{m.low + n.low, m.mid + n.mid, m.high + n.high, m.known && n.known, m.exact && n.exact}
}

// Bounds gives the range and what lies in it, in USD; known is false without a price.
func (m Money) Bounds() (low, mid, high float64, known bool) { return m.low, m.mid, m.high, m.known }

// String gives "~$0.25 ($0.21-$0.29)". Print the price table's date beside it.
func (m Money) String() string {
	switch {
	case !m.known:
		return "price not known"
	case m.exact:
		return dollars(m.mid)
	}
	return m.Short() + " (" + m.Range() + ")"
}

// Short leaves the range away, not the ~. It is for cells of a table where the range
// stands beside it.
func (m Money) Short() string {
	switch {
	case !m.known:
		return "not known"
	case m.exact:
		return dollars(m.mid)
	}
	return "~" + dollars(m.mid)
}

// Range gives "$0.21-$0.29"; nothing if the tokens were counted, or without a price.
func (m Money) Range() string {
	if !m.known || m.exact {
		return ""
	}
	return dollars(m.low) + "-" + dollars(m.high)
}

// dollars gives cents, or two significant digits of less.
func dollars(f float64) string {
	digits := 2
	if f != 0 && math.Abs(f) < 0.1 {
		digits = min(12, 1-int(math.Floor(math.Log10(math.Abs(f)))))
	}
	return "$" + strconv.FormatFloat(f, 'f', digits, 64)
}

// MarshalJSON writes null if no price is known.
func (m Money) MarshalJSON() ([]byte, error) {
	if !m.known {
		return []byte("null"), nil
	}
	return json.Marshal(struct {
		Low   float64 `json:"low"`
		Mid   float64 `json:"mid"`
		High  float64 `json:"high"`
		Exact bool    `json:"counted"`
	}{m.low, m.mid, m.high, m.exact})
}
