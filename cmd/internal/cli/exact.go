package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/replay/tokens/exact"
)

// exactOptions are the flags of commands that can have Anthropic count.
type exactOptions struct{ on, yes bool }

func (o *exactOptions) add(c *cobra.Command) {
	c.Flags().BoolVar(&o.on, "exact", false, "have Anthropic count the tokens (count_tokens, with ANTHROPIC_API_KEY); says first what would be sent, and asks")
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
	plan, err := client.PlanList(e.Model().ID, plainTools(l.Session.Tools, newest))
	if err != nil {
		return nil, tokens.Factor{}, err
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
	var body exact.Request
	var parts struct{ System, Messages, Tools json.RawMessage }
	if err := json.Unmarshal(q.JSON(), &parts); err != nil {
		return fmt.Errorf("reading request %d: %w", turn, err)
	}
	body.Model, body.System, body.Messages, body.Tools = r.meter.Estimator().Model().ID, parts.System, parts.Messages, parts.Tools
	plan, err := client.PlanRequest(&body)
	if err != nil {
		return fmt.Errorf("%w; --upfront loads all definitions", err)
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
	t := a.table(column{name: "request", width: 7, right: true}, column{name: "counted", width: 12, right: true}, column{name: "estimated", width: 32}, column{name: "model"})
	t.row(itoa(turn), n.String(), r.meter.Request(q).Total.String(), body.Model)
	return t.flush()
}
