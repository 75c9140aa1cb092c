package httptap

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// keep masks nothing.
type keep struct{}

func (keep) Header(_, v string) string                    { return v }
func (keep) Target(s string) string                       { return s }
func (keep) Endpoint(s string) string                     { return s }
func (keep) Body(_ string, b []byte) (m []byte, hid bool) { return b, false }

// journals makes the journals of a tap, files in a folder.
func journals(tb testing.TB, dir string) func(Client) *tap.Writer {
	n := 0
	return func(Client) *tap.Writer {
		n++
		start := time.Now()
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", n))
		return tap.NewWriter(tap.Header{Session: "s", Start: start, Transport: "http"}, tap.WriterOptions{
			Open: func() (tap.File, error) {
				return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			},
			Side: func(suffix string) (tap.File, error) {
				return os.Create(filepath.Join(dir, fmt.Sprintf("%d.%s", n, suffix)))
			},
			Since: func() time.Duration { return time.Since(start) },
			Warn:  func(s string) { tb.Errorf("warning: %s", s) },
		})
	}
}

// arms are the ways to the same server: without anything between, through the
// standard library's reverse proxy, and through the tap.
func arms(b *testing.B, handler http.HandlerFunc, run func(b *testing.B, base string)) {
	server := httptest.NewServer(handler)
	defer server.Close()
	to, _ := url.Parse(server.URL)
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256},
		FlushInterval: -1,
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // else it may break off before its request is through
		forward.ServeHTTP(w, r)
	}))
	defer plain.Close()
	b.Run("direct", func(b *testing.B) { run(b, server.URL) })
	b.Run("proxy", func(b *testing.B) { run(b, plain.URL) })
	b.Run("tap", func(b *testing.B) { run(b, tapTo(b, server.URL+"/mcp").base) })
}

const smallCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tickets","arguments":{"query":"CSV export"}}}`

func post(b *testing.B, base string, body []byte) {
	b.Helper()
	req, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, base+"/mcp", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%s, %v", res.Status, err)
	}
}

// BenchmarkRequest is one small call after the other.
func BenchmarkRequest(b *testing.B) {
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[{\"id\":\"T-102\"}]"}]}}`)
	arms(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}, func(b *testing.B, base string) {
		for b.Loop() {
			post(b, base, []byte(smallCall))
		}
	})
}

// BenchmarkDown is bodies of 1 MB from the server, and BenchmarkUp to it.
func BenchmarkDown(b *testing.B) {
	answer := append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}]}}`...)
	arms(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	}, func(b *testing.B, base string) {
		b.SetBytes(int64(len(answer)))
		for b.Loop() {
			post(b, base, []byte(smallCall))
		}
	})
}

func BenchmarkUp(b *testing.B) {
	call := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"text":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}}}`...)
	arms(b, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}, func(b *testing.B, base string) {
		b.SetBytes(int64(len(call)))
		for b.Loop() {
			post(b, base, call)
		}
	})
}

// BenchmarkEvents is a stream of events as fast as it goes, each flushed.
func BenchmarkEvents(b *testing.B) {
	const events = 1000
	one := []byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":20,\"progress\":1,\"total\":2}}\n\n")
	arms(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		for range events {
			_, _ = w.Write(one)
			_ = flush.Flush()
		}
	}, func(b *testing.B, base string) {
		b.SetBytes(int64(events * len(one)))
		for b.Loop() {
			post(b, base, []byte(smallCall))
		}
	})
}
