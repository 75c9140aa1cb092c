package cli

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/mcptap/mcptap/ui/safetext"
)

// A column of a table. Width is what it takes on a terminal; 0 is for the last
// column, which takes what is left.
type column struct {
	name  string
	width int
	right bool
}

// A table prints rows as they come: aligned for people on a terminal, separated
// by tabs and without a heading when piped.
type table struct {
	out      *bufio.Writer
	columns  []column
	terminal bool
	width    int // of the terminal
	colour   bool
	started  bool
}

func (a *app) table(columns ...column) *table {
	t := &table{out: bufio.NewWriterSize(a.Stdout, 64<<10), columns: columns}
	if t.terminal = isTerminal(a.Stdout); t.terminal {
		t.width = 80
		if w, _, err := term.GetSize(int(a.Stdout.Fd())); err == nil && w > 0 {
			t.width = w
		}
		t.colour = a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	}
	return t
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// A style makes a row stand out, or stand back. It never says anything that the
// words do not say too.
type style string

const (
	normal style = ""
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	yellow style = "\x1b[33m"

	endStyle = "\x1b[0m"
)

// row prints one row; cells come from the outside and are made safe here.
func (t *table) row(cells ...string) { t.styled(normal, cells...) }

func (t *table) styled(s style, cells ...string) {
	if t.terminal && !t.started {
		t.heading()
	}
	t.started = true
	if !t.terminal {
		for i, c := range cells {
			if i > 0 {
				t.write("\t")
			}
			t.write(safetext.Line(c))
		}
		t.write("\n")
		return
	}
	t.write(t.paint(s, t.line(cells)) + "\n")
}

func (t *table) paint(s style, line string) string {
	if !t.colour || s == normal {
		return line
	}
	return string(s) + line + endStyle
}

func (t *table) heading() {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	t.write(t.paint(dim, t.line(names)) + "\n")
}

func (t *table) line(cells []string) string {
	var b strings.Builder
	left := t.width
	for i, c := range t.columns {
		if i > 0 {
			b.WriteString("  ")
			left -= 2
		}
		width := c.width
		if width == 0 {
			width = max(left, 8)
		}
		b.WriteString(pad(safetext.Line(cells[i]), width, c.right, i == len(t.columns)-1))
		left -= width
	}
	return strings.TrimRight(b.String(), " ")
}

// pad makes s width cells wide, or cuts it.
func pad(s string, width int, right, last bool) string {
	w := ansi.StringWidth(s)
	switch {
	case w > width && width > 0:
		return ansi.Truncate(s, width, "…")
	case last:
		return s
	case right:
		return strings.Repeat(" ", width-w) + s
	}
	return s + strings.Repeat(" ", max(0, width-w))
}

func (t *table) write(s string) { _, _ = io.WriteString(t.out, s) }

// flush hands out what was printed so far; its error is that of any write.
func (t *table) flush() error { return t.out.Flush() }
