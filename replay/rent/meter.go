package rent

import (
	"math"

	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/tokens"
)

// A meter holds what is the same for all ways of loading.
type meter struct {
	s        *Session
	o        *Options
	rules    cost.Rules
	each     []tokens.ToolCount
	whole    []tokens.Count // of a definition: counted, or estimated
	calls    []int
	used     []bool  // it was called, or another definition of it
	found    []int   // first turn whose request holds a definition that a search has to find; 0 for none
	offered  []int   // turns that offer the tool
	runs     [][]run // the same, in a row
	preamble tokens.Count
	everyone []int        // the indexes of all tools
	searches tokens.Count // the tool that searches, if all is deferred
	doubts   []string
}

func newMeter(s *Session, o *Options) *meter {
	n := len(s.Tools)
	m := &meter{s: s, o: o, everyone: all(n), whole: make([]tokens.Count, n), calls: make([]int, n), used: make([]bool, n), found: make([]int, n), offered: make([]int, n), runs: make([][]run, n)}
	model := *o.Estimator.Model()
	m.rules = cost.RulesOf(o.Table, &model)
	m.preamble, _ = o.Estimator.Preamble(tokens.Auto)
	m.assume(&model)
	m.each, _ = o.Estimator.List(m.plain(m.everyone))
	for i := range s.Tools {
		m.whole[i] = m.each[i].Sum
		if !s.Tools[i].Counted.IsZero() {
			m.whole[i] = s.Tools[i].Counted
		}
	}
	m.find()
	for t := range s.Turns {
		for _, i := range m.toolsAt(t) {
			m.offered[i]++
			m.runs[i] = joined(m.runs[i], t+1)
		}
	}
	return m
}

// A run is turns in a row: from and until are of it.
type run struct{ from, until int }

// joined adds a turn to runs.
func joined(runs []run, turn int) []run {
	if n := len(runs); n > 0 && runs[n-1].until >= turn-1 {
		runs[n-1].until = turn
		return runs
	}
	return append(runs, run{turn, turn})
}

// find counts the calls, and says from when on a search has found a tool: the request
// after that of its first call is the first on this wire that holds the definition. By
// its name, since a search finds whatever has it.
func (m *meter) find() {
	first, used := map[string]int{}, map[[2]string]bool{}
	for _, c := range m.s.Calls {
		if c.Tool < 0 {
			continue
		}
		m.calls[c.Tool]++
		t := &m.s.Tools[c.Tool]
		used[[2]string{t.Server, t.Name}] = true
		if at := first[t.Name]; at == 0 || c.Turn < at {
			first[t.Name] = c.Turn
		}
	}
	for i := range m.s.Tools {
		m.used[i] = used[[2]string{m.s.Tools[i].Server, m.s.Tools[i].Name}]
		if at := first[m.s.Tools[i].Name]; at > 0 {
			m.found[i] = at + 1
		}
	}
}

// held are the turns whose requests hold a deferred tool's definition: those that offer
// it, since it was found.
func (m *meter) held(i int) (out []run) {
	if m.found[i] == 0 {
		return nil
	}
	for _, r := range m.runs[i] {
		if r.until >= m.found[i] {
			out = append(out, run{max(r.from, m.found[i]), r.until})
		}
	}
	return out
}

