package rent

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/tokens"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func options(t testing.TB, model string) Options {
	t.Helper()
	m, err := tokens.Default().Model(model)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Table: tokens.Default(), Estimator: tokens.Default().Estimator(m), Day: noon}
}

func mid(c tokens.Count) float64 {
	_, m, _ := c.Bounds()
	return m
}

func usd(m Money) float64 {
	_, mid, _, _ := m.Bounds()
	return mid
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1e-3, math.Abs(b)) }

// tickets are two tools as a server lists them, and one of another server.
func tickets() []Tool {
	return []Tool{
		{Server: "tickets", Name: "mcp__tickets__search", Description: "Search tickets by text.", InputSchema: []byte(`{"type":"object","properties":{"query":{"type":"string","description":"Words to look for"}},"required":["query"]}`), WireBytes: 400},
		{Server: "tickets", Name: "mcp__tickets__comment", Description: "Add a comment to a ticket.", InputSchema: []byte(`{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}}`), WireBytes: 300},
		{Server: "clock", Name: "mcp__clock__now", Description: "Say what time it is.", InputSchema: []byte(`{"type":"object"}`), WireBytes: 120},
	}
}

func turns(n int) (out []Turn) {
	for i := range n {
		out = append(out, Turn{Start: noon.Add(time.Duration(i) * 10 * time.Second)})
	}
	return out
}

// worked is the reference's worked example: 145 tools of 19,529 tokens with their
// preamble, here as one, and 90 tokens of output and 800 of results after each of ten
// requests.
func worked(t testing.TB) (*Session, Options) {
	o := options(t, "claude-opus-5-5")
	o.Other = tokens.Exact(3060, "given")
	s := &Session{Tools: []Tool{{Server: "a", Name: "all", Counted: tokens.Exact(19_529-290, "count_tokens")}}, Turns: turns(10)}
	for i := range 9 {
		s.Calls = append(s.Calls, Call{0, i + 1})
		s.Carried = append(s.Carried,
			Carried{Kind: Arguments, Label: fmt.Sprint("call ", i), Hash: uint64(2 * i), Tokens: tokens.Exact(90, "usage"), From: i + 2},
			Carried{Kind: Result, Label: fmt.Sprint("result ", i), Hash: uint64(2*i + 1), Tokens: tokens.Exact(800, "usage"), Bytes: 3200, From: i + 2})
	}
	return s, o
}

func TestWorkedExample(t *testing.T) {
	s, o := worked(t)
	r, err := Of(s, o)
	if err != nil {
		t.Fatal(err)
	}
	up := &r.Upfront
	if mid(up.Session) != 195_290 || mid(up.LastTurn) != 19_529 || mid(up.CarriedSession) != 40_050 {
		t.Errorf("session %v, last turn %v, carried %v", up.Session, up.LastTurn, up.CarriedSession)
	}
	if up.Session.Basis() != tokens.Mixed || up.Tools[0].Session.String() != "192,390" {
		t.Errorf("%s, %v", up.Session.Basis(), up.Tools[0].Session)
	}
	// 265,940 tokens are $1.06376, of which 30,600 are system and user.
	if got := usd(up.Costs[cost.Uncached]) + usd(up.CarriedCosts[cost.Uncached]); !near(got, (265_940-30_600)*4/1e6) {
		t.Errorf("not cached: $%v", got)
	}
	// Cached it is 61,782.85 tokens at the full price, of which 3,060 x 2.15 are system and user.
	if got := usd(up.Costs[cost.FiveMinutes]) + usd(up.CarriedCosts[cost.FiveMinutes]); !near(got, (61_782.85-3060*2.15)*4/1e6) {
		t.Errorf("cached: $%v", got)
	}
	if got := usd(up.Costs[cost.OneHour]); !near(got, 19_529*2.9*4/1e6) {
		t.Errorf("cached for an hour: $%v, want T(w + 0.1(n-1))", got)
	}
	if got := up.Carried[1].String(); got != "this 3.2 kB answer has been read 9 times" {
		t.Error(got)
	}
	if got := up.Carried[17].String(); got != "this 3.2 kB answer has been read once" {
		t.Error(got)
	}
	if got := up.Tools[0].Costs[cost.Uncached].String(); got != "$0.77" {
		t.Errorf("what was counted costs %s", got)
	}
	if got := up.Costs[cost.Uncached].String(); got != "~$0.78 ($0.78-$0.78)" {
		t.Errorf("with an estimated preamble it costs %s", got)
	}
	for _, doubt := range []string{"write_5m is derived", "~512 tokens, unknown", "preamble: ~290 tokens, unknown"} {
		if !slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.Contains(d, doubt) }) {
			t.Errorf("%q is not among the doubts: %q", doubt, r.Doubts)
		}
	}
}

