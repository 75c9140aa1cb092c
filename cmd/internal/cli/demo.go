package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/cmd/internal/demo"
)

// demoTime bounds one session of the demo.
const demoTime = 30 * time.Second

func (a *app) demo() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "record a built-in server and client, both eras, and show the recordings",
		Long: `demo starts a small ticket server behind the tap and drives it with a small
client, once in the legacy way (initialize) and once in the stateless way of
2026-07-28 (server/discover): calls that succeed, one that fails as a tool, one
that fails in the protocol, one whose failure hides in a success. Then it opens what
was recorded, or prints it where there is no terminal. Nothing but this program is
needed.`,
		Example: "  mcptap demo",
		Args:    exactly(0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return a.runDemo(c.Context()) },
	}
	c.AddCommand(&cobra.Command{
		Use:    "serve",
		Short:  "the demo's server, on standard input and output",
		Hidden: true,
		Args:   exactly(0, "no arguments"),
		RunE:   func(*cobra.Command, []string) error { return demo.Serve(a.Stdin, a.Stdout, a.Stderr) },
	})
	return c
}

var outcomeStyles = map[string]style{"tool error": red, "protocol error": red, "hidden error": yellow}

func (a *app) runDemo(ctx context.Context) error {
	screen := a.hasScreen()
	for _, era := range []demo.Era{demo.Legacy, demo.Modern} {
		if screen {
			a.say("recording a %s session of a small ticket server", era)
		}
		if err := a.demoSession(ctx, era, !screen); err != nil {
			return fmt.Errorf("demo, %s: %w", era, err)
		}
	}
	if screen {
		return a.openUI("", false)
	}
	_, err := fmt.Fprintf(a.Stdout, `
Both sessions lie in %s.
Go on with

    mcptap ls                         what was recorded
    mcptap show demo-modern --frames  every frame of one session
    mcptap show demo-legacy --raw c2s the bytes of one direction, exactly
    mcptap -- YOUR SERVER COMMAND     the same for a server of yours
`, a.store().Dir)
	return err
}

// demoSession records one session, and prints it if it is to.
func (a *app) demoSession(ctx context.Context, era demo.Era, show bool) error {
	ctx, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	steps, err := a.recordDemo(ctx, era)
	if err != nil || !show {
		return err
	}
	if _, err := fmt.Fprintf(a.Stdout, "\n%s session, as the client saw it:\n\n", era); err != nil {
		return err
	}
	t := a.table(column{name: "outcome", width: 14}, column{name: "method", width: 24, min: 14}, column{name: "name", width: 16, min: 12}, column{name: "what came back"})
	for _, s := range steps {
		t.styled(outcomeStyles[s.Outcome], s.Outcome, s.Method, s.Name, s.Gist)
	}
	if err := t.flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprint(a.Stdout, "\nand as mcptap recorded it:\n\n"); err != nil {
		return err
	}
	return a.showCalls("demo-"+string(era), nil, false, false)
}

// recordDemo drives the built-in server through a real tap: this program once
// more, as a host would start it.
func (a *app) recordDemo(ctx context.Context, era demo.Era) ([]demo.Step, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	tap := exec.CommandContext(ctx, self, "--dir", a.store().Dir, "--label", "demo-"+string(era), "--", self, "demo", "serve")
	var stderr bytes.Buffer // it would stand among the output; it is worth reading only if something fails
	tap.Stderr = &stderr
	in, err := tap.StdoutPipe()
	if err != nil {
		return nil, err
	}
	out, err := tap.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := tap.Start(); err != nil {
		return nil, err
	}
	steps, err := demo.Drive(ctx, era, in, out)
	if waitErr := tap.Wait(); err == nil {
		err = waitErr
	}
	if err == nil && bytes.Contains(stderr.Bytes(), []byte("mcptap: not recording")) {
		err = errors.New("the session could not be recorded")
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	return steps, nil
}
