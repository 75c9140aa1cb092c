//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHundredMegabytes pass both ways, and the tap stays small.
func TestHundredMegabytes(t *testing.T) {
	const size = 100 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); n != size+2 || err != nil {
			t.Errorf("%d bytes arrive, %v", n, err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, quotes(size))
	}))
	defer server.Close()
	p := startHTTP(t, server.URL+"/mcp")
	peak := make(chan int)
	go func() { peak <- peakMemory(p.Process.Pid) }()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url, quotes(size))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, res.Body); n != size+2 || err != nil {
		t.Errorf("%d bytes come back, %v", n, err)
	}
	_ = res.Body.Close()
	journals, _ := p.end()
	if kib := <-peak; kib > 64<<10 && !raceEnabled {
		t.Errorf("the tap took %d KiB of memory", kib)
	} else {
		t.Logf("the tap took %d KiB of memory", kib)
	}
	if len(journals) != 1 || strings.Count(string(journals[0]), fmt.Sprintf(`"bytes":%d`, size+2)) != 2 {
		t.Errorf("%s", journals)
	}
}

// quotes is a JSON string of n letters.
func quotes(n int64) io.Reader {
	return io.MultiReader(strings.NewReader(`"`), io.LimitReader(letters{}, n), strings.NewReader(`"`))
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
