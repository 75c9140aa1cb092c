package ledger

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/internal/recorded"
	"github.com/mcptap/mcptap/replay/internal/talk"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/sessions"
)

func meter(t testing.TB) *Meter {
	t.Helper()
	m, err := tokens.Default().Model("")
	if err != nil {
		t.Fatal(err)
	}
	return NewMeter(tokens.Default().Estimator(m))
}

func book(t testing.TB, host string, loading string, list ...*replay.Session) *claude.Book {
	t.Helper()
	h, err := claude.Builtin().Get(host)
	if err != nil {
		t.Fatal(err)
	}
	return claude.NewBook(replay.New(replay.Options{}, list...), claude.Options{Profile: h, Loading: loading})
}

func played(l *sessions.Loaded, name string) *replay.Session {
	s := &replay.Session{Session: l.Session, Body: l.Body, Name: name}
	if l.Header != nil {
		s.Start = l.Header.Start
	}
	return s
}

func mid(c tokens.Count) float64 {
	_, m, _ := c.Bounds()
	return m
}

func TestOf(t *testing.T) {
	line := played(recorded.Load(t, "../claude/testdata/asrama.jsonl"), "asrama")
	b := book(t, "generic", "", line)
	l := Of(b, meter(t))
	if len(l.Session.Turns) != 3 || len(l.Session.Tools) != 4 || len(l.Session.Calls) != 3 {
		t.Fatalf("%d turns, %d tools, %d calls", len(l.Session.Turns), len(l.Session.Tools), len(l.Session.Calls))
	}
	first := l.Session.Tools[0]
	if first.Name != "mcp__asrama__cari_anak" || !strings.Contains(first.Description, ".\n    Semua filter") || first.WireBytes != 587 || l.Tools[0].Bare != "cari_anak" || l.Tools[0].From.N != 6 {
		t.Errorf("%+v, %+v", first, l.Tools[0])
	}
	if c := l.Session.Calls; c[0] != (rent.Call{Tool: 0, Turn: 1}) || c[1] != (rent.Call{Tool: 1, Turn: 1}) || c[2] != (rent.Call{Tool: 3, Turn: 2}) {
		t.Errorf("calls: %+v", c)
	}
	var kinds []string
	for i, c := range l.Session.Carried {
		kinds = append(kinds, fmt.Sprintf("%s of tool %d from %d, call %d", c.Kind, c.Tool, c.From, l.Carried[i].Call))
	}
	want := "instructions of tool -1 from 1, call -1; call of tool 0 from 2, call 0; call of tool 1 from 2, call 1; answer of tool 0 from 2, call 0; answer of tool 1 from 2, call 1; call of tool 3 from 3, call 2; answer of tool 3 from 3, call 2"
	if got := strings.Join(kinds, "; "); got != want {
		t.Errorf("carried:\n%s\nwant\n%s", got, want)
	}
	for i := range l.Session.Turns[1:] {
		if !l.Session.Turns[i+1].Start.After(l.Session.Turns[i].Start) {
			t.Errorf("request %d starts at %v", i+2, l.Session.Turns[i+1].Start)
		}
	}
	if begin := line.Start; l.Session.Turns[0].Start.Sub(begin) != 951018033*time.Nanosecond {
		t.Errorf("the first request was sent at %v of a session that began at %v", l.Session.Turns[0].Start, begin)
	}
}

