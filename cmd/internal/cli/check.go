package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/sessions"
)

// exitFindings is the exit status of a check that found what it was to fail on.
const exitFindings = 3

// checkOptions are the flags of check.
type checkOptions struct {
	failOn string
	host   string
	json   bool
	sarif  bool
	junit  bool
	follow bool
}

func (a *app) check() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check SESSION...",
		Short: "judge sessions by the specification, for people and for CI",
		Long: `check looks for what breaks the specification of the revision that each message
belongs to, and for what is known to hurt: it names the rule, the side at fault, the
frame, and how often it happened. Suspicions (hidden characters, instructions to the
model in a description) are called so. A session of the store is also compared with
the one before it that had the same command: did the text of a tool change since?

The rules API-01 to API-15 ask who would refuse, cut or lose the tools and the
server's instructions: the Claude API, or a host with all that it puts before a name
(the session's label stands for the server's name in its configuration). --for
chooses the host ('mcptap help hosts'); by itself it is the session's client if that is
a known host, else the API. A finding says since when, and with --json on what evidence.

The exit status is 3 if there is a finding of the severity that --fail-on names, or
a graver one.

` + sessionNames,
		Example: `  mcptap check last
  mcptap check last --fail-on warning --junit > report.xml
  mcptap check last --sarif > report.sarif
  mcptap check last --for claude-desktop`,
		Args:              atLeastOneSession(),
		RunE:              func(_ *cobra.Command, args []string) error { return a.runCheck(args, o) },
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().StringVar(&o.failOn, "fail-on", "error", "severity from which on the exit status is 3: error, warning, info or none")
	c.Flags().StringVar(&o.host, "for", hostAuto, "whose refusals of tools to look for: "+strings.Join(hostNames, ", "))
	c.Flags().BoolVar(&o.json, "json", false, "one JSON object a finding ('mcptap help json')")
	c.Flags().BoolVar(&o.sarif, "sarif", false, "SARIF 2.1.0")
	c.Flags().BoolVar(&o.junit, "junit", false, "JUnit XML")
	c.Flags().BoolVar(&o.follow, "follow", false, "go on until the session ends; a finding is printed when it is made")
	_ = c.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(hostNames, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{"error", "warning", "info", "none"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// A checked session is a session with what was found in it.
type checked struct {
	name     string
	path     string
	findings []rules.Finding
}

func (a *app) runCheck(names []string, o checkOptions) error {
	threshold, err := severity(o.failOn)
	if err != nil {
		return err
	}
	if !slices.Contains(hostNames, o.host) {
		return usagef("--for takes one of %s, not %q", strings.Join(hostNames, ", "), o.host)
	}
	report, err := a.reporter(o, threshold)
	if err != nil {
		return err
	}
	failed, total := false, 0
	for _, name := range names {
		c, err := a.checkOne(name, o, report)
		if err != nil {
			return err
		}
		total += len(c.findings)
		for i := range c.findings {
			failed = failed || c.findings[i].Severity <= threshold
		}
		report.session(c)
	}
	if failed {
		a.status = exitFindings
	}
	if total == 0 && isTerminal(a.Stdout) {
		a.say("nothing found")
	}
	return report.flush()
}

// severity reads --fail-on; none is graver than any finding.
func severity(s string) (rules.Severity, error) {
	for v := rules.Error; v <= rules.Info; v++ {
		if v.String() == s {
			return v, nil
		}
	}
	if s == "none" {
		return 0, nil
	}
	return 0, usagef("--fail-on takes error, warning, info or none, not %q", s)
}

func (a *app) checkOne(name string, o checkOptions, report reporter) (c *checked, err error) {
	c = &checked{name: name}
	err = a.withSession(name, decode.Options{}, func(s *sessions.Session, l *sessions.Loaded) error {
		c.name, c.path = l.Name(), s.Path()
		if !o.follow {
			c.findings = slices.Concat(rules.Check(l.Session, l.Body), a.since(l), refusals(l, o.host))
			return nil
		}
		seen := -1
		return a.followLoaded(s, l, func(bool) error {
			if l.Len() == seen {
				return nil
			}
			seen = l.Len()
			c.findings = append(rules.Check(l.Session, l.Body), refusals(l, o.host)...)
			report.soFar(c)
			return report.flushSoFar()
		})
	})
	return c, err
}

// A reporter writes findings in one form. soFar is for forms that can tell them
// while a session is live.
type reporter interface {
	soFar(*checked)
	flushSoFar() error
	session(*checked)
	flush() error
}

func (a *app) reporter(o checkOptions, threshold rules.Severity) (reporter, error) {
	chosen := 0
	for _, on := range []bool{o.json, o.sarif, o.junit} {
		if on {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return nil, usagef("--json, --sarif and --junit are three forms of one report; take one of them")
	case o.sarif:
		return &sarifReporter{out: a.Stdout, rules: checkRules(o.host)}, nil
	case o.junit:
		return &junitReporter{out: a.Stdout, threshold: threshold, rules: checkRules(o.host)}, nil
	case o.json:
		return &lineReporter{each: a.findingJSON()}, nil
	}
	return &lineReporter{each: a.findingTable()}, nil
}

// lineReporter writes a line a finding, each once.
type lineReporter struct {
	each  findingPrinter
	shown map[string]bool
}

type findingPrinter interface {
	finding(session string, f *rules.Finding)
	flush() error
}

func (r *lineReporter) soFar(c *checked) {
	if r.shown == nil {
		r.shown = map[string]bool{}
	}
	for i := range c.findings {
		f := &c.findings[i]
		key := c.path + "\x00" + f.Rule.ID + "\x00" + strings.Join(f.Args, "\x00") + strconv.Itoa(f.Frame)
		if !r.shown[key] {
			r.shown[key] = true
			r.each.finding(c.name, f)
		}
	}
}

func (r *lineReporter) flushSoFar() error  { return r.each.flush() }
func (r *lineReporter) session(c *checked) { r.soFar(c) }
func (r *lineReporter) flush() error       { return r.each.flush() }

// findingTable prints rows.
type findingTable struct{ *table }

func (a *app) findingTable() findingPrinter {
	return &findingTable{a.table(
		column{name: "severity", width: 8},
		column{name: "rule", width: 8},
		column{name: "side", width: 6, drop: 1},
		column{name: "frame", width: 6, right: true},
		column{name: "times", width: 5, right: true, drop: 3},
		column{name: "session", width: 16, min: 8, drop: 2},
		column{name: "what", min: 30},
	)}
}

var severityStyles = map[rules.Severity]style{rules.Error: red, rules.Warning: yellow, rules.Info: dim}

func (t *findingTable) finding(session string, f *rules.Finding) {
	frame := ""
	if f.Frame >= 0 {
		frame = strconv.FormatUint(f.N, 10)
	}
	what := []string{f.Words()}
	if t.terminal { // the words are what it is for: they go on below
		what = wrap(what[0], t.widths[len(t.widths)-1])
	}
	t.styled(severityStyles[f.Severity], f.Severity.String(), f.Rule.ID, f.Side.String(), frame, strconv.Itoa(f.Count), session, what[0])
	for _, more := range what[1:] {
		t.styled(severityStyles[f.Severity], "", "", "", "", "", "", more)
	}
}

// findingObject is a finding in check --json.
type findingObject struct {
	Session  string   `json:"session"`
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"`
	Side     string   `json:"side"`
	Frame    *uint64  `json:"frame"`
	Count    int      `json:"count"`
	Revision string   `json:"revision,omitempty"`
	Page     string   `json:"page,omitempty"`
	Title    string   `json:"title"`
	Words    string   `json:"words"`
	Args     []string `json:"args"`
}

func objectOf(session string, f *rules.Finding) findingObject {
	o := findingObject{
		Session: session, Rule: f.Rule.ID, Severity: f.Severity.String(), Side: f.Side.String(), Count: f.Count,
		Revision: f.Revision, Page: f.Rule.Page, Title: f.Rule.Title, Words: f.Words(), Args: append([]string{}, f.Args...),
	}
	if f.Frame >= 0 {
		n := f.N
		o.Frame = &n
	}
	return o
}

// findingJSON prints objects.
type findingJSON struct{ *jsonPrinter }

func (a *app) findingJSON() findingPrinter { return &findingJSON{newJSONPrinter(a.Stdout)} }

func (p *findingJSON) finding(session string, f *rules.Finding) { p.encode(objectOf(session, f)) }

// where says where a finding is, for reports that have one line for it.
func where(f *rules.Finding) string {
	if f.Frame < 0 {
		return "the session as a whole"
	}
	return fmt.Sprintf("frame %d", f.N)
}
