package neutral

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

// Two streams whose lines lie between each other, with comments, a priming event,
// data over two lines, an event without its end, and an answer whose body ends in a
// line feed.
const streams = `{"t":1,"dir":"c2s","http":{"id":1,"conn":3,"method":"POST","path":"/mcp","headers":[["host","h"]]},"raw":"{}\r\n"}
{"t":2,"dir":"s2c","http":{"id":1,"status":200,"headers":[["Content-Type","text/event-stream; charset=utf-8"]]}}
{"t":3,"dir":"c2s","http":{"id":2,"conn":4,"method":"GET","path":"/mcp","headers":[]}}
{"t":4,"dir":"s2c","http":{"id":2,"status":200,"headers":[["content-type","text/event-stream"]]}}
{"t":5,"dir":"s2c","http":{"id":1,"sse":true},"raw":": ping"}
{"t":6,"dir":"s2c","http":{"id":1,"sse":true},"raw":""}
{"t":7,"dir":"s2c","http":{"id":1,"sse":true},"raw":"id: a"}
{"t":8,"dir":"s2c","http":{"id":2,"sse":true},"raw":"id:"}
{"t":9,"dir":"s2c","http":{"id":1,"sse":true},"raw":"data: {\"a\":"}
{"t":10,"dir":"s2c","http":{"id":2,"sse":true},"raw":"retry: 100"}
{"t":11,"dir":"s2c","http":{"id":1,"sse":true},"raw":"data: 1}"}
{"t":12,"dir":"s2c","http":{"id":2,"sse":true},"raw":"\r"}
{"t":13,"dir":"s2c","http":{"id":1,"sse":true},"raw":""}
{"t":14,"dir":"s2c","http":{"id":2,"sse":true},"raw":"data: cut"}
{"t":15,"dir":"c2s","http":{"id":2,"aborted":"client"}}
{"t":16,"dir":"s2c","http":{"id":2,"aborted":"server"}}
{"t":17,"dir":"s2c","http":{"id":1,"end":true}}
{"t":18,"dir":"c2s","http":{"id":3,"conn":4,"method":"POST","path":"/mcp","headers":[]},"raw":"x"}
{"t":19,"dir":"s2c","http":{"id":3,"aborted":"server","error":"ECONNRESET"}}
`

func TestStreams(t *testing.T) {
	var tr Translator
	var got []string
	offset := int64(0)
	for line := range strings.Lines(streams) {
		at := tap.Record{Offset: offset, Size: int64(len(line))}
		offset += at.Size
		for _, rec := range tr.Line([]byte(strings.TrimSuffix(line, "\n")), at) {
			got = append(got, describe(&rec))
			if f := rec.Frame; f != nil {
				again := Last([]byte(streams)[rec.Offset : rec.Offset+rec.Size])
				if again == nil || !bytes.Equal(again.Body, f.Body) || again.HTTP.Exchange != f.HTTP.Exchange {
					t.Errorf("read again, %s is %+v", describe(&rec), again)
				}
			}
		}
	}
	want := []string{
		"1: 1 request POST /mcp 0 bytes 31", `2: frame c2s 1 "{}" "\r\n" wire 0`, "3: 1 response   200 bytes 67",
		"4: 2 request GET /mcp 0 bytes 21", "5: 2 response   200 bytes 52",
		"6: 2 event id= retry=100 comments=0 wire 17", `7: frame s2c 1 "{\"a\":\n1}" "" wire 36 id=a retry= comments=1`,
		"8: 2 event retry= comments=0 wire 10", "9: 2 end client ", "10: 1 end server ",
		"11: 3 request POST /mcp 0 bytes 22", `12: frame c2s 3 "x" "" wire 0`, "13: 3 end broken ECONNRESET",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func describe(r *tap.Record) string {
	n, _ := r.Position()
	switch x := r.HTTP; {
	case r.Frame != nil:
		f := r.Frame
		return fmt.Sprintf("%d: frame %v %d %q %q wire %d%s", n, f.Dir, f.HTTP.Exchange, f.Body, f.EOL.String(), f.HTTP.Wire, sse(f.SSE))
	case x == nil:
		return fmt.Sprintf("%d: %v", n, r.Bad)
	case x.Phase == tap.PhaseEnd:
		return fmt.Sprintf("%d: %d end %s %s", n, x.Exchange, x.By, x.Error)
	case x.Phase == tap.PhaseEvent:
		return fmt.Sprintf("%d: %d event%s wire %d", n, x.Exchange, sse(x.SSE), x.Wire)
	default:
		return fmt.Sprintf("%d: %d %s %s %s %d bytes %d", n, x.Exchange, x.Phase, x.Method, x.Target, x.Status, x.Bytes)
	}
}

func sse(e *tap.SSE) string {
	if e == nil {
		return ""
	}
	id := ""
	if e.ID != nil {
		id = " id=" + *e.ID
	}
	return fmt.Sprintf("%s retry=%s comments=%d", id, e.Retry, e.Comments)
}

func TestBad(t *testing.T) {
	for _, line := range []string{"{", `{"t":-1,"dir":"c2s","raw":"x"}`, `{"t":1,"dir":"up","raw":"x"}`, `{"t":1,"dir":"c2s","http":{"method":"GET"}}`} {
		var tr Translator
		if recs := tr.Line([]byte(line), tap.Record{Line: 7}); len(recs) != 1 || recs[0].Bad == nil || recs[0].Line != 7 {
			t.Errorf("%s: %+v", line, recs)
		}
	}
}