// assume notes what the figures rest on.
func (m *meter) assume(model *tokens.Model) {
	if m.o.Other.IsZero() {
		model.MinCache.Tokens = 1
		m.doubt("what else is in a request is not known: sums say at least, and it is taken to be long enough to be cached")
	} else if f := model.MinCache; f.Sure != tokens.Fixed {
		m.doubt("shortest prompt that is cached: ~%d tokens, %s (%s)", f.Tokens, f.Sure, f.Source)
	}
	if p := model.Preamble; p.Sure != tokens.Fixed {
		m.doubt("tool-use preamble: ~%d tokens, %s (%s)", p.Auto, p.Sure, p.Source)
	}
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// plain gives what the model reads of some tools.
func (m *meter) plain(tools []int) (out []tokens.Tool) {
	for _, i := range tools {
		t := &m.s.Tools[i]
		out = append(out, tokens.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return out
}

// list is the tokens of some definitions together: estimates of many are surer than
// each of them.
func (m *meter) list(tools []int) (sum tokens.Count) {
	var estimated []int
	for _, i := range tools {
		if c := m.s.Tools[i].Counted; c.IsZero() {
			estimated = append(estimated, i)
		} else {
			sum = sum.Plus(c)
		}
	}
	_, rest := m.o.Estimator.List(m.plain(estimated))
	return sum.Plus(rest)
}

// toolsAt are the tools that a turn offers; turns count from 0 here.
func (m *meter) toolsAt(turn int) []int {
	if t := m.s.Turns[turn].Tools; t != nil {
		return t
	}
	return m.everyone
}

// fill reckons one way of loading.
func (m *meter) fill(r *Rent, deferred func(int) bool) error {
	p := m.plan(deferred)
	rates, err := p.run(r)
	if err != nil {
		return err
	}
	m.fillTools(r, p, rates)
	m.fillServers(r)
	m.fillSums(r, p, rates)
	m.searches = m.o.SearchTool.Times(p.withSearch)
	m.fillCarried(r, rates)
	return nil
}

func (m *meter) fillTools(r *Rent, p *plan, rates []rate) {
	for i := range m.s.Tools {
		t := &m.s.Tools[i]
		held, named := m.offered[i], 0
		if p.deferred[i] {
			held, named = p.loaded(i), p.named(i)
		}
		tool := ToolRent{
			Server: t.Server, Name: t.Name, WireBytes: t.WireBytes, Calls: m.calls[i],
			Parts: m.each[i], PerTurn: m.whole[i], Turns: held, Named: named,
			Session: m.whole[i].Times(held).Plus(m.each[i].Name.Times(named)),
		}
		for mode, rate := range rates {
			tool.Costs[mode] = money(m.whole[i], rate.tool[i], rate.known)
			if named > 0 {
				tool.Costs[mode] = tool.Costs[mode].plus(money(m.each[i].Name, rate.name[i], rate.known))
			}
		}
		r.Tools = append(r.Tools, tool)
	}
}

// fillServers groups the tools, in the order in which servers come first.
func (m *meter) fillServers(r *Rent) {
	at := map[string]int{}
	var of [][]int
	for i := range r.Tools {
		t := &r.Tools[i]
		n, ok := at[t.Server]
		if !ok {
			n = len(of)
			at[t.Server] = n
			of = append(of, nil)
			r.Servers = append(r.Servers, Server{Name: t.Server})
		}
		of[n] = append(of[n], i)
		s := &r.Servers[n]
		s.Tools++
		s.WireBytes += t.WireBytes
		if !m.used[i] {
			s.Unused++
		}
		s.Session = s.Session.Plus(t.Session)
		for mode := range t.Costs {
			s.Costs[mode] = s.Costs[mode].plus(t.Costs[mode])
		}
	}
	for n := range r.Servers {
		s := &r.Servers[n]
		s.PerTurn = m.list(of[n])
		narrow(&s.Session, &s.Costs, s.PerTurn)
	}
}

// narrow gives a sum over turns the relative range that its list has.
func narrow(session *tokens.Count, costs *Costs, list tokens.Count) {
	low, mid, high := list.Bounds()
	if mid <= 0 || session.Basis() == tokens.Counted {
		return
	}
	_, m, _ := session.Bounds()
	if session.Basis() == tokens.Estimated {
		*session = tokens.Between(m*low/mid, m, m*high/mid, session.Reason())
	}
	for i := range costs {
		c := &costs[i]
		c.low, c.high = c.mid*low/mid, c.mid*high/mid
	}
}

// fillSums adds up the tools, with preamble and names.
func (m *meter) fillSums(r *Rent, p *plan, rates []rate) {
	r.Session = tokens.Sum(m.preamble.Times(p.withTools), m.o.SearchTool.Times(p.withSearch))
	for i := range r.Servers {
		r.Session = r.Session.Plus(r.Servers[i].Session)
	}
	for mode, rate := range rates {
		r.Costs[mode] = money(m.preamble, rate.preamble, rate.known).plus(money(m.o.SearchTool, rate.search, rate.known))
		for i := range r.Servers {
			r.Costs[mode] = r.Costs[mode].plus(r.Servers[i].Costs[mode])
		}
	}
	if len(m.s.Turns) > 0 {
		p.lastTurn(r)
	}
}

func (m *meter) fillCarried(r *Rent, rates []rate) {
	for mode, rate := range rates {
		r.CarriedCosts[mode] = money(tokens.Count{}, 0, rate.known)
	}
	for i := range m.s.Carried {
		c := CarriedRent{Carried: m.s.Carried[i]}
		from, until := c.turns(len(m.s.Turns))
		c.Reads = max(0, until-from+1)
		c.Session = c.Tokens.Times(c.Reads)
		for mode, rate := range rates {
			c.Costs[mode] = money(c.Tokens, rate.carried[i], rate.known)
			r.CarriedCosts[mode] = r.CarriedCosts[mode].plus(c.Costs[mode])
		}
		r.CarriedSession = r.CarriedSession.Plus(c.Session)
		r.Carried = append(r.Carried, c)
	}
}

// whole gives a count as the cache's arithmetic needs it.
func whole(c tokens.Count) int {
	_, mid, _ := c.Bounds()
	return int(math.Round(min(max(mid, 0), math.MaxInt32)))
}
