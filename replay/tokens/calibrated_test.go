package tokens

import (
	"math"
	"strings"
	"testing"
)

// TestCalibratedRange: what the samples showed is how far a corrected estimate may be
// off; a few of them show nothing.
func TestCalibratedRange(t *testing.T) {
	m, err := Default().Model("")
	if err != nil {
		t.Fatal(err)
	}
	e := Default().Estimator(m)
	const text = "words of a text of some length, to be estimated"
	for _, c := range []struct {
		factor Factor
		share  float64
		says   string
	}{
		{Factor{Value: 0.55, Error: 1, Samples: 4, Tokens: 100}, Default().Tolerance.Text, "too few to say how far off it is"},
		{Factor{Value: 0.55, Error: 0.8, Samples: 40, Tokens: 100}, 0.8, "off by up to 80 %"},
		{Factor{Value: 0.55, Error: 0.03, Samples: 40, Tokens: 100}, 0.03, "off by up to 3 %"},
		{Factor{Value: 0.55, Error: 3, Samples: 40, Tokens: 100}, 1, "off by up to 300 %"},
	} {
		low, mid, high := e.Calibrated(c.factor).Text(text).Bounds()
		if math.Abs((high-mid)/mid-c.share) > 1e-9 || math.Abs((mid-low)/mid-c.share) > 1e-9 {
			t.Errorf("%v: %v to %v around %v", c.factor, low, high, mid)
		}
		if !strings.Contains(c.factor.String(), c.says) {
			t.Errorf("it says %q, not %q", c.factor, c.says)
		}
	}
}
