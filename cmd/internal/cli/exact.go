package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/replay/tokens/exact"
)

// exactOptions are the flags of commands that can have Anthropic count.
type exactOptions struct {
	how string // one of the words below; empty: do not count
	yes bool
}

// What --exact counts.
const (
	exactEach = "each"
	exactList = "list"
)

func (o *exactOptions) on() bool { return o.how != "" }

func (o *exactOptions) check() error {
	if o.how != "" && o.how != exactEach && o.how != exactList {
		return usagef("--exact takes each or list, not %q", o.how)
	}
	return nil
}

// add adds the flags. whole says that one request is counted, and there are no tools to
// count one by one.
func (o *exactOptions) add(c *cobra.Command, whole bool) {
	words := "have Anthropic count the tokens (count_tokens, with ANTHROPIC_API_KEY); says first what would be sent, and asks"
	if !whole {
		words += "; =list counts the tools together, in 2 requests"
	}
	c.Flags().StringVar(&o.how, "exact", "", words)
	c.Flags().Lookup("exact").NoOptDefVal = exactEach
	c.Flags().BoolVar(&o.yes, "yes", false, "with --exact: do not ask")
}

// counter makes a client of the endpoint. It sends nothing.
func (a *app) counter() (*exact.Client, error) {
	key, token := a.Getenv("ANTHROPIC_API_KEY"), a.Getenv("ANTHROPIC_AUTH_TOKEN")
	if key == "" && token == "" {
		return nil, usagef("--exact asks Anthropic to count, which takes a key in ANTHROPIC_API_KEY; without --exact tokens are estimated, and nothing is sent")
	}
	return exact.New(exact.Options{
		BaseURL: a.Getenv("ANTHROPIC_BASE_URL"), Key: exact.Secret(key), Token: exact.Secret(token),
		Cache: exact.Dir(filepath.Join(cmp.Or(a.Getenv("XDG_CACHE_HOME"), xdg.CacheHome), "mcptap", "tokens")),
	})
}

// agreed asks whether a plan may be run.
func (a *app) agreed(p *exact.Plan, o *exactOptions) error {
	if p.Requests == 0 {
		return nil
	}
	a.say("--exact sends %s", p)
	if o.yes {
		return nil
	}
	if !isTerminal(a.Stdin) || !isTerminal(a.Stderr) {
		return usagef("nothing was sent; --yes agrees to it where nobody can be asked")
	}
	_, _ = io.WriteString(a.Stderr, "mcptap: send it? [y/N] ")
	answer, _ := bufio.NewReader(a.Stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return usagef("nothing was sent")
	}
	return nil
}

// countTools has the tools of the newest request counted, gives each its share, and
// makes the estimates of all else agree with them.
func (a *app) countTools(r *reading, l *ledger.Ledger, o *exactOptions) (*exact.Counts, tokens.Factor, error) {
	client, err := a.counter()
	if err != nil {
		return nil, tokens.Factor{}, err
	}
	e := r.meter.Estimator()
	newest := l.Session.Turns[len(l.Session.Turns)-1].Tools
	planned := client.PlanList
	if o.how == exactList {
		planned = client.PlanWhole
	}
	plan, err := planned(e.Model().ID, plainTools(l.Session.Tools, newest))
	if err != nil {
		return nil, tokens.Factor{}, err
	}
	if plan.Requests > sayEvery {
		a.say("--exact=list would count the tools together, in 2 requests, and leave the share of each an estimate")
	}
	if err := a.agreed(&plan.Plan, o); err != nil {
		return nil, tokens.Factor{}, err
	}
	counts, err := client.CountList(context.Background(), plan, a.progress())
	if err != nil {
		return nil, tokens.Factor{}, err
	}
	a.sayKept(counts.NotKept)
	factor, err := counts.Fit(e)
	if err != nil {
		a.say("estimates of all else stay as they are: %v", err)
	}
	return counts, factor, nil
}

// sayEvery is how many answers pass between two words on how far counting is.
const sayEvery = 25

// progress tells somebody who waits how far it is.
func (a *app) progress() exact.Progress {
	if !isTerminal(a.Stderr) {
		return nil
	}
	return func(done, of int) {
		if done%sayEvery == 0 && done < of {
			a.say("%d of %d answers", done, of)
		}
	}
}

func plainTools(all []rent.Tool, which []int) (out []tokens.Tool) {
	for _, i := range which {
		t := &all[i]
		out = append(out, tokens.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return out
}

func (a *app) sayKept(err error) {
	if err != nil {
		a.say("the answers are right, and could not be kept for the next time: %v", err)
	}
}

// countRequest has one whole request counted, and prints what came and what was
// estimated.
func (a *app) countRequest(r *reading, turn int, o *requestOptions) error {
	client, err := a.counter()
	if err != nil {
		return err
	}
	q := r.book.Request(turn)
	body, err := countable(r, q)
	if err != nil {
		return err
	}
	plan, err := client.PlanRequest(body)
	if err != nil {
		return err
	}
	if err := a.agreed(&plan.Plan, &o.exact); err != nil {
		return err
	}
	n, kept, err := client.CountRequest(context.Background(), plan)
	if err != nil {
		return err
	}
	a.sayKept(kept)
	a.say("the marks for what is not on this wire were counted too")
	deferred, held := heldDeferred(r, q)
	if deferred > 0 {
		a.say("%s can't be counted as such: of those that the request holds, %s tokens were added, an estimate", plural(deferred, "deferred definition"), held)
	}
	return a.printCounted(countedJSON{turn, body.Model, n.Plus(held), r.meter.Request(q).Total, held}, o.json)
}

// countable is a request without what the endpoint does not take: deferred definitions.
func countable(r *reading, q *claude.Request) (*exact.Request, error) {
	var parts struct {
		System, Messages json.RawMessage
		Tools            []json.RawMessage
	}
	if err := json.Unmarshal(q.JSON(), &parts); err != nil {
		return nil, fmt.Errorf("reading request %d: %w", q.Turn, err)
	}
	tools := slices.DeleteFunc(parts.Tools, func(t json.RawMessage) bool { return gjson.GetBytes(t, "defer_loading").Bool() })
	body := &exact.Request{Model: r.meter.Estimator().Model().ID, System: parts.System, Messages: parts.Messages}
	if len(tools) == 0 {
		return body, nil
	}
	raw, err := json.Marshal(tools)
	body.Tools = raw
	return body, err
}

// heldDeferred is how many definitions are deferred, and the tokens of those that the
// request holds all the same, since a search found them.
func heldDeferred(r *reading, q *claude.Request) (n int, held tokens.Count) {
	for _, t := range q.Tools {
		if !t.Deferred {
			continue
		}
		n++
		if ledger.Held(t, q.Turn) {
			held = held.Plus(r.meter.Block(t).Tokens)
		}
	}
	return n, held
}

// countedJSON is the object of request --exact --json.
type countedJSON struct {
	Turn      int          `json:"turn"`
	Model     string       `json:"model"`
	Counted   tokens.Count `json:"counted"` // with what was added
	Estimated tokens.Count `json:"estimated"`
	Added     tokens.Count `json:"added"` // estimates, of what can't be counted
}

func (a *app) printCounted(c countedJSON, asJSON bool) error {
	if asJSON {
		p := newJSONPrinter(a.Stdout)
		p.encode(c)
		return p.flush()
	}
	t := a.table(column{name: "request", width: 7, right: true}, column{name: "counted", width: 32}, column{name: "estimated", width: 32}, column{name: "model"})
	t.row(itoa(c.Turn), c.Counted.String(), c.Estimated.String(), c.Model)
	return t.flush()
}
