package cli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/tap"
)

const (
	storedNames = `SESSION is a path, an id, a label (its newest session), any part of an id or a label
that fits one session only (the last four digits of an id do), or "last".`
	sessionNames = storedNames + ` With - a recording is read from standard input.`
)

// showOptions are the flags of show.
type showOptions struct {
	raw    string
	frames bool
	json   bool
	follow bool
	heads  bool
	filter string
}

func (a *app) show() *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show SESSION",
		Short: "print a session: its calls, its frames, or its bytes",
		Long: `show prints what a client wanted done, an operation a row: a call, or several that
belong together (the rounds of a multi-round-trip request, the polls of a task, the
pages of a list). A row has the number of the first frame, the seconds since the
session's start, direction, method, tool or resource, milliseconds, bytes on the
wire (of an event stream those of the data, decoded), how it ended, and why: on a
terminal why one failed stands below the row if it has no room there. Frames that belong
to no call stand among them.

With --frames it prints every frame instead: its number, the seconds, direction,
kind, method, id, length in bytes (its end not counted), and what it is about.
With --raw it gives back the bytes of one direction exactly as they crossed.

Of a session over HTTP, --frames shows the heads of requests and answers as well, and
how each exchange ended; --headers adds the headers, in which secrets were replaced
when they were recorded. --raw gives the bodies and the data of events then, each with
a line feed after it if it had none, without what was around them. What holds secrets
and is no message of MCP is not there as it crossed: --raw says so, and ends with
status 1.

With --filter it prints what the filter selects, and no events. A mark that somebody
set on a frame is shown as ★, with its note.

` + sessionNames,
		Example: `  mcptap show last
  mcptap show last --frames
  mcptap show last --filter 'status:failed or ms>1s'
  mcptap show tickets --raw s2c | jq .result
  mcptap show last --json | jq 'select(.outcome == "tool error")'`,
		Args:              exactly(1, "one SESSION"),
		RunE:              func(_ *cobra.Command, args []string) error { return a.runShow(args[0], o) },
		ValidArgsFunction: a.completeSession,
	}
	c.Flags().StringVar(&o.raw, "raw", "", "the exact bytes of one direction: c2s, s2c or stderr")
	c.Flags().BoolVar(&o.frames, "frames", false, "every frame, instead of calls")
	c.Flags().BoolVar(&o.heads, "headers", false, "with --frames: the headers of HTTP requests and answers")
	c.Flags().BoolVar(&o.json, "json", false, "one JSON object a line ('mcptap help json')")
	c.Flags().BoolVar(&o.follow, "follow", false, "go on until the session ends; a call is printed when it is complete")
	a.addFilter(c, &o.filter)
	_ = c.RegisterFlagCompletionFunc("raw", cobra.FixedCompletions([]string{"c2s", "s2c", "stderr"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) runShow(name string, o showOptions) error {
	f, err := parseFilter(o.filter)
	switch {
	case err != nil:
		return err
	case o.heads && (!o.frames || o.json):
		return usagef("--headers goes with --frames; with --json they are there anyway")
	case o.raw != "" && (o.json || o.frames || o.follow || o.filter != ""):
		return usagef("--raw gives bytes; it does not go with --json, --frames, --follow or --filter")
	case o.raw == "" && !o.frames:
		return a.showCalls(name, f, o.json, o.follow)
	}
	s, err := a.open(name)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.filter != "" {
		return a.readSome(s, f, a.printer(o.json), o.follow)
	}
	if o.raw != "" {
		return a.showRaw(s, o.raw)
	}
	p := a.printer(o.json)
	if t, ok := p.(*tablePrinter); ok {
		t.headers = o.heads
	}
	return a.read(s, p, o.follow)
}

// open opens the session that a user named.
func (a *app) open(name string) (*sessions.Session, error) {
	if name == "-" {
		return sessions.Read(a.Stdin)
	}
	i, err := a.store().Resolve(name)
	if err != nil {
		return nil, err
	}
	return sessions.Open(i.Path)
}

func (a *app) completeSession(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	infos, err := a.store().List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := []string{"last"}
	for i := range infos {
		names = append(names, infos[i].ID+"\t"+infos[i].Label())
	}
	return names, cobra.ShellCompDirectiveDefault
}

// read prints all records of a session. With follow it goes on until its tap has
// ended.
func (a *app) read(s *sessions.Session, p printer, follow bool) error {
	t := &tail{app: a, s: s, sel: a.marksOnly(s), follow: follow}
	return a.watch(t, p)
}

// readSome is read for what a filter selects.
func (a *app) readSome(s *sessions.Session, f *filter.Filter, p printer, follow bool) error {
	t, err := a.sift(s, f, follow)
	if err != nil {
		return err
	}
	return a.watch(t, p)
}

// watched is a session that is printed as it grows.
type watched interface {
	some(printer) (more bool, err error) // prints what there is by now
	sayEnd()                             // says what is to be known of it at the end
}

// watch prints a session to its end.
func (a *app) watch(w watched, p printer) error {
	for {
		more, err := w.some(p)
		if err != nil {
			return err
		}
		if !more {
			w.sayEnd()
			return p.flush()
		}
		if err := p.flush(); err != nil {
			return err
		}
		a.pause()
	}
}

// tail prints the records of a session as they come.
type tail struct {
	*app
	s       *sessions.Session
	sel     *selection
	follow  bool
	header  *tap.Header
	records int
	ended   bool
	bad     remarks
}

// some prints what there is by now. It reports whether there will be more.
func (t *tail) some(p printer) (more bool, err error) {
	for {
		rec, err := t.s.Next()
		switch {
		case errors.Is(err, io.EOF) && t.follow && t.s.Running():
			return true, nil
		case errors.Is(err, io.EOF) && t.follow && t.s.Grown():
			continue
		case errors.Is(err, io.EOF):
			if rec, ok := t.s.Unfinished(); ok {
				t.bad.add(rec)
			}
			return false, nil
		case err != nil:
			return false, fmt.Errorf("reading the session: %w", err)
		}
		t.bad.add(rec)
		if rec.Bad == nil {
			t.records++
			t.ended = rec.End != nil
		}
		if rec.Header != nil {
			t.header = rec.Header
		}
		p.record(&rec, t.sel)
	}
}

func (t *tail) sayEnd() {
	t.bad.say(t.app)
	t.app.sayEnd(t.header, t.records, t.bad.n, t.ended || t.s.Running() || t.s.Foreign())
}

// sayEnd tells what a recording is that is not whole.
func (a *app) sayEnd(h *tap.Header, records, passed int, ended bool) {
	switch {
	case h != nil && h.Excerpt != nil:
		a.say("%s", excerptWords(h.Excerpt))
	case records == 0 && passed > 0:
		a.say("no line of it is a record: this is no recording of mcptap")
		a.status = exitFailed
	case records == 0:
		a.say("the recording is empty")
	case !ended:
		a.say("the recording has no end: its tap was killed, or the machine stopped")
	}
}

// remarks are what was wrong with lines of a journal.
type remarks struct {
	lines []string
	n     int
}

const maxRemarks = 5

func (r *remarks) add(rec tap.Record) {
	switch {
	case rec.Bad != nil:
		r.note("line %d passed over: %v", rec.Line, rec.Bad)
	case rec.Missing > 0:
		r.note("line %d: %d records before it are missing", rec.Line, rec.Missing)
	}
}

func (r *remarks) note(format string, args ...any) {
	r.n++
	if r.n <= maxRemarks {
		r.lines = append(r.lines, fmt.Sprintf(format, args...))
	}
}

func (r *remarks) say(a *app) {
	for _, l := range r.lines {
		a.say("%s", l)
	}
	if r.n > maxRemarks {
		a.say("%d more lines passed over", r.n-maxRemarks)
	}
}

// showRaw writes the bytes of one direction. Frames whose bytes are not there
// are said, and make the command fail.
func (a *app) showRaw(s *sessions.Session, direction string) error {
	dir, ok := tap.ParseDir(direction)
	if !ok {
		return usagef("--raw takes c2s, s2c or stderr, not %q", direction)
	}
	out := bufio.NewWriterSize(a.Stdout, 256<<10)
	var bad remarks
	var altered alterations
	missing := 0
	for {
		rec, err := s.Next()
		if errors.Is(err, io.EOF) {
			if rec, ok := s.Unfinished(); ok {
				bad.add(rec)
				missing++
			}
			break
		}
		if err != nil {
			return fmt.Errorf("reading the session: %w", err)
		}
		bad.add(rec)
		if rec.Missing > 0 {
			missing++
		}
		switch {
		case rec.Lost != nil:
			missing++
			bad.note("line %d: %d frames were not recorded here: %s", rec.Line, rec.Lost.Frames, rec.Lost.Reason)
		case rec.Bad != nil:
			missing++
		case rec.Frame != nil && rec.Frame.Dir == dir:
			altered.count(rec.Frame)
			switch err := writeFrame(out, s, rec.Frame); {
			case errors.Is(err, errBody):
				missing++
				bad.note("%s", strings.TrimPrefix(err.Error(), errBody.Error()+": "))
			case err != nil:
				return err
			}
		}
	}
	bad.say(a)
	if err := out.Flush(); err != nil {
		return err
	}
	if missing > 0 {
		altered.say(a)
		return fmt.Errorf("the output is not complete: bytes are missing in %d places", missing)
	}
	return altered.err()
}

// alterations counts the bodies in whose place something else is recorded: what holds
// secrets is masked, or not kept.
type alterations struct{ masked, notKept int }

func (n *alterations) count(f *tap.Frame) {
	switch {
	case f.HTTP == nil || !f.HTTP.Masked:
	case sessions.NotKept(f):
		n.notKept++
	default:
		n.masked++
	}
}

func (n *alterations) err() error {
	var words []string
	if n.masked > 0 {
		words = append(words, fmt.Sprintf("secrets masked in %d", n.masked))
	}
	if n.notKept > 0 {
		words = append(words, fmt.Sprintf("not kept %d", n.notKept))
	}
	if len(words) == 0 {
		return nil
	}
	return fmt.Errorf("%s not the bytes that crossed (%s)", areBodies(n.masked+n.notKept), strings.Join(words, ", "))
}

func areBodies(n int) string {
	if n == 1 {
		return "1 body is"
	}
	return fmt.Sprintf("%d bodies are", n)
}

func (n *alterations) say(a *app) {
	if err := n.err(); err != nil {
		a.say("%s", err)
	}
}

var errBody = errors.New("no bytes")

func writeFrame(out io.Writer, s *sessions.Session, f *tap.Frame) error {
	body, err := s.Body(f)
	if err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, sum), body); err != nil {
		return err
	}
	eol := f.EOL
	if f.HTTP != nil && eol == tap.NoEOL {
		eol = tap.LF // else bodies would run into each other
	}
	if _, err := io.WriteString(out, eol.String()); err != nil {
		return err
	}
	if f.Digest != nil && hex.EncodeToString(sum.Sum(nil)) != f.Digest.SHA256 {
		return fmt.Errorf("%w: the bytes of frame %d are not those that were recorded: their SHA-256 differs", errBody, f.N)
	}
	return nil
}
