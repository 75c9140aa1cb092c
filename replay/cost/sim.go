package cost

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"time"
)

// A Sim is a conversation and what the cache holds of it. It is not for several
// goroutines.
type Sim struct {
	rules   Rules
	mode    Mode
	entries map[uint64]entry
	blocks  []Block  // of the newest request
	chain   []uint64 // hash of the prefix that ends with each block
	sums    []int    // tokens of that prefix
	last    left
}

// left is what a request leaves to the next one.
type left struct {
	sent   bool
	start  time.Time
	blocks []Block
	cached int   // so many of its blocks are in the cache
	tokens int   // and these are their tokens
	entry  entry // under which they are
}

// entry is a prefix in the cache.
type entry struct {
	readable time.Time
	expires  time.Time
}

func (e entry) at(t time.Time) bool { return t.Before(e.expires) && !t.Before(e.readable) }

// New starts a conversation with nothing cached.
func New(rules Rules, mode Mode) (*Sim, error) {
	if err := rules.check(); err != nil {
		return nil, err
	}
	return &Sim{rules: rules, mode: mode, entries: map[uint64]entry{}}, nil
}

// Send takes the next request. It fails for one that the API would refuse, or that
// can't be: too many breakpoints, fewer than no tokens, a start before the one of
// the request before.
func (s *Sim) Send(r *Request) (Charge, error) {
	if err := r.check(&s.rules); err != nil {
		return Charge{}, err
	}
	if s.last.sent && r.Start.Before(s.last.start) {
		return Charge{}, errors.New("it starts before the request before it; sort them by time")
	}
	common, err := s.take(r.Blocks)
	if err != nil {
		return Charge{}, err
	}
	c := Charge{Prompt: s.sum(len(r.Blocks)), mode: s.mode}
	if s.mode == Uncached {
		c.Full = c.Prompt
	} else {
		s.cache(r, &c)
		c.Miss = s.miss(r, &c, common)
	}
	c.price(s.rules.Model, r.Start)
	s.leave(r, &c)
	return c, nil
}

func (s *Sim) leave(r *Request, c *Charge) {
	s.last = left{sent: true, start: r.Start, blocks: r.Blocks, cached: c.CachedBlocks, tokens: s.sum(c.CachedBlocks)}
	if c.CachedBlocks > 0 {
		s.last.entry = s.entries[s.chain[c.CachedBlocks-1]]
	}
}

// take makes the chain and the sums those of the next request, and gives how many
// blocks it shares with the one before.
func (s *Sim) take(blocks []Block) (common int, err error) {
	common = shared(s.blocks, blocks)
	chain, sums := s.chain[:common], s.sums[:common]
	for i := common; i < len(blocks); i++ {
		b := &blocks[i]
		link, sum := uint64(0), 0
		if i > 0 {
			link, sum = chain[i-1], sums[i-1]
		}
		if b.Tokens < 0 || b.Tokens > math.MaxInt-sum {
			s.chain, s.sums, s.blocks = chain[:common], sums[:common], s.blocks[:common]
			return 0, fmt.Errorf("block %d, %s, has %d tokens", i, b.Name, b.Tokens)
		}
		chain = append(chain, maphash.Comparable(seed, [3]uint64{link, b.Hash, uint64(b.Level)}))
		sums = append(sums, sum+b.Tokens)
	}
	s.chain, s.sums, s.blocks = chain, sums, blocks
	return common, nil
}

// shared gives how many blocks two requests begin with together. Requests that
// share an array share all that both have.
func shared(a, b []Block) int {
	n := min(len(a), len(b))
	if n > 0 && &a[0] == &b[0] {
		return n
	}
	for i := range n {
		if a[i].Hash != b[i].Hash || a[i].Level != b[i].Level || a[i].Tokens != b[i].Tokens {
			return i
		}
	}
	return n
}

// sum is the tokens of the first n blocks.
func (s *Sim) sum(n int) int {
	if n == 0 {
		return 0
	}
	return s.sums[n-1]
}

// cache reads and writes the cache for one request.
func (s *Sim) cache(r *Request, c *Charge) {
	for _, b := range r.Breaks {
		if n := s.find(b, r.Start); n > 0 {
			c.ReadBlocks = n // a later breakpoint never finds a shorter entry
			s.refresh(n, r.Start)
		}
	}
	c.CachedBlocks = c.ReadBlocks
	readable := r.Answered
	if readable.Before(r.Start) {
		readable = r.Start
	}
	for _, b := range r.Breaks {
		if n := b + 1; n > c.ReadBlocks && s.sum(n) >= s.rules.Model.MinCache.Tokens {
			s.entries[s.chain[b]] = entry{readable, r.Start.Add(s.mode.life())}
			c.CachedBlocks = n
		}
	}
	c.Read = s.sum(c.ReadBlocks)
	c.Written = s.sum(c.CachedBlocks) - c.Read
	c.Full = c.Prompt - c.Read - c.Written
}

