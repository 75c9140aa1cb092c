package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/tap"
)

//go:embed topics/*.txt
var topicFiles embed.FS

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
