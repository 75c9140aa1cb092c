package diff

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

const sessionMask = "«redacted:9f3a61»"

// webbed plays a script as a server on HTTP would see it: each message of the client
// in a request of its own, what the server sends until the next one in its answer. A
// line "= VERB PATH STATUS" is a request without a message; it has a stream if it is a
// GET that succeeds.
type webbed struct {
	s       *decode.Session
	bodies  [][]byte
	n       uint64
	x, open uint32
	stream  bool // answers come as events
	id      int  // the length of the session's id; 0 for none
}

func (s script) web(name string, stream bool, id int) Side {
	w := &webbed{s: decode.New(decode.Options{Bytes: true}), stream: stream, id: id}
	for _, line := range s {
		switch line[0] {
		case '=':
			w.without(strings.Fields(line[2:]))
		case '>':
			w.ask(line[2:])
		default:
			w.answer(line[2:])
		}
	}
	w.end()
	return Side{Name: name, Session: w.s, Body: func(i int) []byte { return w.bodies[i] }}
}

func (w *webbed) record(rec tap.Record) {
	w.n++
	if rec.Frame != nil {
		w.bodies = append(w.bodies, rec.Frame.Body)
	}
	rec.Place(w.n, timeOf(int64(w.n)*1e6))
	w.s.Record(&rec)
}

// head records a head with the length that it has before its session's id is masked.
func (w *webbed) head(m tap.Exchange, start string) {
	m.Exchange, m.Bytes = w.open, int64(len(start)+len("\r\n\r\n"))
	for _, h := range m.Headers {
		m.Bytes += int64(len(h[0]) + len(": \r\n") + len(h[1]))
	}
	if w.id > 0 {
		m.Headers = append(m.Headers, [2]string{"mcp-session-id", sessionMask})
		m.Bytes += int64(len("mcp-session-id: \r\n") + w.id)
	}
	w.record(tap.Record{HTTP: &m})
}

func (w *webbed) request(verb, target string, headers ...[2]string) {
	w.end()
	w.x++
	w.open = w.x
	w.head(tap.Exchange{Phase: tap.PhaseRequest, Method: verb, Target: target, Proto: "HTTP/1.1", Headers: headers}, verb+" "+target+" HTTP/1.1")
}

func (w *webbed) status(status int, kind string) {
	w.head(tap.Exchange{Phase: tap.PhaseResponse, Status: status, Proto: "HTTP/1.1", Headers: [][2]string{{"content-type", kind}}}, "HTTP/1.1 200 OK")
}

func (w *webbed) ask(body string) {
	headers := [][2]string{{"content-type", "application/json"}}
	if strings.Contains(body, `"method":"tools/call"`) {
		headers = append(headers, [2]string{"mcp-method", "tools/call"}, [2]string{"mcp-name", "a"}, [2]string{"mcp-param-n", "1"})
	}
	w.request("POST", "/mcp", headers...)
	w.record(tap.Record{Frame: &tap.Frame{Dir: tap.C2S, EOL: tap.NoEOL, JSON: true, Body: []byte(body), HTTP: &tap.Carriage{Exchange: w.open}}})
	kind := "application/json"
	if w.stream {
		kind = "text/event-stream"
	}
	w.status(200, kind)
	if w.stream { // an event that makes a client come back, without a message
		w.record(tap.Record{HTTP: &tap.Exchange{Exchange: w.open, Phase: tap.PhaseEvent, SSE: &tap.SSE{Retry: "9"}, Wire: 10}})
	}
}

func (w *webbed) answer(body string) {
	f := &tap.Frame{Dir: tap.S2C, EOL: tap.NoEOL, JSON: true, Body: []byte(body), HTTP: &tap.Carriage{Exchange: w.open}}
	if w.stream {
		f.SSE, f.HTTP.Wire = &tap.SSE{Event: "message"}, int64(len("event: message\ndata: ")+len(body)+len("\n\n"))
	}
	w.record(tap.Record{Frame: f})
}

