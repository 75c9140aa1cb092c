package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/ui/safetext"
)

// requestOptions are the flags of request.
type requestOptions struct {
	bookOptions
	turn      string
	changes   bool
	links     bool
	curl      bool
	connector connectorOptions
	exact     exactOptions
	json      bool
	hosts     bool
}

func (a *app) request() *cobra.Command {
	var o requestOptions
	c := &cobra.Command{
		Use:   "request SESSION...",
		Short: "the request that a host makes of a session for the model",
		Long: `request assembles the Messages API request that stands behind a session: the tools
by the names that the model reads, the instructions, and the calls with their results,
grouped into turns. Request N is what the model reads after turn N; request 0 comes
before the first. What this wire does not tell (what the user and the assistant wrote,
the system prompt, the model) stands there as a visible mark, never as a guess.

Hosts differ in what they pass on. The profile is chosen by what the client calls
itself, else it is "generic", a teaching view; --host takes another, and --hosts lists
them with their evidence. Names of tools are made of the session's label.

Several sessions make one request: their tools side by side, their calls in order of
time. With --together the sessions that the same host process had open at the same
time are found in the store.

On a terminal it prints a page: what is new in this request in full, what is sent again
in a line each, with the tokens of each block (~ marks estimates). Piped, it prints the
JSON of the request, which the API would take. --exact has Anthropic count a request.

--connector shows the session as another request: one that lets the API speak to the
servers itself (its MCP connector), which takes servers on https.

` + sessionNames,
		Example: `  mcptap request last
  mcptap request tickets --turn 0 | jq '.tools[].name'
  mcptap request last --turn all --changes --json
  mcptap request last --host claude-code --together
  mcptap request tickets --host bridge --curl`,
		Args: func(c *cobra.Command, args []string) error {
			if o.hosts {
				return nil
			}
			return atLeastOneSession()(c, args)
		},
		RunE:              func(_ *cobra.Command, args []string) error { return a.runRequest(args, &o) },
		ValidArgsFunction: a.completeSession,
	}
	f := c.Flags()
	f.StringVar(&o.turn, "turn", "last", "the request after this turn: a number from 0, last, or all")
	o.bookOptions.add(c)
	f.BoolVar(&o.changes, "changes", false, "only what is new, and what is gone, since the request before")
	f.BoolVar(&o.links, "links", false, "where each block comes from, what is not on this wire, and why calls are of one turn, as JSON")
	f.BoolVar(&o.curl, "curl", false, "a shell command that sends the request")
	f.BoolVar(&o.json, "json", false, "JSON on a terminal, too")
	f.BoolVar(&o.hosts, "hosts", false, "list the host profiles")
	o.connector.add(c)
	o.exact.add(c, true)
	_ = c.RegisterFlagCompletionFunc("turn", cobra.FixedCompletions([]string{"last", "all", "0"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) runRequest(names []string, o *requestOptions) error {
	if o.hosts {
		set, err := profiles(o.profiles)
		if err != nil {
			return err
		}
		return a.listHosts(set)
	}
	if err := o.check(); err != nil {
		return err
	}
	r, err := a.reading(names, &o.bookOptions)
	if err != nil {
		return err
	}
	defer r.close()
	turns, err := o.turns(r.book)
	if err != nil {
		return err
	}
	switch {
	case o.connector.on:
		return a.printConnector(r, o)
	case o.exact.on():
		return a.countRequest(r, turns[0], o)
	}
	return a.printRequests(r, turns, o)
}

func (o *requestOptions) check() error {
	if err := o.exact.check(); err != nil {
		return err
	}
	forms := 0
	for _, on := range []bool{o.changes, o.links, o.curl, o.connector.on, o.exact.on()} {
		if on {
			forms++
		}
	}
	switch {
	case forms > 1:
		return usagef("--changes, --links, --curl, --connector and --exact are forms of one answer; take one of them")
	case (o.curl || o.exact.on()) && o.turn == "all":
		return usagef("--curl and --exact send one request; take one --turn")
	case !o.connector.on && (o.connector.pin || len(o.connector.urls) > 0):
		return usagef("--pin and --url are for --connector")
	case o.connector.on && o.turn != "last":
		return usagef("--connector is the whole session as one request; it takes no --turn")
	}
	return nil
}

// turns are the numbers of the requests that the user means.
func (o *requestOptions) turns(b *claude.Book) ([]int, error) {
	switch o.turn {
	case "last":
		return []int{b.Turns()}, nil
	case "all":
		all := make([]int, b.Turns()+1)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	n, err := strconv.Atoi(o.turn)
	if err != nil || n < 0 {
		return nil, usagef("--turn takes a number from 0, last, or all, not %q", o.turn)
	}
	if n > b.Turns() {
		return nil, fmt.Errorf("there is no turn %d: the session has %s; --turn last is the newest", n, plural(b.Turns(), "turn"))
	}
	return []int{n}, nil
}

// printRequests prints in the form that the user asked for.
func (a *app) printRequests(rd *reading, turns []int, o *requestOptions) error {
	b := rd.book
	a.sayRefused(claude.Check(b.Request(turns[len(turns)-1]).JSON()))
	if isTerminal(a.Stdout) && !o.json && !o.links && !o.curl {
		p := a.requestPage(rd)
		for _, n := range turns {
			p.request(b.Request(n), o.changes)
		}
		return p.out.Flush()
	}
	host, reason := b.Profile()
	a.say("as host %s would send it (%s); --links lists what is not on this wire", host.ID, reason)
	a.sayLeftOut(b, turns)
	out := &jsonOut{Writer: bufio.NewWriterSize(a.Stdout, 64<<10), terminal: isTerminal(a.Stdout)}
	for _, n := range turns {
		r := b.Request(n)
		switch {
		case o.changes:
			out.value(changesObject(rd, r), o.turn != "all")
		case o.links:
			out.value(linksObject(rd, r), o.turn != "all")
		case o.curl:
			out.curl(r)
		default:
			out.raw(r.JSON(), o.turn != "all")
		}
	}
	return out.Flush()
}

// sayRefused says what in a request the API would refuse.
func (a *app) sayRefused(problems []claude.Problem) {
	for _, p := range problems[:min(len(problems), saidLeftOut)] {
		a.say("the API would refuse this request: %s", p)
	}
}

// saidLeftOut is how many definitions are named that a host leaves out.
const saidLeftOut = 8

// sayLeftOut says what of the sessions is not in these requests, where only the
// requests are printed.
func (a *app) sayLeftOut(b *claude.Book, turns []int) {
	var said []string
	seen, ended := map[claude.Link]bool{}, map[int]bool{}
	for _, n := range turns {
		r := b.Request(n)
		for _, t := range r.LeftOut {
			if l := t.Links()[0]; !seen[l] {
				seen[l] = true
				said = append(said, leftWords(t))
			}
		}
		for _, s := range r.Ended() {
			if !ended[s] {
				ended[s] = true
				a.say("%s", endedWords(b, s, n))
			}
		}
	}
	for _, s := range b.Request(turns[len(turns)-1]).Partial() {
		a.say("%s", partialWords(b, s))
	}
	if words := fetchedWords(b); words != "" {
		a.say("%s", words)
	}
	if len(said) > 0 {
		a.say("%s left out:", plural(len(said), "definition"))
	}
	for _, words := range said[:min(len(said), saidLeftOut)] {
		a.say("  %s", words)
	}
	if more := len(said) - saidLeftOut; more > 0 {
		a.say("  and %d more; --links has all", more)
	}
}

// leftWords names a definition that a host leaves out, and says why.
func leftWords(t *claude.Block) string {
	name := claude.Shown(t.Name.Tool)
	if t.Kind == claude.Toolset {
		name = "all tools of " + t.Name.Server
	}
	return claude.Shown(name) + ": " + lastNote(t)
}

func endedWords(b *claude.Book, session, request int) string {
	return fmt.Sprintf("%s had ended before request %d: its tools are not in it, its calls and answers are", claude.Shown(b.Timeline().Sessions[session].Name), request)
}

func partialWords(b *claude.Book, session int) string {
	return claude.Shown(b.Timeline().Sessions[session].Name) + ": its newest listing was not read to its end: tools may be missing"
}

// fetchedWords says what became of prompts and resources that were fetched; "" if none
// were.
func fetchedWords(b *claude.Book) string {
	var what []string
	for _, kind := range [][2]string{{"prompts/get", "prompts"}, {"resources/read", "resources"}} {
		if slices.ContainsFunc(b.Timeline().Sessions, func(s *replay.Session) bool { return asks(s, kind[0]) }) {
			what = append(what, kind[1])
		}
	}
	if len(what) == 0 {
		return ""
	}
	return strings.Join(what, " and ") + " were fetched, and are in no request here: whether and where the host gave them to the model is not on this wire"
}

func asks(s *replay.Session, method string) bool {
	for i := range s.Calls() {
		if s.Call(i).Method == method {
			return true
		}
	}
	return false
}

// jsonOut writes JSON; to a terminal, without what could drive it.
type jsonOut struct {
	*bufio.Writer
	terminal bool
}

// raw writes a JSON text: alone with indentation, one of many in a line. Only
// white space between its tokens changes, and on a terminal how hidden characters
// are spelt.
func (o *jsonOut) raw(b []byte, alone bool) {
	if alone {
		b = decode.Indented(b)
	}
	if o.terminal {
		b = escapeHidden(b)
	}
	_, _ = o.Write(b)
	_ = o.WriteByte('\n')
}

// escapeHidden writes hidden characters, which JSON has in its strings only, as the
// escapes that mean the same.
func escapeHidden(b []byte) []byte {
	if s := string(b); safetext.Line(strings.ReplaceAll(s, "\n", "")) == strings.ReplaceAll(s, "\n", "") {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) {
		if s := string(r); r == '\n' || safetext.Line(s) == s {
			out.WriteRune(r)
			continue
		}
		for _, half := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, half)
		}
	}
	return out.Bytes()
}

func (o *jsonOut) value(v any, alone bool) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) == nil {
		o.raw(bytes.TrimSpace(b.Bytes()), alone)
	}
}

