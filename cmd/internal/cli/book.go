package cli

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/sessions"
)

// bookOptions are the flags of all commands that look at what a host sends.
type bookOptions struct {
	host     string
	model    string
	models   string
	profiles string
	names    []string
	hostTool []string
	together bool
	upfront  bool
}

func (o *bookOptions) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.host, "host", "", "host profile (default: by what the client calls itself; 'mcptap help hosts')")
	f.StringVar(&o.model, "model", "", "model whose tokens and prices are meant (default: as the profiles say)")
	f.StringVar(&o.models, "models", "", "file of models and prices, in place of the built-in one")
	f.StringVar(&o.profiles, "profiles", "", "file of host profiles, in place of the built-in ones")
	f.StringSliceVar(&o.names, "name", nil, "what the host calls the server; once for each SESSION (default: its label)")
	f.StringSliceVar(&o.hostTool, "host-tool", nil, "tool whose calls are the host's own, such as one that asks for permissions")
	f.BoolVar(&o.together, "together", false, "with the other sessions of the same host process at that time")
	f.BoolVar(&o.upfront, "upfront", false, "all definitions loaded up front, also where the host would search for them")
	_ = c.RegisterFlagCompletionFunc("host", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return claude.Builtin().IDs(), cobra.ShellCompDirectiveNoFileComp
	})
	_ = c.RegisterFlagCompletionFunc("model", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return tokens.Default().IDs(), cobra.ShellCompDirectiveNoFileComp
	})
}

func (o *bookOptions) check(set *claude.Profiles, names []string) error {
	if len(o.names) > len(names) {
		return usagef("there are %d --name for %d SESSION", len(o.names), len(names))
	}
	if o.host != "" {
		if _, err := set.Get(o.host); err != nil {
			return usagef("--host: %v; 'mcptap help hosts' says what they rest on", err)
		}
	}
	return nil
}

// A reading is what a host makes of sessions, with what it takes to weigh it.
type reading struct {
	*played
	book  *claude.Book
	table *tokens.Table
	meter *ledger.Meter
}

// reading opens sessions as the requests of one host.
func (a *app) reading(names []string, o *bookOptions) (*reading, error) {
	set, err := profiles(o.profiles)
	if err != nil {
		return nil, err
	}
	if err := o.check(set, names); err != nil {
		return nil, err
	}
	r := &reading{}
	if r.table, err = models(o.models); err != nil {
		return nil, err
	}
	if r.played, err = a.play(names, o); err != nil {
		return nil, err
	}
	if err := a.estimator(r, set, o); err != nil {
		r.close()
		return nil, err
	}
	if r.book, err = a.book(r, set, o); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// estimator takes the model that the user means, else the one that the profiles name,
// else the table's own.
func (a *app) estimator(r *reading, set *claude.Profiles, o *bookOptions) error {
	model, err := r.table.Model(o.model)
	if o.model == "" {
		if named, err := r.table.Model(set.Defaults.Model); err == nil {
			model = named
		}
	}
	if err != nil {
		return usagef("--model: %v; --models takes a table that has it", err)
	}
	r.meter = ledger.NewMeter(r.table.Estimator(model))
	return nil
}

// models reads the table of models and prices that the user means.
func models(file string) (*tokens.Table, error) {
	if file == "" {
		return tokens.Default(), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading the models: %w", err)
	}
	defer f.Close()
	t, err := tokens.Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
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

// played is a timeline and the recordings it reads from.
type played struct {
	line   *replay.Timeline
	loaded []*sessions.Loaded // those of the timeline's sessions
	open   []*sessions.Session
}

func (p *played) close() {
	for _, s := range p.open {
		s.Close()
	}
}

// play opens sessions as one timeline: those that the user named, their probes, and
// with --together their neighbours.
func (a *app) play(names []string, o *bookOptions) (*played, error) {
	p := &played{}
	var all []*sessions.Loaded
	for _, name := range names {
		l, err := p.load(func() (*sessions.Session, error) { return a.open(name) })
		if err != nil {
			p.close()
			return nil, err
		}
		if why := l.Nothing(); why != "" {
			p.close()
			return nil, notRecording(name, why, l)
		}
		a.sayRemarks(l)
		all = append(all, l)
	}
	titles := slices.Clone(o.names)
	for _, l := range all[len(titles):] {
		titles = append(titles, l.ServerName())
	}
	more, err := a.neighbours(p, all, o.together)
	if err != nil {
		p.close()
		return nil, err
	}
	for _, l := range more {
		all, titles = append(all, l), append(titles, l.ServerName())
	}
	list := make([]*replay.Session, len(all))
	for i, l := range all {
		list[i] = &replay.Session{Session: l.Session, Body: l.Body, Name: titles[i]}
		if l.Header != nil {
			list[i].Start = l.Header.Start
		}
	}
	p.loaded = all
	p.line = replay.New(replay.Options{NotModel: o.hostTool}, list...)
	a.sayHostTools(p.line, o.hostTool)
	return p, nil
}

// sayHostTools tells of a --host-tool that nobody called: a slip changes nothing.
func (a *app) sayHostTools(line *replay.Timeline, names []string) {
	for _, name := range names {
		called := func(c *replay.Call) bool { return c.Tool == name }
		if !slices.ContainsFunc(line.Apart, func(a replay.Apart) bool { return called(&a.Call) }) {
			a.say("--host-tool changes nothing: no call of %q crossed; it takes a tool's name as the server calls it, without what a host puts before it", name)
		}
	}
}

// notRecording is the error of a file without a head and without a message.
func notRecording(name, why string, l *sessions.Loaded) error {
	if name == "-" {
		name = "standard input"
	}
	if _, begun := l.Unfinished(); l.Records == 0 && l.Passed == 0 && !begun {
		return fmt.Errorf("%s is empty, so there is no session to read", name)
	}
	return fmt.Errorf("%s is not a recording: %s; 'mcptap ls' lists what there is", name, why)
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

// together finds the files of the sessions that make one conversation with a session.
func (a *app) together(l *sessions.Loaded) (paths []string) {
	ids := a.sameHost([]*sessions.Loaded{l})
	if id, _ := a.sibling(l); id != "" && !slices.Contains(ids, id) {
		ids = append(ids, id)
	}
	for _, id := range ids {
		paths = append(paths, a.store().Path(id))
	}
	return paths
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
func (a *app) book(r *reading, set *claude.Profiles, o *bookOptions) (*claude.Book, error) {
	host, reason := set.Detect(r.line)
	if o.host != "" {
		var err error
		if host, err = set.Get(o.host); err != nil {
			return nil, err
		}
		reason = "you chose it"
	}
	options := claude.Options{Profile: host, Reason: reason, Model: o.model, Tokens: func(text string) int {
		_, mid, _ := r.meter.Estimator().Text(text).Bounds()
		return int(math.Round(mid))
	}}
	if o.upfront {
		options.Loading = claude.LoadUpfront
	}
	a.sayDoubts(r.line)
	return claude.NewBook(r.line, options), nil
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
