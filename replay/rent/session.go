package rent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/tokens"
)

// A Session is what is known of a conversation. Turns are counted from 1: turn n is
// the n-th request to the model.
type Session struct {
	Tools   []Tool // each definition that was ever offered, in the order sent
	Turns   []Turn
	Calls   []Call
	Carried []Carried
}

// A Tool is one definition. A tool whose definition changed is there twice.
type Tool struct {
	Server      string
	Name        string // as the host assembled it
	Description string
	InputSchema []byte // JSON, as received
	WireBytes   int    // of the whole definition in tools/list
	// Counted is what Anthropic counted for the definition, if it did; the zero
	// Count asks for an estimate.
	Counted tokens.Count
	// Deferred: this host is taken to send the definition only once a search found it.
	Deferred bool
}

// A Turn is one request to the model.
type Turn struct {
	Start    time.Time     // zero: not known; then it is Options.Day and Since
	Since    time.Duration // since the conversation began; only where Start is not known
	Answered time.Time     // when the answer began, if known
	Tools    []int         // indexes of the tools offered, in the order sent; nil: all
	// OtherTools: there are tools whose definitions are not known.
	OtherTools bool
}

// A Call is a use of a tool by the model, asked for in the answer to a turn's request.
type Call struct {
	Tool int // index; -1 if it was never listed
	Turn int
}

// Kind is what a carried text is.
type Kind string

// The kinds.
const (
	Result       Kind = "answer"
	Arguments    Kind = "call"
	Instructions Kind = "instructions"
)

// Carried is a text that entered the conversation and is sent again on every request
// since.
type Carried struct {
	Kind   Kind
	Tool   int    // index of the tool it belongs to; -1 for none
	Label  string // for people
	Hash   uint64 // of its bytes, from cost.Hash; 0: unlike all others
	Bytes  int    // as it was on the wire
	Tokens tokens.Count
	From   int // the first turn whose request holds it
	Until  int // the last one; 0: it is still there
}

// turns gives the first and the last turn that holds it.
func (c *Carried) turns(n int) (from, until int) {
	if c.Until == 0 || c.Until > n {
		return c.From, n
	}
	return c.From, c.Until
}

func (s *Session) check() error {
	for i := range s.Turns {
		for _, t := range s.Turns[i].Tools {
			if t < 0 || t >= len(s.Tools) {
				return fmt.Errorf("turn %d offers tool %d, and there are %d", i+1, t, len(s.Tools))
			}
		}
	}
	for i, c := range s.Calls {
		if c.Tool < -1 || c.Tool >= len(s.Tools) || c.Turn < 1 || c.Turn > len(s.Turns) {
			return fmt.Errorf("call %d is of tool %d in turn %d, and there are %d tools and %d turns", i, c.Tool, c.Turn, len(s.Tools), len(s.Turns))
		}
	}
	for i := range s.Carried {
		c := &s.Carried[i]
		if c.Tool < -1 || c.Tool >= len(s.Tools) || c.From < 1 || c.Until != 0 && c.Until < c.From {
			return fmt.Errorf("carried text %d, %q, has tool %d and turns %d to %d, which can't be", i, c.Label, c.Tool, c.From, c.Until)
		}
		if low, _, _ := c.Tokens.Bounds(); low < 0 {
			return fmt.Errorf("carried text %d, %q, has fewer than 0 tokens", i, c.Label)
		}
	}
	return nil
}

// timed reports whether each turn has its time.
func (s *Session) timed() bool {
	return !slices.ContainsFunc(s.Turns, func(t Turn) bool { return t.Start.IsZero() })
}

// Options are what a report is made for.
type Options struct {
	Table     *tokens.Table
	Estimator *tokens.Estimator // of the model; calibrated, if there is something to go by
	// Other is the tokens of what is in every request and not in the session: a system
	// prompt, the user's text. Zero: not known, and the prompt is taken to be long
	// enough to be cached.
	Other tokens.Count
	// SearchTool is the definition of the tool that finds deferred ones. Hosts don't
	// publish theirs; zero leaves it out.
	SearchTool tokens.Count
	// NamesHidden: the model does not hold even the names of deferred tools, as with
	// the API's own search. Claude Code announces them in the messages.
	NamesHidden bool
	// Breaks places the breakpoints; nil: one, on the last block.
	Breaks func([]cost.Block) []int
	// Day is whose prices hold, and when the conversation began, where turns have no
	// time.
	Day time.Time
}

func (o *Options) check(s *Session) error {
	if o.Table == nil || o.Estimator == nil {
		return errors.New("a table of models and an estimator are needed")
	}
	if o.Day.IsZero() && !s.timed() {
		return errors.New("a turn has no time, so the day whose prices hold is needed")
	}
	return nil
}
