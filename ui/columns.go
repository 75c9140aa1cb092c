package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/safetext"
)

// A column stands at the right of a table's names.
type column struct {
	name  string
	width int  // cells of its widest content
	left  bool // it is text
	drop  int  // where there is no room, those with the highest number go first; 0 stays
}

// A table is no wider than its longest name asks for, and never wider than maxTable: else
// numbers stand too far from the names that they belong to.
const (
	maxTable   = 140
	leastNames = 28 // cells for names, whatever they are
)

// tableWidth is how wide a table is on a screen, if its names and its columns take so many
// cells.
func tableWidth(w, name, columns int) int {
	return min(w, maxTable, max(leastNames, name)+columns+3)
}

// fitColumns tells which columns have room beside a name of at least so many cells, and
// how many cells they take, with a space before each and one at the end.
func fitColumns(all []column, w, name int) (shown []bool, tail int) {
	shown = make([]bool, len(all))
	tail = 1
	for i := range all {
		shown[i] = true
		tail += all[i].width + 1
	}
	for w-tail < name {
		worst := -1
		for i := range all {
			if shown[i] && all[i].drop > 0 && (worst < 0 || all[i].drop > all[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		shown[worst] = false
		tail -= all[worst].width + 1
	}
	return shown, tail
}

// putColumns puts the cells of columns on a line.
func putColumns(l *draw.Line, all []column, shown []bool, cells []string, style func(i int) draw.Style) {
	for i := range all {
		if shown[i] {
			l.Gap(1).Cell(style(i), cells[i], all[i].width, !all[i].left)
		}
	}
}

// middle is text from the outside in at most so many cells, cut in its middle: of long
// names both ends tell.
func middle(text string, width int) string {
	if len(text) <= 4*width+64 && draw.Width(safetext.Line(text)) <= width {
		return safetext.Line(text)
	}
	end := max(0, (width-1)/2)
	return draw.Safe(text, width-end) + strings.TrimPrefix(draw.SafeEnd(text, end+1), "…")
}

// wrapSafe breaks safe text into lines of at most w cells, between words, and a word that
// is longer than a line within itself.
func wrapSafe(s string, w int) (lines []string) {
	line, used := "", 0
	for _, word := range strings.Fields(s) {
		width := draw.Width(word)
		if line != "" && used+1+width > w {
			lines = append(lines, line)
			line, used = "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		if width > w && w > 0 {
			parts := strings.Split(ansi.Hardwrap(word, w, true), "\n")
			lines = append(lines, parts[:len(parts)-1]...)
			word = parts[len(parts)-1]
			width = draw.Width(word)
		}
		line, used = line+word, used+width
	}
	return append(lines, line)
}

// paragraph draws a text from the outside in as many lines as it needs, the second one
// and those after it indented.
func paragraph(w, indent int, style draw.Style, text string) (lines []string) {
	for i, s := range wrapText(text, max(1, w-2-indent)) {
		gap := 1
		if i > 0 {
			gap += indent
		}
		lines = append(lines, draw.NewLine(w, "").Gap(gap).Text(style, s).String())
	}
	return lines
}
