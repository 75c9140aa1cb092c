package diff

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
)

func itoa(n int) string { return strconv.Itoa(n) }

// corpusDir holds recorded sessions: those of the decoder's tests, or a whole folder.
func corpusDir() string {
	if dir := os.Getenv("MCPTAP_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "decode", "testdata", "corpus")
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpusDir(), name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// side reads a recording.
func side(t testing.TB, name string, recording []byte) Side {
	t.Helper()
	s, err := sessions.Read(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	l, err := sessions.Load(s, decode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Side{Name: name, Session: l.Session, Body: l.Body}
}

func recorded(t testing.TB, name string) Side {
	t.Helper()
	return side(t, name, readFile(t, name))
}

// all gives the names of the sessions at hand.
func all(t testing.TB) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpusDir(), "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".jsonl"))
	}
	return names
}

// script is a session made up line by line: "> {...}" from the client, "< {...}" from
// the server, a millisecond apart unless "@MS" leads the line.
type script []string

func (s script) side(name string) Side {
	session := decode.New(decode.Options{})
	var bodies [][]byte
	ms := int64(0)
	for _, line := range s {
		ms++
		if rest, ok := strings.CutPrefix(line, "@"); ok {
			at, body, _ := strings.Cut(rest, " ")
			ms, _ = strconv.ParseInt(at, 10, 64)
			line = body
		}
		f := &tap.Frame{N: uint64(len(bodies) + 1), Dir: tap.C2S, JSON: true, Body: []byte(line[2:])}
		f.Time = 1e6 * timeOf(ms)
		if line[0] == '<' {
			f.Dir = tap.S2C
		}
		session.Add(f)
		bodies = append(bodies, f.Body)
	}
	return Side{Name: name, Session: session, Body: func(i int) []byte { return bodies[i] }}
}

// describe writes a comparison down for tests.
func describe(d *Diff) string {
	var b strings.Builder
	for i := range d.Rows {
		r := &d.Rows[i]
		fmt.Fprintf(&b, "%s %s %s: %s | %s", r.Kind, r.Method, r.Name, describePart(r.A), describePart(r.B))
		if r.Reason != "" {
			fmt.Fprintf(&b, " (%s)", r.Reason)
		}
		if r.Moved {
			b.WriteString(" moved")
		}
		b.WriteString("\n")
		for _, in := range r.Details {
			if in.A != in.B || r.Kind != RowOperation {
				fmt.Fprintf(&b, "  %s: %d | %d %s\n", in.What, in.A, in.B, in.Reason)
			}
		}
		for _, c := range r.Changes {
			fmt.Fprintf(&b, "  %s %s: %s | %s\n", c.What, c.Path, c.A, c.B)
		}
	}
	return b.String() + strings.Join(aside(d), "\n")
}

func describePart(p *Part) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("#%d %d %s %d+%d", p.N, p.Count, p.Outcome, p.Bytes.C2S.Total(), p.Bytes.S2C.Total())
}

// aside is all that is not in the rows, a line each.
func aside(d *Diff) (lines []string) {
	for _, c := range d.Server {
		lines = append(lines, fmt.Sprintf("%s %s: %s | %s", c.What, c.Path, c.A, c.B))
	}
	for _, f := range d.Definitions {
		lines = append(lines, fmt.Sprintf("%s %q %s, model %v, %d times", f.Kind, f.Name, f.What, f.Model, f.Times))
		for _, c := range f.Changes {
			lines = append(lines, fmt.Sprintf("  %s: %s | %s", c.Path, c.A, c.B))
		}
	}
	for _, f := range d.Findings {
		lines = append(lines, fmt.Sprintf("finding in B %v: %s %s %s", f.OnB, f.Rule.ID, f.Words, f.Reason))
	}
	for _, t := range d.Times {
		if t.Changed {
			lines = append(lines, fmt.Sprintf("latency %s %s: %v | %v, %s", t.Method, t.Name, t.A, t.B, t.How))
		}
	}
	if d.Model.Known {
		lines = append(lines, fmt.Sprintf("model: same %v, broken by %q", d.Model.Same, d.Model.Broken))
	}
	for _, v := range d.Volatile {
		lines = append(lines, fmt.Sprintf("varies: %s %s %s %s, %d times", v.Kind, v.Method, v.Name, v.Path, v.Count))
	}
	return lines
}

// mirror is a comparison as it would be with the sides swapped, rows in any order.
func mirror(d *Diff) []string {
	return sorted(&Diff{Rows: swapRows(d.Rows), Server: swapChanges(d.Server)}, swapAside(d))
}

func sorted(d *Diff, more []string) []string {
	lines := append(strings.Split(describe(d), "\n"), more...)
	var out []string
	for _, l := range lines { // what is below a row stays with it
		if strings.HasPrefix(l, "  ") && len(out) > 0 {
			out[len(out)-1] += "\n" + l
		} else if l != "" {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

func swapRows(rows []Row) []Row {
	out := slices.Clone(rows)
	for i := range out {
		r := &out[i]
		r.A, r.B = r.B, r.A
		r.Changes = swapChanges(r.Changes)
		r.Details = slices.Clone(r.Details)
		for j := range r.Details {
			r.Details[j].A, r.Details[j].B = r.Details[j].B, r.Details[j].A
		}
	}
	return out
}

func swapChanges(in []Difference) []Difference {
	out := slices.Clone(in)
	for i := range out {
		out[i].A, out[i].B = out[i].B, out[i].A
	}
	return out
}

var mirrored = map[decode.ChangeKind]decode.ChangeKind{decode.Added: decode.Removed, decode.Removed: decode.Added, decode.Changed: decode.Changed, decode.Reordered: decode.Reordered}

func swapAside(d *Diff) []string {
	s := &Diff{Findings: slices.Clone(d.Findings), Definitions: slices.Clone(d.Definitions), Times: slices.Clone(d.Times), Volatile: d.Volatile}
	for i := range s.Findings {
		s.Findings[i].OnB = !s.Findings[i].OnB
	}
	for i := range s.Definitions {
		f := &s.Definitions[i]
		f.What, f.Changes = mirrored[f.What], swapChanges(f.Changes)
	}
	for i := range s.Times {
		t := &s.Times[i]
		t.A, t.B = t.B, t.A
	}
	return aside(s)
}
