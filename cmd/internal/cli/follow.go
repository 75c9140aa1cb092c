package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
)

// pollEvery is how often a growing journal is looked at. A person does not see
// the difference to a notification, and it works on every file system.
const pollEvery = 100 * time.Millisecond

func (a *app) pause() { time.Sleep(pollEvery) }

// followOptions are the flags of follow.
type followOptions struct {
	json, once bool
	filter     string
}

func (a *app) follow() *cobra.Command {
	var o followOptions
	c := &cobra.Command{
		Use:   "follow [SESSION]",
		Short: "print frames as they cross",
		Long: `follow prints every frame of a session, like show --frames, and goes on as they
cross, until the session ends.

Without SESSION it follows all sessions that are live, and each new one from its
beginning: those of all clients of an HTTP tap, say. It goes on until you interrupt it,
and waits while none is live; with --once it ends when the last of them has ended, and
waits for the first if there is none. As soon as there are several, each row names its
session: label, the end of the id, and the client's process behind an HTTP tap. Piped,
that is one more field at the end; with --json it is always there.

With --filter it prints what the filter selects; a frame is judged when it comes, so
that a request has no outcome yet.

` + sessionNames,
		Example: `  mcptap follow
  mcptap follow --filter 'kind:error or status:failed'
  mcptap follow tickets --json
  mcptap follow --once > frames`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("follow takes one SESSION at most")
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return a.runFollow(args, &o) },
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().BoolVar(&o.json, "json", false, "one JSON object a line ('mcptap help json')")
	c.Flags().BoolVar(&o.once, "once", false, "without SESSION: end as soon as none of them is live any more")
	a.addFilter(c, &o.filter)
	return c
}

func (a *app) runFollow(args []string, o *followOptions) error {
	f, err := parseFilter(o.filter)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		w := &following{app: a, p: a.printer(o.json), once: o.once, known: map[string]bool{}}
		if o.filter != "" {
			w.filter = f
		}
		return w.run()
	}
	s, err := a.open(args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	if o.filter != "" {
		return a.readSome(s, f, a.printer(o.json), true)
	}
	return a.read(s, a.printer(o.json), true)
}

// following prints all live sessions of the store.
type following struct {
	*app
	p      printer
	filter *filter.Filter // nil if all is printed
	once   bool

	known map[string]bool // ids that are followed, or need not be looked at again
	open  []*followed
	begun int // how many were followed
}

// followed is one of them.
type followed struct {
	watched
	session *sessions.Session
	from    origin
}

func (w *following) run() error {
	defer func() {
		for _, f := range w.open {
			f.session.Close()
		}
	}()
	waiting := false
	for first := true; ; first = false {
		if err := w.look(first); err != nil {
			return err
		}
		if err := w.print(); err != nil {
			return err
		}
		switch {
		case len(w.open) > 0:
			waiting = false
		case w.once && w.begun > 0:
			return nil
		case !waiting:
			waiting = true
			w.say("no session is live; waiting for one to begin in %s", w.store().Dir)
		}
		w.pause()
	}
}

// look finds the sessions that have begun: at first those that are live, then also
// those that have ended already, between two looks.
func (w *following) look(first bool) error {
	infos, err := w.store().New(func(id string) bool { return w.known[id] })
	if err != nil {
		return fmt.Errorf("reading the folder of recordings: %w", err)
	}
	for _, i := range slices.Backward(infos) { // the oldest first
		live := i.State == sessions.Live
		if i.Header == nil && live {
			continue // it is just beginning
		}
		w.known[i.ID] = true
		if i.Header == nil || first && !live {
			continue
		}
		if err := w.begin(&i); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *following) begin(i *sessions.Info) error {
	s, err := sessions.Open(i.Path)
	if err != nil {
		return err
	}
	f := &followed{session: s, from: origin{Session: i.ID, Label: i.Label(), Client: clientProcess(i)}}
	if w.filter == nil {
		f.watched = &tail{app: w.app, s: s, sel: w.marksOnly(s), follow: true}
	} else if f.watched, err = w.sift(s, w.filter, true); err != nil {
		s.Close()
		return err
	}
	w.open = append(w.open, f)
	w.begun++
	return nil
}

// print prints what came, and leaves the sessions that have ended.
func (w *following) print() error {
	var open []*followed
	for n, f := range w.open {
		f.from.several = w.begun > 1
		w.p.of(f.from)
		more, err := f.some(w.p)
		if err == nil {
			err = w.p.flush()
		}
		if err != nil {
			w.open = append(open, w.open[n:]...)
			return err
		}
		if more {
			open = append(open, f)
			continue
		}
		if w.begun > 1 {
			w.say("session %s has ended", f.from.word())
		}
		f.sayEnd()
		f.session.Close()
	}
	w.open = open
	return nil
}
