package filter_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/tap"
)

// million is a session of a million frames: calls of four tools, one in ten of which
// fails, and their results.
var million = sync.OnceValue(func() *bigSession {
	const n = 1_000_000
	b := &bigSession{Session: decode.New(decode.Options{}), bodies: make([][]byte, n)}
	tools := []string{"search_tickets", "add_comment", "add_label", "get_ticket"}
	for i := range n {
		id := i/2 + 1
		f := tap.Frame{N: uint64(i + 1), Time: time.Duration(i) * time.Millisecond, JSON: true, Dir: tap.C2S}
		f.Body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"query":"login %d"}}}`, id, tools[id%4], id)
		if i%2 == 1 {
			f.Dir = tap.S2C
			f.Body = fmt.Appendf(nil, `{"result":{"content":[{"type":"text","text":"[{\"id\":\"T-%d\",\"title\":\"Login button does nothing on Safari, gr\\u00fc\\u00dfe\"}]"}],"isError":%t},"jsonrpc":"2.0","id":%d}`, id, id%10 == 0, id)
		}
		b.bodies[i] = f.Body
		b.size += int64(len(f.Body))
		b.Add(&f)
	}
	return b
})

type bigSession struct {
	*decode.Session
	bodies [][]byte
	size   int64
}

// BenchmarkMillion is a whole scan over 1,000,000 frames (or the 500,000 operations
// of them), bodies in memory.
func BenchmarkMillion(b *testing.B) {
	s := million()
	src := filter.Source{Session: s.Session, Body: func(i int) []byte { return s.bodies[i] }}
	for _, text := range []string{"tool:add_*", "tool:add_* and status:tool-error or ms>100", "dir:s2c", "bytes>200", "method:/^tools/ not status:ok",
		"zzzz", "status:tool-error and T-4990", "grüße", "/T-4999[0-9]0/", "path:params.name=add_label"} {
		m := matcher(b, text, src)
		b.Run("frames/"+text, func(b *testing.B) {
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				rows, _ := m.Frames(nil, 0, s.Len(), nil)
				found = len(rows)
			}
			b.ReportMetric(float64(found), "rows")
		})
		b.Run("calls/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Calls(nil, 0, s.Calls(), nil)
			}
		})
	}
}

// BenchmarkFirstRows is the time to the first 50 rows.
func BenchmarkFirstRows(b *testing.B) {
	s := million()
	f, _ := filter.Parse("status:tool-error and tool:add_*")
	for b.Loop() {
		m, err := f.On(filter.Source{Session: s.Session})
		if err != nil {
			b.Fatal(err)
		}
		var rows []int
		for i := 0; i < s.Calls() && len(rows) < 50; {
			rows, i = m.Calls(rows, i, i+1024, nil)
		}
	}
}

// BenchmarkTyping is what a key press costs.
func BenchmarkTyping(b *testing.B) {
	s := million()
	var v filter.Vocabulary
	v.Grow(s.Session, "", s.Calls())
	text := `tool:add_* and (status:tool-error or ms>100) not path:params.arguments.query="login 7" and tool:s`
	b.ReportAllocs()
	for b.Loop() {
		filter.Typing(text)
		filter.Complete(text, len(text), &v)
	}
}

// BenchmarkText looks for a text in bytes, by how often its first letter comes.
func BenchmarkText(b *testing.B) {
	s := million()
	for _, text := range []string{"zebra", "error", "title", "grüße", `"id":"x`} {
		b.Run(text, func(b *testing.B) {
			b.SetBytes(int64(len(s.bodies[1])))
			for b.Loop() {
				filter.Finds(text, s.bodies[1])
			}
		})
	}
}
