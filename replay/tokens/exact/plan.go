package exact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/mcptap/mcptap/replay/tokens"
)

// A Plan is what would be sent. It is made by a [Client], which sends nothing for it,
// and lives until it is run.
type Plan struct {
	Model    string
	Host     string
	What     string // that is sent, in words
	Requests int    // that would be sent now
	Bytes    int64  // of their bodies together
	Known    int    // answers that are kept from before
	steps    []step
}

// step is one request and, once it is known, its answer.
type step struct {
	about string // for errors
	body  func() []byte
	key   string
	n     int
	known bool
}

// String asks for consent: "146 requests, 24 MB in all, to api.anthropic.com: ...".
func (p *Plan) String() string {
	s := fmt.Sprintf("%s, %s in all, to %s: %s", english.Plural(p.Requests, "request", ""), humanize.Bytes(uint64(p.Bytes)), p.Host, p.What)
	if p.Known > 0 {
		s += fmt.Sprintf(" (%s from before)", english.Plural(p.Known, "answer is known", "answers are known"))
	}
	return s
}

// Progress is told after each answer; it may be nil.
type Progress func(done, of int)

// add plans one request. Bodies are made twice, now and when they are sent: those of a
// long list together are many times its size.
func (c *Client) add(p *Plan, about string, body func() []byte) error {
	b := body()
	if len(b) > maxBody {
		return fmt.Errorf("%s: it has %s, and the API takes %s", about, humanize.IBytes(uint64(len(b))), humanize.IBytes(maxBody))
	}
	s := step{about: about, body: body, key: c.hash(b)}
	if c.o.Cache != nil {
		s.n, s.known = c.o.Cache.Load(s.key)
		s.known = s.known && s.n >= 0
	}
	if s.known {
		p.Known++
	} else {
		p.Requests++
		p.Bytes += int64(len(b))
	}
	p.steps = append(p.steps, s)
	return nil
}

