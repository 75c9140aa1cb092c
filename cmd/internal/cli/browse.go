package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions/samples"
	"github.com/mcptap/mcptap/ui"
)

func (a *app) browse() *cobra.Command {
	var plain, sample bool
	c := &cobra.Command{
		Use:   "browse [SESSION]",
		Short: "look through recordings on the terminal, live ones too",
		Long: `browse opens the list of recordings, or one of them: its calls, what is in each
frame, and when what happened. Live sessions are followed. 'mcptap' alone does the
same. Where there is no terminal, it prints the list, or the session's calls.

With --plain it asks and prints line by line in sentences, without a screen, colours or
drawings, for screen readers and for terminals that can't draw. The keys are in 'mcptap help
keys', and on the screen under ?.

With --samples it shows recordings that mcptap brings with it, instead of yours:
both eras, stdio and HTTP, errors of every kind, a server with bad manners. They lie
in a folder of their own, which is removed at the end.

` + sessionNames,
		Example: `  mcptap browse
  mcptap browse last
  mcptap browse --samples
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
			if sample {
				return a.withSamples(func() error { return a.openUI(name, plain) })
			}
			return a.openUI(name, plain)
		},
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().BoolVar(&plain, "plain", false, "line by line, for screen readers")
	c.Flags().BoolVar(&sample, "samples", false, "look through sample recordings instead of yours")
	return c
}

// withSamples does something with the samples as the folder of recordings.
func (a *app) withSamples(do func() error) (err error) {
	scratch, err := os.MkdirTemp("", "mcptap-samples-")
	if err != nil {
		return fmt.Errorf("a place for the samples: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(scratch); err == nil && gone != nil {
			err = fmt.Errorf("removing the samples: %w", gone)
		}
	}()
	store, err := samples.Store(filepath.Join(scratch, "samples"))
	if err != nil {
		return err
	}
	defer func(dir string) { a.dir = dir }(a.dir)
	a.dir = store.Dir
	return do()
}

// hasScreen reports whether there is a terminal that screens can be drawn on.
func (a *app) hasScreen() bool {
	return isTerminal(a.Stdin) && isTerminal(a.Stdout) && a.Getenv("TERM") != "dumb" && a.Getenv("TERM") != ""
}

// garbage is how much of it there may be, in percent of what lives: the index of a long
// session lives as long as its screen, and has no pointers that a collection would follow.
const garbage = 15

// home is the user's home folder; "" if the environment does not tell.
func (a *app) home() string {
	if runtime.GOOS == "windows" {
		return a.Getenv("USERPROFILE")
	}
	return a.Getenv("HOME")
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
	o := ui.Options{Store: a.store(), Now: a.Now, Home: a.home(), Since: a.since, Sibling: a.sibling, Together: a.together, Side: sideOfSession, Filters: filtersTopic()}
	if name != "" {
		i, err := a.store().Resolve(name)
		if err != nil {
			return err
		}
		o.Open = i.Path
	}
	if a.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	err := ui.Run(o, ui.Terminal{In: a.Stdin, Out: a.Stdout, Environ: os.Environ(), Clipboard: systemClipboard(a.Getenv)})
	var sig ui.SignalError
	switch {
	case errors.As(err, &sig):
		if n, ok := sig.Signal.(syscall.Signal); ok {
			a.status = 128 + int(n)
		}
		return nil
	case err != nil:
		return fmt.Errorf("the screens: %w", err)
	}
	return nil
}

// filtersTopic is what the screens show of the language of filters.
func filtersTopic() string {
	b, err := topicFiles.ReadFile("topics/filters.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
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
	{"TMUX", []string{"tmux", "load-buffer", "-w", "-"}}, // it passes sequences on only if told to
}

// clipboardTime is how long a program may take to put text on a clipboard.
const clipboardTime = 5 * time.Second

// systemClipboard finds the first that is there.
func systemClipboard(getenv func(string) string) ui.Clipboard {
	for _, c := range clipboards {
		if c.needs != "" && getenv(c.needs) == "" {
			continue
		}
		path, err := exec.LookPath(c.command[0])
		if err != nil {
			continue
		}
		return ui.Clipboard{Name: c.command[0], Put: func(text string) error {
			ctx, cancel := context.WithTimeout(context.Background(), clipboardTime)
			defer cancel()
			cmd := exec.CommandContext(ctx, path, c.command[1:]...)
			cmd.Stdin = strings.NewReader(text)
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", c.command[0], err)
			}
			return nil
		}}
	}
	return ui.Clipboard{}
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
		keys := act.Binding().Help()
		where := act.Where()
		if where != "" {
			where = " (" + where + ")"
		}
		fmt.Fprintf(&b, "    %-16s %-22s %s%s\n", keys.Key, act.Name, keys.Desc, where)
	}
	return &cobra.Command{Use: "keys", Short: "the keys of the screens", Long: strings.TrimSpace(b.String())}
}
