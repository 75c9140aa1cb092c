package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/tap"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version, and of when its facts are",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Stdout, "mcptap %s (%s/%s, %s, journal format %d)\n%s\n", versionString(), runtime.GOOS, runtime.GOARCH, runtime.Version(), tap.Version, factDates())
			return err
		},
	}
}

// factDates says of when the facts are that change from month to month.
func factDates() string {
	return fmt.Sprintf("facts as of: hosts %s, models and prices %s, signs of turns %s, signs of hidden errors %s, shapes of secrets %s",
		claude.Builtin().AsOf, tokens.Default().AsOf, replay.ThresholdsAsOf(), decode.HiddenWordsAsOf(), rules.WordsAsOf())
}

// versionString is the module's version as Go recorded it in the binary.
func versionString() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}
