package ui

import (
	"strings"

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

	section string // heading that it stands below
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

// whole has as much of it as h lines hold.
func (s *sentence) whole(th *theme.Theme, w, h int) []string {
	return clip(th, s.tell(th, w), w, h) // the rows above keep their places
}

// tell has all of it, however long.
func (s *sentence) tell(th *theme.Theme, w int) []string {
	if s.head || s.cells || s.text == "" {
		return nil
	}
	return append([]string{rule(th, w, th.Dim, "in full", "")}, paragraph(w, 0, "", s.text)...)
}

// key tells a sentence from others: by the section that it is in, and by its text but for
// the numbers, which change.
func (s *sentence) key() rowKey {
	text := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s.text)
	return rowKey{kind: "sentence", a: s.section, b: text}
}
