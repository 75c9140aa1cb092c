package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tidy"
	"github.com/mcptap/mcptap/replay/tokens"
)

// rentOptions are the flags of rent.
type rentOptions struct {
	bookOptions
	exact exactOptions
	tidy  bool
	json  bool
}

func (a *app) rent() *cobra.Command {
	var o rentOptions
	c := &cobra.Command{
		Use:   "rent SESSION...",
		Short: "what tools and answers cost the model, turn for turn",
		Long: `rent says how many tokens a session's tools, calls and answers take, and what that
costs. Everything that a host puts into a request is read again on every later one: a
tool pays rent whether it is called or not, and an answer is carried along to the end.

Only the name, the description and the input schema of a tool are rent; the length on
the wire stands beside it. The page says what this host is taken to send, and what it
would be if all definitions were loaded up front or all held back until a search finds
them; without a cache, and with one of five minutes or an hour, and which frame broke
the cache; what was never called; and how definitions and answers could be slimmer.
--tidy shows the slimmer definitions.

What is not on this wire (system prompt, what user and assistant write, other servers)
is in no sum: read all of them as "at least". ~ marks estimates. --exact has Anthropic
count the tools of the newest request, and corrects all other estimates by that.

Piped, it prints a line a tool: server, tool, calls, bytes on the wire, tokens of the
definition, requests that held it, tokens of all of them, and what they cost not cached,
cached for 5 minutes, for 1 hour; then tokens of name, description, input schema and
what stands around them, and the frame that listed it.

` + sessionNames,
		Example: `  mcptap rent last
  mcptap rent last --together --model claude-haiku-5-5
  mcptap rent tickets --tidy
  mcptap rent tickets --exact
  mcptap rent tickets --json | jq .sent.per_request`,
		Args:              atLeastOneSession(),
		RunE:              func(_ *cobra.Command, args []string) error { return a.runRent(args, &o) },
		ValidArgsFunction: a.completeSession,
	}
	o.bookOptions.add(c)
	o.exact.add(c, false)
	c.Flags().BoolVar(&o.tidy, "tidy", false, "the definitions as they could be, next to what they are")
	c.Flags().BoolVar(&o.json, "json", false, "one JSON object ('mcptap help json')")
	return c
}

func (a *app) runRent(names []string, o *rentOptions) error {
	if err := o.exact.check(); err != nil {
		return err
	}
	r, err := a.reading(names, &o.bookOptions)
	if err != nil {
		return err
	}
	defer r.close()
	v, err := a.rented(r, o)
	if err != nil {
		return err
	}
	switch {
	case o.tidy:
		return a.printTidied(v, o.json)
	case o.json:
		p := newJSONPrinter(a.Stdout)
		p.encode(rentObject(v))
		return p.flush()
	case isTerminal(a.Stdout):
		return a.rentPage(v).print()
	}
	return a.rentLines(v)
}

// rented is all that rent has to tell.
type rented struct {
	*reading
	ledger *ledger.Ledger
	report *rent.Report
	factor tokens.Factor // by which estimates were corrected, if Anthropic counted
	advice []saving
	tidied []tidied // of the tools that the newest request offers
}

func (a *app) rented(r *reading, o *rentOptions) (*rented, error) {
	v := &rented{reading: r, ledger: ledger.Of(r.book, r.meter)}
	options := rent.Options{Table: r.table, Day: a.Now(), NamesHidden: r.book.Loading() == claude.LoadDeferredHidden}
	if o.exact.on() && len(v.newest()) == 0 {
		return nil, fmt.Errorf("the newest request offers no tools, so there is nothing to count")
	}
	if o.exact.on() {
		counts, factor, err := a.countTools(r, v.ledger, &o.exact)
		if err != nil {
			return nil, err
		}
		r.meter = ledger.NewMeter(r.meter.Estimator().Calibrated(factor))
		v.factor = factor
		which := v.newest()
		v.ledger = ledger.Of(r.book, r.meter)
		for k, i := range which[:len(counts.Tools)] {
			v.ledger.Session.Tools[i].Counted = counts.Tool(k)
		}
	}
	options.Estimator = r.meter.Estimator()
	var err error
	if v.report, err = rent.Of(&v.ledger.Session, options); err != nil {
		return nil, err
	}
	v.tidy()
	return v, nil
}

// newest are the tools that the newest request offers.
func (v *rented) newest() []int {
	t := v.ledger.Session.Turns
	return t[len(t)-1].Tools
}

// A saving is one kind of advice with all the places that it is for.
type saving struct {
	Kind   tidy.Kind    `json:"kind"`
	Words  string       `json:"advice"`
	Saves  tokens.Count `json:"saves_per_request"`
	Bytes  int          `json:"bytes"`
	Places int          `json:"places"`
	Tools  []string     `json:"tools"`
	First  string       `json:"first"` // JSON pointer into the definition or the frame
	Done   bool         `json:"tidied"`
}

// tidied is a definition as it could be.
type tidied struct {
	index int // in the ledger's tools
	*tidy.Definition
}

