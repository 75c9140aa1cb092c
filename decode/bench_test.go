package decode

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/tap"
)

// smallFrames makes n frames of about 110 to 300 bytes: calls and their results.
func smallFrames(n int) []tap.Frame {
	frames := make([]tap.Frame, n)
	for i := range frames {
		id := i/2 + 1
		f := &frames[i]
		f.N, f.JSON, f.Dir = uint64(i+1), true, tap.C2S
		f.Body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search_tickets","arguments":{"query":"login %d"}}}`, id, id)
		if i%2 == 1 {
			f.Dir = tap.S2C
			f.Body = fmt.Appendf(nil, `{"result":{"content":[{"type":"text","text":"T-%d: Login button does nothing on Safari"}]},"jsonrpc":"2.0","id":%d}`, id, id)
		}
	}
	return frames
}

func totalLen(frames []tap.Frame) (n int64) {
	for i := range frames {
		n += frames[i].Len()
	}
	return n
}

func benchmarkFrames(b *testing.B, frames []tap.Frame, o Options) {
	b.SetBytes(totalLen(frames))
	b.ReportAllocs()
	for b.Loop() {
		s := New(o)
		for i := range frames {
			s.Add(&frames[i])
		}
	}
	b.ReportMetric(float64(len(frames))*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkSmall(b *testing.B) { benchmarkFrames(b, smallFrames(100_000), Options{}) }

func BenchmarkSmallModern(b *testing.B) {
	frames := smallFrames(100_000)
	for i := range frames {
		f := &frames[i]
		if f.Dir == tap.C2S {
			f.Body = []byte(strings.TrimSuffix(string(f.Body), "}}") + "," + clientMeta + "}}")
		}
	}
	benchmarkFrames(b, frames, Options{})
}

func BenchmarkSmallBytes(b *testing.B) {
	benchmarkFrames(b, smallFrames(100_000), Options{Bytes: true})
}

func BenchmarkLarge(b *testing.B) {
	frames := smallFrames(200)
	for i := range frames {
		if f := &frames[i]; f.Dir == tap.S2C {
			inner := strings.Repeat(`{\"id\":\"T-102\",\"title\":\"CSV export\"},`, 1000)
			f.Body = fmt.Appendf(nil, `{"result":{"content":[{"type":"text","text":"[%s0]"}]},"jsonrpc":"2.0","id":%d}`, inner, i/2+1)
		}
	}
	b.Run("calls", func(b *testing.B) { benchmarkFrames(b, frames, Options{}) })
	b.Run("bytes", func(b *testing.B) { benchmarkFrames(b, frames, Options{Bytes: true}) })
}

func BenchmarkCorpus(b *testing.B) {
	var frames []tap.Frame
	for _, file := range corpusFiles(b) {
		for _, st := range loadCorpus(b, file) {
			if st.Frame != nil && st.Frame.HTTP == nil {
				frames = append(frames, *st.Frame)
			}
		}
	}
	benchmarkFrames(b, frames, Options{})
}

// TestMemory: an index entry costs at most 100 bytes a frame, with whatever ids
// clients use.
func TestMemory(t *testing.T) {
	const n = 400_000
	for name, id := range map[string]string{
		"numbers":         `%d`,
		"numbers, tokens": `%d,"params":{"name":"a","_meta":{"progressToken":%[1]d}}`,
		"short strings":   `"req-%d"`,
		"UUIDs":           `"%08x-7c1e-4f0a-9b3d-2f6f5a1c0e77"`,
	} {
		frames := smallFrames(n)
		for i := range frames {
			ask := fmt.Sprintf(id, i/2)
			frames[i].Body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call"}`, ask)
			if i%2 == 1 {
				answer, _, _ := strings.Cut(ask, ",")
				frames[i].Body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, answer)
			}
		}
		before := heap()
		s := New(Options{})
		for i := range frames {
			s.Add(&frames[i])
		}
		each := float64(heap()-before) / n
		t.Logf("%s: %.1f bytes a frame", name, each)
		if each > 100 {
			t.Errorf("%s: %.1f bytes a frame, want at most 100", name, each)
		}
		runtime.KeepAlive(s)
		runtime.KeepAlive(frames)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