// agree compares what rent adds up over all requests with what the requests hold, one
// by one, but for the framing that rent does not know.
func agree(t *testing.T, what string, b *claude.Book) (requests int) {
	t.Helper()
	m := meter(t)
	l := Of(b, m)
	r, err := rent.Of(&l.Session, rent.Options{Table: tokens.Default(), Estimator: m.Estimator(), Day: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), NamesHidden: b.Loading() == claude.LoadDeferredHidden})
	if err != nil {
		t.Fatal(what, err)
	}
	var all, texts, last float64
	for i := range l.Session.Turns {
		q := b.Request(i)
		s := m.Request(q)
		framing, names := mid(m.Estimator().Framing(len(q.Messages))), 0.0
		for p := range q.All() {
			if p.Kind == claude.DeferredNames {
				names = mid(m.Block(p.Block).Tokens)
			}
		}
		all += mid(s.Total) - framing
		texts += mid(s.System) + mid(s.Messages) - framing - names
		last = mid(s.Preamble) + mid(s.Tools) + names
	}
	sent := &r.Sent
	for _, c := range []struct {
		of        string
		got, want float64
	}{
		{"all of them", mid(sent.Session) + mid(sent.CarriedSession), all},
		{"texts", mid(sent.CarriedSession), texts},
		{"tools of the newest", mid(sent.LastTurn), last},
	} {
		if math.Abs(c.got-c.want) > 1e-6*(1+c.want) {
			t.Errorf("%s: %s: rent says %v, the requests hold %v", what, c.of, c.got, c.want)
		}
	}
	return len(l.Session.Turns)
}

// TestTwoWaysAgree: rent and request say the same of one host, whichever way it loads
// definitions.
func TestTwoWaysAgree(t *testing.T) {
	n := 0
	for _, file := range recorded.Files(t) {
		for _, host := range claude.Builtin().IDs() {
			for _, loading := range []string{"", claude.LoadUpfront, claude.LoadDeferredHidden} {
				if host == "mcp-connector" {
					continue // of its requests only the toolset is known, and rent takes what was listed to another client
				}
				n += agree(t, file+" as "+host+" "+loading, book(t, host, loading, played(recorded.Load(t, file), "server")))
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d requests compared", n)
	}
}

// def is a small definition.
func def(name, says string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, says)
}

// changing is a session in which a tool changes, one goes, and one comes back.
func changing() *replay.Session {
	k := talk.New()
	k.List(10, def("alpha", "one")+","+def("beta", "two"))
	k.Answer(1100, k.Ask(1000, "beta", `{}`, ""), "done")
	k.List(1200, def("beta", "two, but in other words")+","+def("gamma", "three"))
	k.Answer(5100, k.Ask(5000, "beta", `{}`, ""), "done")
	k.List(5200, def("alpha", "one"))
	k.Answer(9100, k.Ask(9000, "alpha", `{}`, ""), "done")
	return &replay.Session{Session: k.Session, Name: "s", Body: k.Body}
}

// TestChangingAgrees: of a tool that changed, a request holds one definition.
func TestChangingAgrees(t *testing.T) {
	for _, host := range []string{"generic", "claude-code"} {
		agree(t, host, book(t, host, "", changing()))
	}
}

// at is a session of calls of the tool add at some milliseconds.
func at(name string, start time.Time, ms ...int) *replay.Session {
	k := talk.New()
	k.List(10, def("add", name))
	for _, m := range ms {
		k.Answer(m+100, k.Ask(m, "add", `{}`, ""), "done")
	}
	k.Close(ms[len(ms)-1] + 200)
	return &replay.Session{Session: k.Session, Name: name, Start: start, Body: k.Body}
}

// TestSessions: calls are counted by session and tool, also where names are the same.
func TestSessions(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		host  string
		later time.Duration
		calls string
		doubt string
	}{
		{"generic", time.Minute, "one:add 2, two:add 3", "one had ended before request 2"},
		{"sdk-helper", time.Minute, "one:add 2, two:add 3", "one had ended before request 2"},
		{"claude-code", time.Minute, "one:add 2, two:add 3", "one had ended before request 2"},
		{"generic", time.Second, "one:add 2, two:add 3", ""},
		{"sdk-helper", time.Second / 10, "one:add 2", "definitions that this host leaves out are in no sum, though 3 calls"},
	} {
		b := book(t, c.host, "", at("one", noon, 1000, 40_000), at("two", noon.Add(c.later), 1000, 4000, 8000))
		l := Of(b, meter(t))
		calls := make([]int, len(l.Tools))
		for _, call := range l.Session.Calls {
			if call.Tool >= 0 {
				calls[call.Tool]++
			}
		}
		var got []string
		for i, d := range l.Tools {
			got = append(got, fmt.Sprintf("%s:%s %d", d.Server, d.Bare, calls[i]))
		}
		if strings.Join(got, ", ") != c.calls || !strings.Contains(strings.Join(l.Doubts, "\n"), c.doubt) {
			t.Errorf("%s, %v apart: %s, want %s; %q", c.host, c.later, got, c.calls, l.Doubts)
		}
		agree(t, c.host, b)
	}
}

