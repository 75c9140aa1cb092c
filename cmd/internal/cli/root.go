package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mcptap [--label L] [--log FILE] -- COMMAND [ARGUMENTS]",
		Short: "a wire tap for the Model Context Protocol",
		Long: `mcptap sits between an MCP host and a server and records every frame that
crosses, byte for byte. Put it in front of the server's command, in the host's
configuration or in a shell:

    mcptap -- python server.py

The host notices nothing. Afterwards, or meanwhile:

    mcptap                    browse what was recorded, and what is live
    mcptap ls                 the same as a list
    mcptap show last          every call of the newest session, and how it ended
    mcptap check last         what in it breaks the specification
    mcptap request last       what the model reads of it
    mcptap rent last          what that costs, tool by tool
    mcptap diff A B           what differs between two sessions
    mcptap follow             every frame as it crosses

Without a command, mcptap opens the recordings on the terminal ('mcptap help browse');
where there is none, it lists them.`,
		Example: `  mcptap -- npx -y @modelcontextprotocol/server-everything
  mcptap --label tickets --log tickets.jsonl -- python server.py
  mcptap demo`,
		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       cobra.ArbitraryArgs,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%v; '%s --help' shows what there is", err, c.CommandPath())
	})
	root.PersistentFlags().StringVar(&a.dir, "dir", "", "folder of recordings (default: see 'mcptap help environment')")
	a.addTap(root)
	root.AddCommand(
		a.http(),
		a.browse(),
		a.ls(),
		a.show(),
		a.follow(),
		a.stats(),
		a.check(),
		a.diff(),
		a.request(),
		a.rent(),
		a.search(),
		a.save(),
		a.keep(),
		a.rm(),
		a.path(),
		a.demo(),
		a.version(),
		a.man(),
		a.keys(),
	)
	addTopics(root)
	root.SetHelpCommand(helpCommand(root))
	root.Version = versionString()
	root.SetVersionTemplate("mcptap {{.Version}}\n")
	return root
}

// store is the folder of recordings that the user means.
func (a *app) store() sessions.Store {
	if a.dir != "" {
		return sessions.Store{Dir: a.dir}
	}
	return sessions.Store{Dir: sessions.DefaultDir(a.Getenv)}
}

// exactly is cobra.ExactArgs with an error of ours.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s takes %s; '%s --help' has examples", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

func atLeastOneSession() cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s takes at least one SESSION; '%s --help' has examples", c.CommandPath(), c.CommandPath())
		}
		return nil
	}
}
