package tokens

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sure is how well a fact is known.
type Sure string

// The degrees.
const (
	Fixed    Sure = "fixed"    // read in Anthropic's documentation or SDK
	Observed Sure = "observed" // measured by somebody named
	Inferred Sure = "inferred" // concluded from these
	Unknown  Sure = "unknown"  // not found; the source says what stands in for it
)

// A Table holds what changes from month to month: models, tokenizer families,
// prices. The one that comes with the program is [Default]; a newer one is read
// with [Load].
type Table struct {
	AsOf         Date      `json:"as_of"`
	About        string    `json:"about"`
	Tolerance    Tolerance `json:"error"`
	Units        Units     `json:"units"`
	Families     []Family  `json:"families"`
	Cache        Caching   `json:"cache"`
	Models       []Model   `json:"models"`
	DefaultModel string    `json:"default_model"`
}

// Tolerance is how far estimates are off, as shares: 0.15 is 15 %.
type Tolerance struct {
	List       float64 `json:"list"`        // a whole tool list
	Text       float64 `json:"text"`        // one text
	CapsFactor float64 `json:"caps_factor"` // words in capitals
	Source     string  `json:"source"`
}

// Caching is what holds for the prompt cache of every model.
type Caching struct {
	Breakpoints int    `json:"breakpoints"` // at most so many in a request
	LookBack    int    `json:"look_back"`   // blocks, the breakpoint's own included
	Source      string `json:"source"`
}

// A Model is what a request to it costs, in tokens and in money.
type Model struct {
	ID       string   `json:"id"`
	Family   string   `json:"family"`
	Ends     Date     `json:"ends"` // last day, if announced
	Preamble Preamble `json:"preamble"`
	MinCache Fact     `json:"min_cache"` // shorter prefixes are silently not cached
	Window   *Fact    `json:"window"`    // tokens; nil if not found
	Prices   []Price  `json:"prices"`    // none if not found
}

// A Fact is a number of tokens with its evidence.
type Fact struct {
	Tokens int    `json:"tokens"`
	Sure   Sure   `json:"sure"`
	Source string `json:"source"`
}

// Preamble is what having any tool costs, once a request. Low and High are set
// if Auto is a guess.
type Preamble struct {
	Auto   int    `json:"auto"` // tool_choice auto or none
	Any    int    `json:"any"`  // tool_choice any or tool; 0 if not found
	Low    int    `json:"low"`
	High   int    `json:"high"`
	Sure   Sure   `json:"sure"`
	Source string `json:"source"`
}

// A Price is what tokens cost, in USD per million, while From <= day <= Until and
// for prompts of more than Over and at most UpTo tokens, cached ones included. An
// empty bound is none.
type Price struct {
	From    Date     `json:"from"`
	Until   Date     `json:"until"`
	Over    int      `json:"over"`
	UpTo    int      `json:"up_to"`
	Input   float64  `json:"input"`
	Write5m float64  `json:"write_5m"`
	Write1h float64  `json:"write_1h"`
	Read    float64  `json:"read"`
	Output  float64  `json:"output"`
	Derived []string `json:"derived"` // members worked out from input, not read anywhere
	Sure    Sure     `json:"sure"`
	Source  string   `json:"source"`
	Doubt   string   `json:"doubt"` // what speaks against a member
}

// Date is a day, 2006-01-02, or empty.
type Date string

// UnmarshalText refuses what is no day.
func (d *Date) UnmarshalText(b []byte) error {
	if _, err := time.Parse(time.DateOnly, string(b)); err != nil && len(b) > 0 {
		return fmt.Errorf("%q is no date: write it as 2026-11-30", clip(string(b)))
	}
	*d = Date(b)
	return nil
}

//go:embed models.json
var embedded []byte

// Default is the table that comes with the program.
var Default = sync.OnceValue(func() *Table {
	t, err := Load(bytes.NewReader(embedded))
	if err != nil {
		panic("models.json: " + err.Error()) // a test reads it
	}
	return t
})

// maxTable bounds what a user's own table may be.
const maxTable = 4 << 20

// Load reads a table in the form of models.json. A member that is not known is
// refused, since a misspelt price would be one that is silently nothing.
func Load(r io.Reader) (*Table, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("reading the table of models: %w", err)
	}
	if len(b) > maxTable {
		return nil, fmt.Errorf("reading the table of models: it is over %d bytes; is it the right file?", maxTable)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	t := new(Table)
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("reading the table of models: %w; compare it with the one that mcptap comes with", explain(err, b))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading the table of models: something follows the table; leave one JSON object in the file")
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("reading the table of models: %w", err)
	}
	return t, nil
}

// explain adds the line to what encoding/json says.
func explain(err error, b []byte) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", line(b, syntax.Offset), err)
	case errors.As(err, &typed):
		return fmt.Errorf("line %d: %s can't be a %s", line(b, typed.Offset), typed.Field, typed.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func line(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(max(offset, 0), int64(len(b)))], []byte("\n"))
}

