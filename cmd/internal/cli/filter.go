package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/safetext"
)

// addFilter gives a command its --filter.
func (a *app) addFilter(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "filter", "", "only what this selects, like 'tool:add_* status:failed' ('mcptap help filters')")
	_ = c.RegisterFlagCompletionFunc("filter", a.completeFilter)
}

// parseFilter reads a filter. A wrong one is a usage error that shows the place.
func parseFilter(text string) (*filter.Filter, error) {
	f, err := filter.Parse(text)
	var wrong *filter.Error
	if errors.As(err, &wrong) {
		before := ansi.StringWidth(safetext.Line(text[:wrong.From]))
		return nil, usagef("%w\n  %s\n  %s^", err, safetext.Line(text), strings.Repeat(" ", before))
	}
	return f, err
}

// selection is the calls and frames of a session that a filter selects; one without
// a filter selects all.
type selection struct {
	l     *sessions.Loaded
	match *filter.Matcher
	marks *marks.Marks
}

// choose joins a filter to a session and to the marks that lie beside it.
func (a *app) choose(f *filter.Filter, l *sessions.Loaded) (*selection, error) {
	s := &selection{l: l, marks: a.loadMarks(l.Path())}
	src := filter.Source{Session: l.Session, Body: l.Bodies(), Label: l.Name(), TurnOf: replay.TurnOf(&replay.Session{Session: l.Session, Body: l.Body, Name: l.Name()})}
	if l.Path() != "" {
		src.MarkOf = s.marks.Get
	}
	var err error
	s.match, err = f.On(src)
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// marksOnly is for whatever prints frames as they are read: no filter, just marks.
func (a *app) marksOnly(s *sessions.Session) *selection {
	return &selection{marks: a.loadMarks(s.Path())}
}

// loadMarks reads the marks of the recording at path. Those that can't be read are
// said, and are no reason not to show the recording.
func (a *app) loadMarks(path string) *marks.Marks {
	if path == "" {
		return new(marks.Marks)
	}
	m, err := marks.Load(marks.Path(path))
	if err != nil {
		a.say("%v", err)
		return new(marks.Marks)
	}
	return m
}

// row reports whether a call's row is shown.
func (s *selection) row(call int) bool { return s.match.Call(call) }

// noteOn is the mark of a frame for people, with its note; "" if it has none.
func (s *selection) noteOn(n uint64) string {
	note, marked := s.marks.Get(n)
	if !marked {
		return ""
	}
	return strings.TrimSpace(markSign + " " + note)
}

const markSign = "★"

// notesOn are the marks of the frames of an operation.
func (s *selection) notesOn(o *decode.Operation) string {
	if s.marks.Len() == 0 {
		return ""
	}
	var notes []string
	for _, n := range s.numbers(o) {
		if note := s.noteOn(n); note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, " ")
}

// numbers are those of an operation's frames, in order.
func (s *selection) numbers(o *decode.Operation) (all []uint64) {
	for _, leg := range o.Legs {
		for _, f := range leg.Frames {
			all = append(all, s.l.Frame(f).N)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// marksOf are the marks of an operation's frames.
func (s *selection) marksOf(o *decode.Operation) (all []marks.Mark) {
	if s.marks.Len() == 0 {
		return nil
	}
	for _, n := range s.numbers(o) {
		if note, marked := s.marks.Get(n); marked {
			all = append(all, marks.Mark{N: n, Note: note})
		}
	}
	return all
}

// withNote puts the mark before what else is said.
func withNote(note, about string) string {
	if note == "" || about == "" {
		return note + about
	}
	return note + " · " + about
}

// sifted prints the frames that a filter selects, as they come. A frame is judged by
// what is known when it is printed: with follow, a request has no answer yet.
type sifted struct {
	*app
	s      *sessions.Session
	l      *sessions.Loaded
	sel    *selection
	next   int // frames below this have been looked at
	follow bool
}

func (a *app) sift(s *sessions.Session, f *filter.Filter, follow bool) (*sifted, error) {
	l, err := sessions.Load(s, decode.Options{NoListings: !f.NeedsTurns()})
	if err != nil {
		return nil, err
	}
	sel, err := a.choose(f, l)
	return &sifted{app: a, s: s, l: l, sel: sel, follow: follow}, err
}

func (t *sifted) some(p printer) (more bool, err error) {
	more = t.follow && t.s.Running()
	if err := t.l.More(); err != nil {
		return false, err
	}
	for ; t.next < t.l.Len(); t.next++ {
		if !t.sel.match.Frame(t.next) {
			continue
		}
		if r := t.l.TapFrame(t.next); r != nil {
			p.record(&tap.Record{Frame: r}, t.sel)
		}
	}
	return more, nil
}

func (t *sifted) sayEnd() { t.sayWhole(t.s, t.l) }

// largestToComplete is the size of a recording beyond which its values are not
// offered: the shell waits for us.
const largestToComplete = 32 << 20

// completeFilter offers how a filter may go on, with the values of the session that
// stands on the command line.
func (a *app) completeFilter(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	var v filter.Vocabulary
	if len(args) == 1 && args[0] != "-" {
		if i, err := a.store().Resolve(args[0]); err == nil && i.Size < largestToComplete {
			if l, err := loadPath(i.Path); err == nil {
				v.Grow(l.Session, l.Name(), l.Calls())
			}
		}
	}
	var out []string
	for _, c := range filter.Complete(typed, len(typed), &v) {
		out = append(out, fmt.Sprintf("%s%s\t%s", typed[:c.From], safetext.Line(c.Text), c.About))
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
