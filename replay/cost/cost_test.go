package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/replay/tokens"
)

func rules(t testing.TB, model string) Rules {
	t.Helper()
	m, err := tokens.Default().Model(model)
	if err != nil {
		t.Fatal(err)
	}
	return RulesOf(tokens.Default(), m)
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func block(l Level, name string, n int) Block {
	return Block{Level: l, Name: name, Hash: Hash([]byte(name)), Tokens: n}
}

// conversation is the worked example: tools of 19,529 tokens with their preamble, a
// system prompt of 3,000, a first text of 60, then 90 of output and 800 of results
// after each request.
func conversation(n int) (requests []Request) {
	blocks := []Block{block(Tools, "145 tools", 19_529), block(System, "system", 3_000), block(Messages, "user", 60)}
	blocks = slices.Grow(blocks, 2*n) // one array for all
	for i := range n {
		requests = append(requests, Request{Start: noon.Add(time.Duration(i) * 10 * time.Second), Blocks: blocks, Breaks: AtEnd(blocks)})
		blocks = append(blocks, block(Messages, fmt.Sprint("call ", i), 90), block(Messages, fmt.Sprint("result ", i), 800))
	}
	return requests
}

func TestWorkedExample(t *testing.T) {
	r := rules(t, "claude-opus-5-5")
	_, plain, err := run(r, Uncached, conversation(10))
	if err != nil || plain.Prompt != 265_940 || plain.Full != 265_940 || !near(plain.USD, 1.06376) || !near(plain.FullPrice, 265_940) {
		t.Errorf("not cached: %+v, %v", plain, err)
	}
	if share := math.Round(100 * 10 * 19_529 / float64(plain.Prompt)); share != 73 {
		t.Errorf("tools are %v %% of it", share)
	}
	charges, cached, err := run(r, FiveMinutes, conversation(10))
	if err != nil || cached.Prompt != 265_940 || cached.Read != 235_341 || cached.Written != 30_599 || cached.Full != 0 {
		t.Errorf("cached: %+v, %v", cached, err)
	}
	if !near(cached.FullPrice, 61_782.85) || !near(cached.USD, 0.2471314) {
		t.Errorf("cached: %.2f tokens at the full price, $%.6f", cached.FullPrice, cached.USD)
	}
	if charges[0].Miss.Reason != First || charges[9].Miss != (Miss{Gap: 10 * time.Second}) {
		t.Errorf("the first: %v, the last: %+v", charges[0].Miss, charges[9].Miss)
	}

	changed := conversation(10)
	for i := 5; i < 10; i++ {
		changed[i].Blocks = append([]Block{block(Tools, "145 other tools", 19_529)}, changed[i].Blocks[1:]...)
	}
	charges, total, err := run(r, FiveMinutes, changed)
	if err != nil || !near(total.FullPrice-cached.FullPrice, 30_071.35) || total.Again != 26_149 {
		t.Errorf("a changed list: %.2f tokens more, %+v, %v", total.FullPrice-cached.FullPrice, total, err)
	}
	if m := charges[5].Miss; m.Reason != Changed || m.Again != 26_149 || m.Level != Tools || m.Block != 0 || m.Change != BlockChanged {
		t.Errorf("request 6: %+v", m)
	}
	if charges[6].Miss.Reason != Hit {
		t.Errorf("request 7: %+v", charges[6].Miss)
	}
	if usd := total.USD - cached.USD; math.Round(usd*1000) != 120 {
		t.Errorf("a changed list costs $%.4f more", usd)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, math.Abs(b)) }

// TestPays: caching pays from the 2nd request at 5 minutes, from the 3rd at 1 hour.
func TestPays(t *testing.T) {
	blocks := []Block{block(Tools, "tools", 10_000)}
	for _, c := range []struct {
		mode Mode
		n    int
		pays bool
	}{{FiveMinutes, 1, false}, {FiveMinutes, 2, true}, {OneHour, 2, false}, {OneHour, 3, true}} {
		var requests []Request
		for i := range c.n {
			requests = append(requests, Request{Start: noon.Add(time.Duration(i) * time.Second), Blocks: blocks, Breaks: AtEnd(blocks)})
		}
		_, cached, err := run(rules(t, "claude-opus-5-5"), c.mode, requests)
		_, plain, _ := run(rules(t, "claude-opus-5-5"), Uncached, requests)
		if err != nil || (cached.USD < plain.USD) != c.pays {
			t.Errorf("%s, %d requests: $%v, not cached $%v, %v", c.mode, c.n, cached.USD, plain.USD, err)
		}
		write := map[Mode]float64{FiveMinutes: 1.25, OneHour: 2}[c.mode]
		if want := 10_000 * (write + 0.1*float64(c.n-1)); !near(cached.FullPrice, want) {
			t.Errorf("%s, %d requests: rent %v, want T(w + 0.1(n-1)) = %v", c.mode, c.n, cached.FullPrice, want)
		}
	}
}

// second is what comes after a first request of two tools, a system prompt and a
// user's text, each of 1,000 tokens.
type second struct {
	name   string
	model  string
	mode   Mode
	after  time.Duration
	early  bool // the first is answered only after the second starts
	blocks func([]Block) []Block
	breaks func([]Block) []int

	read, written, full int
	reason              Reason
	change              Change
	level               Level
	what                string
	again               int
}

func with(more ...Block) func([]Block) []Block {
	return func(b []Block) []Block { return append(b, more...) }
}

func many(n int) (out []Block) {
	for i := range n {
		out = append(out, block(Messages, fmt.Sprint("m", i), 10))
	}
	return out
}

var seconds = []second{
	{name: "the same", read: 4000},
	{name: "more", blocks: with(block(Messages, "x", 50)), read: 4000, written: 50},
	{name: "just in time", after: 5*time.Minute - 1, read: 4000},
	{name: "expired", after: 5 * time.Minute, written: 4000, reason: Expired, again: 4000},
	{name: "an hour's entry", mode: OneHour, after: time.Hour - 1, read: 4000},
	{name: "an hour's entry expired", mode: OneHour, after: time.Hour, written: 4000, reason: Expired, again: 4000},
	{name: "before the first is answered", early: true, written: 4000, reason: Early, again: 4000},
	{name: "20 blocks back", blocks: with(many(19)...), read: 4000, written: 190},
	{name: "21 blocks back", blocks: with(many(20)...), written: 4200, reason: TooFar, again: 4000},
	{name: "21 blocks back, and levels", blocks: with(many(20)...), breaks: atLevels, read: 3000, written: 1200, reason: TooFar, again: 1000},
	{name: "tools reordered", blocks: func(b []Block) []Block { b[0], b[1] = b[1], b[0]; return b },
		written: 4000, reason: Changed, change: Reordered, level: Tools, what: "t2", again: 4000},
	{name: "a tool added in front", blocks: func(b []Block) []Block { return append([]Block{block(Tools, "t0", 10)}, b...) },
		written: 4010, reason: Changed, change: Added, level: Tools, what: "t0", again: 4000},
	{name: "a tool added last", blocks: func(b []Block) []Block {
		return append([]Block{b[0], b[1], block(Tools, "t3", 10)}, b[2:]...)
	}, written: 4010, reason: Changed, change: Added, level: Tools, what: "t3", again: 4000},
	{name: "the last tool removed", blocks: func(b []Block) []Block { return append(b[:1:1], b[2:]...) },
		written: 3000, reason: Changed, change: Removed, level: Tools, what: "t2", again: 3000},
	{name: "a tool's text changed", blocks: func(b []Block) []Block { b[1].Hash++; return b },
		written: 4000, reason: Changed, change: BlockChanged, level: Tools, what: "t2", again: 4000},
	{name: "the system prompt changed", blocks: func(b []Block) []Block { b[2].Hash++; return b }, breaks: atLevels,
		read: 2000, written: 2000, reason: Changed, change: BlockChanged, level: System, what: "s", again: 2000},
	{name: "a message rewritten", blocks: func(b []Block) []Block { b[3].Hash++; return b }, breaks: atLevels,
		read: 3000, written: 1000, reason: Changed, change: BlockChanged, level: Messages, what: "u", again: 1000},
	{name: "the same text in another part", blocks: func(b []Block) []Block { b[2].Level = Messages; return b },
		written: 4000, reason: Changed, change: BlockChanged, level: System, what: "s", again: 4000},
	{name: "rewound", blocks: func(b []Block) []Block { return b[:3] }, written: 3000, reason: Changed, change: Removed, level: Messages, what: "u", again: 3000},
	{name: "rewound to a breakpoint", blocks: func(b []Block) []Block { return b[:3] }, breaks: atLevels, read: 3000},
	{name: "no breakpoints", breaks: func([]Block) []int { return nil }, full: 4000, reason: NoBreaks, again: 4000},
	{name: "a breakpoint before all that is cached", breaks: func([]Block) []int { return []int{1} }, written: 2000, full: 2000, reason: NoBreaks, again: 4000},
	{name: "too short for this model", model: "claude-opus-4-6", full: 4000, reason: TooShort},
	{name: "long enough now", model: "claude-opus-4-6", blocks: with(block(Messages, "x", 96)), written: 4096, reason: First},
	{name: "a new setting", blocks: with(Block{Level: Messages, Name: "choice", Unlisted: true}), read: 4000},
	{name: "20 blocks back over a setting", blocks: with(append(many(19), Block{Level: Messages, Name: "choice", Unlisted: true})...), read: 4000, written: 190},
}

func TestSecondRequest(t *testing.T) {
	for _, c := range seconds {
		t.Run(c.name, func(t *testing.T) {
			if c.mode == Uncached {
				c.mode = FiveMinutes
			}
			if c.model == "" {
				c.model = "claude-opus-5-5"
			}
			if c.breaks == nil {
				c.breaks = AtEnd
			}
			base := func() []Block {
				return []Block{block(Tools, "t1", 1000), block(Tools, "t2", 1000), block(System, "s", 1000), block(Messages, "u", 1000)}
			}
			first := Request{Start: noon, Blocks: base(), Breaks: AtEnd(base())}
			if len(c.breaks(base())) > 1 {
				first.Breaks = c.breaks(base())
			}
			if c.early {
				first.Answered = noon.Add(time.Hour)
			}
			next := Request{Start: noon.Add(c.after), Blocks: base()}
			if c.blocks != nil {
				next.Blocks = c.blocks(base())
			}
			next.Breaks = c.breaks(next.Blocks)
			charges, _, err := run(rules(t, c.model), c.mode, []Request{first, next})
			if err != nil {
				t.Fatal(err)
			}
			got := charges[1]
			if got.Read != c.read || got.Written != c.written || got.Full != c.full {
				t.Errorf("read %d, written %d, full %d; want %d, %d, %d", got.Read, got.Written, got.Full, c.read, c.written, c.full)
			}
			if m := got.Miss; m.Reason != c.reason || m.Change != c.change || m.Level != c.level || m.Name != c.what || m.Again != c.again {
				t.Errorf("%v: %+v", m, m)
			}
		})
	}
}

// TestRefresh: reading makes an entry live on.
func TestRefresh(t *testing.T) {
	blocks := []Block{block(Tools, "tools", 5000)}
	var requests []Request
	for i := range 4 {
		requests = append(requests, Request{Start: noon.Add(time.Duration(i) * 4 * time.Minute), Blocks: blocks, Breaks: AtEnd(blocks)})
	}
	_, total, err := run(rules(t, "claude-opus-5-5"), FiveMinutes, requests)
	if err != nil || total.Read != 15_000 || total.Written != 5000 {
		t.Errorf("%+v, %v", total, err)
	}
}

// TestReadAgain: an entry stays readable while another answer is waited for.
func TestReadAgain(t *testing.T) {
	blocks := []Block{block(Tools, "tools", 5000)}
	var requests []Request
	for i := range 3 {
		start := noon.Add(time.Duration(i) * 10 * time.Second)
		requests = append(requests, Request{Start: start, Answered: start.Add(9 * time.Second), Blocks: blocks, Breaks: AtEnd(blocks)})
	}
	requests[1].Answered = requests[2].Start.Add(time.Minute)
	_, total, err := run(rules(t, "claude-opus-5-5"), FiveMinutes, requests)
	if err != nil || total.Read != 10_000 || total.Written != 5000 {
		t.Errorf("%+v, %v", total, err)
	}
}

// TestPriceByLength: the row of a prompt depends on all its tokens, cached or not.
func TestPriceByLength(t *testing.T) {
	short, long := []Block{block(Tools, "t", 100_000)}, []Block{block(Tools, "t", 100_000), block(Messages, "u", 1)}
	charges, _, err := run(rules(t, "claude-haiku-5-5"), FiveMinutes, []Request{
		{Start: noon, Blocks: short, Breaks: AtEnd(short)}, {Start: noon, Blocks: long, Breaks: AtEnd(long)},
	})
	if err != nil || !near(charges[0].USD, 0.0125) || !near(charges[1].USD, (100_000*0.05+0.625)/1e6) {
		t.Errorf("%+v, %v", charges, err)
	}
	charges, total, err := run(rules(t, "claude-fable-5-2"), FiveMinutes, []Request{{Start: noon, Blocks: short, Breaks: AtEnd(short)}})
	if err != nil || charges[0].Priced || total.Unpriced != 1 || total.USD != 0 || total.FullPrice != 0 {
		t.Errorf("a model without a price: %+v, %v", total, err)
	}
}

func TestRefused(t *testing.T) {
	b := many(8)
	huge := []Block{{Tokens: math.MaxInt}, {Tokens: 1}}
	for _, c := range []struct {
		want string
		send []Request
	}{
		{"at most", []Request{{Blocks: b, Breaks: []int{0, 1, 2, 3, 4}}}},
		{"out of order", []Request{{Blocks: b, Breaks: []int{2, 1}}}},
		{"no such block", []Request{{Blocks: b, Breaks: []int{8}}}},
		{"no such block", []Request{{Blocks: b, Breaks: []int{-1}}}},
		{"-1 tokens", []Request{{Blocks: []Block{{Tokens: -1}}}}},
		{"tokens", []Request{{Blocks: huge}}},
		{"request 2: it starts before", []Request{{Start: noon, Blocks: b}, {Start: noon.Add(-1), Blocks: b}}},
	} {
		if _, _, err := run(rules(t, ""), OneHour, c.send); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := New(Rules{}, OneHour); err == nil {
		t.Error("no rules are no reason to refuse")
	}
}

// TestAfterRefusal: a request that is refused leaves nothing behind.
func TestAfterRefusal(t *testing.T) {
	s, err := New(rules(t, ""), OneHour)
	if err != nil {
		t.Fatal(err)
	}
	good := []Block{block(Tools, "t", 4000), block(System, "s", 100)}
	bad := []Block{block(Tools, "other", 7), {Name: "bad", Tokens: -1}}
	for _, r := range []struct {
		blocks []Block
		read   int
	}{{good, 0}, {bad, -1}, {good, 4100}} {
		c, err := s.Send(&Request{Start: noon, Blocks: r.blocks, Breaks: AtEnd(r.blocks)})
		if (err != nil) != (r.read < 0) || err == nil && (c.Read != r.read || c.Prompt != 4100) {
			t.Errorf("%+v, %v, want %d read", c, err, r.read)
		}
	}
}

// drawConversation makes requests that grow, shrink, change and wait.
func drawConversation(t *rapid.T) (requests []Request) {
	at := noon
	var blocks []Block
	for i := range rapid.IntRange(1, 12).Draw(t, "requests") {
		if cut := rapid.IntRange(0, 20).Draw(t, "cut"); i > 0 && cut < 2 {
			n := rapid.IntRange(0, len(blocks)).Draw(t, "at")
			blocks = blocks[:n:n] // what comes next must not overwrite what was there
		}
		for range rapid.IntRange(0, 25).Draw(t, "new") {
			level := Messages
			if len(blocks) < 5 {
				level = Level(len(blocks) / 2)
			}
			hash := rapid.Uint64Range(0, 5).Draw(t, "hash")
			blocks = append(blocks, Block{
				Level: level, Name: "b", Hash: hash, Tokens: []int{0, 1, 40, 333, 512, 900}[hash], // the same text has the same tokens
				Unlisted: rapid.IntRange(0, 9).Draw(t, "unlisted") == 0,
			})
		}
		r := Request{Start: at, Blocks: blocks, Breaks: AtEnd(blocks)}
		if rapid.Bool().Draw(t, "levels") {
			r.Breaks = atLevels(blocks)[:min(4, len(atLevels(blocks)))]
		}
		if rapid.Bool().Draw(t, "answered") {
			r.Answered = at.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "wait")) * time.Second)
		}
		requests = append(requests, r)
		at = at.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "gap")) * time.Second)
	}
	return requests
}

