package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/safetext"
)

// requestOptions are the flags of request.
type requestOptions struct {
	turn     string
	host     string
	model    string
	profiles string
	names    []string
	hostTool []string
	together bool
	upfront  bool
	changes  bool
	links    bool
	curl     bool
	json     bool
	hosts    bool
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
in a line each. Piped, it prints the JSON of the request, which the API would take.

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
	f.StringVar(&o.host, "host", "", "host profile (default: by what the client calls itself)")
	f.StringVar(&o.model, "model", "", "model to name in the request (default: as the profiles say)")
	f.StringVar(&o.profiles, "profiles", "", "file of host profiles, in place of the built-in ones")
	f.StringSliceVar(&o.names, "name", nil, "what the host calls the server; once for each SESSION (default: its label)")
	f.StringSliceVar(&o.hostTool, "host-tool", nil, "tool whose calls are the host's own, such as one that asks for permissions")
	f.BoolVar(&o.together, "together", false, "with the other sessions of the same host process at that time")
	f.BoolVar(&o.upfront, "upfront", false, "all definitions loaded up front, also where the host would search for them")
	f.BoolVar(&o.changes, "changes", false, "only what is new, and what is gone, since the request before")
	f.BoolVar(&o.links, "links", false, "where each block comes from, what is not on this wire, and why calls are of one turn, as JSON")
	f.BoolVar(&o.curl, "curl", false, "a shell command that sends the request")
	f.BoolVar(&o.json, "json", false, "JSON on a terminal, too")
	f.BoolVar(&o.hosts, "hosts", false, "list the host profiles")
	_ = c.RegisterFlagCompletionFunc("host", cobra.FixedCompletions(claude.Builtin().IDs(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("turn", cobra.FixedCompletions([]string{"last", "all", "0"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) runRequest(names []string, o *requestOptions) error {
	set, err := profiles(o.profiles)
	if err != nil {
		return err
	}
	if err := o.check(set, names); err != nil {
		return err
	}
	if o.hosts {
		return a.listHosts(set)
	}
	played, err := a.play(names, o)
	if err != nil {
		return err
	}
	defer played.close()
	book, err := a.book(played, set, o)
	if err != nil {
		return err
	}
	turns, err := o.turns(book)
	if err != nil {
		return err
	}
	return a.printRequests(book, turns, o)
}

// profiles reads the host profiles that the user means.
func profiles(file string) (*claude.Profiles, error) {
	if file == "" {
		return claude.Builtin(), nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the host profiles: %w", err)
	}
	p, err := claude.ParseProfiles(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

func (o *requestOptions) check(set *claude.Profiles, names []string) error {
	forms := 0
	for _, on := range []bool{o.changes, o.links, o.curl} {
		if on {
			forms++
		}
	}
	switch {
	case forms > 1:
		return usagef("--changes, --links and --curl are three forms of one answer; take one of them")
	case o.curl && o.turn == "all":
		return usagef("--curl sends one request; take one --turn")
	case len(o.names) > len(names) && !o.hosts:
		return usagef("there are %d --name for %d SESSION", len(o.names), len(names))
	}
	if o.host != "" {
		if _, err := set.Get(o.host); err != nil {
			return usagef("--host: %v; 'mcptap request --hosts' says what they rest on", err)
		}
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

// played is a timeline and the recordings it reads from.
type played struct {
	line *replay.Timeline
	open []*sessions.Session
}

func (p *played) close() {
	for _, s := range p.open {
		s.Close()
	}
}

// play opens sessions as one timeline: those that the user named, their probes, and
// with --together their neighbours.
func (a *app) play(names []string, o *requestOptions) (*played, error) {
	p := &played{}
	var all []*sessions.Loaded
	for _, name := range names {
		l, err := p.load(func() (*sessions.Session, error) { return a.open(name) })
		if err != nil {
			p.close()
			return nil, err
		}
		a.sayRemarks(l)
		all = append(all, l)
	}
	titles := slices.Clone(o.names)
	for _, l := range all[len(titles):] {
		titles = append(titles, serverName(l))
	}
	more, err := a.neighbours(p, all, o.together)
	if err != nil {
		p.close()
		return nil, err
	}
	for _, l := range more {
		all, titles = append(all, l), append(titles, serverName(l))
	}
	list := make([]*replay.Session, len(all))
	for i, l := range all {
		list[i] = &replay.Session{Session: l.Session, Body: l.Body, Name: titles[i]}
		if l.Header != nil {
			list[i].Start = l.Header.Start
		}
	}
	p.line = replay.New(replay.Options{NotModel: o.hostTool}, list...)
	return p, nil
}

func (p *played) load(open func() (*sessions.Session, error)) (*sessions.Loaded, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	p.open = append(p.open, s)
	return sessions.Load(s, decode.Options{})
}

// neighbours finds the probes of sessions, and the sessions that the same host
// process had open at the same time.
func (a *app) neighbours(p *played, all []*sessions.Loaded, together bool) (more []*sessions.Loaded, err error) {
	have := map[string]bool{}
	for _, l := range all {
		if l.Header != nil {
			have[l.Header.Session] = true
		}
	}
	add := func(id string) error {
		if id == "" || have[id] {
			return nil
		}
		have[id] = true
		l, err := p.load(func() (*sessions.Session, error) { return a.open(id) })
		if err == nil {
			more = append(more, l)
		}
		return err
	}
	if together {
		for _, id := range a.sameHost(all) {
			if err := add(id); err != nil {
				return nil, err
			}
		}
		if len(more) == 0 {
			a.say("no other session of the same host process at that time is in the store")
		}
	}
	for _, l := range append(slices.Clone(all), more...) {
		if l.Opening().OnlyProbe {
			continue
		}
		id, _ := a.sibling(l)
		if err := add(id); err != nil {
			return nil, err
		}
	}
	return more, nil
}

// sameHost gives the sessions of the store whose host process is that of one of
// these, at a time that they share, and whose client calls itself the same.
func (a *app) sameHost(all []*sessions.Loaded) (ids []string) {
	infos, err := a.store().List()
	if err != nil {
		return nil
	}
	for _, l := range all {
		if l.Header == nil || l.Header.Host == nil {
			continue
		}
		end := l.Header.Start.Add(l.Opening().Last)
		for i := range infos {
			o := &infos[i]
			if o.Header == nil || o.Header.Host == nil || o.Header.Host.PID != l.Header.Host.PID || o.Header.Session == l.Header.Session {
				continue
			}
			if o.Start.Before(end) && l.Header.Start.Before(o.Start.Add(o.Length)) && a.sameClient(o, l) {
				ids = append(ids, o.ID)
			}
		}
	}
	return ids
}

func (a *app) sameClient(i *sessions.Info, l *sessions.Loaded) bool {
	other, err := loadPath(i.Path)
	return err == nil && clientName(other) == clientName(l)
}

func clientName(l *sessions.Loaded) string {
	if c := l.Clients(); len(c) > 0 {
		return c[0].Name
	}
	return ""
}

// book makes the requests of a timeline, and says what they rest on.
func (a *app) book(p *played, set *claude.Profiles, o *requestOptions) (*claude.Book, error) {
	host, reason := set.Detect(p.line)
	if o.host != "" {
		var err error
		if host, err = set.Get(o.host); err != nil {
			return nil, err
		}
		reason = "you chose it"
	}
	options := claude.Options{Profile: host, Reason: reason, Model: o.model}
	if o.upfront {
		options.Loading = claude.LoadUpfront
	}
	a.sayDoubts(p.line)
	return claude.NewBook(p.line, options), nil
}

// sayDoubts tells what makes a timeline doubtful as a whole.
func (a *app) sayDoubts(t *replay.Timeline) {
	for _, i := range t.Unaligned() {
		a.say("session %q does not say when it began: its place among the others is a guess", t.Sessions[i].Name)
	}
	var clients []string
	for _, s := range t.Sessions {
		for _, c := range s.Clients() {
			if !slices.Contains(clients, c.Name) {
				clients = append(clients, c.Name)
			}
		}
	}
	if len(clients) > 1 {
		a.say("different clients took part (%s): they do not share one conversation, and the request mixes theirs", strings.Join(clients, ", "))
	}
	for _, s := range t.Sessions {
		if n := conversations(s.Session); n > 1 {
			a.say("%d MCP sessions share recording %q: their calls may be of different conversations", n, s.Name)
		}
	}
}

// conversations counts the legacy MCP sessions of a recording: a proxy may have
// served several clients.
func conversations(s *decode.Session) int {
	scopes := map[decode.Scope]bool{}
	for i := range s.Calls() {
		if c := s.Call(i); c.Method == "tools/call" && c.Era == decode.Legacy {
			scopes[c.Scope] = true
		}
	}
	return len(scopes)
}

// printRequests prints in the form that the user asked for.
func (a *app) printRequests(b *claude.Book, turns []int, o *requestOptions) error {
	if isTerminal(a.Stdout) && !o.json && !o.links && !o.curl {
		p := a.requestPage(b)
		for _, n := range turns {
			p.request(b.Request(n), o.changes)
		}
		return p.out.Flush()
	}
	host, reason := b.Profile()
	a.say("as host %s would send it (%s); --links lists what is not on this wire", host.ID, reason)
	out := &jsonOut{Writer: bufio.NewWriterSize(a.Stdout, 64<<10), terminal: isTerminal(a.Stdout)}
	for _, n := range turns {
		r := b.Request(n)
		switch {
		case o.changes:
			out.value(changesObject(r), len(turns) == 1)
		case o.links:
			out.value(linksObject(b, r), len(turns) == 1)
		case o.curl:
			out.curl(r)
		default:
			out.raw(r.JSON(), len(turns) == 1)
		}
	}
	return out.Flush()
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
	var indented bytes.Buffer
	if alone && json.Indent(&indented, b, "", "  ") == nil {
		b = indented.Bytes()
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
