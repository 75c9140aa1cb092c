package diff

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
)

// The words in which pages and screens tell differences. They hold text from the
// outside, as it came.

func sideName(isA bool) string {
	if isA {
		return "A"
	}
	return "B"
}

// Title is what the row compares.
func (r *Row) Title() string {
	if r.Kind == RowMessages {
		return r.Method + " (messages)"
	}
	return cmp.Or(strings.TrimSpace(r.Method+" "+r.Name), "(no method)")
}

// String says in a few words how the sides of a row differ; it is empty if they do
// not.
func (r *Row) String() string {
	var parts []string
	if r.OneSided() {
		parts = append(parts, "only in "+sideName(r.A != nil))
	}
	if r.Moved {
		parts = append(parts, "in another place")
	}
	seen := map[What]bool{}
	for i := range r.Changes {
		if w := r.Changes[i].What; !seen[w] {
			seen[w] = true
			parts = append(parts, string(w))
		}
	}
	return strings.Join(parts, ", ")
}

// String says how often something is there on either side, and why.
func (in *Inner) String() string {
	s := fmt.Sprintf("%d in A, %d in B", in.A, in.B)
	if in.Reason != "" {
		s += " (" + in.Reason + ")"
	}
	return s
}

// String says what one difference is.
func (c *Difference) String() string {
	words := c.A + " → " + c.B
	switch {
	case c.A == "":
		words = "only in B: " + c.B
	case c.B == "":
		words = "only in A: " + c.A
	}
	if c.Path != "" {
		return c.Path + ": " + words
	}
	return words
}

// Noun names what a list holds, in the words of the protocol.
func (f *Definition) Noun() string { return listNouns[f.Kind] }

var listNouns = map[decode.ListKind]string{decode.Tools: "tool", decode.Prompts: "prompt", decode.Resources: "resource", decode.Templates: "resource template"}

// String says what became of a definition.
func (f *Definition) String() string {
	switch f.What {
	case decode.Reordered:
		return f.Noun() + "s are in another order"
	case decode.Changed:
		parts := make([]string, 0, len(f.Changes))
		for i := range f.Changes {
			c := &f.Changes[i]
			parts = append(parts, c.Path+" "+changeVerb(c))
		}
		return f.Noun() + " " + f.Name + ": " + strings.Join(parts, ", ")
	}
	return f.Noun() + " " + f.Name + " " + string(f.What)
}

func changeVerb(c *Difference) string {
	switch {
	case c.A == "":
		return "added"
	case c.B == "":
		return "removed"
	}
	return "changed"
}

// String says what was found, and on which side.
func (f *Finding) String() string {
	s := "only in " + sideName(!f.OnB) + ": " + f.Rule.ID + " " + f.Rule.Severity.String() + ": " + f.Words
	if f.Reason != "" {
		s += " (" + f.Reason + ")"
	}
	return s
}

// String says how a latency differs, and what that rests on.
func (t *Times) String() string {
	name := cmp.Or(strings.TrimSpace(t.Method+" "+t.Name), "all operations")
	s := fmt.Sprintf("%s: %s → %s ms (%s×, %s", name, millis(t.A), millis(t.B), strconv.FormatFloat(t.Ratio(), 'f', 1, 64), t.How)
	if t.P < 1 {
		s += ", p " + strconv.FormatFloat(t.P, 'g', 2, 64)
	}
	if t.All() {
		s += "; load moves all at once, and so does a server"
	}
	return s + ")"
}

// String says what the model would notice.
func (m *Model) String() string {
	s := fmt.Sprintf("%s in A, %d in B; %d and %d bytes of definitions a turn", plural(m.A.Count, "tool"), m.B.Count, m.A.Bytes, m.B.Bytes)
	if m.A.Mid > 0 || m.B.Mid > 0 {
		s += fmt.Sprintf(", ~%d tokens (%d to %d) and ~%d (%d to %d)", m.A.Mid, m.A.Low, m.A.High, m.B.Mid, m.B.Low, m.B.High)
	}
	if m.Same {
		return s + "; the model's prompt cache holds"
	}
	return s + fmt.Sprintf("; the model's prompt cache breaks at tool %d, %s", m.At+1, m.Broken)
}

// String says where a value varies by itself, and of what kind it is.
func (v *Volatile) String() string {
	return fmt.Sprintf("%s %s (%s, %s): %s → %s", strings.TrimSpace(v.Method+" "+v.Name), v.Path, v.Kind, plural(v.Count, "time"), v.A, v.B)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// percent is a share with its sign.
func percent(n, of int64) string {
	if of == 0 {
		return "no share of 0"
	}
	return fmt.Sprintf("%+.1f%%", 100*float64(n)/float64(of))
}

func (s *About) String() string {
	parts := []string{s.Name}
	if s.Transport != "" {
		parts = append(parts, s.Transport)
	}
	parts = append(parts, strings.TrimSpace(s.Revision+" "+s.Era.String()), cmp.Or(s.Client, "client")+" → "+cmp.Or(s.Server, "server"), plural(s.Operations, "operation"))
	if s.NotAtHand > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes are not in the recording and not compared", s.NotAtHand))
	}
	return strings.Join(parts, "  ")
}
