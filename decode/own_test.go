package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

// asks and gives write a call of a legacy session over HTTP, and an answer in JSON.
func asks(exchange, id int) string {
	return fmt.Sprintf("POST %d /mcp LEGACY:2025-11-25 | SESSION:a\n>%[1]d {V2,\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n", exchange, id)
}

func gives(exchange int, body string) string {
	return fmt.Sprintf("200 %d JSON\n<%[1]d %s\n.%[1]d server\n", exchange, body)
}

// TestOwnExchange: what stands in the answer to a POST answers its requests or none.
func TestOwnExchange(t *testing.T) {
	const one, oneFails = `{V2,"id":1,"result":{}}`, `{V2,"id":1,"result":{"isError":true,"content":[]}}`
	const two, text1 = `{V2,"id":2,"result":{}}`, `{V2,"id":"1","result":{}}`
	const another, anotherType = "the answer has another id", "the id of the answer has another JSON type"
	batch := func(exchange int) string {
		return fmt.Sprintf("POST %d /mcp LEGACY:2025-03-26 | SESSION:a\n>%[1]d [{V2,\"id\":1,\"method\":\"ping\"},{V2,\"id\":2,\"method\":\"ping\"}]\n", exchange)
	}
	for _, c := range []struct {
		name, text string
		want       []string // after initialize: the calls, and why
		odd        string
	}{
		{"a call that hangs", asks(2, 1) + asks(3, 2) + gives(3, one), []string{"c2s 1>-1 open", "c2s 2>-1 transport error: " + another}, "4o"},
		{"a call that was given up", asks(2, 1) + ".2 client\n" + asks(3, 2) + gives(3, one),
			[]string{"c2s 1>-1 transport error: the client closed the connection first", "c2s 2>-1 transport error: " + another}, "4o"},
		{"an answered call", asks(2, 1) + gives(2, one) + asks(3, 2) + gives(3, oneFails) + asks(4, 3) + gives(4, `{V2,"id":3,"result":{}}`),
			[]string{"c2s 1>3 ok", "c2s 2>-1 transport error: " + another, "c2s 3>7 ok"}, "5o"},
		{"a call answered with no JSON", asks(2, 1) + gives(2, "oops") + asks(3, 2) + gives(3, one),
			[]string{"c2s 1>-1 transport error: HTTP 200 with a body that is no JSON: text", "c2s 2>-1 transport error: " + another}, "5o"},
		{"on a stream", asks(2, 1) + asks(3, 2) + "200 3 SSE\n~3 id=e1 " + one + "\n.3 server", []string{"c2s 1>-1 open", "c2s 2>-1 transport error: " + another}, "4o"},
		{"and then its own", asks(2, 1) + asks(3, 2) + "200 3 SSE\n~3 " + one + "\n~3 " + two, []string{"c2s 1>-1 open", "c2s 2>5 ok"}, "4o"},
		{"another JSON type, of another call", asks(2, 1) + asks(3, 2) + gives(3, text1), []string{"c2s 1>-1 open", "c2s 2>-1 transport error: " + another}, "4o"},
		{"another JSON type, of its own", asks(2, 2) + asks(3, 1) + gives(3, text1), []string{"c2s 2>-1 open", "c2s 1>-1 transport error wrongid: " + anotherType}, "4w"},
		{"a notification's answer", asks(2, 1) + "POST 3 /mcp LEGACY:2025-11-25 | SESSION:a\n>3 {V2,\"method\":\"notifications/initialized\"}\n" + gives(3, one), []string{"c2s 1>-1 open"}, "4o"},
		{"one id in two exchanges", asks(2, 1) + asks(3, 1) + gives(3, oneFails) + asks(4, 1) + gives(2, one) + gives(4, one),
			[]string{"c2s 1>6 ok ambiguous", "c2s 1>4 tool error reused inflight ambiguous", "c2s 1>7 ok reused inflight ambiguous"}, ""},
		{"one id twice, answered twice", asks(2, 1) + gives(2, one) + asks(3, 1) + "200 3 SSE\n~3 " + one + "\n~3 " + one,
			[]string{"c2s 1>3 ok", "c2s 1>5 ok reused second"}, "6s"},
		{"a batch", batch(2) + gives(2, "["+two+","+one+"]"), []string{"c2s 1>3 ok", "c2s 2>3 ok"}, ""},
		{"a batch, answered one by one", batch(2) + "200 2 SSE\n~2 " + two + "\n~2 " + one + "\n~2 " + one + "\n.2 server", []string{"c2s 1>4 ok second", "c2s 2>3 ok"}, "5s"},
		{"a batch whose ids were used again", batch(2) + asks(3, 1) + gives(2, "["+one+","+two+"]") + gives(3, one),
			[]string{"c2s 1>4 ok ambiguous", "c2s 2>4 ok", "c2s 1>5 ok reused inflight ambiguous"}, ""},
		{"a batch, and the id of another call", asks(2, 7) + batch(3) + gives(3, `[`+one+`,{V2,"id":7,"result":{}}]`),
			[]string{"c2s 7>-1 open", "c2s 1>4 ok", "c2s 2>-1 transport error: " + another}, ""},
		{"the client's GET stream", "GET 2 /mcp LEGACY:2025-11-25 | SESSION:a\n200 2 SSE\n" + asks(3, 1) + "~2 " + one, []string{"c2s 1>3 ok"}, ""},
	} {
		s := web1(t, opened+c.text)
		if diff := cmp.Diff(c.want, whys(s)[1:]); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if got := oddFrames(s); got != c.odd {
			t.Errorf("%s: odd frames %q, want %q", c.name, got, c.odd)
		}
		checkInvariants(t, s)
	}
}