func TestServers(t *testing.T) {
	s := &Session{Tools: tickets(), Turns: turns(12), Calls: []Call{{0, 3}, {0, 5}, {-1, 6}, {1, 11}}}
	r, err := Of(s, options(t, "claude-opus-5-5"))
	if err != nil {
		t.Fatal(err)
	}
	up := &r.Upfront
	if len(up.Servers) != 2 || up.Servers[0].Name != "tickets" || up.Servers[0].Tools != 2 || up.Servers[0].WireBytes != 700 || up.Servers[0].Unused != 0 || up.Servers[1].Unused != 1 {
		t.Errorf("%+v", up.Servers)
	}
	if !slices.Equal(r.Unused, []int{2}) || up.Tools[0].Calls != 2 || up.Tools[0].Turns != 12 {
		t.Errorf("unused %v, %+v", r.Unused, up.Tools[0])
	}
	want := 12.0 * 290
	for i, tool := range up.Tools {
		if mid(tool.Session) != 12*mid(tool.PerTurn) {
			t.Errorf("%s: %v a turn, %v in 12", tool.Name, tool.PerTurn, tool.Session)
		}
		if got, want := usd(tool.Costs[cost.FiveMinutes]), mid(tool.PerTurn)*(1.25+1.1)*4/1e6; !near(got, want) {
			t.Errorf("%s: cached $%v, want $%v", tool.Name, got, want)
		}
		est := options(t, "claude-opus-5-5").Estimator.Tool(&tokens.Tool{Name: s.Tools[i].Name, Description: s.Tools[i].Description, InputSchema: s.Tools[i].InputSchema})
		if est != tool.Parts {
			t.Errorf("%s: parts %v, want %v", tool.Name, tool.Parts, est)
		}
		want += mid(tool.Session)
	}
	if !near(mid(up.Session), want) || up.Session.Basis() != tokens.Estimated {
		t.Errorf("the session is %v, its tools and preamble %v", up.Session, want)
	}
	low, m, high := up.Servers[0].Session.Bounds()
	if !near(low/m, 0.85) || !near(high/m, 1.15) {
		t.Errorf("a server's range is %v, want 15 %%", up.Servers[0].Session)
	}
	if !strings.HasPrefix(up.Costs[0].String(), "~$0.0") {
		t.Errorf("an estimate costs %v", up.Costs[0])
	}
	if !slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.Contains(d, "at least") }) {
		t.Errorf("nothing says that this is the least: %q", r.Doubts)
	}
}

