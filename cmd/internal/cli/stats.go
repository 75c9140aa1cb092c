package cli

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/safetext"
)

func (a *app) stats() *cobra.Command {
	var asJSON, follow bool
	var expr string
	c := &cobra.Command{
		Use:   "stats SESSION",
		Short: "count and time the calls of a session, and account for its bytes",
		Long: `stats prints, for each method and each tool: how many operations there were (calls
that belong together are one; what the server asked meanwhile has rows of its own), how
they ended, the median, 95th percentile and longest time in milliseconds, and the
bytes on the wire in each direction. Then it accounts for every byte of the session:
envelope, _meta, members of multi-round-trip requests, payload, what is said twice in
one result, white space, line ends and what was no message; over HTTP also the heads
of requests and answers, what event streams need around their data, and what compression
saved (less than nothing: the parts are those of the messages, decoded). A message of
more than 64 MiB is counted, and not split. What was not kept is in no part.

Listens are pending for their whole life: they are counted, not timed.

With --filter only the calls that it selects are counted, and the bytes of their
frames.

` + sessionNames,
		Example: `  mcptap stats last
  mcptap stats last --filter 'tool:add_*'
  mcptap stats tickets --json | jq .bytes`,
		Args: exactly(1, "one SESSION"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := parseFilter(expr)
			if err != nil {
				return err
			}
			return a.withSession(args[0], decode.Options{Bytes: expr == ""}, func(s *sessions.Session, l *sessions.Loaded) error {
				if follow {
					if err := a.followLoaded(s, l, func(bool) error { return nil }); err != nil {
						return err
					}
				}
				sel, err := a.choose(f, l)
				if err != nil {
					return err
				}
				c := countAll(l)
				if expr != "" {
					c = countSelected(sel, f)
				}
				if asJSON {
					return json.NewEncoder(safetext.JSON(a.Stdout)).Encode(c.object(l))
				}
				return a.statsTables(c)
			})
		},
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object ('mcptap help json')")
	c.Flags().BoolVar(&follow, "follow", false, "wait until the session ends")
	a.addFilter(c, &expr)
	return c
}

// counted is what stats tells of a session, or of what a filter selects in it.
type counted struct {
	filter string
	frames int
	groups []*report.Group
	bytes  *decode.Totals
}

func countAll(l *sessions.Loaded) counted {
	return counted{frames: l.Len(), groups: report.Groups(l.Session, func(int) bool { return true }), bytes: l.Totals()}
}

func countSelected(sel *selection, f *filter.Filter) counted {
	in := sel.match.Whole()
	c := counted{filter: f.String(), groups: report.Groups(sel.l.Session, sel.row)}
	for _, yes := range in {
		if yes {
			c.frames++
		}
	}
	c.bytes = sel.l.TotalsOf(func(i int) bool { return in[i] })
	return c
}

// outcomeCount is empty for none.
func outcomeCount(g *report.Group, o decode.Outcome) string {
	if n := g.Outcomes[o.String()]; n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}

func (a *app) statsTables(c counted) error {
	t := a.table(
		column{name: "method", width: 26, min: 14},
		column{name: "tool", width: 24, min: 12},
		column{name: "count", width: 6, right: true},
		column{name: "ok", width: 5, right: true, drop: 5},
		column{name: "tool", width: 5, right: true},
		column{name: "proto", width: 5, right: true},
		column{name: "hidden", width: 6, right: true},
		column{name: "other", width: 5, right: true, drop: 1},
		column{name: "p50 ms", width: 8, min: 6, right: true, drop: 6},
		column{name: "p95 ms", width: 8, min: 6, right: true, drop: 8},
		column{name: "max ms", width: 8, min: 6, right: true, drop: 7},
		column{name: "→ bytes", width: 9, right: true, drop: 10},
		column{name: "← bytes", width: 9, right: true, drop: 9},
	)
	for _, g := range c.groups {
		other := g.Count
		for _, o := range []decode.Outcome{decode.OK, decode.ToolError, decode.ProtocolError, decode.HiddenError} {
			other -= g.Outcomes[o.String()]
		}
		rest := ""
		if other > 0 {
			rest = strconv.Itoa(other)
		}
		t.row(g.Method, g.Name, strconv.Itoa(g.Count), outcomeCount(g, decode.OK), outcomeCount(g, decode.ToolError), outcomeCount(g, decode.ProtocolError), outcomeCount(g, decode.HiddenError), rest,
			ms(g, g.P50), ms(g, g.P95), ms(g, g.Max), strconv.FormatInt(g.C2S, 10), strconv.FormatInt(g.S2C, 10))
	}
	if err := t.flush(); err != nil {
		return err
	}
	return a.bytesTable(c.bytes)
}

// ms is empty for operations none of which has ended.
func ms(g *report.Group, v float64) string {
	if len(g.Times) == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// bytesTable accounts for every byte of both directions.
func (a *app) bytesTable(b *decode.Totals) error {
	t := a.table(
		column{name: "bytes by part", width: 26, min: 14},
		column{name: "→", width: 12, min: 8, right: true},
		column{name: "←", width: 12, min: 8, right: true},
		column{name: "both", width: 12, min: 8, right: true},
		column{name: "share", width: 6, right: true},
	)
	t.write("\n")
	both := b.Dirs[tap.C2S]
	both.Add(&b.Dirs[tap.S2C])
	web := &b.HTTP
	total := both.Total() + web.Total() + b.Packed[tap.C2S] + b.Packed[tap.S2C]
	row := func(name string, c2s, s2c int64) {
		share := ""
		if total > 0 {
			share = strconv.FormatFloat(100*float64(c2s+s2c)/float64(total), 'f', 1, 64) + "%"
		}
		t.row(name, strconv.FormatInt(c2s, 10), strconv.FormatInt(s2c, 10), strconv.FormatInt(c2s+s2c, 10), share)
	}
	for p := range decode.NumParts {
		if both[p] > 0 {
			row(p.String(), b.Dirs[tap.C2S][p], b.Dirs[tap.S2C][p])
		}
	}
	if web.Total() > 0 {
		row("http heads", web.Heads[tap.C2S], web.Heads[tap.S2C])
		row("event framing", web.Framing[tap.C2S], web.Framing[tap.S2C])
	}
	if b.Packed != [len(b.Packed)]int64{} {
		row("compression", b.Packed[tap.C2S], b.Packed[tap.S2C])
	}
	of := func(d tap.Dir) int64 { return b.Dirs[d].Total() + web.Heads[d] + web.Framing[d] + b.Packed[d] }
	row("total", of(tap.C2S), of(tap.S2C))
	if b.Unparsed > 0 {
		t.row("not kept", "", "", strconv.FormatInt(b.Unparsed, 10), "")
	}
	return t.flush()
}

// statsJSON is the output of stats --json.
type statsJSON struct {
	Session  string                      `json:"session"`
	Filter   string                      `json:"filter,omitempty"`
	Era      string                      `json:"era"`
	Revision string                      `json:"revision,omitempty"`
	Frames   int                         `json:"frames"`
	Groups   []*report.Group             `json:"groups"`
	Bytes    map[string]map[string]int64 `json:"bytes"`
	Methods  map[string]map[string]int64 `json:"bytes_by_method"`
	Opening  int64                       `json:"bytes_opening"`
	Metadata int64                       `json:"bytes_metadata"`
	Copies   map[string]int64            `json:"bytes_said_twice"`
	Unparsed int64                       `json:"bytes_not_recorded"`
	HTTP     map[string]map[string]int64 `json:"bytes_http,omitempty"`
}

func (c counted) object(l *sessions.Loaded) statsJSON {
	b, e := c.bytes, l.Eras()
	j := statsJSON{
		Session: l.Name(), Filter: c.filter, Era: e.Era.String(), Revision: e.Revision, Frames: c.frames, Groups: c.groups,
		Bytes: map[string]map[string]int64{}, Methods: map[string]map[string]int64{}, Opening: b.Opening.Total(), Metadata: b.Metadata(),
		Copies: map[string]int64{"text": b.Copies.Text, "structured": b.Copies.Structured}, Unparsed: b.Unparsed,
	}
	for d := tap.C2S; d <= tap.Stderr; d++ {
		j.Bytes[d.String()] = parts(&b.Dirs[d])
	}
	if b.HTTP.Total() > 0 {
		j.HTTP = map[string]map[string]int64{}
		for d := tap.C2S; d <= tap.S2C; d++ {
			j.HTTP[d.String()] = map[string]int64{"heads": b.HTTP.Heads[d], "framing": b.HTTP.Framing[d]}
			if b.Packed[d] != 0 {
				j.HTTP[d.String()]["compression"] = b.Packed[d]
			}
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(b.Methods), cmp.Compare[string]) {
		j.Methods[name] = parts(&b.Methods[name].Account)
	}
	return j
}

// parts names the parts of an account that are not empty, and their sum.
func parts(acc *decode.Account) map[string]int64 {
	out := map[string]int64{"total": acc.Total()}
	for p := range decode.NumParts {
		if acc[p] != 0 {
			out[p.String()] = acc[p]
		}
	}
	return out
}
