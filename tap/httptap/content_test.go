package httptap

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// flusher is what all the encoders are.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// encoder returns what puts one encoding on.
func encoder(t testing.TB, coding string, w io.Writer) flusher {
	t.Helper()
	switch coding {
	case "gzip":
		return gzip.NewWriter(w)
	case "zlib":
		return zlib.NewWriter(w)
	case "raw":
		f, err := flate.NewWriter(w, 6)
		if err != nil {
			t.Fatal(err)
		}
		return f
	case "br":
		return brotli.NewWriter(w)
	case "zstd":
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	t.Fatalf("no encoder for %s", coding)
	return nil
}

// codings are the encoders, and the name that each has in a header.
var codings = map[string]string{"gzip": "gzip", "zlib": "deflate", "raw": "deflate", "br": "br", "zstd": "zstd"}

func encode(t testing.TB, coding string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := encoder(t, coding, &out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// decodeIn decodes a body in pieces of at most n bytes.
func decodeIn(t testing.TB, encoding string, limit int64, body []byte, n int) ([]byte, error) {
	t.Helper()
	var got []byte
	d, err := newDecoder(encoding, limit, func(b []byte) { got = append(got, b...) })
	if err != nil {
		t.Fatal(err)
	}
	for len(body) > 0 {
		piece := body[:min(n, len(body))]
		d.Feed(piece)
		body = body[len(piece):]
	}
	return got, d.Close()
}

// text is something that compresses, but not to nothing.
func text(n int) []byte {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`+"\n", random.IntN(1000), random.Int64())
	}
	return b.Bytes()[:n]
}

const noLimit = 1 << 40

func TestDecoder(t *testing.T) {
	for coding, name := range codings {
		for _, size := range []int{0, 1, 100, 70_000, 1_000_000} {
			for _, piece := range []int{1, 7, 4096, 1 << 30} {
				if piece == 1 && size > 100_000 {
					continue
				}
				want := text(size)
				got, err := decodeIn(t, name, noLimit, encode(t, coding, want), piece)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %d bytes in pieces of %d: %d bytes, %v", coding, size, piece, len(got), err)
				}
			}
		}
	}
}

func TestDecoderStacked(t *testing.T) {
	want := text(50_000)
	body := encode(t, "zstd", encode(t, "br", encode(t, "raw", encode(t, "gzip", want))))
	got, err := decodeIn(t, "gzip , deflate,br, identity, ZSTD", noLimit, body, 100)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for inner, a := range codings {
		for outer, b := range codings {
			got, err := decodeIn(t, a+","+b, noLimit, encode(t, outer, encode(t, inner, want)), 1000)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s in %s: %d bytes, %v", inner, outer, len(got), err)
			}
			if _, err := decodeIn(t, a+","+b, noLimit, encode(t, outer, append(encode(t, inner, want), 'x')), 1000); err == nil {
				t.Errorf("%s with a byte too much in %s is taken", inner, outer)
			}
		}
	}
}

func TestDecoderIdentity(t *testing.T) {
	for _, name := range []string{"", "identity", " , "} {
		if got, err := decodeIn(t, name, noLimit, []byte("as it is"), 3); err != nil || string(got) != "as it is" {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestDecoderRefuses(t *testing.T) {
	for _, name := range []string{"compress", "gzip, exi", "gzip;q=1", strings.Repeat("gzip,", maxCodings+1)} {
		if _, err := newDecoder(name, noLimit, nil); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// TestDecoderAtOnce has an event stream that is flushed after each event: the event
// is out when Feed returns, however it was cut and however it is encoded.
func TestDecoderAtOnce(t *testing.T) {
	for coding, name := range codings {
		t.Run(coding, func(t *testing.T) {
			var wire bytes.Buffer
			w := encoder(t, coding, &wire)
			var got bytes.Buffer
			d, err := newDecoder(name, noLimit, func(b []byte) { got.Write(b) })
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for i := range 200 {
				event := fmt.Sprintf("event: message\ndata: {\"n\":%d,%q:1}\n\n", i, text(i*13))
				want += event
				if _, err := io.WriteString(w, event); err != nil {
					t.Fatal(err)
				}
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				for piece := 1 + i%9*50; wire.Len() > 0; {
					d.Feed(wire.Next(piece))
				}
				if got.String() != want {
					t.Fatalf("after event %d there are %d bytes instead of %d", i, got.Len(), len(want))
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			d.Feed(wire.Bytes())
			if err := d.Close(); err != nil || got.String() != want {
				t.Errorf("%d bytes instead of %d, %v", got.Len(), len(want), err)
			}
		})
	}
}

func TestDecoderTruncated(t *testing.T) {
	want := text(3000)
	for coding, name := range codings {
		body := encode(t, coding, want)
		for n := 1; n < len(body); n++ {
			got, err := decodeIn(t, name, noLimit, body[:n], 97)
			if err == nil || !bytes.HasPrefix(want, got) {
				t.Errorf("%s cut off after %d of %d bytes: %d bytes, %v", coding, n, len(body), len(got), err)
				break
			}
		}
	}
}

// TestDecoderEmpty has answers without a body that name an encoding all the same.
func TestDecoderEmpty(t *testing.T) {
	for _, name := range codings {
		if got, err := decodeIn(t, name, noLimit, nil, 1); err != nil || len(got) > 0 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestDecoderCorrupt(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for coding, name := range codings {
		good := encode(t, coding, text(5000))
		for range 300 {
			bad := bytes.Clone(good)
			for range 1 + random.IntN(4) {
				bad[random.IntN(len(bad))] ^= byte(1 + random.IntN(255))
			}
			_, err := decodeIn(t, name, 1<<20, bad, 1+random.IntN(500))
			if err != nil && err.Error() == "" {
				t.Errorf("%s: an error without words", coding)
			}
		}
		if _, err := decodeIn(t, name, noLimit, []byte("this is no encoded body at all, by any means"), 5); err == nil {
			t.Errorf("%s: plain text is taken", coding)
		}
		if got, err := decodeIn(t, name, noLimit, append(bytes.Clone(good), "\x00and more"...), 1<<20); len(got) != 5000 {
			t.Errorf("%s with more after the end: %d bytes, %v", coding, len(got), err)
		}
	}
}

// TestDecoderBomb has a small body that decodes to 100 MB.
func TestDecoderBomb(t *testing.T) {
	for coding, name := range codings {
		bomb := encode(t, coding, make([]byte, 100<<20))
		for _, limit := range []int64{0, 1, 100_000, 1 << 20} {
			got, err := decodeIn(t, name, limit, bomb, 1<<20)
			if !errors.Is(err, errTooLong) || int64(len(got)) != limit {
				t.Errorf("%s, at most %d: %d bytes, %v", coding, limit, len(got), err)
			}
		}
		twice := encode(t, coding, bomb)
		if got, err := decodeIn(t, name+","+name, 1000, twice, 1<<20); !errors.Is(err, errTooLong) || len(got) != 1000 {
			t.Errorf("%s twice: %d bytes, %v", coding, len(got), err)
		}
	}
	if got, err := decodeIn(t, "gzip", 5000, encode(t, "gzip", text(5000)), 1000); err != nil || len(got) != 5000 {
		t.Errorf("a body as long as the limit: %d bytes, %v", len(got), err)
	}
}

func TestDecoderLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for coding, name := range codings {
		good := encode(t, coding, text(100_000))
		for range 50 {
			decodeIn(t, name, noLimit, good, 1<<20)
			decodeIn(t, name, noLimit, good[:len(good)/2], 1<<20)
			decodeIn(t, name, noLimit, good[len(good)/2:], 1<<20)
			decodeIn(t, name, 10, good, 1<<20)
			decodeIn(t, name, noLimit, nil, 1)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines became %d", before, after)
	}
}

func FuzzDecoder(f *testing.F) {
	names := []string{"gzip", "deflate", "br", "zstd", "gzip,br"}
	for i, coding := range []string{"gzip", "zlib", "br", "zstd"} {
		f.Add(uint8(i), encode(f, coding, text(100)), 3)
	}
	f.Add(uint8(1), encode(f, "raw", text(100)), 10)
	f.Fuzz(func(t *testing.T, which uint8, body []byte, piece int) {
		name := names[int(which)%len(names)]
		whole, err := decodeIn(t, name, 1<<20, body, len(body)+1)
		pieces, err2 := decodeIn(t, name, 1<<20, body, 1+max(0, piece)%1000)
		if (err == nil) != (err2 == nil) || err == nil && !bytes.Equal(whole, pieces) {
			t.Errorf("%s: %d bytes, %v; in pieces %d bytes, %v", name, len(whole), err, len(pieces), err2)
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	want := text(1 << 20)
	for coding, name := range codings {
		b.Run(coding, func(b *testing.B) {
			body := encode(b, coding, want)
			b.SetBytes(int64(len(want)))
			b.ReportAllocs()
			for b.Loop() {
				d, err := newDecoder(name, noLimit, func([]byte) {})
				if err != nil {
					b.Fatal(err)
				}
				for rest := body; len(rest) > 0; {
					n := min(4096, len(rest))
					d.Feed(rest[:n])
					rest = rest[n:]
				}
				if err := d.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
