package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

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
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "mcptap", Manual: "mcptap", Date: &date}, args[0])
		},
	}
}
