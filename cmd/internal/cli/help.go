package cli

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/tap"
)

//go:embed topics/*.txt
var topicFiles embed.FS

// helpCommand is cobra's, but for a topic that does not exist, which is a mistake,
// and for a command that has a page of its own, which is shown.
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
			if text, ok := pageOf(c); ok {
				fmt.Fprintf(c.OutOrStdout(), "%s\n\n%s", text, c.UsageString())
				return nil
			}
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

// A page is a file of topics, whose first line is the summary.
type page struct{ name, summary, text string }

func pages() []page {
	files, err := topicFiles.ReadDir("topics")
	if err != nil {
		panic(err) // the files are part of the program
	}
	all := make([]page, 0, len(files))
	for _, f := range files {
		b, err := topicFiles.ReadFile("topics/" + f.Name())
		if err != nil {
			panic(err)
		}
		summary, body, _ := strings.Cut(string(b), "\n")
		text := strings.TrimRight(strings.ReplaceAll(body, "{schema}", tap.Schema), "\n")
		all = append(all, page{strings.TrimSuffix(f.Name(), ".txt"), summary, text})
	}
	return all
}

// addTopics adds the pages of 'mcptap help TOPIC'. A page that is called like a
// command is shown by its help (helpCommand).
func addTopics(root *cobra.Command) {
	taken := map[string]bool{}
	for _, c := range root.Commands() {
		taken[c.Name()] = true
	}
	for _, p := range pages() {
		if !taken[p.name] {
			topic := &cobra.Command{Use: p.name, Short: p.summary, Long: strings.TrimSpace(p.text)}
			topic.SetHelpFunc(func(c *cobra.Command, args []string) {
				fillHosts(c)
				root.HelpFunc()(c, args)
			})
			root.AddCommand(topic)
		}
	}
}

// pageOf is the page that is called like the command, if there is one.
func pageOf(c *cobra.Command) (string, bool) {
	for _, p := range pages() {
		if p.name == c.Name() && c.Runnable() {
			return p.text, true
		}
	}
	return "", false
}