// curlEnd ends the body in the shell command. No line of JSON can be it.
const curlEnd = "END_OF_REQUEST"

func (o *jsonOut) curl(r *claude.Request) {
	fmt.Fprintf(o, `# Replace what says "not on this wire" before you send it: it costs money.
curl https://api.anthropic.com/v1/messages \
  --header "x-api-key: $ANTHROPIC_API_KEY" \
  --header 'anthropic-version: 2023-06-01' \
  --header 'content-type: application/json' \
%s  --data-binary @- <<'%s'
`, beta(r), curlEnd)
	o.raw(r.JSON(), true)
	fmt.Fprintln(o, curlEnd)
}

// beta is the header that a request needs for what is not in the stable API.
func beta(r *claude.Request) string {
	if len(r.Tools) > 0 && r.Tools[0].Kind == claude.Toolset {
		return "  --header 'anthropic-beta: mcp-client-2025-11-20' \\\n"
	}
	return ""
}

// listHosts prints the host profiles.
func (a *app) listHosts(set *claude.Profiles) error {
	t := a.table(
		column{name: "host", width: 14},
		column{name: "confidence", width: 10},
		column{name: "as of", width: 10, drop: 1},
		column{name: "tool name", width: 22, drop: 2},
		column{name: "loading", width: 14, drop: 4},
		column{name: "structured", width: 10, drop: 3},
		column{name: "evidence"},
	)
	for i := range set.Profiles {
		h := &set.Profiles[i]
		evidence := h.Evidence
		if len(h.Assumed) > 0 {
			evidence += " [assumed: " + strings.Join(h.Assumed, ", ") + "]"
		}
		t.row(h.ID, h.Confidence, h.Date, h.Name.Template, h.Loading, h.Structured, evidence)
	}
	return t.flush()
}
