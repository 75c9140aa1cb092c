package rent

import (
	"fmt"
	"slices"

	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/tokens"
)

// A plan is the requests of a session under one way of loading, each block with what
// it stands for.
type plan struct {
	m        *meter
	deferred []bool
	items    []item // of the messages, by the turn in which they come
	requests []request

	withTools, withSearch int // requests that hold the preamble, the search tool
}

// role is what a block stands for.
type role struct {
	what what
	i    int // index of a tool or a carried text
}

type what int

const (
	preamble what = iota
	search
	definition
	other
	name
	carried
)

type item struct {
	from, until int
	block       cost.Block
	role        role
}

// A request's blocks and roles share their arrays with those of the request before,
// unless it starts an epoch: something else than new messages is different.
type request struct {
	cost.Request
	roles []role
	epoch bool
}

func (m *meter) plan(deferred func(int) bool) *plan {
	p := &plan{m: m}
	for i := range m.s.Tools {
		p.deferred = append(p.deferred, deferred(i))
	}
	p.collect()
	p.build()
	return p
}

// loaded gives how many requests hold a deferred tool's definition.
func (p *plan) loaded(i int) (n int) {
	for _, r := range p.m.held(i) {
		n += r.until - r.from + 1
	}
	return n
}

// named gives how many requests hold a deferred tool's name: all that offer it.
func (p *plan) named(i int) (n int) {
	if p.m.o.NamesHidden {
		return 0
	}
	for _, r := range p.m.runs[i] {
		n += r.until - r.from + 1
	}
	return n
}

// collect finds what comes into the messages: names of deferred tools, which hosts
// announce there as they come so that the cache stays, definitions that a search
// found, and texts.
func (p *plan) collect() {
	n := len(p.m.s.Turns)
	for i, isDeferred := range p.deferred {
		if isDeferred && !p.m.o.NamesHidden {
			t := &p.m.s.Tools[i]
			b := cost.Block{Level: cost.Messages, Name: t.Name, Hash: cost.Hash([]byte(t.Name)), Tokens: whole(p.m.each[i].Name)}
			p.add(p.m.runs[i], b, role{name, i})
		}
	}
	for i, isDeferred := range p.deferred {
		if isDeferred {
			b := p.definition(i)
			b.Level = cost.Messages
			p.add(p.m.held(i), b, role{definition, i})
		}
	}
	for i := range p.m.s.Carried {
		c := &p.m.s.Carried[i]
		from, until := c.turns(n)
		b := cost.Block{Level: cost.Messages, Name: c.Label, Hash: c.Hash, Tokens: whole(c.Tokens)}
		if b.Hash == 0 {
			b.Hash = uint64(i) + 1 // not known: unlike all others
		}
		p.items = append(p.items, item{from, until, b, role{carried, i}})
	}
	slices.SortStableFunc(p.items, func(a, b item) int { return a.from - b.from })
}

// add puts a block into the messages of some requests.
func (p *plan) add(runs []run, b cost.Block, of role) {
	for _, r := range runs {
		p.items = append(p.items, item{r.from, r.until, b, of})
	}
}

func (p *plan) definition(i int) cost.Block {
	t := &p.m.s.Tools[i]
	return cost.Block{
		Level: cost.Tools, Name: t.Name, Tokens: whole(p.m.whole[i]),
		Hash: cost.Hash([]byte(t.Name), []byte(t.Description), t.InputSchema),
	}
}

// build makes the requests.
func (p *plan) build() {
	var r request
	var before head
	var drops []int // turns that end an item, rising
	for i := range p.items {
		drops = append(drops, p.items[i].until)
	}
	slices.Sort(drops)
	next, drop := 0, 0
	for t := range p.m.s.Turns {
		turn := &p.m.s.Turns[t]
		now := p.head(t)
		r.epoch = t == 0 || !now.equal(before)
		for ; drop < len(drops) && drops[drop] < t+1; drop++ {
			r.epoch = true
		}
		before = now
		if r.epoch {
			r.Blocks, r.roles = nil, nil
			p.begin(&r, now)
			p.append(&r, p.items[:next], t+1)
		}
		from := next
		for next < len(p.items) && p.items[next].from <= t+1 {
			next++
		}
		p.append(&r, p.items[from:next], t+1)
		p.count(now)
		r.Start, r.Answered = turn.Start, turn.Answered
		if r.Start.IsZero() {
			r.Start = p.m.o.Day.Add(turn.Since)
		}
		r.Breaks = p.breaks(r.Blocks)
		p.requests = append(p.requests, r)
	}
}

func (p *plan) breaks(blocks []cost.Block) []int {
	if p.m.o.Breaks != nil {
		return p.m.o.Breaks(blocks)
	}
	return cost.AtEnd(blocks)
}

func (r *request) add(b cost.Block, of role) {
	r.Blocks = append(r.Blocks, b)
	r.roles = append(r.roles, of)
}

func (p *plan) append(r *request, items []item, turn int) {
	for i := range items {
		if it := &items[i]; it.from <= turn && it.until >= turn {
			r.add(it.block, it.role)
		}
	}
}

// A head is what stands before the messages.
type head struct {
	preamble, search bool
	tools            []int // whose definitions are there
}

func (h head) equal(g head) bool {
	return h.preamble == g.preamble && h.search == g.search && slices.Equal(h.tools, g.tools)
}