func (v *rented) tidy() {
	o := tidy.Options{Estimate: func(text string) int { return middle(v.meter.Estimator().Text(text)) }}
	for _, i := range v.newest() {
		d, err := tidy.Tool(v.ledger.Tools[i].Raw, o)
		if err != nil {
			continue // nothing to say of what can't be read within bounds
		}
		v.tidied = append(v.tidied, tidied{i, d})
		for _, a := range d.Advice {
			v.add(&a, v.ledger.Tools[i].Bare)
		}
	}
	for i, s := range v.ledger.Carried {
		if v.ledger.Session.Carried[i].Kind != rent.Result || s.Frame.Frame < 0 {
			continue
		}
		for _, a := range tidy.Result(v.loaded[s.Frame.Session].Body(s.Frame.Frame), o) {
			if !v.matters(&a, s.Frame) {
				continue
			}
			v.add(&a, v.line.Calls[s.Call].Tool)
		}
	}
	slices.SortStableFunc(v.advice, func(a, b saving) int { return cmp.Compare(middle(b.Saves), middle(a.Saves)) })
}

// matters reports whether the model reads what an advice about an answer is about: a
// host may drop one half of what is said twice.
func (v *rented) matters(a *tidy.Advice, answer replay.Ref) bool {
	reach := v.book.Reach(answer)
	if a.Kind == tidy.SaidTwice {
		return reach.At("/result/structuredContent").Verdict != claude.Never && reach.At("/result/content/0").Verdict != claude.Never
	}
	return reach.At(a.Path).Verdict != claude.Never
}

// add sums advice of a kind up. Two estimates less one another err like one.
func (v *rented) add(a *tidy.Advice, tool string) {
	k := slices.IndexFunc(v.advice, func(s saving) bool { return s.Kind == a.Kind })
	if k < 0 {
		k = len(v.advice)
		v.advice = append(v.advice, saving{Kind: a.Kind, Words: a.Words(), First: a.Path, Done: a.Done, Tools: []string{}})
	}
	s := &v.advice[k]
	s.Saves = s.Saves.Plus(v.about(a.Tokens, v.table.Tolerance.Text))
	s.Bytes, s.Places = s.Bytes+a.Bytes, s.Places+a.Places
	if !slices.Contains(s.Tools, tool) {
		s.Tools = append(s.Tools, tool)
	}
}

// about is an estimate that comes without its range.
func (v *rented) about(n int, share float64) tokens.Count {
	f := float64(n)
	return tokens.Between(f*(1-share), f, f*(1+share), "the difference of two estimates, not made with Claude's tokenizer")
}

func middle(c tokens.Count) int {
	_, mid, _ := c.Bounds()
	return int(math.Round(mid))
}

// rentLines prints a line a tool.
func (a *app) rentLines(v *rented) error {
	if len(v.report.Sent.Tools) == 0 {
		a.say("no tool was offered that has a definition, so there is no line to print; --json has the rest")
	}
	t := a.table(make([]column, 15)...)
	sent := &v.report.Sent
	for _, i := range v.dearest() {
		r := &sent.Tools[i]
		t.row(r.Server, r.Name, itoa(r.Calls), itoa(r.WireBytes), r.PerTurn.String(), itoa(r.Turns), r.Session.String(),
			r.Costs[0].String(), r.Costs[1].String(), r.Costs[2].String(),
			r.Parts.Name.String(), r.Parts.Description.String(), r.Parts.Schema.String(), r.Parts.Wrapper.String(), v.line.Label(v.ledger.Tools[i].From.Ref))
	}
	return t.flush()
}

// dearest are the tools, by what their definitions take.
func (v *rented) dearest() []int {
	out := make([]int, len(v.report.Sent.Tools))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Compare(middle(v.report.Upfront.Tools[b].PerTurn), middle(v.report.Upfront.Tools[a].PerTurn))
	})
	return out
}

// broke says which frames brought the list that broke the cache of a request.
func (v *rented) broke(m *rent.Miss) string {
	var out []string
	for _, l := range v.ledger.Lists[m.Turn] {
		out = append(out, v.line.Label(l.Ref))
	}
	return strings.Join(out, ", ")
}

// tidyJSON is a tool of rent --tidy --json.
type tidyJSON struct {
	Server   string          `json:"server"`
	Tool     string          `json:"tool"`
	Before   int             `json:"bytes_before"`
	After    int             `json:"bytes_after"`
	Saves    tokens.Count    `json:"saves_per_request"`
	Original json.RawMessage `json:"original"`
	Tidied   json.RawMessage `json:"tidied"`
	Advice   []adviceJSON    `json:"advice"`
}

type adviceJSON struct {
	Kind   tidy.Kind    `json:"kind"`
	Words  string       `json:"advice"`
	Path   string       `json:"path"`
	Places int          `json:"places"`
	Bytes  int          `json:"bytes"`
	Saves  tokens.Count `json:"saves_per_request"`
	Done   bool         `json:"tidied"`
}
