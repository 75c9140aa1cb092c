package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manOfTopic writes the page of a help topic: keys, filters, format. The library writes
// those of commands only, and takes their text for Markdown; topics are laid out already.
func manOfTopic(c *cobra.Command, header doc.GenManHeader, folder string) error {
	if !c.IsAdditionalHelpTopicCommand() {
		return nil
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	page := fmt.Sprintf(".TH %q %q %q %q %q\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s\n.fi\n", strings.ToUpper(name), header.Section,
		header.Date.Format("Jan 2006"), header.Source, header.Manual, roff(name), roff(c.Short), roff(strings.TrimSpace(c.Long)))
	return os.WriteFile(filepath.Join(folder, name+".1"), []byte(page), 0o644)
}

// roff is a text in which nothing is a request to the formatter.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

func (a *app) man() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "write the manual pages into a folder",
		Example: "  mcptap man ~/.local/share/man/man1",
		Args:    exactly(1, "one FOLDER"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("creating the folder for manual pages: %w", err)
			}
			root := c.Root()
			for _, topic := range root.Commands() {
				fillHosts(topic)
			}
			root.DisableAutoGenTag = true
			date := time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)
			header := doc.GenManHeader{Section: "1", Source: "mcptap", Manual: "mcptap", Date: &date}
			if err := doc.GenManTree(root, &header, args[0]); err != nil {
				return err
			}
			for _, topic := range root.Commands() {
				if err := manOfTopic(topic, header, args[0]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
