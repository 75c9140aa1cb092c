package main

import (
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFresh: each picture is what its frame draws.
func TestFresh(t *testing.T) {
	frames, err := filepath.Glob("../frames/*.txt")
	if err != nil || len(frames) == 0 {
		t.Fatal("no frames", err)
	}
	for _, name := range frames {
		frame, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		svg := filepath.Join("..", strings.TrimSuffix(filepath.Base(name), ".txt")+".svg")
		want, err := os.ReadFile(svg)
		if err != nil {
			t.Fatal(err)
		}
		if SVG(string(frame)) != string(want) {
			t.Errorf("%s is old; 'make screenshots' draws it anew", svg)
		}
	}
}

func TestSVG(t *testing.T) {
	svg := SVG("a\x1b[1;38;2;255;0;0m<b>\x1b[m 漢字 \x1b[7mr\x1b[m\n─ ✓")
	for _, want := range []string{
		`textLength="8.4">a<`, `fill="#ff0000" font-weight="bold">&lt;b&gt;<`, `textLength="16.9">漢<`, `fill="#c5c8c6"/>`, `fill="#171717">r<`, `>✓<`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestChanged(t *testing.T) {
	p := color.Palette{color.Transparent, color.Black, color.White}
	first, second := image.NewPaletted(image.Rect(0, 0, 9, 9), p), image.NewPaletted(image.Rect(0, 0, 9, 9), p)
	for i := range first.Pix {
		first.Pix[i], second.Pix[i] = 1, 1
	}
	second.SetColorIndex(2, 3, 2)
	second.SetColorIndex(4, 5, 2)
	if got := changed(nil, first); got != first {
		t.Error("the first picture is not new as a whole")
	}
	part := changed(first, second)
	if part.Rect != image.Rect(2, 3, 5, 6) || part.At(2, 3) != color.White || part.At(3, 3) != color.Transparent {
		t.Errorf("%v is new: %v, %v", part.Rect, part.At(2, 3), part.At(3, 3))
	}
}

// TestPalette: the colours of the pictures are in the palette, and there are not too
// many of them.
func TestPalette(t *testing.T) {
	cast, err := os.Open("../tour.cast")
	if err != nil {
		t.Fatal(err)
	}
	defer cast.Close()
	frames, err := readCast(cast)
	if err != nil || len(frames) < 10 {
		t.Fatalf("%d frames: %v", len(frames), err)
	}
	p := paletteOf(frames)
	if len(p) > 256 {
		t.Errorf("%d colours", len(p))
	}
	for _, want := range []color.Color{color.RGBA{0x2a, 0x35, 0x46, 0xff}, color.RGBA{0xff, 0x7b, 0x72, 0xff}, color.RGBA{0xff, 0x5f, 0x57, 0xff}} {
		if p.Convert(want) != want {
			t.Errorf("no %v", want)
		}
	}
}