func TestDeferred(t *testing.T) {
	s := &Session{Tools: tickets(), Turns: turns(10), Calls: []Call{{0, 4}, {0, 2}}}
	s.Tools[0].Deferred, s.Tools[2].Deferred = true, true
	o := options(t, "claude-opus-5-5")
	o.SearchTool = tokens.Exact(200, "given")
	r, err := Of(s, o)
	if err != nil {
		t.Fatal(err)
	}
	up, sent, deferred := &r.Upfront, &r.Sent, &r.Deferred
	if got := deferred.Tools[0]; got.Turns != 8 || got.Named != 10 || !near(mid(got.Session), 8*mid(got.PerTurn)+10*mid(got.Parts.Name)) {
		t.Errorf("found in turn 2: %+v", got)
	}
	if got := deferred.Tools[2]; got.Turns != 0 || !near(mid(got.Session), 10*mid(got.Parts.Name)) {
		t.Errorf("never found: %+v", got)
	}
	if got := sent.Tools[1]; got.Turns != 10 || got.Named != 0 || got.Session != up.Tools[1].Session {
		t.Errorf("as the host sends it: %+v", got)
	}
	names := mid(deferred.Tools[0].Parts.Name) + mid(deferred.Tools[1].Parts.Name) + mid(deferred.Tools[2].Parts.Name)
	want := 10*(290+200+names) + 8*mid(up.Tools[0].PerTurn)
	if !near(mid(deferred.Session), want) || !near(mid(deferred.Names), 200+names) {
		t.Errorf("deferred: %v, want %v", deferred.Session, want)
	}
	if !near(mid(deferred.LastTurn), 290+200+names+mid(up.Tools[0].PerTurn)) {
		t.Errorf("the last turn is %v", deferred.LastTurn)
	}
	if !near(mid(r.Saves()), mid(up.Session)-want) {
		t.Errorf("saves %v", r.Saves())
	}
	// Its definition enters at turn 3: written once, read seven times. Its name stands there from the first.
	tool := deferred.Tools[0]
	if got, want := usd(tool.Costs[cost.FiveMinutes]), (mid(tool.PerTurn)*(1.25+0.7)+mid(tool.Parts.Name)*(1.25+0.9))*4/1e6; !near(got, want) {
		t.Errorf("cached $%v, want $%v", got, want)
	}
	o.NamesHidden, o.SearchTool = true, tokens.Count{}
	if r, err = Of(s, o); err != nil || !near(mid(r.Deferred.Session), 10*290+8*mid(up.Tools[0].PerTurn)) {
		t.Errorf("with hidden names: %v, %v", r.Deferred.Session, err)
	}
}

// TestListChange: a list that changes is written again, with all that follows.
func TestListChange(t *testing.T) {
	s, o := worked(t)
	s.Tools = append(s.Tools, Tool{Server: "a", Name: "all", Description: "changed", Counted: s.Tools[0].Counted})
	for i := range s.Turns {
		s.Turns[i].Tools = []int{i / 5}
	}
	r, err := Of(s, o)
	if err != nil {
		t.Fatal(err)
	}
	misses := r.Upfront.Misses[cost.FiveMinutes]
	if len(misses) != 1 || misses[0].Turn != 6 || misses[0].Again != 26_149 || misses[0].Reason != cost.Changed || misses[0].Level != cost.Tools {
		t.Errorf("%+v", misses)
	}
	if r.Upfront.Misses[cost.Uncached] != nil {
		t.Errorf("without a cache: %+v", r.Upfront.Misses[cost.Uncached])
	}
	if a, b := r.Upfront.Tools[0], r.Upfront.Tools[1]; a.Turns != 5 || b.Turns != 5 || !near(usd(b.Costs[1]), 19_239*(1.25+0.4)*4/1e6) {
		t.Errorf("%+v, %+v", a, b)
	}
}

// TestChangedTool: of a tool that changed and is searched for, a request holds the
// definition that it offers, and a call of one is a call of the tool.
func TestChangedTool(t *testing.T) {
	changed := tickets()[0]
	changed.Description = "Search all tickets, by their text."
	s := &Session{Tools: append(tickets()[:1:1], changed), Turns: turns(6), Calls: []Call{{0, 2}}}
	for i := range s.Turns {
		s.Turns[i].Tools = []int{i / 3}
	}
	r, err := Of(s, options(t, "claude-opus-5-5"))
	if err != nil {
		t.Fatal(err)
	}
	old, now := r.Deferred.Tools[0], r.Deferred.Tools[1]
	if old.Turns != 1 || old.Named != 3 || now.Turns != 3 || now.Named != 3 || len(r.Unused) != 0 || r.Deferred.Servers[0].Unused != 0 {
		t.Errorf("%+v, %+v, never called: %v", old, now, r.Unused)
	}
	if got, want := mid(r.Deferred.LastTurn), 290+mid(now.PerTurn)+mid(now.Parts.Name); !near(got, want) {
		t.Errorf("the newest request holds %v, want %v", got, want)
	}
}

