package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/tap"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Stdout, "mcptap %s (%s/%s, %s, journal format %d)\n", versionString(), runtime.GOOS, runtime.GOARCH, runtime.Version(), tap.Version)
			return err
		},
	}
}

// versionString is the module's version as Go recorded it in the binary.
func versionString() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}
