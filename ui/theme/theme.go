// Package theme is the looks of the screens: roles, and the styles they have on a
// terminal of a given number of colours, dark or light.
//
// The law of colours: most of a screen has the terminal's own colour; what is less
// important is dim; one accent says where you are; red and yellow are verdicts, and
// a verdict never rests on colour alone: a word or a sign says the same. Without
// colours weight and inversion remain.
package theme

import (
	"fmt"
	"strconv"

	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/ui/draw"
)

// A Theme has a style for every role.
type Theme struct {
	Text, Strong, Dim, Faint draw.Style // by importance
	Accent, Title            draw.Style // where you are
	Line                     draw.Style // between panes
	Selected, Resting        draw.Style // the cursor's row, with and without the focus
	Match                    draw.Style // what a search found
	Good, Bad, Warn          draw.Style // verdicts
	Client, Server           draw.Style // directions
	Key, String, Number      draw.Style // JSON, as Syntax has it
	Word, Punct              draw.Style
	Syntax                   *Syntax       // of code and other texts; nil: all of it faint
	Parts                    [9]draw.Style // of a bar
	Fills                    []string      // of a bar, if colours do not tell its parts apart
	Version                  int           // differs between themes: a cached row is of one
}

// colour is one role's colour: exact, of 256, and of 16 (as its SGR number).
type colour struct {
	hex uint32
	x   uint8
	sgr uint8
}

// pair is a colour on a dark and on a light ground.
type pair struct{ dark, light colour }

var (
	grey    = pair{colour{0x9ba1aa, 247, 90}, colour{0x5c6168, 240, 90}}
	faint   = pair{colour{0x7a808a, 244, 90}, colour{0x757b83, 243, 90}}
	rule    = pair{colour{0x454a52, 239, 90}, colour{0xc4c8ce, 251, 90}}
	accent  = pair{colour{0x7cb7ff, 111, 96}, colour{0x0b62c4, 26, 34}}
	red     = pair{colour{0xff7b72, 210, 91}, colour{0xc4262e, 160, 31}}
	yellow  = pair{colour{0xe3b341, 179, 93}, colour{0x8f5d00, 94, 33}}
	green   = pair{colour{0x7ec699, 114, 32}, colour{0x1a7f37, 28, 32}}
	key     = pair{colour{0x8cb4e2, 110, 36}, colour{0x0a4f9e, 25, 34}}
	text    = pair{colour{0xa8cc8c, 150, 32}, colour{0x356a1c, 22, 32}}
	number  = pair{colour{0xe6b673, 180, 33}, colour{0x9a4b00, 130, 33}}
	word    = pair{colour{0xc49bdc, 140, 35}, colour{0x7a3e9d, 97, 35}}
	cursor  = pair{colour{0x2a3546, 236, 0}, colour{0xd6e6fa, 189, 0}}
	resting = pair{colour{0x282c33, 235, 0}, colour{0xe8eaee, 254, 0}}
	teal    = pair{colour{0x6fc3c3, 73, 36}, colour{0x0f6b6b, 23, 36}}
)

// New builds the theme of a terminal.
func New(p colorprofile.Profile, dark bool) *Theme {
	m := maker{p, dark}
	t := &Theme{
		Strong: "\x1b[1m", Dim: m.fg(grey), Faint: m.fg(faint),
		Accent: m.fg(accent), Title: m.fg(accent) + m.attr("1"), Line: m.fg(rule),
		Selected: m.bg(cursor, "7"), Resting: m.bg(resting, "4"), Match: m.attr("7"),
		Good: m.fg(green), Bad: m.fg(red), Warn: m.fg(yellow), Client: m.fg(teal), Server: m.fg(word),
		Syntax:  m.syntax(),
		Parts:   [9]draw.Style{m.fg(grey), m.fg(word), m.fg(teal), m.fg(accent), m.fg(yellow), m.fg(faint), m.fg(faint), m.fg(faint), m.fg(red)},
		Version: int(p) << 1,
	}
	t.Key, t.String, t.Number = t.Token(chroma.NameTag), t.Token(chroma.LiteralString), t.Token(chroma.LiteralNumber)
	t.Word, t.Punct = t.Token(chroma.KeywordConstant), t.Token(chroma.Punctuation)
	if p <= colorprofile.ASCII {
		t.Strong, t.Title, t.Bad, t.Faint = m.attr("1"), m.attr("1"), m.attr("1"), m.attr("2")
	}
	if p < colorprofile.ANSI256 {
		t.Fills = fills
	}
	if dark {
		t.Version++
	}
	return t
}

// fills are the glyphs of the parts of a bar, as unlike each other as blocks can be.
var fills = []string{"▒", "▓", "▙", "█", "▞", "░", "▚", "▖", "▀"}

// Fill is the glyph of a part of a bar: the same for all, unless there are too few
// colours to tell them apart.
func (t *Theme) Fill(part int) string {
	if t.Fills == nil {
		return "▄"
	}
	return t.Fills[part%len(t.Fills)]
}

// Dimmed is the theme in which everything is faint but the ground.
func (t *Theme) Dimmed() *Theme {
	d := *t
	for _, s := range []*draw.Style{&d.Text, &d.Strong, &d.Dim, &d.Accent, &d.Title, &d.Good, &d.Bad, &d.Warn, &d.Key, &d.String, &d.Number, &d.Word, &d.Punct} {
		*s = t.Faint
	}
	d.Syntax = nil
	return &d
}

// maker makes styles for one kind of terminal.
type maker struct {
	profile colorprofile.Profile
	dark    bool
}

func (m maker) of(p pair) colour {
	if m.dark {
		return p.dark
	}
	return p.light
}

// fg is a foreground; none without colours.
func (m maker) fg(p pair) draw.Style {
	c := m.of(p)
	switch m.profile {
	case colorprofile.TrueColor:
		return rgb(38, c.hex)
	case colorprofile.ANSI256:
		return draw.Style("\x1b[38;5;" + strconv.Itoa(int(c.x)) + "m")
	case colorprofile.ANSI:
		return draw.Style("\x1b[" + strconv.Itoa(int(c.sgr)) + "m")
	}
	return ""
}

// bg is a background; where there are too few colours for a quiet one, an attribute.
func (m maker) bg(p pair, attr string) draw.Style {
	c := m.of(p)
	switch m.profile {
	case colorprofile.TrueColor:
		return rgb(48, c.hex)
	case colorprofile.ANSI256:
		return draw.Style("\x1b[48;5;" + strconv.Itoa(int(c.x)) + "m")
	}
	return m.attr(attr)
}

// attr is weight, underline or inversion: those are no colours, but a terminal
// without any abilities has not even them.
func (m maker) attr(n string) draw.Style {
	if m.profile < colorprofile.ASCII {
		return ""
	}
	return draw.Style("\x1b[" + n + "m")
}

func rgb(what int, hex uint32) draw.Style {
	return draw.Style(fmt.Sprintf("\x1b[%d;2;%d;%d;%dm", what, hex>>16, hex>>8&0xff, hex&0xff))
}