// TestSince: times that count from an unknown beginning are times all the same.
func TestSince(t *testing.T) {
	s := &Session{Tools: tickets(), Turns: []Turn{{}, {Since: time.Minute}, {Since: 10 * time.Minute}}}
	r, err := Of(s, options(t, "claude-opus-5-5"))
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Upfront.Misses[cost.FiveMinutes]; len(m) != 1 || m[0].Turn != 3 || m[0].Reason != cost.Expired || m[0].Gap != 9*time.Minute {
		t.Errorf("%+v", m)
	}
}

// TestLateServer: a list that changes breaks nothing while its tools are deferred:
// names and definitions come into the messages.
func TestLateServer(t *testing.T) {
	s := &Session{Tools: tickets(), Turns: turns(6), Calls: []Call{{2, 5}}}
	for i := range 3 {
		s.Turns[i].Tools = []int{0, 1}
	}
	r, err := Of(s, options(t, "claude-opus-5-5"))
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Upfront.Misses[cost.FiveMinutes]; len(m) != 0 { // a tool that comes last keeps what is before it
		t.Errorf("all up front, without messages: %+v", m)
	}
	late := r.Deferred.Tools[2]
	if m := r.Deferred.Misses[cost.FiveMinutes]; len(m) != 0 || late.Named != 3 || late.Turns != 1 {
		t.Errorf("%+v, %+v", m, late)
	}
	s.Carried = []Carried{{Kind: Result, Tool: 0, Tokens: tokens.Exact(100, "usage"), From: 2}}
	if r, err = Of(s, options(t, "claude-opus-5-5")); err != nil || len(r.Upfront.Misses[cost.FiveMinutes]) != 1 || len(r.Deferred.Misses[cost.FiveMinutes]) != 0 {
		t.Errorf("with messages: %+v, %+v, %v", r.Upfront.Misses, r.Deferred.Misses, err)
	}
}

func TestUntil(t *testing.T) {
	s := &Session{Turns: turns(10), Carried: []Carried{
		{Kind: Result, Tool: -1, Tokens: tokens.Exact(1000, "usage"), Bytes: 40_000, From: 3, Until: 6},
		{Kind: Result, Tool: -1, Tokens: tokens.Exact(500, "usage"), From: 4},
		{Kind: Result, Tool: -1, Tokens: tokens.Exact(500, "usage"), From: 11},
	}}
	r, err := Of(s, options(t, "claude-opus-5-5"))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Upfront.Carried
	if c[0].Reads != 4 || mid(c[0].Session) != 4000 || c[1].Reads != 7 || c[2].Reads != 0 || c[2].String() != "this 0 B answer has not been read" {
		t.Errorf("%+v", c)
	}
	if got, want := usd(c[0].Costs[1]), 1000*(1.25+0.3)*4/1e6; !near(got, want) {
		t.Errorf("$%v, want $%v", got, want)
	}
	// When the first is dropped, what comes after it is written again.
	if got, want := usd(c[1].Costs[1]), 500*(1.25+0.2+1.25+0.3)*4/1e6; !near(got, want) {
		t.Errorf("$%v, want $%v", got, want)
	}
	if !r.Upfront.Session.IsZero() {
		t.Errorf("no tools, and a rent of %v", r.Upfront.Session)
	}
}

