package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/replay/bill"
	"github.com/mcptap/mcptap/replay/ledger"
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
	*bill.Bill
	factor tokens.Factor // by which estimates were corrected, if Anthropic counted
}

func (a *app) rented(r *reading, o *rentOptions) (*rented, error) {
	v := &rented{reading: r}
	l := ledger.Of(r.book, r.meter)
	if o.exact.on() {
		which := bill.Newest(l)
		if len(which) == 0 {
			return nil, fmt.Errorf("the newest request offers no tools, so there is nothing to count")
		}
		counts, factor, err := a.countTools(r, l, &o.exact)
		if err != nil {
			return nil, err
		}
		r.meter = ledger.NewMeter(r.meter.Estimator().Calibrated(factor))
		v.factor = factor
		l = ledger.Of(r.book, r.meter)
		for k, i := range which[:len(counts.Tools)] {
			l.Session.Tools[i].Counted = counts.Tool(k)
		}
	}
	var err error
	v.Bill, err = bill.Of(bill.Options{Book: r.book, Ledger: l, Meter: r.meter, Table: r.table, Day: a.Now()})
	if err != nil {
		return nil, err
	}
	return v, nil
}

func middle(c tokens.Count) int { return bill.Middle(c) }

// rentLines prints a line a tool.
func (a *app) rentLines(v *rented) error {
	if len(v.Report.Sent.Tools) == 0 {
		a.say("no tool was offered that has a definition, so there is no line to print; --json has the rest")
	}
	t := a.table(make([]column, 15)...)
	sent := &v.Report.Sent
	for _, i := range v.Dearest() {
		r := &sent.Tools[i]
		t.row(r.Server, r.Name, itoa(r.Calls), itoa(r.WireBytes), r.PerTurn.String(), itoa(r.Turns), r.Session.String(),
			r.Costs[0].String(), r.Costs[1].String(), r.Costs[2].String(),
			r.Parts.Name.String(), r.Parts.Description.String(), r.Parts.Schema.String(), r.Parts.Wrapper.String(), v.Line.Label(v.Ledger.Tools[i].From.Ref))
	}
	return t.flush()
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
