package stdio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

type memory struct{ bytes.Buffer }

func (m *memory) Truncate(n int64) error { m.Buffer.Truncate(int(n)); return nil }
func (*memory) Close() error             { return nil }

// journal writes to memory; spilled has what went to side files.
func journal() (w *tap.Writer, file *memory, spilled map[string]*memory) {
	file, spilled = &memory{}, map[string]*memory{}
	w = tap.NewWriter(tap.Header{Session: "x", Transport: "stdio", Start: time.Unix(0, 0).UTC()}, tap.WriterOptions{
		Open:  func() (tap.File, error) { return file, nil },
		Since: func() time.Duration { return 0 },
		Side: func(suffix string) (tap.File, error) {
			spilled[suffix] = &memory{}
			return spilled[suffix], nil
		},
	})
	return w, file, spilled
}

// split feeds b to a framer in pieces whose lengths next gives, and describes
// the frames: how each is written, its length, its end.
func split(b []byte, limit int, pieces bool, next func() int) (all []string, raw []byte) {
	w, _, spilled := journal()
	spill := func() *tap.Spill { return w.Spill(tap.S2C) }
	if pieces {
		spill = nil
	}
	f := newFramer(tap.S2C, limit, spill)
	add := func(frames []tap.Frame) {
		for _, fr := range frames {
			body := fr.Body
			if fr.Digest != nil {
				body = spilled[fr.Digest.File].Bytes()
			}
			all = append(all, fmt.Sprintf("json=%v spilled=%v eol=%q %.40q (%d)", fr.JSON, fr.Digest != nil, fr.EOL.String(), body, len(body)))
			raw = append(append(raw, body...), fr.EOL.String()...)
		}
	}
	for len(b) > 0 {
		n := min(len(b), max(1, next()), readSize)
		copy(f.room(), b[:n])
		b = b[n:]
		add(f.take(n))
	}
	add(f.close())
	return all, raw
}

func whole() int { return 1 << 30 }

func TestFramer(t *testing.T) {
	for in, want := range map[string][]string{
		"":                        nil,
		"{}\n":                    {`json=true spilled=false eol="\n" "{}" (2)`},
		"{}\r\n":                  {`json=true spilled=false eol="\r\n" "{}" (2)`},
		"{}":                      {`json=true spilled=false eol="" "{}" (2)`},
		"{}\r":                    {`json=false spilled=false eol="" "{}\r" (3)`},
		"\n":                      {`json=false spilled=false eol="\n" "" (0)`},
		"\r\n":                    {`json=false spilled=false eol="\r\n" "" (0)`},
		"a\r\r\n":                 {`json=false spilled=false eol="\r\n" "a\r" (2)`},
		"1\n2":                    {`json=true spilled=false eol="\n" "1" (1)`, `json=true spilled=false eol="" "2" (1)`},
		"\"\u2028\"\n":            {`json=true spilled=false eol="\n" "\"\u2028\"" (5)`},
		"\"123456789012345\"\r\n": {`json=true spilled=true eol="\r\n" "\"123456789012345\"" (17)`},
		"1234567890123456":        {`json=true spilled=false eol="" "1234567890123456" (16)`},
		"1234567890123456\r\n1":   {`json=true spilled=false eol="\r\n" "1234567890123456" (16)`, `json=true spilled=false eol="" "1" (1)`},
		"12345678901234567\r":     {`json=false spilled=true eol="" "12345678901234567\r" (18)`},
	} {
		for n := 1; n < 20; n++ {
			got, raw := split([]byte(in), 16, false, func() int { return n })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q in pieces of %d: %s", in, n, diff)
			}
			if string(raw) != in {
				t.Errorf("%q in pieces of %d came out as %q", in, n, raw)
			}
		}
	}
}

func TestFramerCutsPieces(t *testing.T) {
	for in, want := range map[string][]string{
		"0123456789abcdefXYZ\n": {`json=false spilled=false eol="" "0123456789abcdef" (16)`, `json=false spilled=false eol="\n" "XYZ" (3)`},
		"0123456789abcdef\r\n":  {`json=false spilled=false eol="\r\n" "0123456789abcdef" (16)`},
		"0123456789abcdé!\n":    {`json=false spilled=false eol="" "0123456789abcdé" (16)`, `json=false spilled=false eol="\n" "!" (1)`},
		"0123456789abcdeé!\n":   {`json=false spilled=false eol="" "0123456789abcde" (15)`, `json=false spilled=false eol="\n" "é!" (3)`},
	} {
		for n := 1; n < 20; n++ {
			got, raw := split([]byte(in), 16, true, func() int { return n })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q in pieces of %d: %s", in, n, diff)
			}
			if string(raw) != in {
				t.Errorf("%q in pieces of %d came out as %q", in, n, raw)
			}
		}
	}
}

// FuzzFramer has the properties that the tap rests on: however the bytes are cut
// into reads, the frames are the same, and together they are the bytes.
func FuzzFramer(f *testing.F) {
	f.Add([]byte("{\"a\":1}\r\nnoise\n\xff\xfe\r\r\n\"é\u2028\"\n[1,2"), uint64(1), false)
	f.Add([]byte(strings.Repeat("x", 100)+"\r\n"+strings.Repeat("é", 100)), uint64(2), true)
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, pieces bool) {
		want, raw := split(b, 16, pieces, whole)
		if !bytes.Equal(raw, b) {
			t.Fatalf("%q came out as %q", b, raw)
		}
		r := rand.New(rand.NewPCG(seed, seed))
		got, raw := split(b, 16, pieces, func() int { return r.IntN(20) })
		if diff := cmp.Diff(want, got); diff != "" || !bytes.Equal(raw, b) {
			t.Fatalf("%q: %s", b, diff)
		}
	})
}
