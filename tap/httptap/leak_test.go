package httptap

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// TestThousandStreams are open at the same time, end by either side, and leave
// nothing behind. A client among them notices nothing.
func TestThousandStreams(t *testing.T) {
	const streams = 1000
	release := make(chan bool)
	x := tapTo(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(w, r.Body)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"n\":%s}\n\n", r.URL.RawQuery)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release: // by the server
		case <-r.Context().Done(): // by the client
		}
	})+"/mcp")
	call := func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, x.base+"/mcp", strings.NewReader(message))
		if _, got := do(t, req); got != message {
			t.Errorf("%q", got)
		}
	}
	call()
	before := runtime.NumGoroutine()
	open := make([]*wire, streams)
	var all sync.WaitGroup
	for part := range 8 {
		all.Go(func() {
			for i := part; i < streams; i += 8 {
				open[i] = dial(t, x.addr)
				open[i].say(fmt.Sprintf("GET /mcp?%d HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", i, x.addr))
				open[i].until(fmt.Sprintf("data: {\"n\":%d}\n\n", i))
			}
		})
	}
	all.Wait()
	call()
	for _, c := range open[:streams/2] {
		_ = c.Close()
	}
	x.ended(streams/2 + 2)
	call()
	close(release)
	for _, c := range open[streams/2:] {
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Errorf("a stream's end: %v", err)
		}
		_ = c.Close()
	}
	x.ended(streams + 3)
	for i := 0; runtime.NumGoroutine() > before+10; i++ { // connections kept for the next request may have some
		if i == 1000 {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(x.live) != 0 {
		t.Errorf("%d exchanges are live", len(x.live))
	}
	by := map[string]int{}
	for _, a := range exchanges(t, bytes.Join(x.journals(), nil)) {
		by[a.end.By]++
	}
	if by[tap.EndClient] != streams/2 || by[tap.EndServer] != streams/2+3 {
		t.Errorf("ended by %v", by)
	}
}