func TestNoPrice(t *testing.T) {
	s := &Session{Tools: tickets(), Turns: make([]Turn, 3)}
	r, err := Of(s, options(t, "claude-mythos-5-2"))
	if err != nil || r.Upfront.Costs[0].String() != "price not known" || r.Upfront.CarriedCosts[0].String() != "price not known" {
		t.Errorf("%v, %v", r.Upfront.Costs, err)
	}
	b, err := json.Marshal(r.Upfront.Costs)
	if err != nil || string(b) != "[null,null,null]" {
		t.Errorf("%s, %v", b, err)
	}
}

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		count tokens.Count
		want  string
	}{
		{tokens.Exact(265_940, ""), "$1.06"},
		{tokens.Exact(123, ""), "$0.00049"},
		{tokens.Exact(10_000, ""), "$0.040"},
		{tokens.Exact(0, ""), "$0.00"},
		{tokens.Between(850, 1000, 1150, ""), "~$0.0040 ($0.0034-$0.0046)"},
		{tokens.Between(75_000, 100_000, 125_000, ""), "~$0.40 ($0.30-$0.50)"},
	} {
		if got := money(c.count, 4/1e6, true).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.count, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	o := options(t, "")
	for _, c := range []struct {
		want string
		s    Session
		o    Options
	}{
		{"estimator", Session{}, Options{}},
		{"the day", Session{Turns: turns(2)[:1:1]}, Options{Table: o.Table, Estimator: o.Estimator}},
		{"offers tool 3", Session{Tools: tickets(), Turns: []Turn{{Tools: []int{3}}}}, o},
		{"call 0", Session{Turns: turns(1), Calls: []Call{{Tool: 0, Turn: 1}}}, o},
		{"call 0", Session{Tools: tickets(), Turns: turns(1), Calls: []Call{{Tool: 0, Turn: 2}}}, o},
		{"carried text 0", Session{Carried: []Carried{{From: 0}}}, o},
		{"carried text 0", Session{Carried: []Carried{{From: 3, Until: 2}}}, o},
		{"fewer than 0", Session{Tools: tickets(), Carried: []Carried{{From: 1, Tokens: tokens.Between(-5, 1, 1, "")}}}, o},
		{"turn 2: it starts before", Session{Turns: []Turn{{Start: noon}, {Start: noon.Add(-time.Hour)}}}, o},
	} {
		if c.want == "the day" {
			c.s.Turns[0].Start = time.Time{}
		}
		if _, err := Of(&c.s, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if r, err := Of(&Session{}, o); err != nil || r.Turns != 0 || !r.Upfront.Session.IsZero() {
		t.Errorf("nothing at all: %+v, %v", r, err)
	}
}

func drawSession(t *rapid.T) *Session {
	s := &Session{Tools: tickets(), Turns: turns(rapid.IntRange(1, 12).Draw(t, "turns"))}
	n := len(s.Turns)
	at := noon
	for i := range s.Turns {
		at = at.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "gap")) * time.Second)
		s.Turns[i].Start = at
		if rapid.IntRange(0, 3).Draw(t, "list") == 0 {
			s.Turns[i].Tools = slices.Compact(rapid.SliceOfN(rapid.IntRange(0, 2), 0, 3).Draw(t, "tools"))
		}
	}
	for i := range s.Tools {
		s.Tools[i].Deferred = rapid.Bool().Draw(t, "deferred")
	}
	for range rapid.IntRange(0, 5).Draw(t, "calls") {
		s.Calls = append(s.Calls, Call{rapid.IntRange(-1, 2).Draw(t, "tool"), rapid.IntRange(1, n).Draw(t, "turn")})
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "carried") {
		c := Carried{Kind: Result, Tool: -1, Hash: uint64(i), Tokens: tokens.Exact(rapid.IntRange(0, 3000).Draw(t, "tokens"), "usage"), From: rapid.IntRange(1, n+1).Draw(t, "from")}
		if rapid.Bool().Draw(t, "dropped") {
			c.Until = rapid.IntRange(c.From, n+1).Draw(t, "until")
		}
		s.Carried = append(s.Carried, c)
	}
	return s
}

// atLevels sets a breakpoint at the end of each level.
func atLevels(blocks []cost.Block) (breaks []int) {
	for i := range blocks {
		if i+1 == len(blocks) || blocks[i+1].Level != blocks[i].Level {
			breaks = append(breaks, i)
		}
	}
	return breaks
}