// TestPropertyParts: parts sum up to the whole; caching never costs more than what
// writing costs more; nothing is read that was not written.
func TestPropertyParts(t *testing.T) {
	r := rules(t, "claude-opus-5-5")
	rapid.Check(t, func(t *rapid.T) {
		requests := drawConversation(t)
		_, plain, err := run(r, Uncached, requests)
		if err != nil {
			t.Fatal(err)
		}
		for mode, premium := range map[Mode]float64{FiveMinutes: 1.25, OneHour: 2} {
			charges, total, err := run(r, mode, requests)
			if err != nil {
				t.Fatal(err)
			}
			written := 0
			for i, c := range charges {
				if c.Read+c.Written+c.Full != c.Prompt || min(c.Read, c.Written, c.Full, c.Miss.Again) < 0 {
					t.Errorf("request %d: %+v", i, c)
				}
				if c.Read > written {
					t.Errorf("request %d reads %d, and %d were written before", i, c.Read, written)
				}
				if c.Written > 0 && c.Read+c.Written < r.Model.MinCache.Tokens {
					t.Errorf("request %d caches %d, fewer than the minimum", i, c.Read+c.Written)
				}
				if (c.Miss.Again > 0) != (c.Miss.Reason != Hit && c.Miss.Reason != First && c.Miss.Reason != TooShort && c.Miss.Reason != NoBreaks) && c.Miss.Reason != NoBreaks {
					t.Errorf("request %d: %+v", i, c.Miss)
				}
				var byBlock float64
				for n, b := range requests[i].Blocks {
					byBlock += float64(b.Tokens) * c.Rate(n)
				}
				if !near(byBlock, c.USD) {
					t.Errorf("request %d: its blocks cost $%v, it costs $%v", i, byBlock, c.USD)
				}
				written += c.Written
			}
			if total.Prompt != plain.Prompt || total.Read+total.Written+total.Full != total.Prompt {
				t.Errorf("%s: %+v, not cached %+v", mode, total, plain)
			}
			if most := plain.USD + (premium-1)*float64(total.Written)*4/1e6; total.USD > most+1e-9 {
				t.Errorf("%s: $%v, not cached $%v, with the premium $%v", mode, total.USD, plain.USD, most)
			}
		}
	})
}

