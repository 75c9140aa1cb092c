package decode

import (
	"testing"

	"github.com/mcptap/mcptap/tap"
)

func TestCrossed(t *testing.T) {
	body := []byte(`{"a":"«redacted:1»"}`)
	for _, c := range []struct {
		name    string
		carried tap.Carriage
		event   bool
		want    int64
	}{
		{"as it is", tap.Carriage{}, false, int64(len(body)) + 1},
		{"a masked body", tap.Carriage{Wire: 9, Masked: true}, false, 9},
		{"a masked body of an older tap", tap.Carriage{Masked: true}, false, int64(len(body)) + 1},
		{"compressed", tap.Carriage{Wire: 5, Encoding: "gzip"}, false, 5},
		{"nonsense", tap.Carriage{Wire: -5, Encoding: "gzip"}, false, int64(len(body)) + 1},
		{"an event", tap.Carriage{Wire: 60}, true, int64(len(body)) + 1},
		{"a masked event, shorter than its mask", tap.Carriage{Wire: 12, Masked: true}, true, 12},
		{"a masked event", tap.Carriage{Wire: 60, Masked: true}, true, int64(len(body)) + 1},
	} {
		f := &tap.Frame{Dir: tap.S2C, Body: body, JSON: true, HTTP: &c.carried}
		c.carried.Exchange = 1
		if c.event {
			f.SSE = new(tap.SSE)
		}
		if got := Crossed(f); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		s := New(Options{Bytes: true})
		s.Add(f)
		if got := s.Frame(0); got.Size != c.want || got.Framing < 0 {
			t.Errorf("%s: %+v", c.name, got)
		}
		if tot := s.Totals(); tot.Dirs[tap.S2C].Total()+tot.Packed[tap.S2C] != c.want {
			t.Errorf("%s: %v %v", c.name, tot.Dirs[tap.S2C], tot.Packed)
		}
	}
}

// TestCompressedStream: what crossed of it is known when it ends.
func TestCompressedStream(t *testing.T) {
	s := New(Options{Bytes: true})
	event := &tap.Frame{Dir: tap.S2C, EOL: tap.NoEOL, JSON: true, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`),
		HTTP: &tap.Carriage{Exchange: 1, Wire: 50, Encoding: "gzip"}, SSE: new(tap.SSE)}
	s.Record(&tap.Record{HTTP: &tap.Exchange{Exchange: 1, Phase: tap.PhaseEvent, SSE: &tap.SSE{Comments: 1}, Wire: 14}})
	s.Record(&tap.Record{Frame: event})
	s.Record(&tap.Record{HTTP: &tap.Exchange{Exchange: 1, Phase: tap.PhaseEnd, By: tap.EndServer, Down: 33}})
	tot := s.Totals()
	if got := tot.All.Total() + tot.HTTP.Total() + tot.Packed[tap.S2C]; got != 33 {
		t.Errorf("%d bytes: %v %v %v", got, tot.All, tot.HTTP, tot.Packed)
	}
}

// TestSideFiles: a frame too long to be taken apart counts, one that was not kept
// does not.
func TestSideFiles(t *testing.T) {
	s := New(Options{Bytes: true})
	s.Add(&tap.Frame{Dir: tap.S2C, JSON: true, Digest: &tap.Digest{File: "s2c-1.bin", Bytes: 100, Head: "{"}})
	s.Add(&tap.Frame{Dir: tap.S2C, JSON: true, Digest: &tap.Digest{Reason: "full", Bytes: 30, Head: "{"}})
	if tot := s.Totals(); tot.All[PartLong] != 100 || tot.All.Total() != 101 || tot.Unparsed != 31 {
		t.Errorf("%+v", tot)
	}
}
