package sessions

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/decode"
)

// longFrames is a recording of frames with bodies of so many bytes and more.
func longFrames(t *testing.T, frames, bytesEach int) *Loaded {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"mcptap":1,"session":"x","start":"2026-11-30T13:00:00Z","transport":"stdio"}` + "\n")
	for i := range frames {
		fmt.Fprintf(&b, `{"n":%d,"t":%d,"dir":"c2s","msg":{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"%s"}}}`+"\n", i+1, i+1, i, strings.Repeat("x", bytesEach))
	}
	s, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return Begin(s, decode.Options{})
}

// TestSomeBytes: many long records are no piece: whoever draws in between would wait.
func TestSomeBytes(t *testing.T) {
	l := longFrames(t, 5, pieceBytes)
	for want := 1; want <= 5; want++ {
		if more, err := l.Some(256); err != nil || !more || l.Len() != want {
			t.Fatalf("%d frames, want %d; more %t, %v", l.Len(), want, more, err)
		}
	}
	if more, err := l.Some(256); err != nil || more {
		t.Errorf("more %t, %v", more, err)
	}
}

// TestReread: what is read again is what crossed, stays as it is, and may be read while the
// session goes on.
func TestReread(t *testing.T) {
	l := longFrames(t, 400, 20)
	if _, err := l.Some(100); err != nil {
		t.Fatal(err)
	}
	first, second := l.Reread(0), l.Reread(1)
	done := make(chan string)
	go func() {
		a := first()
		b := second()
		done <- fmt.Sprint(a.N, b.N, bytes.Contains(l.BodyOf(a), []byte(`"id":0,`)) && bytes.Contains(l.BodyOf(b), []byte(`"id":1,`)))
	}()
	if err := l.More(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != "1 2 true" {
		t.Error(got)
	}
	if f := l.Reread(l.Len())(); f != nil {
		t.Errorf("a frame that does not exist is %+v", f)
	}
}
