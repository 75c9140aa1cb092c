package theme

import (
	"fmt"

	"github.com/alecthomas/chroma/v2"

	"github.com/mcptap/mcptap/ui/draw"
)

// Syntax is a style of chroma's, and how its colours look on the terminal.
type Syntax struct {
	style *chroma.Style
	shown map[chroma.Colour]draw.Style
	bold  draw.Style
	known map[chroma.TokenType]draw.Style
}

// syntax builds chroma's style out of the theme's colours. A kind of token that is not
// here looks like the kind it belongs to; what remains has the terminal's own colour.
func (m maker) syntax() *Syntax {
	s := &Syntax{shown: map[chroma.Colour]draw.Style{}, bold: m.attr("1"), known: map[chroma.TokenType]draw.Style{}}
	b := chroma.NewStyleBuilder("mcptap")
	for _, e := range []struct {
		kind   chroma.TokenType
		colour pair
		also   string
	}{
		{chroma.NameTag, key, ""}, {chroma.NameAttribute, key, ""}, {chroma.LiteralString, text, ""}, {chroma.LiteralNumber, number, ""},
		{chroma.Keyword, word, ""}, {chroma.Punctuation, faint, ""}, {chroma.Comment, grey, ""}, {chroma.GenericHeading, accent, "bold "},
	} {
		hex := m.of(e.colour).hex
		s.shown[chroma.NewColour(uint8(hex>>16), uint8(hex>>8), uint8(hex))] = m.fg(e.colour)
		b.Add(e.kind, fmt.Sprintf("%s#%06x", e.also, hex))
	}
	var err error
	if s.style, err = b.Add(chroma.GenericStrong, "bold").Build(); err != nil {
		panic(err) // the entries above are no style: a mistake that every test shows
	}
	return s
}

// Token is how a kind of token looks.
func (t *Theme) Token(kind chroma.TokenType) draw.Style {
	s := t.Syntax
	if s == nil {
		return t.Faint
	}
	if style, ok := s.known[kind]; ok {
		return style
	}
	entry := s.style.Get(kind)
	style := s.shown[entry.Colour]
	if entry.Bold == chroma.Yes {
		style += s.bold
	}
	s.known[kind] = style
	return style
}
