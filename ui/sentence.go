package ui

import (
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

// A sentence is a row of words below a table, or the heading of some. Its text may be
// from the outside.
type sentence struct {
	head  bool
	count string // a number that goes before it
	text  string
	warn  bool
	cells bool // it is a row of a table: there is no more of it
	frame int  // it is about; -1 if none
}

// draw has its beginning, in one line.
func (s *sentence) draw(th *theme.Theme, w int, base draw.Style) string {
	l := draw.NewLine(w, base).Gap(1)
	if s.head {
		return l.Raw(th.Strong, s.text).String()
	}
	style := draw.Style("")
	if s.warn {
		style = th.Warn
	}
	if s.count != "" {
		l.Raw(th.Strong, draw.Cell(s.count, 8, true)).Gap(2)
	}
	return l.Text(style, s.text).String()
}

// whole has all of it, in h lines.
func (s *sentence) whole(th *theme.Theme, w, h int) []string {
	if s.head || s.cells || s.text == "" {
		return draw.Fill(nil, w, h)
	}
	lines := []string{rule(th, w, th.Dim, "in full", "")}
	for _, t := range wrapText(s.text, w-2) {
		lines = append(lines, draw.NewLine(w, "").Gap(1).Text("", t).String())
	}
	return draw.Fill(lines[:min(len(lines), h)], w, h) // the rows above keep their places
}
