package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions"
)

// pollEvery is how often a growing journal is looked at. A person does not see
// the difference to a notification, and it works on every file system.
const pollEvery = 100 * time.Millisecond

func (a *app) pause() { time.Sleep(pollEvery) }

func (a *app) follow() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "follow [SESSION]",
		Short: "print a session's frames as they cross",
		Long: `follow prints a session like show does, and goes on with every frame as it
crosses, until the session ends. Without SESSION it takes the newest live session,
or waits for one to begin.

` + sessionNames,
		Example: `  mcptap follow
  mcptap follow tickets --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("follow takes one SESSION at most")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.openLive(args)
			if err != nil {
				return err
			}
			defer s.Close()
			return a.read(s, a.printer(asJSON), true)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line ('mcptap help json')")
	c.ValidArgsFunction = a.completeSession
	return c
}

func (a *app) openLive(args []string) (*sessions.Session, error) {
	if len(args) == 1 {
		return a.open(args[0])
	}
	for said := false; ; said = true {
		i, err := a.newestLive()
		if err == nil {
			return sessions.Open(i.Path)
		}
		if !errors.Is(err, sessions.ErrNoSession) {
			return nil, err
		}
		if !said {
			a.say("no session is live; waiting for one to begin in %s", a.store().Dir)
		}
		a.pause()
	}
}

func (a *app) newestLive() (sessions.Info, error) {
	infos, err := a.store().List()
	if err != nil {
		return sessions.Info{}, err
	}
	for i := range infos {
		if infos[i].State == sessions.Live {
			return infos[i], nil
		}
	}
	return sessions.Info{}, sessions.ErrNoSession
}