// head is what stands before the messages of a request; turns count from 0 here.
func (p *plan) head(turn int) head {
	tools := p.m.toolsAt(turn)
	h := head{preamble: len(tools) > 0 || p.m.s.Turns[turn].OtherTools}
	for _, i := range tools {
		if p.deferred[i] {
			h.search = !p.m.o.SearchTool.IsZero()
		} else {
			h.tools = append(h.tools, i)
		}
	}
	return h
}

// begin writes a head.
func (p *plan) begin(r *request, h head) {
	o := p.m.o
	if h.preamble {
		r.add(cost.Block{Level: cost.Tools, Name: "tool-use preamble", Tokens: whole(p.m.preamble), Unlisted: true}, role{preamble, 0})
	}
	if h.search {
		r.add(cost.Block{Level: cost.Tools, Name: "tool search", Tokens: whole(o.SearchTool)}, role{search, 0})
	}
	for _, i := range h.tools {
		r.add(p.definition(i), role{definition, i})
	}
	if !o.Other.IsZero() {
		r.add(cost.Block{Level: cost.System, Name: "all else", Tokens: whole(o.Other)}, role{other, 0})
	}
}

func (p *plan) count(h head) {
	if h.preamble {
		p.withTools++
	}
	if h.search {
		p.withSearch++
	}
}

// lastTurn says what the newest request holds of tools.
func (p *plan) lastTurn(r *Rent) {
	last := len(p.m.s.Turns)
	h := p.head(last - 1)
	if h.preamble {
		r.Preamble = p.m.preamble
	}
	if h.search {
		r.Names = p.m.o.SearchTool
	}
	held := h.tools
	for _, i := range p.m.toolsAt(last - 1) {
		if !p.deferred[i] {
			continue
		}
		if !p.m.o.NamesHidden {
			r.Names = r.Names.Plus(p.m.each[i].Name)
		}
		if p.m.found[i] > 0 && p.m.found[i] <= last {
			held = append(held, i)
		}
	}
	r.LastTurn = tokens.Sum(p.m.list(held), r.Preamble, r.Names)
}

// A rate is what a token of each part cost over all requests, in USD.
type rate struct {
	known            bool
	preamble, search float64
	tool, name       []float64
	carried          []float64
}

// run sends the requests through the cache, once for each mode.
func (p *plan) run(r *Rent) (rates []rate, err error) {
	for i, mode := range cost.Modes {
		rate, misses, err := p.send(mode)
		if err != nil {
			return nil, err
		}
		r.Misses[i] = misses
		rates = append(rates, rate)
	}
	return rates, nil
}

func (p *plan) send(mode cost.Mode) (out rate, misses []Miss, err error) {
	sim, err := cost.New(p.m.rules, mode)
	if err != nil {
		return rate{}, nil, err
	}
	n := len(p.m.s.Tools)
	out = rate{known: true, tool: make([]float64, n), name: make([]float64, n), carried: make([]float64, len(p.m.s.Carried))}
	var steps steps
	for i := range p.requests {
		q := &p.requests[i]
		if q.epoch && i > 0 {
			steps.spread(&out, p.requests[i-1].roles)
		}
		c, err := sim.Send(&q.Request)
		if err != nil {
			return rate{}, nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
		steps.add(&c, len(q.Blocks))
		out.known = out.known && c.Priced
		p.doubtPrice(&c)
		if c.Miss.Again > 0 {
			misses = append(misses, Miss{i + 1, c.Miss})
		}
	}
	if n := len(p.requests); n > 0 {
		steps.spread(&out, p.requests[n-1].roles)
	}
	return out, misses, nil
}

func (p *plan) doubtPrice(c *cost.Charge) {
	switch {
	case !c.Priced:
		p.m.doubt("no price of %s is known for this day and length", p.m.rules.Model.ID)
		return
	case c.Price.Doubt != "":
		p.m.doubt("price of %s: %s", p.m.rules.Model.ID, c.Price.Doubt)
	}
	for _, d := range c.Price.Derived {
		p.m.doubt("price of %s: %s is derived from the input price", p.m.rules.Model.ID, d)
	}
}

// steps sums up the rates of requests that share their blocks: each adds a rate to
// the blocks that were read, written and paid in full, so only the places where the
// rate changes are kept.
type steps struct{ at []float64 }

func (s *steps) add(c *cost.Charge, blocks int) {
	for len(s.at) <= blocks {
		s.at = append(s.at, 0)
	}
	for from := 0; from < blocks; {
		to := blocks
		for _, end := range []int{c.ReadBlocks, c.CachedBlocks} {
			if end > from {
				to = min(to, end)
			}
		}
		rate := c.Rate(from)
		s.at[from] += rate
		s.at[to] -= rate
		from = to
	}
}

// spread gives each part what its blocks cost, and starts anew.
func (s *steps) spread(out *rate, roles []role) {
	var rate float64
	for i, r := range roles {
		rate += s.at[i]
		switch r.what {
		case preamble:
			out.preamble += rate
		case search:
			out.search += rate
		case definition:
			out.tool[r.i] += rate
		case name:
			out.name[r.i] += rate
		case carried:
			out.carried[r.i] += rate
		}
	}
	s.at = nil
}
