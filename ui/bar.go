package ui

import (
	"slices"
	"strings"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

// portion is a part of a whole, for a bar and for the words beside it.
type portion struct {
	look int // among the parts of the theme
	name string
	n    float64
	said string // n as people read it; empty: the name says enough
}

// Cells of a bar that stands before its words.
const (
	leastBar = 8
	mostBar  = 24
)

// barLine draws what a whole consists of: a bar, and what its parts are. Without enough
// colours each part has a glyph of its own in both. The last parts, where their words do
// not fit, are counted together; said makes words of their sum.
func barLine(th *theme.Theme, w int, parts []portion, said func(float64) string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p portion) bool { return p.n <= 0 })
	line := draw.NewLine(w, "").Gap(1)
	if len(parts) == 0 {
		return line.String()
	}
	named := fitting(parts, w-1-leastBar-2, said)
	width := max(min(leastBar, w/2), min(mostBar, w-1-2-legendWidth(named)))
	for i, cells := range divided(named, width) {
		line.Raw(th.Parts[named[i].look], strings.Repeat(th.Fill(named[i].look), cells))
	}
	line.Gap(2)
	for _, p := range named {
		if line.Left() < draw.Width(p.words())+2 {
			break
		}
		line.Raw(th.Parts[p.look], th.Fill(p.look)).Gap(1).Raw(th.Parts[p.look], p.words()).Gap(2)
	}
	return line.String()
}

func (p *portion) words() string { return strings.TrimSpace(p.name + " " + p.said) }

// legendWidth is how wide the words of parts are, each with its glyph.
func legendWidth(parts []portion) int {
	n := -2
	for i := range parts {
		n += 2 + draw.Width(parts[i].words()) + 2
	}
	return n
}

// fitting gives the parts whose words fit, the last of them counted together.
func fitting(parts []portion, room int, said func(float64) string) []portion {
	for keep := len(parts); keep > 1; keep-- {
		named := slices.Clone(parts[:keep])
		if rest := parts[keep:]; len(rest) > 0 {
			sum := 0.0
			for _, p := range rest {
				sum += p.n
			}
			named = append(named, portion{look: rest[0].look, name: "other", n: sum, said: said(sum)})
		}
		if legendWidth(named) <= room {
			return named
		}
	}
	return parts[:1]
}

// divided gives each part its share of cells, so that they add up to width.
func divided(parts []portion, width int) []int {
	total, sum, used := 0.0, 0.0, 0
	for _, p := range parts {
		total += p.n
	}
	cells := make([]int, len(parts))
	for i, p := range parts {
		sum += p.n
		upto := int(sum/total*float64(width) + .5)
		cells[i], used = upto-used, upto
	}
	return cells
}
