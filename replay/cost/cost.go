package cost

import (
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/mcptap/mcptap/replay/tokens"
)

// Level is the part of a request that a block belongs to. A change in one part
// loses what is cached of it and of all later ones.
type Level int

// The levels, in the order of the prefix.
const (
	Tools Level = iota
	System
	Messages
)

// String is the API's name of the part.
func (l Level) String() string {
	switch l {
	case Tools:
		return "tools"
	case System:
		return "system"
	}
	return "messages"
}

// A Block is a piece of a request that changes as a whole: a tool's definition, a
// block of the system prompt, a content block of a message.
type Block struct {
	Level  Level
	Name   string // for people
	Hash   uint64 // of all bytes that are sent, from [Hash]
	Tokens int
	// Unlisted is what stands in the prompt, or decides about it, without being a
	// block of the request: the tool-use preamble, a tool_choice. Looking back
	// passes over it without counting it.
	Unlisted bool
}

var seed = maphash.MakeSeed()

// Hash gives the hash of a block's bytes, in one or more parts. It holds within
// one process.
func Hash(parts ...[]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, p := range parts {
		_, _ = h.Write(p)
		_ = h.WriteByte(0xff) // so that parts don't run into each other
	}
	return h.Sum64()
}

// A Request is one prompt. Requests that go on where the one before ended should
// share its array of blocks: then only what is new is looked at.
type Request struct {
	Start    time.Time
	Answered time.Time // when the answer began; zero if before the next request
	Blocks   []Block
	Breaks   []int // indexes of the blocks with a cache_control, rising
}

// AtEnd is the breakpoint of automatic caching: one, on the last block.
func AtEnd(blocks []Block) []int {
	if len(blocks) == 0 {
		return nil
	}
	return []int{len(blocks) - 1}
}

// Mode is how a conversation is cached.
type Mode int

// The modes.
const (
	Uncached Mode = iota
	FiveMinutes
	OneHour
)

// Modes are all of them.
var Modes = []Mode{Uncached, FiveMinutes, OneHour}

// String is what the mode is called in a table.
func (m Mode) String() string {
	switch m {
	case FiveMinutes:
		return "cached for 5 minutes"
	case OneHour:
		return "cached for 1 hour"
	}
	return "not cached"
}

// life is how long an entry lives after the start of its last request.
func (m Mode) life() time.Duration {
	if m == OneHour {
		return time.Hour
	}
	return 5 * time.Minute
}

func (m Mode) write(p tokens.Price) float64 {
	switch m {
	case FiveMinutes:
		return p.Write5m
	case OneHour:
		return p.Write1h
	}
	return p.Input
}

// Rules are what a model's cache and prices are.
type Rules struct {
	Model       *tokens.Model
	Breakpoints int
	LookBack    int
}

// RulesOf takes the rules of a model from a table.
func RulesOf(t *tokens.Table, m *tokens.Model) Rules {
	return Rules{Model: m, Breakpoints: t.Cache.Breakpoints, LookBack: t.Cache.LookBack}
}

// A Charge is what one request costs. Read + Written + Full = Prompt.
type Charge struct {
	Prompt  int // tokens of all blocks
	Read    int // tokens read from the cache
	Written int // tokens written to it
	Full    int // tokens paid in full
	// The first ReadBlocks blocks were read; those after them, up to CachedBlocks,
	// were written; the rest was paid in full.
	ReadBlocks, CachedBlocks int

	Price  tokens.Price // the row that holds for this day and length
	Priced bool         // false: no price is known, and USD is 0
	USD    float64      // of the prompt; the answer is not in it
	Miss   Miss
	mode   Mode
}

// Rate is what a token of a block costs in this request, in USD.
func (c *Charge) Rate(block int) float64 {
	switch {
	case !c.Priced:
		return 0
	case block < c.ReadBlocks:
		return c.Price.Read / 1e6
	case block < c.CachedBlocks:
		return c.mode.write(c.Price) / 1e6
	}
	return c.Price.Input / 1e6
}

func (c *Charge) price(model *tokens.Model, at time.Time) {
	c.Price, c.Priced = model.Price(at, c.Prompt)
	if c.Priced {
		c.USD = (float64(c.Read)*c.Price.Read + float64(c.Written)*c.mode.write(c.Price) + float64(c.Full)*c.Price.Input) / 1e6
	}
}

func (r *Rules) check() error {
	if r.Model == nil || r.Breakpoints < 1 || r.LookBack < 1 {
		return errors.New("reckoning cost: a model, breakpoints and look-back are needed")
	}
	return nil
}

func (r *Request) check(rules *Rules) error {
	if len(r.Breaks) > rules.Breakpoints {
		return fmt.Errorf("it has %d breakpoints, the API takes %d at most", len(r.Breaks), rules.Breakpoints)
	}
	last := -1
	for _, b := range r.Breaks {
		if b <= last || b >= len(r.Blocks) {
			return fmt.Errorf("breakpoint %d is out of order, or there is no such block", b)
		}
		last = b
	}
	return nil
}