// TestNoStart: the times of calls are taken also where nobody says when it began.
func TestNoStart(t *testing.T) {
	l := Of(book(t, "generic", "", at("one", time.Time{}, 1000, 400_000)), meter(t))
	o := rent.Options{Table: tokens.Default(), Estimator: meter(t).Estimator(), Day: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}
	r, err := rent.Of(&l.Session, o)
	if err != nil || len(r.Sent.Misses[cost.FiveMinutes]) != 1 || r.Sent.Misses[cost.FiveMinutes][0].Reason != cost.Expired || len(r.Sent.Misses[cost.OneHour]) != 0 {
		t.Errorf("%+v, %v", r.Sent.Misses, err)
	}
}

// TestListChange: a list that changes is another definition, and its frame is named.
func TestListChange(t *testing.T) {
	k := talk.New()
	k.List(10, `{"name":"a","description":"one","inputSchema":{"type":"object"}}`)
	id := k.Ask(1000, "a", `{}`, "")
	k.Answer(1100, id, "done")
	k.List(1200, `{"name":"a","description":"two","inputSchema":{"type":"object"}}`)
	id = k.Ask(5000, "a", `{}`, "")
	k.Answer(5100, id, "done")
	b := book(t, "generic", "", &replay.Session{Session: k.Session, Name: "s", Body: k.Body})
	l := Of(b, meter(t))
	if len(l.Session.Tools) != 2 || l.Session.Tools[1].Description != "two" {
		t.Fatalf("%+v", l.Session.Tools)
	}
	for turn, want := range map[int]int{1: 0, 2: 0, 3: 1} {
		if got := l.Session.Turns[turn-1].Tools; len(got) != 1 || got[0] != want {
			t.Errorf("turn %d offers %v, want %d", turn, got, want)
		}
	}
	if len(l.Lists[1]) != 1 || len(l.Lists[2]) != 0 || len(l.Lists[3]) != 1 || l.Lists[3][0].Frame <= l.Lists[1][0].Frame {
		t.Errorf("lists: %+v", l.Lists)
	}
}

