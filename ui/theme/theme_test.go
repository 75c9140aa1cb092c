package theme

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/ui/draw"
)

// TestProfiles: a terminal gets the kind of colours it has, and none where there are
// none.
func TestProfiles(t *testing.T) {
	for p, c := range map[colorprofile.Profile]struct{ want, not []string }{
		colorprofile.TrueColor: {[]string{"38;2;"}, []string{"38;5;"}},
		colorprofile.ANSI256:   {[]string{"38;5;"}, []string{"38;2;"}},
		colorprofile.ANSI:      {[]string{"[91m", "[7m"}, []string{"38;", "48;"}},
		colorprofile.ASCII:     {[]string{"[1m", "[7m"}, []string{"38;", "48;", "[9", "[3"}},
		colorprofile.NoTTY:     {nil, []string{"\x1b"}},
	} {
		all := strings.Join(styles(New(p, true)), "")
		for _, w := range c.want {
			if !strings.Contains(all, w) {
				t.Errorf("%v has no %q: %q", p, w, all)
			}
		}
		for _, n := range c.not {
			if strings.Contains(all, n) {
				t.Errorf("%v has %q: %q", p, n, all)
			}
		}
	}
}

func styles(t *Theme) (out []string) {
	v := reflect.ValueOf(*t)
	for i := range v.NumField() {
		if s, ok := v.Field(i).Interface().(draw.Style); ok {
			out = append(out, string(s))
		}
	}
	return out
}

// TestContrast: words can be read on the ground and on the cursor's row, by the ratio of
// WCAG 2.2. What is faint is so on purpose, and is still told from its ground.
func TestContrast(t *testing.T) {
	grounds := map[bool]uint32{true: 0x181818, false: 0xffffff}
	for name, p := range map[string]struct {
		pair
		least float64
	}{
		"grey": {grey, 4.5}, "faint": {faint, 4}, "accent": {accent, 4.5}, "red": {red, 4.5}, "yellow": {yellow, 4.5}, "green": {green, 4.5},
		"key": {key, 4.5}, "text": {text, 4.5}, "number": {number, 4.5}, "word": {word, 4.5}, "teal": {teal, 4.5},
	} {
		for dark, ground := range grounds {
			c, row := p.light, cursor.light
			if dark {
				c, row = p.dark, cursor.dark
			}
			for kind, on := range map[string][2]uint32{
				"exact":        {c.hex, ground},
				"256":          {of256(c.x), ground},
				"exact cursor": {c.hex, row.hex},
				"256 cursor":   {of256(c.x), of256(row.x)},
			} {
				least := p.least
				if strings.Contains(kind, "cursor") {
					least = 3
				}
				if got := contrast(on[0], on[1]); got < least {
					t.Errorf("%s, dark %v, %s: %.2f, want %.1f", name, dark, kind, got, least)
				}
			}
		}
	}
}

// of256 is a colour of the palette of 256, as xterm has it.
func of256(n uint8) uint32 {
	if n >= 232 {
		v := 8 + 10*uint32(n-232)
		return v<<16 | v<<8 | v
	}
	n -= 16
	level := func(v uint8) uint32 {
		if v == 0 {
			return 0
		}
		return 55 + 40*uint32(v)
	}
	return level(n/36)<<16 | level(n/6%6)<<8 | level(n%6)
}

func contrast(a, b uint32) float64 {
	x, y := luminance(a)+.05, luminance(b)+.05
	return max(x, y) / min(x, y)
}

func luminance(hex uint32) float64 {
	channel := func(n uint32) float64 {
		c := float64(n&0xff) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*channel(hex>>16) + .7152*channel(hex>>8) + .0722*channel(hex)
}
