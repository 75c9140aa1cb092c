package cli

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/replay/diff/answers"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/sessions"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	failOn string
	model  string
	ignore []string
	json   bool
	junit  bool
}

func (a *app) diff() *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff A B...",
		Short: "compare sessions: the same work, its cost, what behaves differently",
		Long: `diff compares session B, or several, with session A: two builds of a server, or the
same work in the legacy and the stateless way. It answers three questions first: is
it the same work, what costs what, what behaves differently. Then it prints every
operation that either has, side by side: the numbers of the first frames, bytes to
the server and from it (line ends included), the difference, the server's
milliseconds, and what differs.

Operations are the same work if method, target and arguments are. Calls that ran at
once may begin in any order. Handshake and discovery, listen streams and legacy
subscriptions, questions within a result and requests of the server are compared with
each other; what an era has not is said to be so. Identifiers, moments and handles
that vary by themselves are taken as equal, and listed.

Two folders are compared session by session: by file name, else by label.

--fail-on takes a list of what makes the exit status 3: work (an operation on one
side only, in another place, or with other arguments), bytes (any difference) or
bytes>5% (B takes over 5 % more), outcome, result (what a server asks as well), server
(capabilities, instructions, identity, also the client's), tools (definitions of every
kind), findings (new in B), latency (of what was called five times or more, beyond
what all others changed by).

` + sessionNames,
		Example: `  mcptap diff demo-legacy demo-modern
  mcptap diff before.jsonl after.jsonl --fail-on 'outcome,result,tools,bytes>5%' --junit
  mcptap diff before after --ignore 'result.structuredContent.items[*].age'
  mcptap diff recordings/main recordings/branch --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("%s takes two SESSIONs or more, or two folders; '%s --help' has examples", c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return a.runDiff(args, o) },
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().StringVar(&o.failOn, "fail-on", "none", "what makes the exit status 3, see above; none for nothing")
	c.Flags().StringArrayVar(&o.ignore, "ignore", nil, "a path whose differences don't count: result.content[*].text, params.arguments.now")
	c.Flags().StringVar(&o.model, "model", "", "model whose tokens are estimated (default: the table's)")
	c.Flags().BoolVar(&o.json, "json", false, "one JSON object a comparison ('mcptap help json')")
	c.Flags().BoolVar(&o.junit, "junit", false, "JUnit XML: a suite a comparison, a case a kind of difference")
	return c
}

// A diffReporter writes comparisons in one form.
type diffReporter interface {
	compared(*diff.Diff, []verdict)
	// unmatched tells of a session that only one folder has, and whether that is a
	// failure.
	unmatched(name string, onB, failed bool)
	flush() error
}

func (a *app) runDiff(args []string, o diffOptions) error {
	limits, err := parseLimits(o.failOn)
	if err != nil {
		return err
	}
	options, err := o.compare()
	if err != nil {
		return err
	}
	report, err := a.diffReporter(o)
	if err != nil {
		return err
	}
	run := &diffRun{app: a, options: options, limits: limits, report: report}
	switch folders := countFolders(args); {
	case folders == len(args) && folders == 2:
		err = run.folders(args[0], args[1])
	case folders > 0:
		return usagef("folders are compared in twos: one folder with another, and nothing else")
	default:
		err = run.against(args[0], args[1:])
	}
	if flushErr := report.flush(); err == nil {
		err = flushErr
	}
	if err == nil && run.failed {
		a.status = exitFindings
	}
	return err
}

// compare gives the options of the comparison itself.
func (o *diffOptions) compare() (options diff.Options, err error) {
	for _, s := range o.ignore {
		p, err := diff.ParsePath(s)
		if err != nil {
			return options, usagef("--ignore: %v", err)
		}
		options.Ignore = append(options.Ignore, p)
	}
	model, err := tokens.Default().Model(o.model)
	if err != nil {
		return options, usagef("--model: %v", err)
	}
	estimator := tokens.Default().Estimator(model)
	options.Tokens = func(text []byte) (low, mid, high int) {
		l, m, h := estimator.Bytes(text).Bounds()
		return int(math.Round(l)), int(math.Round(m)), int(math.Round(h))
	}
	return options, nil
}

func (a *app) diffReporter(o diffOptions) (diffReporter, error) {
	switch {
	case o.json && o.junit:
		return nil, usagef("--json and --junit are two forms of one report; take one of them")
	case o.json:
		return &diffJSON{newJSONPrinter(a.Stdout)}, nil
	case o.junit:
		return &diffJUnit{out: a.Stdout}, nil
	}
	return &diffPage{app: a}, nil
}

func countFolders(args []string) (n int) {
	for _, name := range args {
		if s, err := os.Stat(name); err == nil && s.IsDir() {
			n++
		}
	}
	return n
}

// diffRun is one run of the command.
type diffRun struct {
	app     *app
	options diff.Options
	limits  []limit
	report  diffReporter
	failed  bool
}

// against compares sessions with one baseline.
func (r *diffRun) against(baseline string, others []string) error {
	if n := countOf(others, "-"); n > 1 || n > 0 && baseline == "-" {
		return usagef("only one session can be read from standard input")
	}
	return r.app.withSession(baseline, decode.Options{}, func(s *sessions.Session, l *sessions.Loaded) error {
		a := sideOfSession(s, l)
		for _, name := range others {
			err := r.app.withSession(name, decode.Options{}, func(s *sessions.Session, l *sessions.Loaded) error {
				r.compare(a, sideOfSession(s, l))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func countOf(names []string, name string) (n int) {
	for _, s := range names {
		if s == name {
			n++
		}
	}
	return n
}

func (r *diffRun) compare(a, b diff.Side) {
	d := diff.Compare(a, b, r.options)
	verdicts := judge(d, r.limits)
	for _, v := range verdicts {
		r.failed = r.failed || v.failed
	}
	r.report.compared(d, verdicts)
}

// sideOfSession makes a loaded session comparable. A probe of it in a process of its own
// belongs to its opening; it lies in the same folder.
func sideOfSession(s *sessions.Session, l *sessions.Loaded) diff.Side {
	side := diff.Side{Name: l.Name(), Session: l.Session, Body: l.Body}
	if s.Path() == "" || s.Foreign() || l.Opening().OnlyProbe {
		return side
	}
	store := sessions.Store{Dir: filepath.Dir(s.Path())}
	if id, _ := siblingIn(store, l); id != "" {
		side.Probe = loadProbe(store, id)
	}
	return side
}

// loadProbe reads a probe into memory: it is a few frames. It gives nil if it can't
// be read.
func loadProbe(store sessions.Store, id string) *diff.Side {
	info, err := store.Resolve(id)
	if err != nil {
		return nil
	}
	s, err := sessions.Open(info.Path)
	if err != nil {
		return nil
	}
	defer s.Close()
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		return nil
	}
	bodies := make([][]byte, l.Len())
	for i := range bodies {
		bodies[i] = l.Body(i)
	}
	return &diff.Side{Name: id, Session: l.Session, Body: func(i int) []byte { return bodies[i] }}
}

// folders compares the sessions of two folders.
func (r *diffRun) folders(a, b string) error {
	inA, err := recordings(a)
	if err != nil {
		return err
	}
	inB, err := recordings(b)
	if err != nil {
		return err
	}
	for _, p := range matchRecordings(inA, inB) {
		switch {
		case p.a == "" || p.b == "":
			name, onB := p.a, false
			if name == "" {
				name, onB = p.b, true
			}
			failed := slices.ContainsFunc(r.limits, func(l limit) bool { return l.what == "work" })
			r.failed = r.failed || failed
			r.report.unmatched(name, onB, failed)
		default:
			if err := r.against(p.a, []string{p.b}); err != nil {
				return fmt.Errorf("%s and %s: %w", p.a, p.b, err)
			}
		}
	}
	return nil
}

// sessionFile is a recording of a folder.
type sessionFile struct{ path, file, label string }

// recordings lists the sessions of a folder, the oldest first. A process that was
// only probed for another session is part of that one.
func recordings(folder string) ([]sessionFile, error) {
	store := sessions.Store{Dir: folder}
	infos, err := store.List()
	if err != nil {
		return nil, fmt.Errorf("reading the folder: %w", err)
	}
	times := map[string]int{}
	for i := range infos {
		times[infos[i].Label()]++
	}
	var found []sessionFile
	for i := range infos {
		if times[infos[i].Label()] > 1 && isSiblingProbe(store, infos[i].Path) {
			continue
		}
		found = append(found, sessionFile{infos[i].Path, filepath.Base(infos[i].Path), infos[i].Label()})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no recording lies in %s", folder)
	}
	slices.SortFunc(found, func(x, y sessionFile) int { return cmp.Compare(x.file, y.file) })
	return found, nil
}

func isSiblingProbe(store sessions.Store, path string) bool {
	s, err := sessions.Open(path)
	if err != nil {
		return false
	}
	defer s.Close()
	l, err := sessions.Load(s, decode.Options{})
	if err != nil || s.Foreign() || !l.Opening().OnlyProbe {
		return false
	}
	id, _ := siblingIn(store, l)
	return id != ""
}

type filePair struct{ a, b string }

// matchRecordings pairs files of the same name, then those of the same label, the
// oldest with the oldest: the names of a store begin with the time.
func matchRecordings(a, b []sessionFile) (pairs []filePair) {
	for _, key := range []func(sessionFile) string{func(r sessionFile) string { return r.file }, func(r sessionFile) string { return r.label }} {
		var more []filePair
		more, a, b = matchBy(key, a, b)
		pairs = append(pairs, more...)
	}
	for _, r := range a {
		pairs = append(pairs, filePair{a: r.path})
	}
	for _, r := range b {
		pairs = append(pairs, filePair{b: r.path})
	}
	return pairs
}

func matchBy(key func(sessionFile) string, a, b []sessionFile) (pairs []filePair, restA, restB []sessionFile) {
	waiting := map[string][]sessionFile{}
	for _, r := range b {
		waiting[key(r)] = append(waiting[key(r)], r)
	}
	taken := map[string]bool{}
	for _, r := range a {
		k := key(r)
		if k == "" || len(waiting[k]) == 0 {
			restA = append(restA, r)
			continue
		}
		pairs = append(pairs, filePair{r.path, waiting[k][0].path})
		taken[waiting[k][0].path] = true
		waiting[k] = waiting[k][1:]
	}
	for _, r := range b {
		if !taken[r.path] {
			restB = append(restB, r)
		}
	}
	return pairs, restA, restB
}

// limit is one thing that makes a comparison fail.
type limit struct {
	what    string
	percent float64 // of bytes: how much more is allowed; negative for no difference at all
}

func parseLimits(s string) (limits []limit, err error) {
	if s == "" || s == "none" {
		return nil, nil
	}
	for one := range strings.SplitSeq(s, ",") {
		what, percent, more := strings.Cut(strings.TrimSpace(one), ">")
		l := limit{what: what, percent: -1}
		if more {
			l.percent, err = strconv.ParseFloat(strings.TrimSuffix(percent, "%"), 64)
		}
		if err != nil || more && (what != "bytes" || !(l.percent >= 0)) || !slices.Contains(answers.Kinds, what) {
			return nil, usagef("--fail-on takes none or a list of %s (bytes>5%% as well), not %q", strings.Join(answers.Kinds, ", "), one)
		}
		limits = append(limits, l)
	}
	return limits, nil
}