// hash names an answer: by where it is from and by what was asked, the model included.
func (c *Client) hash(body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", c.url)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// run sends what is not known. kept is the first failure to keep an answer; the
// answers are right all the same.
func (c *Client) run(ctx context.Context, p *Plan, progress Progress) (kept, err error) {
	done := 0
	for i := range p.steps {
		s := &p.steps[i]
		if s.known {
			continue
		}
		if s.n, err = c.count(ctx, s.body()); err != nil {
			return kept, fmt.Errorf("counting tokens of %s for %s at %s: %w", s.about, p.Model, p.Host, err)
		}
		s.known = true
		if c.o.Cache != nil {
			if err := c.o.Cache.Store(s.key, s.n); err != nil && kept == nil {
				kept = err
			}
		}
		if done++; progress != nil {
			progress(done, p.Requests)
		}
	}
	return kept, nil
}

// A ListPlan counts a list of tools: without it, with it, and without each tool.
type ListPlan struct {
	Plan
	tools   []tokens.Tool
	entries [][]byte
	whole   bool // without shares
}

// PlanWhole plans to count a list of tools as a whole, in two requests: without it, and
// with it. Tools have no shares then.
func (c *Client) PlanWhole(model string, tools []tokens.Tool) (*ListPlan, error) {
	p, err := c.planWhole(model, tools)
	if err != nil {
		return nil, fmt.Errorf("planning to count tokens: %w", err)
	}
	p.whole = true
	return p, nil
}

// PlanList plans to count a list of tools as a model reads them.
func (c *Client) PlanList(model string, tools []tokens.Tool) (*ListPlan, error) {
	p, err := c.planList(model, tools)
	if err != nil {
		return nil, fmt.Errorf("planning to count tokens: %w", err)
	}
	return p, nil
}

func (c *Client) planWhole(model string, tools []tokens.Tool) (*ListPlan, error) {
	if len(tools) == 0 || model == "" {
		return nil, errors.New("a model and at least one tool are needed")
	}
	entries, err := encode(tools)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("names, descriptions and input schemas of %s", english.Plural(len(tools), "tool", ""))
	p := &ListPlan{Plan: Plan{Model: model, Host: c.host, What: what}, tools: tools, entries: entries}
	if err := c.add(&p.Plan, "a request without tools", listBody(model, nil, -1)); err != nil {
		return nil, err
	}
	if err := c.add(&p.Plan, "the whole list", listBody(model, entries, -1)); err != nil {
		return nil, err
	}
	return p, nil
}

func (c *Client) planList(model string, tools []tokens.Tool) (*ListPlan, error) {
	p, err := c.planWhole(model, tools)
	if err != nil {
		return nil, err
	}
	if len(tools) == 1 {
		return p, nil // without it there are no tools, which is counted
	}
	for i := range tools {
		if err := c.add(&p.Plan, "the list without "+c.words(tools[i].Name), listBody(model, p.entries, i)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// encode writes each tool as an entry of tools[].
func encode(tools []tokens.Tool) (entries [][]byte, err error) {
	seen := map[string]bool{}
	for i := range tools {
		t := &tools[i]
		if seen[t.Name] {
			return nil, fmt.Errorf("tool %q is there twice, and the API takes each name once", t.Name)
		}
		seen[t.Name] = true
		schema := bytes.ToValidUTF8(t.InputSchema, []byte("\ufffd"))
		if len(schema) == 0 {
			schema = []byte(`{"type":"object"}`)
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			InputSchema json.RawMessage `json:"input_schema"`
		}{t.Name, t.Description, schema}); err != nil {
			return nil, fmt.Errorf("the input schema of tool %q is no JSON", t.Name)
		}
		entries = append(entries, bytes.TrimSpace(b.Bytes()))
	}
	return entries, nil
}

// listBody writes a request with all entries but one. The one message that the API
// asks for is the same in all, and cancels out.
func listBody(model string, entries [][]byte, leave int) func() []byte {
	return func() []byte {
		name, _ := json.Marshal(model) // a string can always be encoded
		var b bytes.Buffer
		fmt.Fprintf(&b, `{"model":%s,"messages":[{"role":"user","content":"."}]`, name)
		before := `,"tools":[`
		for i, e := range entries {
			if i == leave {
				continue
			}
			b.WriteString(before)
			b.Write(e)
			before = ","
		}
		if before == "," {
			b.WriteByte(']')
		}
		b.WriteByte('}')
		return b.Bytes()
	}
}

// Counts are what Anthropic counted for a list of tools.
type Counts struct {
	Model string
	None  int   // tokens of the request without tools
	All   int   // with all of them
	Tools []int // of each: with all, less without it; nil of a list that was counted as a whole
	// NotKept is why an answer couldn't be kept for the next time, if one couldn't. The
	// counts are right all the same.
	NotKept error
	list    []tokens.Tool
}

// CountList sends what the plan says.
func (c *Client) CountList(ctx context.Context, p *ListPlan, progress Progress) (*Counts, error) {
	kept, err := c.run(ctx, &p.Plan, progress)
	if err != nil {
		return nil, err
	}
	n := &Counts{Model: p.Model, None: p.steps[0].n, All: p.steps[1].n, NotKept: kept, list: p.tools}
	if n.All < n.None {
		return nil, fmt.Errorf("counting tokens: the answers of %s contradict each other: %d without tools, %d with all", p.Host, n.None, n.All)
	}
	if p.whole {
		return n, nil
	}
	for i := range p.tools {
		without := n.None
		if len(p.tools) > 1 {
			without = p.steps[2+i].n
		}
		if without > n.All || without < n.None {
			return nil, fmt.Errorf("counting tokens: the answers of %s contradict each other: %d without tools, %d with all, %d without tool %q",
				p.Host, n.None, n.All, without, p.tools[i].Name)
		}
		n.Tools = append(n.Tools, n.All-without)
	}
	return n, nil
}

const source = "count_tokens"

// Rent is what the list adds to each request, preamble included.
func (n *Counts) Rent() tokens.Count { return tokens.Exact(n.All-n.None, source) }

// Tool is one tool's share. If the list has one tool only, the preamble is in it. A list
// that was counted as a whole has no shares.
func (n *Counts) Tool(i int) tokens.Count { return tokens.Exact(n.Tools[i], source) }

// Preamble is what is left of the rent when each tool has its share; 0 for a list of
// one tool, which can't be told from it.
func (n *Counts) Preamble() tokens.Count {
	left := n.All - n.None
	for _, t := range n.Tools {
		left -= t
	}
	return tokens.Exact(left, source)
}

// Fit calibrates an estimator of the same model, one that is not calibrated, by the
// tools' shares. It takes two tools or more.
func (n *Counts) Fit(e *tokens.Estimator) (tokens.Factor, error) {
	if n.Tools == nil {
		return n.fitWhole(e)
	}
	if len(n.Tools) < 2 {
		return tokens.Factor{}, errors.New("calibrating the estimate: the share of a single tool holds the preamble; count a list of two or more")
	}
	var samples []tokens.Sample
	for i := range n.list {
		samples = append(samples, tokens.Sample{Estimate: e.Tool(&n.list[i]).Sum, Actual: n.Tools[i]})
	}
	return tokens.Fit(samples)
}

// fitWhole calibrates by the list as a whole, less what the preamble is taken to be.
func (n *Counts) fitWhole(e *tokens.Estimator) (tokens.Factor, error) {
	_, list := e.List(n.list)
	preamble, _ := e.Preamble(tokens.Auto)
	_, mid, _ := preamble.Bounds()
	return tokens.Fit([]tokens.Sample{{Estimate: list, Actual: max(0, n.All-n.None-int(mid))}})
}