func (w *webbed) without(words []string) {
	w.request(words[0], words[1])
	if words[2] != "200" {
		w.status(405, "text/plain")
		w.record(tap.Record{Frame: &tap.Frame{Dir: tap.S2C, EOL: tap.NoEOL, Body: []byte("no such thing"), HTTP: &tap.Carriage{Exchange: w.open}}})
		return
	}
	w.status(200, "text/event-stream")
	w.record(tap.Record{Frame: &tap.Frame{Dir: tap.S2C, EOL: tap.NoEOL, JSON: true, Body: []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`),
		HTTP: &tap.Carriage{Exchange: w.open, Wire: 90}, SSE: &tap.SSE{}}})
}

func (w *webbed) end() {
	if w.open > 0 {
		w.record(tap.Record{HTTP: &tap.Exchange{Exchange: w.open, Phase: tap.PhaseEnd, By: tap.EndServer}})
	}
	w.open = 0
}

// drawWeb makes up a session over HTTP.
func drawWeb(t *rapid.T, name string) Side {
	acts := drawActs(t)
	for range rapid.IntRange(0, 3).Draw(t, "requests without a message") {
		line := rapid.SampledFrom([]string{"= GET /mcp 200", "= GET /mcp 405", "= DELETE /mcp 200", "= GET /.well-known/oauth-protected-resource 405", "= POST /token 405"}).Draw(t, "one")
		acts = append(acts, act{line})
	}
	return play(acts).web(name, rapid.Bool().Draw(t, "stream"), rapid.SampledFrom([]int{0, 1, 36}).Draw(t, "session id"))
}

// TestPropertyWeb: over HTTP as well a session is like itself, a comparison is the same
// from both ends, and its rows add up to what the session took.
func TestPropertyWeb(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawWeb(rt, "a"), drawWeb(rt, "b")
		if rapid.Bool().Draw(rt, "stdio") {
			b = play(drawActs(rt)).side("b")
		}
		if d := Compare(a, a, Options{}); !d.Same() {
			rt.Error(describe(d))
		}
		ab, ba := Compare(a, b, Options{}), Compare(b, a, Options{})
		if d := cmp.Diff(sorted(ba, nil), mirror(ab)); d != "" {
			rt.Error(d)
		}
		if ab.Bill.A != ba.Bill.B || ab.Bill.B != ba.Bill.A || ab.BreakEven().Fixed != -ba.BreakEven().Fixed {
			rt.Error("the bills differ")
		}
		checkHTTP(rt, a, &ab.Bill.A)
		checkHTTP(rt, b, &ab.Bill.B)
		var rows Cost
		for i := range ab.Rows {
			if p := ab.Rows[i].A; p != nil {
				rows.Add(&p.Bytes)
			}
		}
		if rows != ab.Bill.A || rows.C2S.Frames() != wire(a.Session, tap.C2S) || rows.S2C.Frames() != wire(a.Session, tap.S2C) {
			rt.Errorf("the rows are %+v, not %+v", rows, ab.Bill.A)
		}
	})
}

// TestPropertyRemovedWeb: a request less shows as that one, its heads and framing with
// it.
func TestPropertyRemovedWeb(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		acts := append(drawActs(rt), act{`> {"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"gone"}}`, `< {"jsonrpc":"2.0","id":ID,"result":{}}`})
		stream := rapid.Bool().Draw(rt, "stream")
		whole, less := play(acts).web("a", stream, 36), play(acts[:len(acts)-1]).web("b", stream, 36)
		d := Compare(whole, less, Options{})
		for i := range d.Rows {
			if r := &d.Rows[i]; r.OneSided() != (r.Name == "gone") || r.Moved || len(r.Changes) > 0 {
				rt.Error(describe(d))
			}
		}
		if want := wholeTotal(whole) - wholeTotal(less); d.Bill.Only.A.Total() != want || d.Bill.A.Total()-d.Bill.B.Total() != want {
			rt.Errorf("%d bytes only in A, not %d", d.Bill.Only.A.Total(), want)
		}
	})
}

func wholeTotal(s Side) int64 {
	t := s.Session.Totals()
	return t.All.Total() + t.HTTP.Total()
}

// TestHeads: a header costs what its line takes, and a session's id what it took before
// it was masked.
func TestHeads(t *testing.T) {
	call := `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`
	a := script{call, `< {"jsonrpc":"2.0","id":1,"result":{}}`}.web("a", false, 36)
	d := Compare(a, a, Options{})
	up, down := d.Bill.A.C2S.Heads, d.Bill.A.S2C.Heads
	want := Heads{
		HeadMethod: int64(len("mcp-method: tools/call\r\n")), HeadName: int64(len("mcp-name: a\r\n")), HeadParams: int64(len("mcp-param-n: 1\r\n")),
		HeadSession: int64(len("mcp-session-id: \r\n") + 36), HeadOther: int64(len("POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\n\r\n")),
	}
	if up != want || down[HeadSession] != want[HeadSession] {
		t.Errorf("%v up, not %v; %v down", up, want, down)
	}
	if lost := headsOf(100, 0, []header{{HeadAuth, "Authorization", "Bearer " + sessionMask}}); lost[HeadAuth] != int64(len("Authorization: \r\n")) || lost.Total() != 100 {
		t.Errorf("%v for a value of unknown length", lost)
	}
}

// TestWithoutMessage: requests without a message have rows of their own, and say how
// they were answered; an era's are no difference of the work.
func TestWithoutMessage(t *testing.T) {
	legacy, modern := drive(2)
	a := append(legacy, "= GET /mcp 200", "= DELETE /mcp 405").web("a", false, 36)
	got := map[string]string{}
	for _, r := range Compare(a, modern.web("b", true, 0), Options{}).Rows {
		if r.Kind == RowExchanges {
			got[r.Method] = fmt.Sprint(r.OneSided(), " ", r.Reason)
		}
	}
	want := map[string]string{"GET": "true no GET streams in 2026-07-28", "DELETE": "true no sessions that end in 2026-07-28"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	b := append(legacy, "= GET /mcp 405", "= DELETE /mcp 405").web("b", false, 36)
	changes := 0
	for _, r := range Compare(a, b, Options{}).Rows {
		for _, c := range r.Changes {
			changes++
			if r.Method != http.MethodGet || c != (Difference{What: WhatOutcome, A: "HTTP 200", B: "HTTP 405"}) {
				t.Errorf("%s: %+v", r.Method, c)
			}
		}
	}
	if changes != 1 {
		t.Errorf("%d changes", changes)
	}
}
