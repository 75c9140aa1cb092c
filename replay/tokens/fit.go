package tokens

import (
	"errors"
	"fmt"
	"math"
)

// A Sample is a text of which both figures are at hand.
type Sample struct {
	Estimate Count
	Actual   int // tokens, counted by Anthropic
}

// A Factor corrects estimates by what was counted. The zero Factor does nothing.
type Factor struct {
	Value   float64 // actual / estimate
	Error   float64 // share by which a corrected sample was still off, at worst
	Samples int
	Tokens  int // counted, in all samples
}

// String is the line to show beside corrected figures.
func (f Factor) String() string {
	off := fmt.Sprintf("off by up to %.0f %%", f.Error*100)
	if f.Samples < fewSamples {
		off = "too few to say how far off it is: the ranges stay as wide as without"
	}
	return fmt.Sprintf("calibrated: x %.2f, from %d counted texts of %s tokens, %s", f.Value, f.Samples, whole(float64(f.Tokens)), off)
}

// tolerance is how far a corrected estimate may be off, by what the samples showed; few
// of them show nothing.
func (f Factor) tolerance(stated float64) float64 {
	if f.Samples < fewSamples {
		return stated
	}
	return min(f.Error, 1)
}

// Bounds of a factor that can come from the same text and the same tokenizer, and
// of what a few samples can promise.
const (
	maxFactor  = 3
	fewSamples = 5
	leastError = 0.02
)

// Fit finds the factor that makes estimates sum up to what was counted. The estimates
// must come from an estimator that is not calibrated. With fewer than five samples
// the stated error of an estimate stays, since nobody knows whether the next text is
// like them.
func Fit(samples []Sample) (Factor, error) {
	f := Factor{Samples: len(samples), Error: 1}
	var estimate float64
	for _, s := range samples {
		if s.Actual < 0 || s.Estimate.mid < 0 {
			return Factor{}, errors.New("calibrating the estimate: a sample has fewer than 0 tokens")
		}
		estimate += s.Estimate.mid
		f.Tokens += s.Actual
	}
	if estimate == 0 || f.Tokens == 0 {
		return Factor{}, errors.New("calibrating the estimate: there is nothing counted to go by")
	}
	f.Value = float64(f.Tokens) / estimate
	if f.Value > maxFactor || f.Value < 1.0/maxFactor {
		return Factor{}, fmt.Errorf("calibrating the estimate: counted is %.2f times the estimate; are both of the same texts and the same model?", f.Value)
	}
	if len(samples) >= fewSamples {
		f.Error = worst(samples, f.Value)
	}
	return f, nil
}

func worst(samples []Sample, factor float64) float64 {
	off := leastError
	for _, s := range samples {
		if s.Actual > 0 {
			off = max(off, math.Abs(s.Estimate.mid*factor/float64(s.Actual)-1))
		}
	}
	return off
}

// Calibrated gives an estimator that applies a factor. Its range is as wide as the
// samples were off. The preamble and framing are not touched: they are no estimates of
// a text.
func (e *Estimator) Calibrated(f Factor) *Estimator {
	c := *e
	c.factor = f
	c.why = e.why + ", " + f.String()
	return &c
}
