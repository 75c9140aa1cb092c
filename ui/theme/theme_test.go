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

// TestContrast: every colour of text can be read on its ground, and on the cursor's
// row. The figures are those of WCAG 2: 4.5 for text, 3 for what is large or a sign;
// what is faint on purpose is nothing that has to be read.
func TestContrast(t *testing.T) {
	for name, c := range map[string]struct {
		p     pair
		least float64
	}{
		"grey": {grey, 4.5}, "accent": {accent, 4.5}, "red": {red, 4.5}, "yellow": {yellow, 4.5}, "green": {green, 4.5}, "key": {key, 4.5},
		"text": {text, 4.5}, "number": {number, 4.5}, "word": {word, 4.5}, "teal": {teal, 4.5}, "faint": {faint, 2.3},
	} {
		for ground, hex := range map[string][2]uint32{"dark": {0x171717, cursor.dark.hex}, "light": {0xffffff, cursor.light.hex}} {
			fg := c.p.dark.hex
			if ground == "light" {
				fg = c.p.light.hex
			}
			if got := contrast(fg, hex[0]); got < c.least {
				t.Errorf("%s on %s has a contrast of %.1f, want %.1f", name, ground, got, c.least)
			}
			if got := contrast(fg, hex[1]); got < c.least*.7 {
				t.Errorf("%s on the cursor's row, %s, has a contrast of %.1f, want %.1f", name, ground, got, c.least*.7)
			}
		}
	}
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