// TestReordered: the same tools in another order are the same definitions, and the
// frame is named all the same.
func TestReordered(t *testing.T) {
	a, b := `{"name":"a","inputSchema":{"type":"object"}}`, `{"name":"b","inputSchema":{"type":"object"}}`
	k := talk.New()
	k.List(10, a+","+b)
	k.Answer(1100, k.Ask(1000, "a", `{}`, ""), "done")
	k.List(1200, b+","+a)
	k.Answer(5100, k.Ask(5000, "a", `{}`, ""), "done")
	m := meter(t)
	l := Of(book(t, "generic", "", &replay.Session{Session: k.Session, Name: "s", Body: k.Body}), m)
	r, err := rent.Of(&l.Session, rent.Options{Table: tokens.Default(), Estimator: m.Estimator(), Day: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	misses := r.Upfront.Misses[cost.FiveMinutes]
	if len(l.Tools) != 2 || len(misses) != 1 || misses[0].Change != cost.Reordered || len(l.Lists[misses[0].Turn]) != 1 {
		t.Errorf("%d tools, misses %+v, lists %+v", len(l.Tools), misses, l.Lists)
	}
}

// TestOpen: a turn that is not answered has no request after it.
func TestOpen(t *testing.T) {
	k := talk.New()
	k.List(10, `{"name":"a","inputSchema":{"type":"object"}}`)
	k.Ask(1000, "a", `{}`, "")
	l := Of(book(t, "generic", "", &replay.Session{Session: k.Session, Name: "s", Body: k.Body}), meter(t))
	if len(l.Session.Turns) != 1 || len(l.Session.Calls) != 1 {
		t.Errorf("%+v", l.Session)
	}
	if !strings.Contains(strings.Join(l.Doubts, "\n"), "no answer yet") {
		t.Errorf("%q", l.Doubts)
	}
	k.Answer(1500, k.Ask(1001, "a", `{}`, ""), "done") // the other one never is
	l = Of(book(t, "generic", "", &replay.Session{Session: k.Session, Name: "s", Body: k.Body}), meter(t))
	if len(l.Session.Turns) != 2 || !strings.Contains(strings.Join(l.Doubts, "\n"), "1 of the calls had no answer") {
		t.Errorf("%d requests: %q", len(l.Session.Turns), l.Doubts)
	}
}

// TestConnector: of the API's own client the definitions are what the server listed.
func TestConnector(t *testing.T) {
	b := book(t, "mcp-connector", "", played(recorded.Load(t, "../claude/testdata/tickets.jsonl"), "tickets"))
	l := Of(b, meter(t))
	if len(l.Tools) != 3 || l.Tools[0].Name != "search_tickets" || len(l.Session.Calls) != 4 || l.Session.Calls[0].Tool != 0 {
		t.Errorf("%+v", l.Session)
	}
}

// TestImages: what can't be counted is said.
func TestImages(t *testing.T) {
	k := talk.New()
	k.List(10, `{"name":"a","inputSchema":{"type":"object"}}`)
	k.Result(1100, k.Ask(1000, "a", `{}`, ""), `{"content":[{"type":"text","text":"a picture"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}`)
	b := book(t, "claude-code", "", &replay.Session{Session: k.Session, Name: "s", Body: k.Body})
	sum := meter(t).Request(b.Request(b.Turns()))
	if sum.Images != 1 || !sum.AtLeast {
		t.Errorf("%+v", sum)
	}
	if led := Of(b, meter(t)); !strings.Contains(strings.Join(led.Doubts, "\n"), "images and PDF documents are in no sum") {
		t.Errorf("%q", led.Doubts)
	}
}

// TestCatalogue: sessions that did not run at the same time are there both.
func TestCatalogue(t *testing.T) {
	slack := played(recorded.Load(t, "../../decode/testdata/corpus/slack-ts-auto.jsonl"), "slack")
	tickets := played(recorded.Load(t, "../claude/testdata/tickets.jsonl"), "tickets")
	all, _ := Catalogue(book(t, "generic", "", slack, tickets))
	if len(all) != 11 || all[0].Server != "slack" || all[10].Server != "tickets" {
		t.Errorf("%d definitions", len(all))
	}
}

// big is a session of so many calls and tools, with answers of so many bytes.
func big(calls, tools, size int) *replay.Session {
	k := talk.New()
	var list []string
	for i := range tools {
		list = append(list, fmt.Sprintf(`{"name":"tool_%d","description":"Does thing %d, and says so in a sentence of some length.","inputSchema":{"type":"object","properties":{"id":{"type":"string","description":"what to do it to"},"limit":{"type":"integer","default":20}},"required":["id"]}}`, i, i))
	}
	k.List(500, strings.Join(list, ","))
	filler := strings.Repeat("some words of a result, ", size/24)
	for i := range calls {
		id := k.Ask(1000+1100*i, fmt.Sprintf("tool_%d", i%tools), fmt.Sprintf(`{"id":"item-%d","limit":5}`, i), "")
		k.Answer(1100+1100*i, id, fmt.Sprintf("item-%d %s", i+1, filler))
	}
	return &replay.Session{Session: k.Session, Name: "big", Body: k.Body}
}

// BenchmarkRent is all of rent for a session of 10,000 calls, 500 tools and 20 MB of
// answers.
func BenchmarkRent(b *testing.B) {
	for _, host := range []string{"generic", "claude-code"} {
		b.Run(host, func(b *testing.B) {
			all := book(b, host, "", big(10_000, 500, 2000))
			for b.Loop() {
				m := meter(b)
				l := Of(all, m)
				if _, err := rent.Of(&l.Session, rent.Options{Table: tokens.Default(), Estimator: m.Estimator(), Day: time.Unix(0, 0)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
