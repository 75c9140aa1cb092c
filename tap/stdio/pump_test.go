//go:build unix

package stdio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// pipe gives both ends of a new pipe.
func pipe(t testing.TB) (r, w fd) {
	t.Helper()
	var ends [2]int
	if err := cloexecPipe(&ends); err != nil {
		t.Fatal(err)
	}
	return fd(ends[0]), fd(ends[1])
}

// watcher is a receiver that compares each thing it gets with the journal.
type watcher struct {
	t    *testing.T
	file *memory
	got  bytes.Buffer
}

func (w *watcher) Write(b []byte) (int, error) {
	w.got.Write(b)
	delivered := w.got.Bytes()
	whole := delivered[:bytes.LastIndexByte(delivered, '\n')+1]
	if recorded := taptest.Raw(w.t, w.file.Bytes(), tap.S2C); !bytes.HasPrefix(recorded, whole) {
		w.t.Fatalf("delivered but not recorded: %q, recorded %q", whole, recorded)
	}
	return len(b), nil
}

func (*watcher) Close() error { return nil }

func TestRecordedBeforeDelivered(t *testing.T) {
	r, in := pipe(t)
	j, file, _ := journal()
	w := &watcher{t: t, file: file}
	p := newPump(tap.S2C, r, w, j)
	go p.run()
	var want bytes.Buffer
	for i := range 200 {
		piece := strings.Repeat(fmt.Sprintf(`{"id":%d}`+"\n", i), i%5) + `{"half":`
		want.WriteString(piece)
		if _, err := in.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	_ = in.Close()
	<-p.done
	if w.got.String() != want.String() {
		t.Error("what was delivered is not what was sent")
	}
	if got := taptest.Raw(t, file.Bytes(), tap.S2C); !bytes.Equal(got, want.Bytes()) {
		t.Error("what was recorded is not what was sent")
	}
}

func TestPieceOfAFrameIsPassedOnAtOnce(t *testing.T) {
	r, in := pipe(t)
	out, w := pipe(t)
	j, _, _ := journal()
	p := newPump(tap.S2C, r, w, j)
	go p.run()
	got := make([]byte, 100)
	for _, piece := range []string{`{"a`, `":`, `1}`, "\n", "x"} {
		if _, err := in.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
		if n, err := out.Read(got); err != nil || string(got[:n]) != piece { // hangs if it is held back
			t.Fatalf("got %q, %v, want %q", got[:n], err, piece)
		}
	}
	_ = in.Close()
	<-p.done
}

func TestPumpEndsWithItsReceiver(t *testing.T) {
	r, in := pipe(t)
	out, w := pipe(t)
	j, file, _ := journal()
	p := newPump(tap.S2C, r, w, j)
	_ = out.Close()
	go p.run()
	if _, err := in.Write([]byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	<-p.done
	if p.failed() == nil {
		t.Error("the pump did not see that its receiver is gone")
	}
	if _, err := in.Write([]byte("{}\n")); err == nil {
		t.Error("the sender does not see that its receiver is gone")
	}
	if got := taptest.Raw(t, file.Bytes(), tap.S2C); string(got) != "{}\n" {
		t.Errorf("recorded %q", got)
	}
}

func TestLongFrameGoesToASideFile(t *testing.T) {
	body := `{"x":"` + strings.Repeat("y", 20<<20) + `"}`
	r, in := pipe(t)
	out, w := pipe(t)
	j, file, spilled := journal()
	p := newPump(tap.S2C, r, w, j)
	go p.run()
	go func() {
		_, _ = in.Write([]byte(body + "\r\n{}\n"))
		_ = in.Close()
	}()
	got, err := io.ReadAll(out)
	if err != nil || string(got) != body+"\r\n{}\n" {
		t.Fatalf("%d bytes delivered, %v", len(got), err)
	}
	<-p.done
	taptest.Check(t, file.Bytes())
	f := taptest.Records(t, file.Bytes())[1].Frame
	if f.Digest == nil || f.Digest.File != "s2c-1.bin" || !f.JSON || f.EOL != tap.CRLF {
		t.Fatalf("%+v", f)
	}
	if spilled["s2c-1.bin"].String() != body {
		t.Error("the side file is not the frame")
	}
}

func TestRelayPassesEverythingToASlowReader(t *testing.T) {
	out, w := pipe(t)
	r := newRelay(w)
	want := bytes.Repeat([]byte("0123456789abcdef"), 4*relayRoom/16)
	go func() {
		for b := want; len(b) > 0; b = b[min(len(b), 5000):] {
			_, _ = r.Write(b[:min(len(b), 5000)])
		}
		_ = r.Close()
		<-r.done
		_ = w.Close()
	}()
	got, err := io.ReadAll(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d; %v", len(got), len(want), err)
	}
}

func TestRelayDoesNotWaitForAReaderThatIsStuck(t *testing.T) {
	out, w := pipe(t)
	r := newRelay(w)
	line := bytes.Repeat([]byte("x"), 1000)
	for range 8 * relayRoom / 1000 { // blocks for ever if the relay waits
		_, _ = r.Write(line)
	}
	r.mu.Lock()
	dropped := r.dropped
	r.mu.Unlock()
	if dropped == 0 {
		t.Fatal("nothing was dropped")
	}
	go func() {
		time.Sleep(10 * time.Millisecond)
		_ = r.Close()
		<-r.done
		_ = w.Close()
	}()
	if _, err := io.CopyN(io.Discard, out, 2*relayRoom); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}

// BenchmarkPump is a frame's way through the tap: from one pipe, through a
// journal on disk, into another pipe. There must be no allocation per frame.
func BenchmarkPump(b *testing.B) {
	for _, size := range []int{200, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			file, err := os.OpenFile(b.TempDir()+"/journal.jsonl", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			j := tap.NewWriter(tap.Header{}, tap.WriterOptions{
				Open:  func() (tap.File, error) { return file, nil },
				Since: func() time.Duration { return time.Since(start) },
			})
			r, in := pipe(b)
			out, w := pipe(b)
			p := newPump(tap.C2S, r, w, j)
			go p.run()
			frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"q":"` + strings.Repeat("y", size) + `"}}}` + "\n")
			buf := make([]byte, len(frame))
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := in.Write(frame); err != nil {
					b.Fatal(err)
				}
				for n := 0; n < len(frame); {
					k, err := out.Read(buf)
					if err != nil {
						b.Fatal(err)
					}
					n += k
				}
			}
			_ = in.Close()
			<-p.done
		})
	}
}

// TestPumpAllocatesNothing holds the pump to what BenchmarkPump measures.
func TestPumpAllocatesNothing(t *testing.T) {
	r, in := pipe(t)
	out, w := pipe(t)
	j := tap.NewWriter(tap.Header{}, tap.WriterOptions{
		Open:  func() (tap.File, error) { return os.OpenFile(os.DevNull, os.O_WRONLY, 0) },
		Since: func() time.Duration { return 0 },
	})
	p := newPump(tap.C2S, r, w, j)
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}` + "\n" + `{"half":`)
	got := make([]byte, len(frame))
	if n := testing.AllocsPerRun(100, func() {
		if _, err := in.Write(frame); err != nil {
			t.Fatal(err)
		}
		p.step()
		if _, err := out.Read(got); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}
