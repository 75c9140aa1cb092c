package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

// pairs writes the calls of a script in short: id, response frame, outcome, flags.
func pairs(s *Session) (out []string) {
	for i := range s.Calls() {
		c := s.Call(i)
		line := fmt.Sprintf("%v %s>%d %v", c.Dir, c.ID, c.Response, c.Outcome)
		for _, f := range []struct {
			on   bool
			name string
		}{{c.Reused, "reused"}, {c.InFlight, "inflight"}, {c.Ambiguous, "ambiguous"}, {c.Late, "late"}, {c.Second, "second"}, {c.WrongID, "wrongid"}} {
			if f.on {
				line += " " + f.name
			}
		}
		out = append(out, line)
	}
	return out
}

func TestPairing(t *testing.T) {
	const (
		ask    = `{V2,"id":%s,"method":"ping"}`
		answer = `{V2,"id":%s,"result":{}}`
	)
	out := func(id string) string { return "> " + fmt.Sprintf(ask, id) }
	back := func(id string) string { return "< " + fmt.Sprintf(answer, id) }
	for _, c := range []struct {
		name    string
		lines   []string
		want    []string
		orphans string // frames that are orphans, wrong ids or second answers
	}{
		{"both directions, one id", []string{out("1"), "< " + fmt.Sprintf(ask, "1"), "> " + fmt.Sprintf(answer, "1"), back("1")},
			[]string{"c2s 1>3 ok", "s2c 1>2 ok"}, ""},
		{"ids as sent", []string{out("1"), out(`"1"`), out("1.0"), back("1.0"), back(`"1"`), back("1")},
			[]string{"c2s 1>5 ok", `c2s "1">4 ok`, "c2s 1.0>3 ok"}, ""},
		{"zero and empty", []string{out("0"), out(`""`), back(`""`), back("0")}, []string{"c2s 0>3 ok", `c2s "">2 ok`}, ""},
		{"out of order", []string{out("1"), out("2"), back("2"), back("1")}, []string{"c2s 1>3 ok", "c2s 2>2 ok"}, ""},
		{"another type", []string{out("1"), back(`"1"`)}, []string{"c2s 1>-1 open wrongid"}, "1w"},
		{"another type, then right", []string{out(`"7"`), back("7"), back(`"7"`)}, []string{`c2s "7">2 ok wrongid`}, "1w"},
		{"not asked for", []string{out("1"), back("2"), back("1")}, []string{"c2s 1>2 ok"}, "1o"},
		{"own request answered by its sender", []string{out("1"), "> " + fmt.Sprintf(answer, "1")}, []string{"c2s 1>-1 open"}, "1o"},
		{"second answer", []string{out("1"), back("1"), back("1")}, []string{"c2s 1>1 ok second"}, "2s"},
		{"reuse after completion", []string{out("1"), back("1"), out("1"), back("1")}, []string{"c2s 1>1 ok", "c2s 1>3 ok reused"}, ""},
		{"reuse in flight", []string{out("1"), out("1"), out("1"), back("1"), back("1"), out("1"), back("1"), back("1"), back("1")},
			[]string{"c2s 1>3 ok ambiguous", "c2s 1>4 ok reused inflight ambiguous", "c2s 1>6 ok reused inflight ambiguous", "c2s 1>7 ok reused inflight ambiguous second"}, "8s"},
		{"cancelled", []string{out("1"), `> {V2,"method":"notifications/cancelled","params":{"requestId":1}}`}, []string{"c2s 1>-1 cancelled"}, ""},
		{"cancelled, late answer", []string{out("1"), `> {V2,"method":"notifications/cancelled","params":{"requestId":1}}`, back("1")}, []string{"c2s 1>2 cancelled late"}, ""},
		{"reuse after a cancellation", []string{out("1"), `> {V2,"method":"notifications/cancelled","params":{"requestId":1}}`, out("1"), back("1"), back("1")},
			[]string{"c2s 1>-1 cancelled ambiguous", "c2s 1>3 ok reused inflight ambiguous second"}, "4s"},
		{"cancelled twice", []string{out("1"), `> {V2,"method":"notifications/cancelled","params":{"requestId":1}}`, `> {V2,"method":"notifications/cancelled","params":{"requestId":1}}`, back("1")},
			[]string{"c2s 1>3 cancelled late"}, ""},
		{"cancelled too late", []string{out("1"), back("1"), `> {V2,"method":"notifications/cancelled","params":{"requestId":1}}`}, []string{"c2s 1>1 ok"}, ""},
		{"cancelled by the other side", []string{out("1"), `< {V2,"method":"notifications/cancelled","params":{"requestId":1}}`}, []string{"c2s 1>-1 open"}, "1u"},
		{"batch", []string{"> [" + fmt.Sprintf(ask, "1") + "," + fmt.Sprintf(ask, "2") + "]", "< [" + fmt.Sprintf(answer, "2") + "," + fmt.Sprintf(answer, "1") + "]"},
			[]string{"c2s 1>1 ok", "c2s 2>1 ok"}, ""},
		{"null id", []string{out("1"), `< {V2,"id":null,"error":{"code":-32700,"message":"?"}}`}, []string{"c2s 1>-1 open"}, "1o"},
		{"large ids", []string{out("9007199254740993"), back("9007199254740992"), back("9007199254740993")}, []string{"c2s 9007199254740993>2 ok"}, "1o"},
	} {
		s, _ := script(t, c.lines...)
		if diff := cmp.Diff(c.want, pairs(s)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if got := oddFrames(s); got != c.orphans {
			t.Errorf("%s: odd frames %q, want %q", c.name, got, c.orphans)
		}
	}
}

func oddFrames(s *Session) string {
	var out []string
	for i := range s.Len() {
		f := s.Frame(i)
		for _, x := range []struct {
			on   bool
			mark string
		}{{f.Orphan, "o"}, {f.WrongID, "w"}, {f.Second, "s"}, {f.Unjoined, "u"}} {
			if x.on {
				out = append(out, fmt.Sprint(i, x.mark))
			}
		}
	}
	return strings.ReplaceAll(strings.Join(out, " "), " ", "")
}

func TestPlaces(t *testing.T) {
	s := New(Options{})
	frames := []tap.Frame{
		{N: 1, Dir: tap.C2S, JSON: true, Body: []byte("{}")},
		{N: 1 << 62, Dir: tap.S2C, EOL: tap.CRLF, Digest: &tap.Digest{Bytes: 7 << 30}},
		{N: 3, Dir: tap.C2S, EOL: tap.NoEOL, Digest: &tap.Digest{Bytes: 7 << 30}},
	}
	for i := range frames {
		s.Add(&frames[i])
	}
	for i := range frames {
		if f, want := s.Frame(i), &frames[i]; f.N != want.N || f.Size != want.Len() || f.EOL != want.EOL {
			t.Errorf("frame %d: %+v", i, f)
		}
	}
}

func TestScopes(t *testing.T) {
	s := New(Options{})
	add := func(sc Scope, dir tap.Dir, body string) {
		s.addAt(&tap.Frame{Dir: dir, JSON: true, Body: []byte(body)}, where{scope: sc})
	}
	add(1, tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	add(2, tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	add(2, tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	add(3, tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if diff := cmp.Diff([]string{"c2s 1>-1 open", "c2s 1>2 ok"}, pairs(s)); diff != "" {
		t.Error(diff)
	}
	if c := s.Call(1); c.Reused {
		t.Errorf("call %+v", c)
	}
}

func TestNotes(t *testing.T) {
	const logLevel = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"info"}`
	s, _ := script(t,
		`> {V2,"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"1"}}}`, // 0
		`< {V2,"method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,      // another type
		`< {V2,"method":"notifications/progress","params":{"progressToken":"1","progress":1}}`,
		`< {V2,"id":1,"result":{}}`,
		`< {V2,"method":"notifications/progress","params":{"progressToken":"1","progress":2}}`,                // 4: late
		`> {V2,"id":2,"method":"tools/call","params":{"name":"b",`+logLevel+`}}`,                              // 5
		`< {V2,"method":"notifications/message","params":{"level":"info","data":1}}`,                          // joined: the only one
		`> {V2,"id":3,"method":"tools/call","params":{"name":"c",`+logLevel+`}}`,                              // 7
		`< {V2,"method":"notifications/message","params":{"level":"info","data":1}}`,                          // two could be meant
		`> {V2,"id":4,"method":"subscriptions/listen","params":{"notifications":{}}}`,                         // 9
		`< {V2,"method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4}}}`,   // stream
		`< {V2,"method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"4"}}}`, // no such
		`< {V2,"method":"notifications/cancelled","params":{"requestId":4}}`,                                  // the server ends it
	)
	var got []string
	for i := range s.Calls() {
		for _, n := range s.Notes(i) {
			got = append(got, fmt.Sprint(i, " ", n.Kind, " ", n.Frame))
		}
	}
	want := []string{"0 progress 2", "0 late progress 4", "1 log 6", "3 stream 10", "3 cancel 12"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := oddFrames(s); got != "1u11u" {
		t.Errorf("odd frames %q", got)
	}
}

func TestEnds(t *testing.T) {
	open := []string{`> {V2,"id":1,"method":"tools/call","params":{"name":"a"}}`, `> {V2,"id":2,"method":"subscriptions/listen","params":{"notifications":{}}}`}
	for _, c := range []struct {
		name   string
		events []tap.Event
		end    *tap.End
		want   Outcome
		why    string
	}{
		{"running", nil, nil, Open, ""},
		{"crash", nil, &tap.End{Exit: 7}, TransportError, "the server ended (exit status 7)"},
		{"killed", nil, &tap.End{Signal: "SIGKILL"}, TransportError, "the server was ended by SIGKILL"},
		{"client left", []tap.Event{{Time: 5, Name: tap.EventStdinEnd}}, &tap.End{}, TransportError, "the server ended (exit status 0) after the client closed its side"},
		{"output closed", []tap.Event{{Time: 5, Name: tap.EventStdoutEnd}}, nil, TransportError, "the server closed its output"},
	} {
		s, _ := script(t, open...)
		for i := range c.events {
			s.Event(&c.events[i])
		}
		if c.end != nil {
			s.End(c.end)
		}
		if got := s.Call(0); got.Outcome != c.want || got.Why != c.why {
			t.Errorf("%s: %v (%s), want %v (%s)", c.name, got.Outcome, got.Why, c.want, c.why)
		}
		if got := s.Call(1); got.Outcome != Open {
			t.Errorf("%s: the listen stream is %v", c.name, got.Outcome)
		}
	}
}

func TestDigestFrames(t *testing.T) {
	s := New(Options{Bytes: true})
	s.Add(&tap.Frame{Dir: tap.C2S, JSON: true, Body: []byte(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"big"}}`)})
	s.Add(&tap.Frame{Dir: tap.S2C, JSON: true, Digest: &tap.Digest{Bytes: 9 << 20,
		Head: `{"result":{"content":[{"type":"text","text":"aaaa`, Tail: `aaaa"}]},"jsonrpc":"2.0","id":5}`}})
	s.Add(&tap.Frame{Dir: tap.S2C, Digest: &tap.Digest{Bytes: 9 << 20, Head: "not JSON", Tail: "at all"}})
	c := s.Call(0)
	if c.Response != 1 || c.Outcome != OK || !c.Cut {
		t.Errorf("call %+v", c)
	}
	if f := s.Frame(2); f.Kind != Stray || f.Stray != StrayText {
		t.Errorf("frame %+v", f)
	}
	if got := s.Totals().Unparsed; got != 2*(9<<20+1) {
		t.Errorf("unparsed %d", got)
	}
}

// TestHostile: what is made to be slow is taken in whole. At this length anything
// that is not linear would not end within the time limit of a test.
func TestHostile(t *testing.T) {
	const n = 300_000
	nested := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for name, line := range map[string]func(i int) string{
		"open requests": func(i int) string { return fmt.Sprintf(`> {V2,"id":%d,"method":"a"}`, i) },
		"one id":        func(int) string { return `> {V2,"id":1,"method":"a"}` },
		"one id, answered": func(i int) string {
			return []string{`> {V2,"id":1,"method":"a"}`, `< {V2,"id":1,"result":{}}`}[i/(n/2)]
		},
		"methods": func(i int) string { return fmt.Sprintf(`> {V2,"id":1,"method":"m%d"}`, i) },
		"retries": func(i int) string { return retryLine(i) },
		"pages": func(i int) string {
			return fmt.Sprintf([]string{`> {V2,"id":%d,"method":"tools/list","params":{"cursor":"a"}}`, `< {V2,"id":%d,"result":{"nextCursor":"a","tools":[]}}`}[i%2], i/2)
		},
		"answers unasked": func(i int) string { return fmt.Sprintf(`< {V2,"id":%d,"result":{}}`, i) },
		"progress":        func(i int) string { return progressLine(i) },
		"nested (1 in 100)": func(i int) string {
			if i%100 > 0 {
				return `> 1`
			}
			return `> {V2,"id":1,"method":"a","params":` + nested + `}`
		},
	} {
		s := New(Options{})
		for i := range n {
			l := line(i)
			dir := tap.C2S
			if l[0] == '<' {
				dir = tap.S2C
			}
			s.Add(&tap.Frame{Dir: dir, JSON: true, Body: []byte(strings.Replace(l[2:], "V2", `"jsonrpc":"2.0"`, 1))})
		}
		s.End(&tap.End{})
		s.Catalogue()
		if ops := len(s.Operations()); s.Len() != n || ops > s.Calls() {
			t.Errorf("%s: %d frames, %d calls, %d operations", name, s.Len(), s.Calls(), ops)
		}
	}
}

func retryLine(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf(`> {V2,"id":%d,"method":"tools/call","params":{"name":"a","inputResponses":{"k":{}}}}`, i/2)
	}
	return fmt.Sprintf(`< {V2,"id":%d,"result":{"resultType":"input_required","inputRequests":{"k":{}}}}`, i/2)
}

func progressLine(i int) string {
	if i == 0 {
		return `> {V2,"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1}}}`
	}
	return `< {V2,"method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
}

func FuzzPairing(f *testing.F) {
	f.Add([]byte(">{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n<{\"id\":1,\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\"}}\n>{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"requestState\":\"s\"}}"))
	f.Add([]byte("<[{\"id\":1,\"method\":\"x\"},{\"id\":1,\"result\":{}}]\n>[{\"id\":1,\"error\":{}}]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s := New(Options{Bytes: true})
		for line := range strings.Lines(string(in)) {
			if len(line) < 2 {
				continue
			}
			fr := &tap.Frame{Dir: tap.C2S, JSON: line[0]&2 == 0, Body: []byte(line[1:])}
			if line[0] == '<' {
				fr.Dir = tap.S2C
			}
			s.addAt(fr, where{scope: Scope(line[0] >> 6)})
		}
		checkInvariants(t, s)
	})
}

// checkInvariants asks for what must hold whatever crossed the wire.
func checkInvariants(t testing.TB, s *Session) {
	t.Helper()
	answered := map[int]int{}
	for i := range s.Calls() {
		c := s.Call(i)
		if c.Response >= 0 && c.Response < c.Request {
			t.Errorf("call %d is answered by frame %d before it was asked in %d", i, c.Response, c.Request)
		}
		if c.Response >= 0 && s.Frame(c.Response).Kind != Batch {
			if other, taken := answered[c.Response]; taken {
				t.Errorf("frame %d answers calls %d and %d", c.Response, other, i)
			}
			answered[c.Response] = i
		}
		s.Notes(i)
		s.Operation(i)
	}
	legs := map[int]bool{}
	for _, o := range s.Operations() {
		for _, l := range o.Legs {
			if legs[l.Call] {
				t.Errorf("call %d is in two operations", l.Call)
			}
			legs[l.Call] = true
		}
	}
	var sum int64
	for i := range s.Len() {
		sum += s.Frame(i).Size
	}
	if tot := s.Totals(); tot.All.Total()+tot.Unparsed != sum {
		t.Errorf("%d bytes, in accounts %d", sum, tot.All.Total()+tot.Unparsed)
	}
	checkExchanges(t, s)
	s.Eras()
	s.Catalogue().Unlisted()
}
