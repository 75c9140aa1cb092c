package cli

import (
	"slices"

	"github.com/mcptap/mcptap/replay/bill"
	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tokens"
)

// The object of rent --json. Its shape is described in 'mcptap help json' and only
// ever grows.
type rentJSON struct {
	Host     hostJSON      `json:"host"`
	Loading  string        `json:"loading"`
	Sessions []playedJSON  `json:"sessions"`
	Model    string        `json:"model"`
	AsOf     tokens.Date   `json:"prices_as_of"`
	Requests int           `json:"requests"`
	Turns    int           `json:"turns"`
	Factor   *tokenFactor  `json:"calibration,omitempty"`
	Sent     wayJSON       `json:"sent"`
	Upfront  wayJSON       `json:"upfront"`
	Deferred wayJSON       `json:"deferred"`
	Saves    tokens.Count  `json:"deferring_saves"`
	Unused   []string      `json:"unused"`
	Carried  []carriedJSON `json:"carried"`
	Advice   []bill.Saving `json:"advice"`
	LeftOut  []leftJSON    `json:"left_out"`
	Doubts   []string      `json:"doubts"`
}

type tokenFactor struct {
	Value   float64 `json:"factor"`
	Error   float64 `json:"error"`
	Samples int     `json:"samples"`
	Tokens  int     `json:"counted_tokens"`
}

type wayJSON struct {
	PerRequest   tokens.Count `json:"per_request"` // the newest
	Preamble     tokens.Count `json:"preamble"`
	Names        tokens.Count `json:"names"`
	Session      tokens.Count `json:"session"`
	Costs        costsJSON    `json:"costs"`
	Carried      tokens.Count `json:"carried_session"`
	CarriedCosts costsJSON    `json:"carried_costs"`
	Servers      []serverJSON `json:"servers"`
	Tools        []toolJSON   `json:"tools"`
	Misses5m     []missJSON   `json:"misses_5m"`
	Misses1h     []missJSON   `json:"misses_1h"`
}

type costsJSON struct {
	Uncached    rent.Money `json:"uncached"`
	FiveMinutes rent.Money `json:"cached_5m"`
	OneHour     rent.Money `json:"cached_1h"`
}

type serverJSON struct {
	Name       string       `json:"name"`
	Tools      int          `json:"definitions"`
	Unused     int          `json:"unused"`
	WireBytes  int          `json:"bytes_wire"`
	PerRequest tokens.Count `json:"per_request"`
	Session    tokens.Count `json:"session"`
	Costs      costsJSON    `json:"costs"`
}

type toolJSON struct {
	Server      string       `json:"server"`
	Name        string       `json:"name"`
	Tool        string       `json:"tool"`
	From        fromJSON     `json:"from"`
	Calls       int          `json:"calls"`
	WireBytes   int          `json:"bytes_wire"`
	PerRequest  tokens.Count `json:"per_request"`
	NamePart    tokens.Count `json:"name_tokens"`
	Description tokens.Count `json:"description_tokens"`
	Schema      tokens.Count `json:"schema_tokens"`
	Wrapper     tokens.Count `json:"wrapper_tokens"`
	Held        int          `json:"requests"`
	Named       int          `json:"requests_name_only"`
	Session     tokens.Count `json:"session"`
	Costs       costsJSON    `json:"costs"`
}

type carriedJSON struct {
	Kind      rent.Kind    `json:"kind"`
	Name      string       `json:"name"`
	From      *fromJSON    `json:"from,omitempty"`
	WireBytes int          `json:"bytes_wire"`
	Tokens    tokens.Count `json:"tokens"`
	Reads     int          `json:"reads"`
	Session   tokens.Count `json:"session"`
	Costs     costsJSON    `json:"costs"`
}

type missJSON struct {
	Request int          `json:"request"`
	Reason  cost.Reason  `json:"reason"`
	Words   string       `json:"words"`
	Again   tokens.Count `json:"paid_again"`
	From    []fromJSON   `json:"from"`
}