// find looks for an entry at a breakpoint and back from it, and gives the number of
// blocks of its prefix; 0 if there is none.
func (s *Sim) find(b int, at time.Time) int {
	left := s.rules.LookBack
	for i := b; i >= 0 && left > 0; i-- {
		if s.entries[s.chain[i]].at(at) {
			return i + 1
		}
		if !s.blocks[i].Unlisted {
			left--
		}
	}
	return 0
}

func (s *Sim) refresh(n int, at time.Time) {
	e := s.entries[s.chain[n-1]]
	e.expires = at.Add(s.mode.life())
	s.entries[s.chain[n-1]] = e
}

// Reason is why less was read from the cache than the request before had left in it.
type Reason string

// The reasons.
const (
	Hit      Reason = ""            // all was read
	First    Reason = "first"       // nothing was cached before
	NoBreaks Reason = "no-breaks"   // the request asks for no caching
	TooShort Reason = "too-short"   // below the model's minimum
	Changed  Reason = "changed"     // a block is not what it was
	Expired  Reason = "expired"     // too much time since
	Early    Reason = "not-written" // the answer that makes it readable had not begun
	TooFar   Reason = "look-back"   // too many blocks since the last entry
)

// Change is what happened to a block.
type Change string

// The changes.
const (
	BlockChanged Change = "changed"
	Added        Change = "added"
	Removed      Change = "removed"
	Reordered    Change = "reordered"
)

// A Miss says why, and what it costs.
type Miss struct {
	Reason Reason
	Again  int // tokens that had been cached and were not read

	// If a block changed:
	Change Change
	Level  Level // what is cached of this level and the later ones is lost
	Block  int   // its index in this request
	Name   string

	Gap    time.Duration // since the request before
	Blocks int           // since the last entry
}

// String says it in a sentence's part.
func (m Miss) String() string {
	switch m.Reason {
	case First:
		return "nothing was cached yet"
	case NoBreaks:
		return "no breakpoint of the request asks for it"
	case TooShort:
		return "the prompt is shorter than what this model caches"
	case Changed:
		return fmt.Sprintf("%s: %s was %s", m.Level, m.Name, m.Change)
	case Expired:
		return fmt.Sprintf("%s passed, and the entry had expired", m.Gap.Round(time.Second))
	case Early:
		return "the answer to the request before had not begun"
	case TooFar:
		return fmt.Sprintf("%d blocks came since the last entry, more than looking back covers", m.Blocks)
	}
	return "all that was cached was read"
}

// miss explains the reading. common is how many blocks are those of the request
// before.
func (s *Sim) miss(r *Request, c *Charge, common int) Miss {
	m := Miss{Again: max(0, min(s.last.tokens, c.Prompt)-c.Read)}
	if s.last.sent {
		m.Gap = r.Start.Sub(s.last.start)
	}
	switch {
	case len(r.Breaks) == 0:
		m.Reason = NoBreaks
	case s.last.cached == 0 && c.CachedBlocks == 0:
		m.Reason = TooShort
	case s.last.cached == 0 && c.Read == 0:
		m.Reason = First
	case m.Again == 0:
	case common < s.last.cached:
		s.changed(&m, common)
	default:
		s.unread(&m, r)
	}
	return m
}

// unread says why an entry that is still right was not found.
func (s *Sim) unread(m *Miss, r *Request) {
	e := s.last.entry
	m.Blocks = r.Breaks[len(r.Breaks)-1] + 1 - s.last.cached
	switch {
	case m.Blocks < 0:
		m.Reason = NoBreaks
	case !r.Start.Before(e.expires):
		m.Reason = Expired
	case r.Start.Before(e.readable):
		m.Reason = Early
	default:
		m.Reason = TooFar
	}
}

// changed says what happened at the first block that differs.
func (s *Sim) changed(m *Miss, at int) {
	before := s.last.blocks
	m.Reason, m.Block = Changed, at
	was := before[at] // at lies in what was cached
	m.Level, m.Name = was.Level, was.Name
	if at == len(s.blocks) {
		m.Change = Removed
		return
	}
	is := s.blocks[at]
	isOld, wasKept := has(before[at:], is), has(s.blocks[at:], was)
	switch {
	case is.Level == was.Level && is.Name == was.Name:
		m.Change = BlockChanged
	case isOld && wasKept:
		m.Change, m.Name = Reordered, is.Name
	case isOld:
		m.Change = Removed
	case wasKept:
		m.Change, m.Name = Added, is.Name
	default:
		m.Change, m.Name = BlockChanged, was.Name
	}
	m.Level = min(is.Level, was.Level)
}

func has(blocks []Block, b Block) bool {
	for i := range blocks {
		if blocks[i].Hash == b.Hash && blocks[i].Level == b.Level {
			return true
		}
	}
	return false
}
