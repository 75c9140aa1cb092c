// Package draw composes lines of exact width out of pieces of text and style.
//
// It promises that a Line is never wider than it was told to be, counted in cells
// of a terminal, and that a base style (a selected row) holds under every piece.
// Text from the outside goes in through Text, which makes it safe; Raw is for the
// program's own.
package draw

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/ui/safetext"
)

// A Style is the sequence that turns a look on; the empty one changes nothing.
type Style string

const reset = "\x1b[m"

// Paint gives text in the style.
func (s Style) Paint(text string) string {
	if s == "" || text == "" {
		return text
	}
	return string(s) + text + reset
}

// Width is how many cells text takes that has no control characters but styles.
func Width(text string) int {
	if plain(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Cut shortens text to width cells; what was cut shows as an ellipsis.
func Cut(text string, width int) string {
	switch {
	case width <= 0:
		return ""
	case len(text) <= width && plain(text):
		return text
	case plain(text):
		return text[:width-1] + "…"
	case len(text) > 8*width+64:
		text = head(text, 8*width+64) // measuring megabytes to draw a row would be slow
	}
	return ansi.Truncate(text, width, "…")
}

// head is about the first n bytes of text, whole characters.
func head(text string, n int) string {
	for n > 0 && n < len(text) && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n]
}

// Safe is text from the outside as one line, cut to width cells. However long the
// text is, only its beginning is looked at.
func Safe(text string, width int) string {
	if len(text) > 4*width+64 {
		text = head(text, 4*width+64) + "…"
	}
	return Cut(safetext.Line(text), width)
}

// SafeEnd is Safe that keeps the end of the text: of a long name that is what tells it
// from others.
func SafeEnd(text string, width int) string {
	if len(text) > 4*width+64 {
		text = strings.ToValidUTF8(text[len(text)-4*width-64:], "")
	}
	text = safetext.Line(text)
	if over := Width(text) - width; over > 0 && width > 0 {
		return Cut("…"+ansi.Cut(text, over+1, over+width+1), width)
	}
	return Cut(text, width)
}

// Cell is text cut or filled to exactly width cells, at the left or the right.
func Cell(text string, width int, right bool) string {
	text = Cut(text, width)
	gap := Blank(width - Width(text))
	if right {
		return gap + text
	}
	return text + gap
}

const spaces = "                                                                "

// Blank is n spaces; none if n is negative.
func Blank(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(spaces):
		return spaces[:n]
	}
	return strings.Repeat(" ", n)
}

// A Line is one row being drawn.
type Line struct {
	b     strings.Builder
	base  Style
	width int
	used  int
	wild  bool // it has text whose width terminals do not agree on
}

// NewLine begins a row of width cells; base lies under all that is put on it.
func NewLine(width int, base Style) *Line { return &Line{base: base, width: max(0, width)} }

// Left is how many cells are free.
func (l *Line) Left() int { return l.width - l.used }

// Used is how many cells are taken.
func (l *Line) Used() int { return l.used }

// Raw puts text of the program's own.
func (l *Line) Raw(s Style, text string) *Line {
	text = Cut(text, l.Left())
	if text == "" {
		return l
	}
	l.used += Width(text)
	l.b.WriteString((l.base + s).Paint(text))
	return l
}

// Text puts text from the outside.
func (l *Line) Text(s Style, text string) *Line { return l.Within(s, text, l.Left()) }

// Within puts text from the outside in at most so many cells.
func (l *Line) Within(s Style, text string, cells int) *Line {
	cells = min(cells, l.Left())
	l.wild = l.wild || !plain(text[:min(len(text), 4*max(0, cells))])
	return l.Raw(s, Safe(text, cells))
}

// Cell puts text from the outside in a column of its own.
func (l *Line) Cell(s Style, text string, width int, right bool) *Line {
	width = min(width, l.Left())
	l.wild = l.wild || !plain(text[:min(len(text), 4*width)])
	return l.Raw(s, Cell(Safe(text, width), width, right))
}

// Gap puts n spaces.
func (l *Line) Gap(n int) *Line { return l.Raw("", Blank(min(n, l.Left()))) }

// To fills with spaces up to a column.
func (l *Line) To(column int) *Line { return l.Gap(column - l.used) }

// Pin fills with spaces up to a column and makes sure that what follows stands there.
// Terminals do not agree on how wide joined emoji and some other characters are: after
// such text the cursor is put where it belongs. The row must begin at the terminal's
// left edge.
func (l *Line) Pin(column int) *Line {
	l.To(column)
	if l.wild && l.used == column && column < l.width {
		l.b.WriteString("\x1b[K\x1b[" + strconv.Itoa(column+1) + "G")
		l.wild = false
	}
	return l
}

var pins = regexp.MustCompile("\x1b\\[K\x1b\\[[0-9]+G")

// Unpin takes the pins out of a row that is to be cut.
func Unpin(row string) string { return pins.ReplaceAllString(row, "") }

// String fills the row and gives it.
func (l *Line) String() string {
	l.To(l.width)
	return l.b.String()
}

// Fill gives exactly height lines of width cells: what is there, then blank ones.
func Fill(lines []string, width, height int) []string {
	if len(lines) > height {
		return lines[:max(0, height)]
	}
	blank := Blank(width)
	for len(lines) < height {
		lines = append(lines, blank)
	}
	return lines
}
