package main

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// The window: sizes in pixels. A cell is as wide as DejaVu Sans Mono's letters are.
const (
	cellW, cellH = 8.428, 16.5
	fontSize     = 14
	margin       = 16.0
	bar          = 30.0 // with the three buttons
)

const (
	ground = "#171717"
	ink    = "#c5c8c6"
	fonts  = "DejaVu Sans Mono,Menlo,Consolas,monospace"
)

// SVG draws lines with escape sequences as a window of a terminal.
func SVG(frame string) string {
	lines := strings.Split(strings.TrimSuffix(frame, "\n"), "\n")
	w, h := 0, len(lines)
	for _, l := range lines {
		w = max(w, ansi.StringWidth(l))
	}
	t := vt.NewEmulator(max(w, 1), h)
	go func() { _, _ = io.Copy(io.Discard, t) }() // what a terminal answers
	for i, l := range lines {
		_, _ = fmt.Fprintf(t, "\x1b[%d;1H%s", i+1, l)
	}
	var b strings.Builder
	width, height := float64(w)*cellW+2*margin, float64(h)*cellH+bar+2*margin
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\">\n", width, height)
	fmt.Fprintf(&b, "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", ground)
	for i, c := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, "<circle cx=\"%d\" cy=\"18\" r=\"6\" fill=\"%s\"/>\n", 22+20*i, c)
	}
	fmt.Fprintf(&b, "<g font-family=\"%s\" font-size=\"%d\" fill=\"%s\" xml:space=\"preserve\">\n", fonts, fontSize, ink)
	for y := range h {
		drawRow(&b, t, w, y)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// piece is a run of cells that look alike.
type piece struct {
	x, cells int
	text     string
	style    uv.Style
}

func drawRow(b *strings.Builder, t *vt.Emulator, w, y int) {
	pieces := piecesOf(t, w, y)
	top := bar + margin + float64(y)*cellH
	for _, p := range pieces {
		if bg := p.ground(); bg != "" {
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", left(p.x), top, float64(p.cells)*cellW, cellH, bg)
		}
	}
	for _, p := range pieces {
		if strings.TrimSpace(p.text) == "" {
			continue
		}
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\"%s>%s</text>\n", left(p.x), top+cellH-3.7, float64(p.cells)*cellW, p.look(), html.EscapeString(p.text))
	}
}

func left(x int) float64 { return margin + float64(x)*cellW }

// piecesOf cuts a row where the look changes, and around what a font may not have.
func piecesOf(t *vt.Emulator, w, y int) (out []piece) {
	alone := true
	for x := 0; x < w; {
		c := t.CellAt(x, y)
		if c == nil || c.Width == 0 {
			x++
			continue
		}
		odd := len(c.Content) > 1 && !strings.ContainsAny(c.Content, "─│━┃═▁▂▃▄▅▆▇█")
		if n := len(out); n > 0 && !odd && !alone && out[n-1].style.Equal(&c.Style) {
			out[n-1].text += c.Content
			out[n-1].cells += c.Width
		} else {
			out = append(out, piece{x, c.Width, c.Content, c.Style})
		}
		alone = odd
		x += c.Width
	}
	return out
}

func (p *piece) reversed() bool { return p.style.Attrs&uv.AttrReverse != 0 }

func (p *piece) ground() string {
	if p.reversed() {
		return hex(p.style.Fg, ink)
	}
	return hex(p.style.Bg, "")
}

// look is what of the style is not the usual.
func (p *piece) look() (s string) {
	fg := hex(p.style.Fg, "")
	if p.reversed() {
		fg = hex(p.style.Bg, ground)
	}
	if fg != "" {
		s = fmt.Sprintf(" fill=\"%s\"", fg)
	}
	if p.style.Attrs&uv.AttrBold != 0 {
		s += " font-weight=\"bold\""
	}
	return s
}

// basic are the sixteen colours that a terminal gives looks of its own.
var basic = [16]string{
	"#3b3f46", "#ff7b72", "#7ec699", "#e3b341", "#7cb7ff", "#c49bdc", "#6fc3c3", "#c5c8c6",
	"#8a8f98", "#ffa198", "#a6dcb8", "#f0cf7a", "#a8cfff", "#dcc0ee", "#9adada", "#ffffff",
}

func hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	if n, ok := c.(ansi.BasicColor); ok {
		return basic[n&15]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
