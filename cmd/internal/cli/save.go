package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/part"
)

// saveOptions are the flags of save.
type saveOptions struct {
	filter string
	output string
	frames bool
	redact bool
}

func (a *app) save() *cobra.Command {
	var o saveOptions
	c := &cobra.Command{
		Use:   "save SESSION --output FILE",
		Short: "save a part of a session as a recording of its own",
		Long: `save writes the calls that a filter selects, with all their frames, and the selected
frames that belong to no call, to a new file: a recording like any other. Frames keep
their bytes and times and are numbered anew; where frames were left out stands how
many. Marks and notes go along. A file that exists is never overwritten.

With --redact secrets in the frames are replaced by ***, as far as their names or
their shape give them away ('mcptap help privacy'), and the header names neither the
folder nor the processes of this machine. Lengths are those of the masked frames then,
and the header says so. Look through the file before you give it to anybody.

` + sessionNames,
		Example: `  mcptap save last --filter 'tool:add_* or method:initialize' -o part.jsonl
  mcptap save last --redact -o to-share.jsonl`,
		Args:              exactly(1, "one SESSION"),
		RunE:              func(_ *cobra.Command, args []string) error { return a.runSave(args[0], o) },
		ValidArgsFunction: a.completeSession,
	}
	a.addFilter(c, &o.filter)
	c.Flags().StringVarP(&o.output, "output", "o", "", "the new file")
	c.Flags().BoolVar(&o.frames, "frames", false, "choose frame by frame, not whole calls")
	c.Flags().BoolVar(&o.redact, "redact", false, "mask secrets in the frames")
	return c
}

func (a *app) runSave(name string, o saveOptions) error {
	if o.output == "" {
		return usagef("save needs a new file to write to: --output FILE")
	}
	f, err := parseFilter(o.filter)
	if err != nil {
		return err
	}
	return a.withSession(name, decode.Options{}, func(_ *sessions.Session, l *sessions.Loaded) error {
		return a.saveSelected(l, f, o)
	})
}

func (a *app) saveSelected(l *sessions.Loaded, f *filter.Filter, o saveOptions) error {
	sel, err := a.choose(f, l)
	if err != nil {
		return err
	}
	n, err := part.Save(l, f, sel.match, sel.marks, o.output, part.Options{Frames: o.frames, Redact: o.redact})
	if err != nil {
		return err
	}
	a.say("saved %d of %d frames to %s", n, l.Len(), o.output)
	return nil
}
