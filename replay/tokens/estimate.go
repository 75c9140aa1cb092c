package tokens

import (
	"errors"
	"fmt"
)

// Units say how many units a run of characters is, before its family's weight.
type Units struct {
	WordShort       int     `json:"word_short"`        // letters: up to so many, a word is one unit
	WordMedium      int     `json:"word_medium"`       // letters: up to so many, word_medium_units
	WordMediumUnits float64 `json:"word_medium_units"` //
	WordLetters     float64 `json:"word_letters"`      // letters a unit, of longer words
	CapsLetters     float64 `json:"caps_letters"`      // letters a unit, of words in capitals
	PunctShort      int     `json:"punct_short"`       // characters: up to so many, a run is one unit
	PunctLength     float64 `json:"punct_length"`      // characters a unit, of longer runs
	OtherRune       float64 `json:"other_rune"`        // tokens of a character of another script
	Emoji           float64 `json:"emoji"`             // tokens of an emoji
	Source          string  `json:"source"`
}

func (u *Units) check() error {
	if u.WordShort < 1 || u.WordMedium < u.WordShort || u.PunctShort < 1 ||
		min(u.WordMediumUnits, u.WordLetters, u.CapsLetters, u.PunctLength, u.OtherRune, u.Emoji) <= 0 {
		return errors.New("units: all must be above 0, and word_medium not below word_short")
	}
	return nil
}

func (u *Units) word(letters int) float64 {
	switch {
	case letters <= u.WordShort:
		return 1
	case letters <= u.WordMedium:
		return u.WordMediumUnits
	}
	return float64(letters) / u.WordLetters
}

func (u *Units) punct(n int) float64 {
	if n <= u.PunctShort {
		return 1
	}
	return float64(n) / u.PunctLength
}

// A Family is a tokenizer that several models share: inside a family the counts
// are the same.
type Family struct {
	ID         string  `json:"id"`
	Since      string  `json:"since"`
	Weights    Weights `json:"weights"`
	OneMessage float64 `json:"one_message"` // tokens around the text of a request of one message
	Further    struct {
		Low  float64 `json:"low"`
		High float64 `json:"high"`
	} `json:"further_message"` // tokens around each further message
	Source string `json:"source"`
}

// Weights are tokens a unit.
type Weights struct {
	Word    float64 `json:"word"`
	Caps    float64 `json:"caps"`
	Digits  float64 `json:"digits"`
	Punct   float64 `json:"punct"`
	Newline float64 `json:"newline"`
	Space   float64 `json:"space"`
	Other   float64 `json:"other"`
}

func (f *Family) check() error {
	w := f.Weights
	if min(w.Word, w.Caps, w.Digits, w.Punct, w.Newline, w.Space, w.Other) <= 0 {
		return errors.New("every weight must be above 0")
	}
	if f.OneMessage < 0 || f.Further.Low < 0 || f.Further.High < f.Further.Low {
		return errors.New("one_message and further_message must not be below 0, nor high below low")
	}
	return nil
}

// An Estimator estimates for one model. It is made by [Table.Estimator] and may
// be used by several goroutines.
type Estimator struct {
	model  *Model
	family *Family
	units  *Units
	off    Tolerance
	factor Factor
	why    string
}

// Estimator gives the estimator of a model.
func (t *Table) Estimator(model *Model) *Estimator {
	e := &Estimator{model: model, family: t.family(model.Family), units: &t.Units, off: t.Tolerance}
	e.why = fmt.Sprintf("estimate, not Claude's tokenizer: runs of characters, weighed for the %s family as of %s", e.family.ID, t.AsOf)
	return e
}

// Model is whose tokens are estimated.
func (e *Estimator) Model() *Model { return e.model }

// Text estimates a text alone, without a message around it.
func (e *Estimator) Text(s string) Count { return e.one(scan(s, e.units)) }

// Bytes is Text for bytes; what is not UTF-8 counts like an unknown character.
func (e *Estimator) Bytes(b []byte) Count { return e.one(scan(b, e.units)) }

func (e *Estimator) one(r runs) Count { return e.count(r, e.off.Text) }

// many is one with the error of many texts: part of it cancels out.
func (e *Estimator) many(r runs) Count { return e.count(r, e.off.List) }

func (e *Estimator) count(r runs, tolerance float64) Count {
	w := &e.family.Weights
	caps := r.caps * w.Caps
	rest := r.word*w.Word + r.digits*w.Digits + r.punct*w.Punct + r.newline*w.Newline + r.space*w.Space + r.other*w.Other
	if e.factor.Value != 0 {
		caps, rest = caps*e.factor.Value, rest*e.factor.Value
		tolerance = e.factor.tolerance(tolerance)
	}
	return Count{
		low:    rest*(1-tolerance) + caps/e.off.CapsFactor,
		mid:    rest + caps,
		high:   rest*(1+tolerance) + caps*e.off.CapsFactor,
		basis:  Estimated,
		reason: e.why,
	}
}

// Choice is a tool_choice, as far as the preamble goes.
type Choice int

// The choices.
const (
	Auto Choice = iota // also none
	Any                // also one tool by name
)

// Preamble is what having any tool costs, once a request. ok is false if nothing
// is known of it for this model and choice.
func (e *Estimator) Preamble(c Choice) (n Count, ok bool) {
	p := &e.model.Preamble
	reason := "tool-use preamble: " + p.Source
	switch {
	case c == Any:
		return Between(float64(p.Any), float64(p.Any), float64(p.Any), reason), p.Any > 0
	case p.High == 0:
		return Between(float64(p.Auto), float64(p.Auto), float64(p.Auto), reason), p.Auto > 0
	}
	return Between(float64(p.Low), float64(p.Auto), float64(p.High), reason), true
}

// Framing is what stands around the texts of so many messages.
func (e *Estimator) Framing(messages int) Count {
	if messages <= 0 {
		return Count{}
	}
	f, further := e.family, float64(messages-1)
	low, high := f.OneMessage+further*f.Further.Low, f.OneMessage+further*f.Further.High
	return Between(low, (low+high)/2, high, fmt.Sprintf("framing of messages: measured for one, %g-%g tokens for each further one", f.Further.Low, f.Further.High))
}