// whys is pairs with what the outcomes rest on.
func whys(s *Session) []string {
	out := pairs(s)
	for i := range out {
		if why := s.Call(i).Why; why != "" {
			out[i] += ": " + why
		}
	}
	return out
}

// TestResumable: a stream that named an event may be gone on with, until the recording
// ends.
func TestResumable(t *testing.T) {
	const without = "the event stream ended without it"
	for _, c := range []struct{ name, stream, live, ended string }{
		{"an event id and retry", "~2 id=e1 retry=100\n.2 server", "open", "transport error: " + without},
		{"an event id with a message", "~2 id=e1 {V2,\"method\":\"notifications/a\"}\n.2 server", "open", "transport error: " + without},
		{"broken off", "~2 id=e1\n.2 broken connection reset", "open", "transport error: the answer (HTTP 200) broke off: connection reset"},
		{"no event id", "~2 retry=100\n.2 server", "transport error: " + without, "transport error: " + without},
		{"still running", "~2 id=e1", "open", "transport error: the tap ended before an answer came"},
	} {
		s := web1(t, opened+asks(2, 1)+"200 2 SSE\n"+c.stream)
		if got := strings.TrimPrefix(whys(s)[1], "c2s 1>-1 "); got != c.live {
			t.Errorf("%s: %q, want %q", c.name, got, c.live)
		}
		checkInvariants(t, s)
		s.Record(&tap.Record{End: &tap.End{}})
		if got := strings.TrimPrefix(whys(s)[1], "c2s 1>-1 "); got != c.ended {
			t.Errorf("%s, ended: %q, want %q", c.name, got, c.ended)
		}
		if got := s.Call(1); strings.HasSuffix(c.stream, "server") && got.Code != 200 {
			t.Errorf("%s: code %d", c.name, got.Code)
		}
	}
}

// TestLongBatch: a batch too long to be kept has members that nobody knows; what it
// is answered with may be for any call of the session.
func TestLongBatch(t *testing.T) {
	s := web1(t, opened+asks(2, 1)+"POST 3 /mcp LEGACY:2025-03-26 | SESSION:a\n")
	s.Add(&tap.Frame{Dir: tap.C2S, JSON: true, Digest: &tap.Digest{Bytes: 1 << 30, Head: `[{"jsonrpc":`}, HTTP: &tap.Carriage{Exchange: 3}})
	if f := s.Frame(3); f.Kind != Batch || len(f.Batch) != 0 {
		t.Errorf("%+v", f)
	}
	s.Add(&tap.Frame{Dir: tap.S2C, JSON: true, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`), HTTP: &tap.Carriage{Exchange: 3}})
	if c := s.Call(1); c.Response != 4 {
		t.Errorf("%+v", c)
	}
	checkInvariants(t, s)
}