func (t *Table) check() error {
	if t.AsOf == "" {
		return errors.New("as_of is missing: say what day the facts are from")
	}
	for _, check := range []func() error{t.checkTolerance, t.Units.check, t.checkFamilies, t.checkModels} {
		if err := check(); err != nil {
			return err
		}
	}
	if t.Cache.Breakpoints < 1 || t.Cache.LookBack < 1 {
		return errors.New("cache: breakpoints and look_back must be 1 or more")
	}
	return nil
}

func (t *Table) checkTolerance() error {
	e := t.Tolerance
	if e.List <= 0 || e.List >= 1 || e.Text <= 0 || e.Text >= 1 || e.CapsFactor < 1 {
		return errors.New("error: list and text must lie between 0 and 1, caps_factor must be 1 or more")
	}
	return nil
}

func (t *Table) checkFamilies() error {
	seen := map[string]bool{}
	for i := range t.Families {
		f := &t.Families[i]
		if f.ID == "" || seen[f.ID] {
			return fmt.Errorf("families: %q is there twice or has no name", clip(f.ID))
		}
		seen[f.ID] = true
		if err := f.check(); err != nil {
			return fmt.Errorf("family %s: %w", clip(f.ID), err)
		}
	}
	return nil
}

func (t *Table) checkModels() error {
	seen := map[string]bool{}
	for i := range t.Models {
		m := &t.Models[i]
		if m.ID == "" || seen[m.ID] {
			return fmt.Errorf("models: %q is there twice or has no id", clip(m.ID))
		}
		seen[m.ID] = true
		if t.family(m.Family) == nil {
			return fmt.Errorf("model %s: there is no family %q", clip(m.ID), clip(m.Family))
		}
		if err := m.check(); err != nil {
			return fmt.Errorf("model %s: %w", clip(m.ID), err)
		}
	}
	if !seen[t.DefaultModel] {
		return fmt.Errorf("default_model: there is no model %q", clip(t.DefaultModel))
	}
	return nil
}

func (m *Model) check() error {
	p := m.Preamble
	if p.Auto < 0 || p.Any < 0 || p.Low < 0 || p.Low > p.Auto || p.High != 0 && p.High < p.Auto {
		return errors.New("preamble: auto must lie between low and high, and nothing below 0")
	}
	if m.MinCache.Tokens < 1 || m.Window != nil && m.Window.Tokens < 1 {
		return errors.New("min_cache and window must be 1 token or more")
	}
	if !p.Sure.known() || !m.MinCache.Sure.known() || m.Window != nil && !m.Window.Sure.known() {
		return errors.New("sure must be fixed, observed, inferred or unknown")
	}
	for i := range m.Prices {
		if err := m.Prices[i].check(); err != nil {
			return fmt.Errorf("price %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Sure) known() bool { return slices.Contains([]Sure{Fixed, Observed, Inferred, Unknown}, s) }

func (p *Price) check() error {
	switch {
	case min(p.Input, p.Write5m, p.Write1h, p.Read, p.Output) <= 0:
		return errors.New("input, write_5m, write_1h, read and output must be above 0, in USD per million tokens")
	case p.Over < 0 || p.UpTo < 0 || p.UpTo != 0 && p.UpTo <= p.Over:
		return errors.New("up_to must be above over")
	case p.Until != "" && p.Until < p.From:
		return errors.New("until must not be before from")
	case !p.Sure.known():
		return errors.New("sure must be fixed, observed, inferred or unknown")
	}
	return nil
}

func (t *Table) family(id string) *Family {
	i := slices.IndexFunc(t.Families, func(f Family) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return &t.Families[i]
}

// dated ends the full name of a version of a model.
var dated = regexp.MustCompile(`(-\d{8}|-latest)(\[1m\])?$|\[1m\]$`)

// Model finds a model by its id, with or without a version's date. The empty id
// is the default model.
func (t *Table) Model(id string) (*Model, error) {
	if id == "" {
		id = t.DefaultModel
	}
	for _, name := range []string{id, dated.ReplaceAllString(id, "")} {
		if i := slices.IndexFunc(t.Models, func(m Model) bool { return m.ID == name }); i >= 0 {
			return &t.Models[i], nil
		}
	}
	return nil, fmt.Errorf("model %q is not in the table of models of %s; known are %s", clip(id), t.AsOf, strings.Join(t.IDs(), ", "))
}

// IDs gives the ids of all models, in the table's order.
func (t *Table) IDs() (ids []string) {
	for _, m := range t.Models {
		ids = append(ids, m.ID)
	}
	return ids
}

// Price finds the row for a prompt of so many tokens, cached ones included, on a
// day. ok is false if none is known.
func (m *Model) Price(day time.Time, prompt int) (p Price, ok bool) {
	d := Date(day.UTC().Format(time.DateOnly))
	for _, p := range m.Prices {
		if d >= p.From && (p.Until == "" || d <= p.Until) && (p.Over == 0 || prompt > p.Over) && (p.UpTo == 0 || prompt <= p.UpTo) {
			return p, true
		}
	}
	return Price{}, false
}

// clip keeps text from outside short in errors.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
