package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
)

// pollEvery is how often a growing journal is looked at. A person does not see
// the difference to a notification, and it works on every file system.
const pollEvery = 100 * time.Millisecond

func (a *app) pause() { time.Sleep(pollEvery) }

func (a *app) follow() *cobra.Command {
	var asJSON bool
	var expr string
	c := &cobra.Command{
		Use:   "follow [SESSION]",
		Short: "print a session's frames as they cross",
		Long: `follow prints every frame of a session, like show --frames, and goes on as they
cross, until the session ends. Without SESSION it takes the newest live session,
or waits for one to begin. With --filter it prints what the filter selects; a frame is
judged when it comes, so that a request has no outcome yet.

` + sessionNames,
		Example: `  mcptap follow
  mcptap follow --filter 'kind:error or status:failed'
  mcptap follow tickets --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("follow takes one SESSION at most")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := parseFilter(expr)
			if err != nil {
				return err
			}
			s, err := a.openLive(args)
			if err != nil {
				return err
			}
			defer s.Close()
			if expr == "" {
				return a.read(s, a.printer(asJSON), true)
			}
			return a.withOpened(s, decode.Options{NoListings: true}, func(s *sessions.Session, l *sessions.Loaded) error {
				return a.showSelected(s, l, f, a.printer(asJSON), true)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line ('mcptap help json')")
	a.addFilter(c, &expr)
	c.ValidArgsFunction = a.completeSession
	return c
}

func (a *app) openLive(args []string) (*sessions.Session, error) {
	if len(args) == 1 {
		return a.open(args[0])
	}
	var before []sessions.Info
	for n := 0; ; n++ {
		infos, err := a.store().List()
		if err != nil {
			return nil, fmt.Errorf("reading the folder of recordings: %w", err)
		}
		if i := newest(infos, before, n > 0); i != nil {
			return sessions.Open(i.Path)
		}
		if n == 0 {
			before = infos
			a.say("no session is live; waiting for one to begin in %s", a.store().Dir)
		}
		a.pause()
	}
}

// newest is the newest live session, or, while waiting, the newest that was not
// there before: a short one may have ended between two looks.
func newest(infos, before []sessions.Info, waiting bool) *sessions.Info {
	for i := range infos {
		isNew := waiting && !slices.ContainsFunc(before, func(b sessions.Info) bool { return b.ID == infos[i].ID })
		if infos[i].State == sessions.Live || isNew && infos[i].Header != nil {
			return &infos[i]
		}
	}
	return nil
}