// TestPropertyShared: an array in common is a short cut and nothing else.
func TestPropertyShared(t *testing.T) {
	r := rules(t, "claude-opus-5-5")
	rapid.Check(t, func(t *rapid.T) {
		requests := drawConversation(t)
		a, _, err := run(r, FiveMinutes, requests)
		if err != nil {
			t.Fatal(err)
		}
		for i := range requests {
			requests[i].Blocks = append([]Block(nil), requests[i].Blocks...)
		}
		b, _, _ := run(r, FiveMinutes, requests)
		for i := range a {
			if a[i].Read != b[i].Read || a[i].Written != b[i].Written || a[i].Miss.Reason != b[i].Miss.Reason {
				t.Errorf("request %d: %+v shared, %+v copied", i, a[i], b[i])
			}
		}
	})
}

// TestPropertyRent: the rent of a part is linear in the turns.
func TestPropertyRent(t *testing.T) {
	r := rules(t, "claude-opus-5-5")
	rapid.Check(t, func(t *rapid.T) {
		tool, n := rapid.IntRange(600, 50_000).Draw(t, "tool"), rapid.IntRange(1, 60).Draw(t, "turns")
		blocks := []Block{block(Tools, "tool", tool)}
		var requests []Request
		for i := range n {
			requests = append(requests, Request{Start: noon.Add(time.Duration(i) * time.Second), Blocks: blocks, Breaks: AtEnd(blocks)})
			blocks = append(blocks[:len(blocks):len(blocks)], block(Messages, fmt.Sprint(i), rapid.IntRange(0, 5000).Draw(t, "message")))
		}
		for mode, want := range map[Mode]float64{
			Uncached: float64(n), FiveMinutes: 1.25 + 0.1*float64(n-1), OneHour: 2 + 0.1*float64(n-1),
		} {
			charges, _, err := run(r, mode, requests)
			if err != nil {
				t.Fatal(err)
			}
			var usd float64
			for i := range charges {
				usd += float64(tool) * charges[i].Rate(0)
			}
			if !near(usd*1e6/4, float64(tool)*want) {
				t.Errorf("%s: %v, want %v times the tool", mode, usd*1e6/4/float64(tool), want)
			}
		}
	})
}

func BenchmarkSession(b *testing.B) {
	r := rules(b, "claude-opus-5-5")
	requests := conversation(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := run(r, FiveMinutes, requests); err != nil {
			b.Fatal(err)
		}
	}
}
