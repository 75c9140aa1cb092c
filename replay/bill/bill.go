// Package bill puts together all that there is to say about what a host's requests
// cost: the ledger, its rent, and how definitions and answers could be slimmer; and it
// says it in sentences, the same ones for commands and screens.
//
// It promises to be pure, and that every number is marked as an estimate or was
// counted. What it says may hold text from the outside: whoever prints it makes it safe.
//
// It must not decide what a host sends (package claude), price anything (package rent)
// or ask anybody to count.
package bill

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tidy"
	"github.com/mcptap/mcptap/replay/tokens"
)

// Options are what a bill is made of.
type Options struct {
	Book   *claude.Book
	Ledger *ledger.Ledger // of the book
	Meter  *ledger.Meter  // that the ledger was made with
	Table  *tokens.Table  // prices, and how far estimates err
	Day    time.Time      // whose prices hold, where requests have no time
}

// A Bill is what a session's tools, calls and answers cost.
type Bill struct {
	Options
	Line    *replay.Timeline
	Report  *rent.Report
	Savings []Saving // the largest first
	Tidied  []Tidied // definitions that the newest request offers
}

// A Saving is one kind of advice with all the places that it is for.
type Saving struct {
	Kind   tidy.Kind    `json:"kind"`
	Words  string       `json:"advice"`
	Saves  tokens.Count `json:"saves_per_request"`
	Bytes  int          `json:"bytes"`
	Places int          `json:"places"`
	Tools  []string     `json:"tools"`
	First  string       `json:"first"` // JSON pointer into the definition or the frame
	Done   bool         `json:"tidied"`
}

// Tidied is a definition as it could be.
type Tidied struct {
	Index int // in the ledger's tools
	*tidy.Definition
}

// Of makes the bill.
func Of(o Options) (*Bill, error) {
	b := &Bill{Options: o, Line: o.Book.Timeline()}
	var err error
	b.Report, err = rent.Of(&o.Ledger.Session, rent.Options{
		Table: o.Table, Day: o.Day, Estimator: o.Meter.Estimator(),
		NamesHidden: o.Book.Loading() == claude.LoadDeferredHidden,
	})
	if err != nil {
		return nil, err
	}
	b.tidy()
	return b, nil
}

// Newest are the tools that the newest request offers.
func (b *Bill) Newest() []int { return Newest(b.Ledger) }

// Newest are the tools that the newest request of a ledger offers.
func Newest(l *ledger.Ledger) []int {
	t := l.Session.Turns
	return t[len(t)-1].Tools
}

func (b *Bill) tidy() {
	o := tidy.Options{Estimate: func(text string) int { return Middle(b.Meter.Estimator().Text(text)) }}
	for _, i := range b.Newest() {
		d, err := tidy.Tool(b.Ledger.Tools[i].Raw, o)
		if err != nil {
			continue // nothing to say of what can't be read within bounds
		}
		b.Tidied = append(b.Tidied, Tidied{i, d})
		for _, a := range d.Advice {
			b.add(&a, b.Ledger.Tools[i].Bare)
		}
	}
	for i, s := range b.Ledger.Carried {
		if b.Ledger.Session.Carried[i].Kind != rent.Result || s.Frame.Frame < 0 {
			continue
		}
		for _, a := range tidy.Result(b.Line.Sessions[s.Frame.Session].Body(s.Frame.Frame), o) {
			if b.matters(&a, s.Frame) {
				b.add(&a, b.Line.Calls[s.Call].Tool)
			}
		}
	}
	slices.SortStableFunc(b.Savings, func(x, y Saving) int { return cmp.Compare(Middle(y.Saves), Middle(x.Saves)) })
}

// matters reports whether the model reads what an advice about an answer is about: a
// host may drop one half of what is said twice.
func (b *Bill) matters(a *tidy.Advice, answer replay.Ref) bool {
	reach := b.Book.Reach(answer)
	if a.Kind == tidy.SaidTwice {
		return reach.At("/result/structuredContent").Verdict != claude.Never && reach.At("/result/content/0").Verdict != claude.Never
	}
	return reach.At(a.Path).Verdict != claude.Never
}

// add sums advice of a kind up.
func (b *Bill) add(a *tidy.Advice, tool string) {
	k := slices.IndexFunc(b.Savings, func(s Saving) bool { return s.Kind == a.Kind })
	if k < 0 {
		k = len(b.Savings)
		b.Savings = append(b.Savings, Saving{Kind: a.Kind, Words: a.Words(), First: a.Path, Done: a.Done, Tools: []string{}})
	}
	s := &b.Savings[k]
	s.Saves = s.Saves.Plus(b.Less(a.Tokens))
	s.Bytes, s.Places = s.Bytes+a.Bytes, s.Places+a.Places
	if !slices.Contains(s.Tools, tool) {
		s.Tools = append(s.Tools, tool)
	}
}

// Less is the range of tokens that a text would take less. Two estimates less one
// another err like one.
func (b *Bill) Less(n int) tokens.Count { return about(n, b.Table.Tolerance.Text) }

// Again is the range of tokens that were paid again.
func (b *Bill) Again(m *rent.Miss) tokens.Count { return about(m.Again, b.Table.Tolerance.List) }

