package cli

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/mcptap/mcptap/ui/safetext"
)

// A column of a table.
type column struct {
	name  string
	width int // in cells, on a terminal; the last column takes what is left
	min   int // what it may shrink to; 0: not at all
	right bool
	tail  bool // of what is too long the end is shown: what differs stands there
	drop  int  // left out of a terminal that is too narrow, the highest first; 0: never
}

// What a last column that takes what is left needs to be worth its place, and what
// it has before others grow.
const (
	lastWidth = 8
	lastFirst = 32
)

// A table prints rows as they come: aligned for people on a terminal, separated
// by tabs, whole and without a heading when piped.
type table struct {
	out      *bufio.Writer
	columns  []column
	shown    []int // the columns that a terminal has room for
	widths   []int // theirs
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
		t.layout()
	}
	return t
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// layout chooses the columns that fit, then their widths.
func (t *table) layout() {
	for i := range t.columns {
		t.shown = append(t.shown, i)
	}
	for t.least() > t.width {
		drop := slices.MaxFunc(t.shown, func(a, b int) int { return t.columns[a].drop - t.columns[b].drop })
		if t.columns[drop].drop == 0 {
			break
		}
		t.shown = slices.DeleteFunc(t.shown, func(i int) bool { return i == drop })
	}
	spare := max(0, t.width-t.least())
	last, rest := len(t.shown)-1, 0
	if t.columns[t.shown[last]].width == 0 {
		rest = min(spare, lastFirst-lastWidth)
		spare -= rest
	}
	for at, i := range t.shown {
		w := t.leastOf(at)
		if more := min(spare, t.columns[i].width-w); more > 0 {
			w += more
			spare -= more
		}
		t.widths = append(t.widths, w)
	}
	if t.columns[t.shown[last]].width == 0 {
		t.widths[last] += rest + spare
	}
}

// least is the width of a row whose columns have shrunk as far as they may.
func (t *table) least() int {
	sum := 2 * (len(t.shown) - 1)
	for at := range t.shown {
		sum += t.leastOf(at)
	}
	return sum
}

func (t *table) leastOf(at int) int {
	c := t.columns[t.shown[at]]
	switch {
	case c.width == 0:
		return max(lastWidth, c.min)
	case c.min > 0:
		return c.min
	}
	return c.width
}

// fit makes the columns of numbers wide enough for those of the rows: a number is never
// cut.
func fit(columns []column, rows [][]string) []column {
	for i := range columns {
		for _, row := range rows {
			if columns[i].right {
				columns[i].width = max(columns[i].width, ansi.StringWidth(row[i]))
			}
		}
	}
	return columns
}

// missing are the names of the columns that the terminal has no room for.
func (t *table) missing() (names []string) {
	for i, c := range t.columns {
		if t.terminal && c.name != "" && !slices.Contains(t.shown, i) {
			names = append(names, c.name)
		}
	}
	return names
}

// A style makes a row stand out, or stand back. It never says anything that the
// words do not say too.
type style string

const (
	normal style = ""
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	yellow style = "\x1b[33m"
	green  style = "\x1b[32m"
	bold   style = "\x1b[1m"

	endStyle = "\x1b[0m"
)

// row prints one row; cells come from the outside and are made safe here.
func (t *table) row(cells ...string) { t.styled(normal, cells...) }

func (t *table) styled(s style, cells ...string) {
	if t.terminal && !t.started {
		t.heading()
	}
	t.started = true
	if t.terminal {
		t.write(t.paint(s, t.line(cells, noAccent)) + "\n")
		return
	}
	for i, c := range cells {
		if i > 0 {
			t.write("\t")
		}
		t.write(safetext.Line(c))
	}
	t.write("\n")
}

// An accent makes one cell of a row stand out.
type accent struct {
	column int
	style  style
}

var noAccent = accent{column: -1}

// accented prints a row on a terminal, one cell of which stands out.
func (t *table) accented(on accent, cells ...string) {
	if !t.started {
		t.heading()
	}
	t.started = true
	t.write(t.line(cells, on) + "\n")
}

// note prints a line of its own above a terminal's table.
func (t *table) note(line string) {
	if t.terminal {
		t.write(t.paint(dim, ansi.Truncate(safetext.Line(line), t.width, "…")) + "\n")
	}
}

// cuts reports whether a terminal has too little room for what is to stand in the last
// column.
func (t *table) cuts(last string) bool {
	return t.terminal && ansi.StringWidth(safetext.Line(last)) > t.widths[len(t.widths)-1]
}

// under prints a text below a terminal's row, as far as it goes, in lines that begin under
// the second column.
func (t *table) under(s style, text string) {
	indent := strings.Repeat(" ", t.widths[0]+2)
	for line := range strings.Lines(text) {
		for _, part := range wrap(strings.TrimRight(line, "\r\n"), t.width-len(indent)) {
			t.write(indent + t.paint(s, part) + "\n")
		}
	}
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
	t.write(t.paint(dim, t.line(names, noAccent)) + "\n")
}

func (t *table) line(cells []string, on accent) string {
	var b strings.Builder
	for at, i := range t.shown {
		if at > 0 {
			b.WriteString("  ")
		}
		cell := safetext.Line(cells[i])
		if over := ansi.StringWidth(cell) - t.widths[at]; over > 0 && t.columns[i].tail {
			cell = ansi.TruncateLeft(cell, over+1, "…")
		}
		cell = pad(cell, t.widths[at], t.columns[i].right)
		if i == on.column {
			cell = t.paint(on.style, cell)
		}
		b.WriteString(cell)
	}
	return strings.TrimRight(ansi.Truncate(b.String(), t.width, "…"), " ")
}

// pad makes s width cells wide, or cuts it.
func pad(s string, width int, right bool) string {
	w := ansi.StringWidth(s)
	switch {
	case w > width:
		return pad(ansi.Truncate(s, width, "…"), width, right)
	case right:
		return strings.Repeat(" ", width-w) + s
	}
	return s + strings.Repeat(" ", width-w)
}

func (t *table) write(s string) { _, _ = io.WriteString(t.out, s) }

// flush hands out what was printed so far; its error is that of any write.
func (t *table) flush() error { return t.out.Flush() }
