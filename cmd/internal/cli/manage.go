package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions"
)

func (a *app) keep() *cobra.Command {
	var off bool
	c := &cobra.Command{
		Use:   "keep SESSION...",
		Short: "protect sessions from being removed to make room",
		Long: `keep marks sessions so that they stay when older ones are removed to make room.
The mark lies beside the recording, never in it.

` + storedNames,
		Example: `  mcptap keep last
  mcptap keep --off tickets`,
		Args: atLeastOneSession(),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.each(args, func(i sessions.Info) error { return a.store().Keep(i, !off) })
		},
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().BoolVar(&off, "off", false, "take the mark away")
	return c
}

func (a *app) rm() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "rm SESSION...",
		Short: "delete sessions",
		Long: `rm deletes recordings with all their files. A live session is refused, and so is
a kept one without --force.

` + storedNames,
		Example: `  mcptap rm 20261130T131502Z-tickets-9f3a
  mcptap ls --json | jq -r 'select(.label == "test").id' | xargs mcptap rm`,
		Args: atLeastOneSession(),
		RunE: func(_ *cobra.Command, args []string) error {
			store := a.store()
			return a.each(args, func(i sessions.Info) error {
				if i.Kept && !force {
					return errors.New("it is kept; 'mcptap keep --off' or --force lets it go")
				}
				err := store.Remove(i)
				if errors.Is(err, sessions.ErrLive) {
					return errors.New("it is live; end its server first")
				}
				return err
			})
		},
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().BoolVar(&force, "force", false, "kept sessions too")
	return c
}

func (a *app) path() *cobra.Command {
	return &cobra.Command{
		Use:   "path SESSION...",
		Short: "print where the files of sessions lie",
		Long:  "path prints the path of each session's journal.\n\n" + storedNames,
		Example: `  jq .msg "$(mcptap path last)"
  mcptap path tickets`,
		Args: atLeastOneSession(),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.each(args, func(i sessions.Info) error {
				_, err := fmt.Fprintln(a.Stdout, i.Path)
				return err
			})
		},
		ValidArgsFunction: a.completeSession,
	}
}

// each does something with every named session, once. All names are resolved
// before the first is touched, so that a wrong one changes nothing; a session that
// refuses does not keep others from their turn.
func (a *app) each(names []string, do func(sessions.Info) error) error {
	var infos []sessions.Info
	for _, name := range names {
		i, err := a.store().Resolve(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(infos, func(other sessions.Info) bool { return other.Path == i.Path }) {
			infos = append(infos, i)
		}
	}
	var failed []error
	for _, i := range infos {
		if err := do(i); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", i.ID, err))
		}
	}
	return errors.Join(failed...)
}
