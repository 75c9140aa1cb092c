package filter

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// compare is a comparison with a number.
type compare uint8

const (
	equal compare = iota
	less
	lessEqual
	greater
	greaterEqual
)

var compareSigns = [...]string{":", "<", "<=", ">", ">="}

func (c compare) holds(a, b int64) bool {
	switch c {
	case less:
		return a < b
	case lessEqual:
		return a <= b
	case greater:
		return a > b
	case greaterEqual:
		return a >= b
	}
	return a == b
}

// unitsOf are the units of a kind of number, and what each is in the unit that is
// compared: nanoseconds, bytes, ones.
var unitsOf = map[kindOf]map[string]float64{
	times: {
		"ns": 1, "us": float64(time.Microsecond), "µs": float64(time.Microsecond), "μs": float64(time.Microsecond),
		"ms": float64(time.Millisecond), "s": float64(time.Second), "m": float64(time.Minute), "min": float64(time.Minute), "h": float64(time.Hour),
	},
	sizes: {
		"": 1, "b": 1,
		"k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9,
		"ki": 1 << 10, "kib": 1 << 10, "mi": 1 << 20, "mib": 1 << 20, "gi": 1 << 30, "gib": 1 << 30,
	},
	numbers: {"": 1},
}

// readNumber reads a number with its unit.
func readNumber(f *Field, s string) (int64, bool) {
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && (s[end] == '-' || s[end] == '+')) {
		end++
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0, false
	}
	unit := strings.ToLower(s[end:])
	if unit == "" {
		unit = f.unit
	}
	by, ok := unitsOf[f.kind][unit]
	v = math.Round(v * by)
	if !ok || math.Abs(v) >= 1<<62 {
		return 0, false
	}
	return int64(v), true
}

// numberHint says what a field's numbers look like.
func numberHint(f *Field) string {
	switch f.kind {
	case times:
		return "write a number with us, ms, s or m after it, like " + f.Name + ">1.5s"
	case sizes:
		return "write a number, with k, M, KiB or MiB after it if you like, like " + f.Name + ">=4k"
	}
	return "write a number, like " + f.Name + ">3"
}
