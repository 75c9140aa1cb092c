package cli

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/label"
	"github.com/mcptap/mcptap/sessions/redact"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/stdio"
)

// tapOptions are the flags that stand before the server's command.
type tapOptions struct {
	label string
	log   string
	grace time.Duration
}

// defaultGrace is long, since a server that was handed its last request and then
// the end of its input may rightly take a while to answer.
const defaultGrace = 30 * time.Second

func (a *app) addTap(root *cobra.Command) {
	var o tapOptions
	root.Flags().StringVar(&o.label, "label", "", "name of the session (default: guessed from the command)")
	root.Flags().StringVar(&o.log, "log", "", "file to record to, instead of one in the folder of recordings")
	root.Flags().DurationVar(&o.grace, "grace", defaultGrace, "how long a server may stay silent after its input has ended before it is told to end (0: for ever)")
	root.RunE = func(c *cobra.Command, args []string) error {
		if o.grace < 0 {
			return usagef("--grace takes a time like 30s or 2m, or 0 for ever, not %v", o.grace)
		}
		switch dash := c.ArgsLenAtDash(); {
		case dash == 0 && len(args) > 0:
			return a.tap(o, args)
		case dash == 0:
			return usagef("there is no command after --; for example: mcptap -- python server.py")
		case len(args) > 0:
			if like := root.SuggestionsFor(args[0]); len(like) > 0 {
				return usagef("unknown command %q; did you mean %s?", args[0], strings.Join(like, " or "))
			}
			return usagef("unknown command %q; to tap a server, put -- before its command: mcptap -- %s", args[0], strings.Join(args, " "))
		}
		return a.openUI("", false)
	}
}

// tap runs a server under the tap. Its exit status becomes ours.
func (a *app) tap(o tapOptions, argv []string) error {
	signals := stdio.CatchSignals()
	start := a.Now()
	name := o.label
	if name == "" {
		name = label.Guess(argv)
	}
	store := a.store()
	rec := &recording{store: store, log: o.log}
	rec.begin(label.Clean(name), start)
	journal := tap.NewWriter(a.header(rec.id, name, argv, start), a.journalOptions(rec, start))
	if rec.file != nil && o.log != "" && rec.file.Name() != o.log {
		a.say("%s exists; recording to %s", o.log, rec.file.Name())
	}
	opened, pruned := rec.file != nil, make(chan struct{}) // a file that opens later is the journal's
	go func() {
		defer close(pruned)
		if opened {
			a.prune(store)
		}
	}()
	end, err := (&stdio.Tap{
		Argv: argv, Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stderr, Signals: signals,
		Journal: journal, Grace: o.grace, Warn: func(s string) { a.say("%s", s) },
	}).Run()
	if err != nil {
		a.say("%s", err)
	}
	select { // short sessions make room too, without keeping their host waiting
	case <-pruned:
	case <-time.After(pruneTime):
	}
	a.status = end.Exit
	return nil
}

// journalOptions has a journal written to rec.
func (a *app) journalOptions(rec *recording, start time.Time) tap.WriterOptions {
	return tap.WriterOptions{
		Open:     rec.open,
		Side:     rec.side,
		DropSide: func(suffix string) { rec.file.DropSide(suffix) },
		Since:    func() time.Duration { return a.Now().Sub(start) },
		MaxBytes: a.bytesFrom("MCPTAP_MAX_SESSION", defaultMaxSession),
		Warn:     func(s string) { a.say("%s", s) },
	}
}

// pruneTime is how long the end of a session waits for room to be made.
const pruneTime = 500 * time.Millisecond

func (a *app) header(id, label string, argv []string, start time.Time) tap.Header {
	cwd, _ := os.Getwd()
	host := stdio.Host()
	return tap.Header{
		Session: id, Start: start, Transport: "stdio",
		Command: redact.Command(argv), Cwd: cwd, Env: environmentNames(os.Environ()),
		PID: os.Getpid(), Host: &host, Label: label,
		Tap: versionString(), OS: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// environmentNames are the names of the variables, sorted. Their values are
// where people keep their secrets.
func environmentNames(environ []string) []string {
	names := make([]string, 0, len(environ))
	for _, e := range environ {
		if name, _, ok := strings.Cut(e, "="); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// recording creates the journal's file where the user wants it.
type recording struct {
	store sessions.Store
	log   string
	id    string
	ready *sessions.Recording // made by begin, and not yet given
	file  *sessions.Recording
}

// begin names the recording, and makes its file if that can be done: an id that
// another session has taken is replaced by another.
func (r *recording) begin(label string, start time.Time) {
	for range 20 {
		r.id = sessions.NewID(label, start)
		file, err := r.create()
		if !errors.Is(err, fs.ErrExist) {
			r.ready = file
			return
		}
	}
}

func (r *recording) create() (*sessions.Recording, error) {
	if r.log != "" {
		return sessions.CreateFile(r.log)
	}
	return r.store.Create(r.id)
}

func (r *recording) open() (tap.File, error) {
	file, err := r.ready, error(nil)
	if r.ready = nil; file == nil {
		file, err = r.create()
	}
	if err != nil {
		return nil, err
	}
	r.file = file
	return file, nil
}

func (r *recording) side(suffix string) (tap.File, error) {
	if r.file == nil {
		return nil, errors.New("there is no recording")
	}
	return r.file.Side(suffix)
}

const (
	defaultMaxStore   = 10 << 30
	defaultMaxSession = 2 << 30
)

// prune makes room in the store. It runs beside the session, whose frames must
// not wait for it.
func (a *app) prune(store sessions.Store) {
	if err := store.Prune(a.bytesFrom("MCPTAP_MAX_STORE", defaultMaxStore), a.Now()); err != nil && !errors.Is(err, os.ErrNotExist) {
		a.say("making room in %s: %v", store.Dir, err)
	}
}

// bytesFrom reads a size from the environment; a size that can't be read is said
// and not used.
func (a *app) bytesFrom(name string, otherwise int64) int64 {
	s := a.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 {
		a.say("%s=%s is not a size like 500MB or 10GiB; using %s", name, s, humanize.IBytes(uint64(otherwise)))
		return otherwise
	}
	return int64(n)
}
