package claude

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/talk"
)

// bigSession makes up a session of so many calls and tools, with results of so many
// bytes, a call a turn.
func bigSession(calls, tools, bytes int) *replay.Session {
	k := talk.New()
	var list []string
	for i := range tools {
		list = append(list, fmt.Sprintf(`{"name":"tool_%d","description":"Does thing %d, and says so in a sentence of some length.","inputSchema":{"type":"object","properties":{"id":{"type":"string","description":"what to do it to"},"limit":{"type":"integer","default":20}},"required":["id"]}}`, i, i))
	}
	k.List(500, strings.Join(list, ","))
	filler := strings.Repeat("some words of a result, ", bytes/24)
	for i := range calls {
		id := k.Ask(1000+1100*i, fmt.Sprintf("tool_%d", i%tools), fmt.Sprintf(`{"id":"item-%d","limit":5}`, i), "")
		k.Answer(1100+1100*i, id, fmt.Sprintf("item-%d %s", i+1, filler))
	}
	return &replay.Session{Session: k.Session, Name: "big", Body: k.Body}
}

func BenchmarkIndex(b *testing.B) {
	s := bigSession(10_000, 500, 2000)
	for b.Loop() {
		NewBook(replay.New(replay.Options{}, s), Options{Profile: profile(b, "claude-code")})
	}
}

// BenchmarkRequest assembles the request of a turn, far from the one before.
func BenchmarkRequest(b *testing.B) {
	for _, host := range []string{"generic", "claude-code"} {
		b.Run(host, func(b *testing.B) {
			book := NewBook(replay.New(replay.Options{}, bigSession(10_000, 500, 2000)), Options{Profile: profile(b, host)})
			n := 0
			for b.Loop() {
				n = (n + 7919) % (book.Turns() + 1)
				book.Request(n)
			}
		})
	}
}

// BenchmarkMoment does the same in the middle of a turn.
func BenchmarkMoment(b *testing.B) {
	book := NewBook(replay.New(replay.Options{}, bigSession(10_000, 500, 2000)), Options{})
	n := 0
	for b.Loop() {
		n = (n + 7919) % int(book.Timeline().Len()+1)
		book.RequestAt(replay.Moment(n))
	}
}

// BenchmarkChanges also reads what is new in the turn.
func BenchmarkChanges(b *testing.B) {
	book := NewBook(replay.New(replay.Options{}, bigSession(10_000, 500, 2000)), Options{})
	n := 0
	for b.Loop() {
		n = (n + 7919) % (book.Turns() + 1)
		c := book.Request(n).Changes()
		for _, p := range c.New {
			p.JSON()
		}
	}
}

// BenchmarkReach tells of one frame after another.
func BenchmarkReach(b *testing.B) {
	book := NewBook(replay.New(replay.Options{}, bigSession(10_000, 500, 2000)), Options{})
	n := 2
	for b.Loop() {
		n = 2 + (n+7919)%20_000
		book.Reach(replay.Ref{Frame: n})
	}
}

// BenchmarkJSON writes out a whole request of 20 MB.
func BenchmarkJSON(b *testing.B) {
	book := NewBook(replay.New(replay.Options{}, bigSession(10_000, 500, 2000)), Options{})
	for b.Loop() {
		b.SetBytes(int64(len(book.Request(book.Turns()).JSON())))
	}
}

// BenchmarkRefresh takes in what a live session has got, which is nothing, and makes
// the requests anew.
func BenchmarkRefresh(b *testing.B) {
	line := replay.New(replay.Options{}, bigSession(10_000, 500, 2000))
	for b.Loop() {
		line.Refresh()
		NewBook(line, Options{Profile: profile(b, "claude-code")})
	}
}

// BenchmarkCheck judges a request that has all calls in one message, as a session has
// whose calls came within milliseconds. What it takes must grow with the calls, not with
// their square.
func BenchmarkCheck(b *testing.B) {
	for _, calls := range []int{5_000, 20_000, 80_000} {
		b.Run(strconv.Itoa(calls), func(b *testing.B) {
			request := oneTurn(calls).JSON()
			for b.Loop() {
				if found := Check(request); len(found) > 0 {
					b.Fatal(found[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(calls), "ns/call")
		})
	}
}

// oneTurn is a request whose one turn has so many calls.
func oneTurn(calls int) *Request {
	k := talk.New()
	k.List(500, `{"name":"look","inputSchema":{"type":"object"}}`)
	for i := range calls {
		id := k.Ask(1000+2*i, "look", fmt.Sprintf(`{"i":%d}`, i), "")
		k.Answer(1001+2*i, id, "ok")
	}
	book := NewBook(replay.New(replay.Options{}, &replay.Session{Session: k.Session, Name: "big", Body: k.Body}), Options{})
	return book.Request(book.Turns())
}