// TestPropertySums: whatever happens, each request's blocks cost, one by one, what the
// parts are said to cost; and the tokens of the parts are those of the requests.
func TestPropertySums(t *testing.T) {
	o := options(t, "claude-opus-5-5")
	o.Other, o.SearchTool = tokens.Exact(600, "given"), tokens.Exact(50, "given")
	rapid.Check(t, func(t *rapid.T) {
		s := drawSession(t)
		o.Breaks = rapid.SampledFrom([]func([]cost.Block) []int{
			nil, atLevels,
			func(b []cost.Block) []int { return cost.AtEnd(b[:(len(b)+1)/2]) },
		}).Draw(t, "breaks")
		r, err := Of(s, o)
		if err != nil {
			t.Fatal(err)
		}
		m := newMeter(s, &o)
		for _, way := range []struct {
			rent     *Rent
			deferred func(int) bool
		}{
			{&r.Upfront, func(int) bool { return false }},
			{&r.Sent, func(i int) bool { return s.Tools[i].Deferred }},
			{&r.Deferred, func(int) bool { return true }},
		} {
			p := m.plan(way.deferred)
			for _, mode := range cost.Modes {
				checkCosts(t, p, way.rent, mode)
			}
			tools := 0.0
			for _, q := range p.requests {
				for i, b := range q.Blocks {
					if what := q.roles[i].what; what != carried && what != other {
						tools += float64(b.Tokens)
					}
				}
			}
			// Blocks are whole tokens, so each may be off by a half.
			if d := math.Abs(tools - mid(way.rent.Session)); d > 0.5*float64(len(p.requests)*8) {
				t.Errorf("the requests hold %v tokens of tools, the rent is %v", tools, way.rent.Session)
			}
		}
	})
}

func checkCosts(t *rapid.T, p *plan, r *Rent, mode cost.Mode) {
	sim, err := cost.New(p.m.rules, mode)
	if err != nil {
		t.Fatal(err)
	}
	tool, text := make([]float64, len(p.m.s.Tools)), make([]float64, len(p.m.s.Carried))
	for i := range p.requests {
		q := &p.requests[i]
		c, err := sim.Send(&q.Request)
		if err != nil {
			t.Fatal(err)
		}
		for b := range q.Blocks {
			switch of := q.roles[b]; of.what {
			case definition:
				tool[of.i] += c.Rate(b) * mid(p.m.whole[of.i])
			case name:
				tool[of.i] += c.Rate(b) * mid(p.m.each[of.i].Name)
			case carried:
				text[of.i] += c.Rate(b) * mid(p.m.s.Carried[of.i].Tokens)
			}
		}
	}
	for i, want := range tool {
		if got := usd(r.Tools[i].Costs[mode]); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s, tool %d: $%v, block by block $%v", mode, i, got, want)
		}
	}
	for i, want := range text {
		if got := usd(r.Carried[i].Costs[mode]); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s, text %d: $%v, block by block $%v", mode, i, got, want)
		}
	}
}

// TestPropertyLinear: twice the turns, twice the rent.
func TestPropertyLinear(t *testing.T) {
	o := options(t, "claude-opus-5-5")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "turns")
		one, err := Of(&Session{Tools: tickets(), Turns: turns(n)}, o)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Of(&Session{Tools: tickets(), Turns: turns(2 * n)}, o)
		if err != nil || !near(mid(two.Upfront.Session), 2*mid(one.Upfront.Session)) || !near(usd(two.Upfront.Costs[0]), 2*usd(one.Upfront.Costs[0])) {
			t.Errorf("%d turns: %v, twice as many: %v, %v", n, one.Upfront.Session, two.Upfront.Session, err)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	s := &Session{Turns: turns(10_000)}
	for i := range 150 {
		tool := tickets()[i%3]
		tool.Name += fmt.Sprint(i)
		s.Tools = append(s.Tools, tool)
	}
	for i := range 10_000 {
		s.Calls = append(s.Calls, Call{i % 150, i + 1})
		s.Carried = append(s.Carried, Carried{Kind: Result, Tool: i % 150, Hash: uint64(i), Tokens: tokens.Exact(300, ""), From: i + 2})
	}
	o := options(b, "claude-opus-5-5")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of(s, o); err != nil {
			b.Fatal(err)
		}
	}
}
