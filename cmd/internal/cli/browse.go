package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/ui"
)

func (a *app) browse() *cobra.Command {
	var plain bool
	c := &cobra.Command{
		Use:   "browse [SESSION]",
		Short: "look through recordings on the terminal, live ones too",
		Long: `browse opens the list of recordings, or one of them: its calls, what is in each
frame, and when what happened. Live sessions are followed. 'mcptap' alone does the
same. Where there is no terminal, it prints the list, or the session's calls.

With --plain it asks and prints line by line, without a screen, colours or drawings,
for screen readers and for terminals that can't draw. The keys are in 'mcptap help
keys', and on the screen under ?.

` + sessionNames,
		Example: `  mcptap browse
  mcptap browse last
  mcptap browse --plain`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("browse takes one SESSION at most")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return a.openUI(name, plain)
		},
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().BoolVar(&plain, "plain", false, "line by line, for screen readers")
	return c
}

// hasScreen reports whether there is a terminal that screens can be drawn on.
func (a *app) hasScreen() bool {
	return isTerminal(a.Stdin) && isTerminal(a.Stdout) && a.Getenv("TERM") != "dumb" && a.Getenv("TERM") != ""
}

// openUI shows the screens, or what stands for them without a terminal.
func (a *app) openUI(name string, plain bool) error {
	switch {
	case plain:
		return a.plain(name)
	case !a.hasScreen() && name == "":
		return a.list(false)
	case !a.hasScreen() || name == "-":
		return a.runShow(name, showOptions{})
	}
	o := ui.Options{Store: a.store(), Now: a.Now, Since: a.since, Sibling: a.sibling, Together: a.together, Side: sideOfSession}
	if name != "" {
		i, err := a.store().Resolve(name)
		if err != nil {
			return err
		}
		o.Open = i.Path
	}
	err := ui.Run(o, ui.Terminal{In: a.Stdin, Out: a.Stdout, Environ: os.Environ(), Clipboard: systemClipboard(a.Getenv)})
	if err != nil {
		return fmt.Errorf("the screens: %w", err)
	}
	return nil
}

// clipboards are programs that put their input on a desktop's clipboard, and the
// variable that says that there is one.
var clipboards = []struct {
	needs   string
	command []string
}{
	{"WAYLAND_DISPLAY", []string{"wl-copy"}},
	{"DISPLAY", []string{"xclip", "-selection", "clipboard"}},
	{"DISPLAY", []string{"xsel", "--clipboard", "--input"}},
	{"", []string{"pbcopy"}},
	{"", []string{"clip.exe"}},
}

// systemClipboard finds the first that is there; nil if none is.
func systemClipboard(getenv func(string) string) func(string) error {
	for _, c := range clipboards {
		if c.needs != "" && getenv(c.needs) == "" {
			continue
		}
		path, err := exec.LookPath(c.command[0])
		if err != nil {
			continue
		}
		return func(text string) error {
			cmd := exec.Command(path, c.command[1:]...)
			cmd.Stdin = strings.NewReader(text)
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", c.command[0], err)
			}
			return nil
		}
	}
	return nil
}

// keys is the help topic on keys, out of the table that the screens go by.
func (a *app) keys() *cobra.Command {
	var b strings.Builder
	b.WriteString("In the screens of 'mcptap browse'. The mouse works too: rows, the wheel, the line\nbetween panes, the line of time, the keys at the bottom.\n")
	group := ""
	for _, act := range ui.Actions() {
		if act.Group != group {
			group = act.Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		names := make([]string, len(act.Keys))
		for i, k := range act.Keys {
			names[i] = ui.KeyName(k)
		}
		fmt.Fprintf(&b, "    %-16s %-20s %s\n", strings.Join(names, " "), act.Name, act.Help)
	}
	return &cobra.Command{Use: "keys", Short: "the keys of the screens", Long: strings.TrimSpace(b.String())}
}
