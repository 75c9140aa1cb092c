// Command draw turns what stood on a terminal into pictures.
//
//	draw svg OUT.svg <FRAME       a frame, with its escape sequences, as SVG
//	draw cast FOLDER <FILE.cast   the pictures of a recording of asciinema, as SVG, numbered
//	draw gif OUT.gif FILE.cast FOLDER   the PNGs that were made of them, as an animation
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "svg":
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return os.WriteFile(args[1], []byte(SVG(string(b))), 0o644)
	case len(args) == 2 && args[0] == "cast":
		frames, err := readCast(os.Stdin)
		if err != nil {
			return err
		}
		for i, f := range frames {
			if err := os.WriteFile(picture(args[1], i, "svg"), []byte(SVG(f.text)), 0o644); err != nil {
				return err
			}
		}
		return nil
	case len(args) == 4 && args[0] == "gif":
		return makeGIF(args[1], args[2], args[3])
	}
	return errors.New("svg OUT <FRAME, cast FOLDER <FILE, or gif OUT FILE FOLDER")
}

func picture(folder string, i int, ext string) string {
	return filepath.Join(folder, fmt.Sprintf("%03d.%s", i, ext))
}

// frame is one picture of a recording, and the moment it comes, in seconds.
type frame struct {
	at   float64
	text string
}

// wipe is what stands before each whole picture of a recording.
const wipe = "\x1b[H\x1b[2J"

// readCast reads a recording in which each event is a whole picture.
func readCast(in io.Reader) (frames []frame, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		if n == 0 {
			continue // the head
		}
		var e [3]any
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		at, _ := e[0].(float64)
		text, _ := e[2].(string)
		frames = append(frames, frame{at, strings.ReplaceAll(strings.TrimPrefix(text, wipe), "\r\n", "\n")})
	}
	return frames, lines.Err()
}

// lastFor is how long the last picture stays, in seconds.
const lastFor = 4

func makeGIF(out, cast, folder string) error {
	in, err := os.Open(cast)
	if err != nil {
		return err
	}
	defer in.Close()
	frames, err := readCast(in)
	if err != nil {
		return err
	}
	var g gif.GIF
	palette := paletteOf(frames)
	var before *image.Paletted
	for i := range frames {
		img, err := paint(picture(folder, i, "png"), palette)
		if err != nil {
			return err
		}
		stays := float64(lastFor)
		if i+1 < len(frames) {
			stays = frames[i+1].at - frames[i].at
		}
		g.Image = append(g.Image, changed(before, img))
		g.Delay = append(g.Delay, int(100*stays+.5))
		before = img
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := gif.EncodeAll(file, &g); err != nil {
		return err
	}
	return file.Close()
}

// paletteOf has the colours of all pictures, and the steps between them and the ground
// that the edges of letters are made of: with one palette, what is the same in two
// pictures has the same bytes. Its first colour is none.
func paletteOf(frames []frame) color.Palette {
	seen := map[string]bool{}
	p := color.Palette{color.Transparent, color.RGBA{0x17, 0x17, 0x17, 0xff}}
	for _, f := range frames {
		for _, text := range colours.FindAllString(SVG(f.text), -1) {
			if seen[text] || len(p)+steps > 256 {
				continue
			}
			seen[text] = true
			var r, g, b int
			_, _ = fmt.Sscanf(text, "#%02x%02x%02x", &r, &g, &b)
			for i := 1; i <= steps; i++ {
				mix := func(c int) uint8 { return uint8(0x17 + (c-0x17)*i/steps) }
				p = append(p, color.RGBA{mix(r), mix(g), mix(b), 0xff})
			}
		}
	}
	return p
}

const steps = 4

var colours = regexp.MustCompile("#[0-9a-f]{6}")

// paint gives a PNG in the colours of a palette.
func paint(name string, p color.Palette) (*image.Paletted, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out := image.NewPaletted(img.Bounds(), p)
	known := map[color.Color]uint8{}
	for y := out.Rect.Min.Y; y < out.Rect.Max.Y; y++ {
		for x := out.Rect.Min.X; x < out.Rect.Max.X; x++ {
			c := img.At(x, y)
			i, ok := known[c]
			if !ok {
				i = uint8(1 + p[1:].Index(c))
				known[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out, nil
}

// changed is the part of a picture that differs from the one before; what is the same
// within it is transparent.
func changed(before, img *image.Paletted) *image.Paletted {
	if before == nil {
		return img
	}
	out := image.NewPaletted(img.Rect, img.Palette)
	var part image.Rectangle
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			if i := img.ColorIndexAt(x, y); i != before.ColorIndexAt(x, y) {
				out.SetColorIndex(x, y, i)
				part = part.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if part.Empty() {
		part = image.Rect(0, 0, 1, 1)
	}
	return out.SubImage(part).(*image.Paletted)
}
