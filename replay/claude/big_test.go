package claude

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/talk"
)

// BenchmarkLongResult reads one result of 20 MB, said twice, and tells of its reach.
func BenchmarkLongResult(b *testing.B) {
	row := `{"id":12345,"title":"some words of a title","tags":["a","b"],"note":"` + strings.Repeat("x", 200) + `"}`
	rows := "[" + strings.Repeat(row+",", 35_000) + row + "]"
	k := talk.New()
	k.List(100, toolNamed("t"))
	id := k.Ask(1000, "t", "{}", "")
	k.Result(1100, id, fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"structuredContent":{"result":%s}}`, quote(rows), rows))
	for _, host := range []string{"generic", "claude-code"} {
		book := bookOf(b, k, "s", host)
		b.Run(host+"/first", func(b *testing.B) {
			for b.Loop() {
				book.last = nil
				book.Request(1).JSON()
			}
		})
		b.Run(host+"/json", func(b *testing.B) {
			for b.Loop() {
				b.SetBytes(int64(len(book.Request(1).JSON())))
			}
		})
		b.Run(host+"/reach", func(b *testing.B) {
			for b.Loop() {
				book.Reach(replay.Ref{Frame: 3})
			}
		})
		b.Run(host+"/request", func(b *testing.B) {
			for b.Loop() {
				book.Request(1).Changes()
			}
		})
	}
}