// about is an estimate that comes without its range.
func about(n int, share float64) tokens.Count {
	f := float64(n)
	return tokens.Between(f*(1-share), f, f*(1+share), "the difference of two estimates, not made with Claude's tokenizer")
}

// Middle is the likely number of a count, to compare and to draw with, not to print.
func Middle(c tokens.Count) int {
	_, mid, _ := c.Bounds()
	return int(math.Round(mid))
}

// Dearest are the tools, by what their definitions take.
func (b *Bill) Dearest() []int {
	return byCount(len(b.Report.Sent.Tools), func(i int) tokens.Count { return b.Report.Upfront.Tools[i].PerTurn })
}

// Heaviest are the texts that some request carried, by what they took in all.
func (b *Bill) Heaviest() []int {
	all := b.Report.Sent.Carried
	order := byCount(len(all), func(i int) tokens.Count { return all[i].Session })
	return slices.DeleteFunc(order, func(i int) bool { return all[i].Reads == 0 })
}

func byCount(n int, of func(int) tokens.Count) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(x, y int) int { return cmp.Compare(Middle(of(y)), Middle(of(x))) })
	return out
}

// CarriedNow is what the newest request carries along.
func (b *Bill) CarriedNow() (sum tokens.Count) {
	for i := range b.Report.Sent.Carried {
		c := &b.Report.Sent.Carried[i]
		if c.Reads > 0 && (c.Until == 0 || c.Until >= b.Report.Turns) {
			sum = sum.Plus(c.Tokens)
		}
	}
	return sum
}

// Other is the way of loading that the host is not taken to go, and its name.
func (b *Bill) Other() (r *rent.Rent, name string) {
	if b.Book.Loading() == claude.LoadUpfront {
		return &b.Report.Deferred, "if deferred"
	}
	return &b.Report.Upfront, "if loaded up front"
}

// ToolName is a tool for people: as the server calls it, with the server if there are
// several.
func (b *Bill) ToolName(i int) string {
	d := &b.Ledger.Tools[i]
	name := claude.Shown(d.Bare)
	if len(b.Report.Sent.Servers) > 1 {
		name = claude.Shown(d.Server) + ": " + name
	}
	if b.changed(i) {
		name += " (" + b.Line.Label(d.From.Ref) + ")"
	}
	return name
}

// changed reports that a tool has several definitions, so that its name tells nothing.
func (b *Bill) changed(i int) bool {
	d := &b.Ledger.Tools[i]
	for k := range b.Ledger.Tools {
		if o := &b.Ledger.Tools[k]; k != i && o.Session == d.Session && o.Bare == d.Bare {
			return true
		}
	}
	return false
}

// CarriedName is what a text that is carried along is called.
func (b *Bill) CarriedName(i int) string {
	if from := b.Ledger.Carried[i]; from.Call >= 0 {
		return claude.Shown(b.Line.Calls[from.Call].Tool)
	}
	return claude.Shown(b.Report.Sent.Carried[i].Label)
}

// CarriedWords says what a text costs that is carried along.
func (b *Bill) CarriedWords(i int) string {
	c, from := &b.Report.Sent.Carried[i], &b.Ledger.Carried[i]
	where := ""
	if from.Frame.Frame >= 0 {
		where = "  ← " + b.Line.Label(from.Frame)
	}
	return fmt.Sprintf("%s: %s: %s tokens each time, %s in all%s", b.CarriedName(i), c.String(), c.Tokens, c.Session.Short(), where)
}

// MissWords says which request paid again, counted from 0, why, and which frame is to
// blame.
func (b *Bill) MissWords(m *rent.Miss) string {
	s := fmt.Sprintf("request %d paid again for %s tokens: %s", m.Turn-1, b.Again(m), m.Miss)
	if from := b.broke(m); m.Reason == cost.Changed && from != "" {
		s += "  ← " + from
	}
	return s
}

// broke says which frames brought the list that broke the cache of a request.
func (b *Bill) broke(m *rent.Miss) string {
	var out []string
	for _, l := range b.Ledger.Lists[m.Turn] {
		out = append(out, b.Line.Label(l.Ref))
	}
	return strings.Join(out, ", ")
}

// DeferringWords says what deferred loading comes to.
func (b *Bill) DeferringWords() string {
	s := b.Report.Saves()
	low, _, high := s.Bounds()
	words := "deferring (definitions are held back until a search finds them) saves %s tokens over these requests"
	switch {
	case high < 0:
		s, words = tokens.Count{}.Minus(s), "deferring (definitions are held back until a search finds them) is a loss: it takes %s tokens more over these requests"
	case low < 0:
		words = "deferring (definitions are held back until a search finds them) makes no clear difference: it saves %s tokens"
	}
	if b.Book.Loading() != claude.LoadUpfront {
		words += ", and this host is taken to do so"
	}
	words += "; the searches, each a request of its own, are in none of it"
	return fmt.Sprintf(words, s)
}

// TimesWords says how the times of requests are known, and so what can have expired.
func (b *Bill) TimesWords() string {
	t := b.Ledger.Session.Turns
	switch last := &t[len(t)-1]; {
	case last.Since == 0:
		return "not recorded: that an entry expired is not reckoned"
	case last.Start.IsZero():
		return "those of the calls, from a beginning that was not recorded: prices are today's"
	}
	return "those of the calls"
}
