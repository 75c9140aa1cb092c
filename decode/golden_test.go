package decode

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares what a session is made of with what was found right by
// reading it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			got := describe(feed(New(Options{Bytes: true}), loadCorpus(t, file)))
			golden := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// describe writes a session as text: eras and peers, frames that are no message
// or joined to nothing, calls with their notes, and operations.
func describe(s *Session) string {
	var b strings.Builder
	describeEras(&b, s)
	b.WriteString("\nframes\n")
	for i := range s.Len() {
		describeFrame(&b, s.Frame(i))
	}
	describeExchanges(&b, s)
	b.WriteString("\ncalls\n")
	for i := range s.Calls() {
		describeCall(&b, s, s.Call(i))
	}
	b.WriteString("\noperations\n")
	for _, o := range s.Operations() {
		describeOperation(&b, o)
	}
	describeCatalogue(&b, s)
	describeBytes(&b, s)
	return b.String()
}

func describeExchanges(b *strings.Builder, s *Session) {
	if s.Exchanges() > 0 {
		b.WriteString("\nexchanges\n")
	}
	for i := range s.Exchanges() {
		x := s.Exchange(i)
		fmt.Fprintf(b, "%3d %s %s %d, scope %d, call %d, frames %v, stream %v, by %s, heads %d %d, bodies %d %d, framing %d\n",
			i, x.Method, x.Target, x.Status, x.Scope, x.Call, s.ExchangeFrames(i), x.Stream, x.By, x.HeadUp, x.HeadDown, x.Up, x.Down, x.Framing)
	}
}

func describeCatalogue(b *strings.Builder, s *Session) {
	c := s.Catalogue()
	b.WriteString("\ncatalogue\n")
	for _, l := range c.Lists {
		fmt.Fprintf(b, "%v: frames %d to %d, calls %v, %d items, complete %v orphan %v\n", l.Kind, l.From, l.Upto, l.Calls, len(l.Items), l.Complete, l.Orphan)
	}
	for _, ch := range c.Changes {
		fmt.Fprintf(b, "%v %s %s at frame %d, announced %v\n", ch.Kind, ch.What, ch.Name, ch.Frame, ch.Announced)
	}
	fmt.Fprintf(b, "ignored %v unlisted %v\n", c.Ignored, c.Unlisted())
}

func describeBytes(b *strings.Builder, s *Session) {
	t := s.Totals()
	b.WriteString("\nbytes\n")
	line := func(name string, a *Account) {
		fmt.Fprintf(b, "%-10s", name)
		for p, n := range a {
			if n > 0 {
				fmt.Fprintf(b, " %v %d", Part(p), n)
			}
		}
		fmt.Fprintf(b, " = %d\n", a.Total())
	}
	line("all", &t.All)
	line("opening", &t.Opening)
	for d := tap.C2S; d <= tap.Stderr; d++ {
		line(d.String(), &t.Dirs[d])
	}
	for _, m := range slices.Sorted(maps.Keys(t.Methods)) {
		line(m, &t.Methods[m].Account)
	}
	fmt.Fprintf(b, "metadata %d, copies %+v\n", t.Metadata(), t.Copies)
}

func describeEras(b *strings.Builder, s *Session) {
	e := s.Eras()
	fmt.Fprintf(b, "era %v revision %q at least %q probe %q supported %v fallback %v init ok %v ready %v no opening %v\n",
		e.Era, e.Revision, e.AtLeast, e.Probe, e.Supported, e.Fallback, e.InitOK, e.Ready, e.NoOpening)
	fmt.Fprintf(b, "clients %v %v\nservers %v %v\n", s.Clients(), s.ClientSDK(), s.Servers(), s.ServerSDK())
}

func describeFrame(b *strings.Builder, f Frame) {
	if f.Kind == Log {
		return
	}
	var marks []string
	mark := func(on bool, text string) {
		if on {
			marks = append(marks, text)
		}
	}
	mark(f.Orphan, "orphan")
	mark(f.WrongID, "wrong id")
	mark(f.Second, "second")
	mark(f.Unjoined, "unjoined")
	mark(f.Stray != "", string(f.Stray))
	mark(f.EOL == tap.CRLF, "crlf")
	for _, x := range f.Faults.List() {
		marks = append(marks, x.Rule)
	}
	for _, m := range f.Batch {
		marks = append(marks, fmt.Sprintf("[%s %s call %d]", m.Kind, m.Method, m.Call))
	}
	fmt.Fprintf(b, "%3d %-6s %-12s call %2d  %-34s %s\n", f.Index, f.Dir, f.Kind, f.Call, f.Method, strings.Join(marks, ", "))
}

func describeCall(b *strings.Builder, s *Session, c Call) {
	fmt.Fprintf(b, "%3d %s id %s %s %q frames %d %d, %v %s, %v", c.Index, c.Dir, c.ID, c.Method, c.Name, c.Request, c.Response, c.Era, c.Revision, c.Outcome)
	if c.HasError() {
		n := NameCode(c.Code, c.Revision)
		fmt.Fprintf(b, " %d %s (spec %v)", c.Code, n.Name, n.Spec)
	}
	if c.Hidden != nil {
		fmt.Fprintf(b, " %v: %s", c.Hidden.Level, c.Hidden.Reason)
	}
	if c.Why != "" {
		fmt.Fprintf(b, " (%s)", c.Why)
	}
	for _, f := range []struct {
		on   bool
		name string
	}{{c.Reused, "reused"}, {c.InFlight, "in flight"}, {c.Ambiguous, "ambiguous"}, {c.Late, "late"}, {c.Second, "second"}, {c.WrongID, "wrong id"},
		{c.Cancelled, "cancelled"}, {c.Batch, "batch"}, {c.WantsLogs, "logs"}, {c.WantsTask, "task"}, {c.Retry, "retry"}, {c.MadeTask, "made task"}, {c.Listen, "listen"}} {
		if f.on {
			b.WriteString(" +" + f.name)
		}
	}
	if c.Parent >= 0 {
		fmt.Fprintf(b, " parent %d guessed %v", c.Parent, c.Guessed)
	}
	b.WriteByte('\n')
	for _, n := range s.Notes(c.Index) {
		fmt.Fprintf(b, "      %v: frame %d\n", n.Kind, n.Frame)
	}
}

func describeOperation(b *strings.Builder, o Operation) {
	fmt.Fprintf(b, "%v %s %s %q: %v", o.Kind, o.Dir, o.Method, o.Name, o.Outcome)
	if o.Why != "" {
		fmt.Fprintf(b, " (%s)", o.Why)
	}
	fmt.Fprintf(b, ", server %v client %v", o.Server, o.Client)
	for _, st := range o.Task {
		fmt.Fprintf(b, ", %s at %v", st.Status, st.At)
	}
	if o.Doubt != "" {
		fmt.Fprintf(b, ", but %s", o.Doubt)
	}
	b.WriteByte('\n')
	for _, l := range o.Legs {
		if len(o.Legs) > 1 || len(l.Frames) > 2 {
			fmt.Fprintf(b, "      %s: call %d, frames %v\n", l.Role, l.Call, l.Frames)
		}
	}
}
