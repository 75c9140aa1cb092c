package httptap

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/tap"
)

// seen is an event with its data.
type seen struct {
	tap.SSE
	HasData bool
	Data    string
	Wire    int64
}

// split feeds a stream in pieces of these sizes, over and over, and gives its
// events and what it ended with.
func split(stream []byte, sizes []int) (events []seen, rest int64) {
	c := newCollector(func([]byte) *tap.Spill { return tap.Unkept("too long") })
	s := &splitter{data: c}
	s.emit = func(e *eventHead) {
		one := seen{SSE: e.SSE, HasData: e.hasData, Wire: e.wire}
		if e.hasData {
			one.Data = string(c.frame(tap.S2C, false).Body)
		}
		c.reset()
		events = append(events, one)
	}
	for i := 0; len(stream) > 0; i++ {
		n := min(len(stream), max(1, sizes[i%len(sizes)]))
		s.feed(stream[:n])
		stream = stream[n:]
	}
	e, _ := s.rest()
	return events, e.wire
}

// reference follows the HTML standard's text: the whole stream at hand, line by line.
func reference(stream string) (events []seen, rest int64) {
	at := 0
	next := func() (line string, ok bool) {
		i := strings.IndexAny(stream[at:], "\r\n")
		if i < 0 {
			return "", false
		}
		line = stream[at : at+i]
		at += i + 1
		if stream[at-1] == '\r' && at < len(stream) && stream[at] == '\n' {
			at++
		}
		return line, true
	}
	var e seen
	var fields bool
	from := 0
	for first := true; ; first = false {
		line, ok := next()
		if !ok {
			return events, int64(len(stream) - from)
		}
		if first {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && fields:
			e.Wire = int64(at - from)
			events, e, fields, from = append(events, e), seen{}, false, at
			continue
		case line == "":
			continue
		case name == "":
			e.Comments++
			continue
		case name == "event":
			e.Event = value
		case name == "data" && e.HasData:
			e.Data += "\n" + value
		case name == "data":
			e.HasData, e.Data = true, value
		case name == "id" && !strings.Contains(value, "\x00"):
			e.ID = &value
		case name == "retry":
			e.Retry = value
		}
		fields = true
	}
}

func TestSplitterCutsWhatTheStandardCuts(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "data:", "data: ", "data", "data:{\"a\":1}", ": ok", ":", "id: 1_2", "id:", "id: a\x00b", "retry: 3000",
		"event: message", "event:endpoint", "x", " ", "\ufeff", "é", "{}", "data:  two", "unknown: 1", "\xff",
	})
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOf(piece).Draw(t, "stream"), "")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 5).Draw(t, "sizes")
		compare(t, stream, sizes)
	})
}

type failer interface {
	Errorf(format string, args ...any)
}

// compare checks a stream against the reference. The LF of a CR LF that ends an
// event counts to the event for the reference, and to what follows for the
// splitter, which does not wait for it: so lengths are compared as sums.
func compare(t failer, stream string, sizes []int) {
	want, wantRest := reference(stream)
	got, gotRest := split([]byte(stream), sizes)
	sum := func(events []seen, rest int64) int64 {
		for i := range events {
			rest += events[i].Wire
			events[i].Wire = 0
		}
		return rest
	}
	if w, g := sum(want, wantRest), sum(got, gotRest); g != int64(len(stream)) || w != g {
		t.Errorf("%q in %v: %d bytes, want %d", stream, sizes, g, len(stream))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q in %v:\n%s", stream, sizes, diff)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("\ufeffid: 1\ndata:\n\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: ok\r\rdata", 3)
	f.Fuzz(func(t *testing.T, stream string, size int) {
		compare(t, stream, []int{max(1, size%64)})
	})
}

func TestSplitterTakesDataOfAnyLength(t *testing.T) {
	stream := append(append([]byte("data: "), bytes.Repeat([]byte("x"), tap.MaxFrame+10)...), "\n\ndata: small\n\n"...)
	var frames []tap.Frame
	c := newCollector(func([]byte) *tap.Spill { return tap.Unkept("too long") })
	s := &splitter{data: c, emit: func(*eventHead) { frames = append(frames, c.frame(tap.S2C, false)) }}
	for len(stream) > 0 {
		n := min(len(stream), 32<<10)
		s.feed(stream[:n])
		stream = stream[n:]
	}
	if len(frames) != 2 || frames[0].Size() != tap.MaxFrame+10 || frames[0].Digest == nil || string(frames[1].Body) != "small" {
		t.Errorf("%+v", frames)
	}
	if cap(c.buf) > keepRoom {
		t.Errorf("%d bytes are kept", cap(c.buf))
	}
}
