package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/tap"
)

//go:embed topics/*.txt
var topicFiles embed.FS

// helpCommand is cobra's, but for a topic that does not exist: that is a mistake.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "help on a command or a topic",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command and no help topic %q; 'mcptap help' lists them", strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, c := range root.Commands() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// topics are the pages of 'mcptap help TOPIC': a file each, whose first line is
// the summary.
func topics() []*cobra.Command {
	files, err := topicFiles.ReadDir("topics")
	if err != nil {
		panic(err) // the files are part of the program
	}
	commands := make([]*cobra.Command, 0, len(files))
	for _, f := range files {
		text, err := topicFiles.ReadFile("topics/" + f.Name())
		if err != nil {
			panic(err)
		}
		summary, body, _ := strings.Cut(string(text), "\n")
		commands = append(commands, &cobra.Command{
			Use:   strings.TrimSuffix(f.Name(), ".txt"),
			Short: summary,
			Long:  strings.TrimSpace(strings.ReplaceAll(body, "{schema}", tap.Schema)),
		})
	}
	return commands
}