func rentObject(v *rented) rentJSON {
	host, reason := v.book.Profile()
	r := v.Report
	o := rentJSON{
		Host:    hostJSON{host.ID, reason, host.Confidence, host.Date, append([]string{}, host.Assumed...)},
		Loading: v.book.Loading(), Model: r.Model, AsOf: r.AsOf, Requests: r.Turns, Turns: len(v.line.Turns),
		Sent: v.way(&r.Sent), Upfront: v.way(&r.Upfront), Deferred: v.way(&r.Deferred), Saves: r.Saves(),
		Unused: []string{}, Carried: []carriedJSON{}, Advice: append([]bill.Saving{}, v.Savings...), LeftOut: []leftJSON{},
		Doubts: slices.Concat([]string{}, v.Ledger.Doubts, r.Doubts),
	}
	for i, s := range v.line.Sessions {
		o.Sessions = append(o.Sessions, playedJSON{s.Name, v.line.IsProbe(i)})
	}
	if f := v.factor; f.Samples > 0 {
		o.Factor = &tokenFactor{f.Value, f.Error, f.Samples, f.Tokens}
	}
	for _, i := range r.Unused {
		o.Unused = append(o.Unused, r.Sent.Tools[i].Name)
	}
	for _, i := range v.Heaviest() {
		o.Carried = append(o.Carried, v.carriedObject(i))
	}
	for _, b := range v.Ledger.LeftOut {
		o.LeftOut = append(o.LeftOut, leftJSON{b.Name.Tool, froms(b.Links()), lastNote(b)})
	}
	return o
}

func (v *rented) carriedObject(i int) carriedJSON {
	c := &v.Report.Sent.Carried[i]
	o := carriedJSON{c.Kind, c.Label, nil, c.Bytes, c.Tokens, c.Reads, c.Session, costsObject(&c.Costs)}
	if f := v.Ledger.Carried[i].Frame; f.Frame >= 0 {
		from := frameOf(v.line, f)
		o.From = &from
	}
	return o
}

func costsObject(c *rent.Costs) costsJSON { return costsJSON{c[0], c[1], c[2]} }

func (v *rented) way(r *rent.Rent) wayJSON {
	o := wayJSON{
		PerRequest: r.LastTurn, Preamble: r.Preamble, Names: r.Names, Session: r.Session, Costs: costsObject(&r.Costs),
		Carried: r.CarriedSession, CarriedCosts: costsObject(&r.CarriedCosts), Servers: []serverJSON{}, Tools: []toolJSON{},
		Misses5m: v.misses(r.Misses[cost.FiveMinutes]), Misses1h: v.misses(r.Misses[cost.OneHour]),
	}
	for i := range r.Servers {
		s := &r.Servers[i]
		o.Servers = append(o.Servers, serverJSON{s.Name, s.Tools, s.Unused, s.WireBytes, s.PerTurn, s.Session, costsObject(&s.Costs)})
	}
	for i := range r.Tools {
		t, d := &r.Tools[i], &v.Ledger.Tools[i]
		o.Tools = append(o.Tools, toolJSON{t.Server, t.Name, d.Bare, fromJSON{d.From.Session, d.From.N, d.From.Path}, t.Calls, t.WireBytes,
			t.PerTurn, t.Parts.Name, t.Parts.Description, t.Parts.Schema, t.Parts.Wrapper, t.Turns, t.Named, t.Session, costsObject(&t.Costs)})
	}
	return o
}

func (v *rented) misses(all []rent.Miss) []missJSON {
	out := []missJSON{}
	for i := range all {
		m := &all[i]
		o := missJSON{m.Turn - 1, m.Reason, m.Miss.String(), v.Again(m), []fromJSON{}}
		if m.Reason == cost.Changed {
			o.From = froms(v.Ledger.Lists[m.Turn])
		}
		out = append(out, o)
	}
	return out
}
