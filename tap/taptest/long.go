package taptest

import (
	"bufio"
	"fmt"
	"io"
)

// LongCalls is how many calls WriteLong makes of so many frames, whole or begun.
func LongCalls(frames int) int {
	calls := 0
	for n := 0; n < frames; calls++ {
		n += 2
		if (calls+1)%10 == 0 {
			n++
		}
	}
	return calls
}

// WriteLong writes a journal of so many frames, for benchmarks: calls of a dozen tools
// with a notification now and then, one in a hundred of them fails.
func WriteLong(to io.Writer, session string, frames int) error {
	w := bufio.NewWriterSize(to, 1<<20)
	fmt.Fprintf(w, `{"mcptap":1,"session":%q,"start":"2026-11-30T12:00:00Z","transport":"stdio","command":["server"],"label":"long"}`+"\n", session)
	for n, id := 1, 1; n <= frames; id++ {
		line := func(dir, msg string) {
			if n <= frames {
				fmt.Fprintf(w, `{"n":%d,"t":%d,"dir":%q,"msg":%s}`+"\n", n, n*1000000, dir, msg)
			}
			n++
		}
		line("c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool_%d","arguments":{"query":"number %d of a long session","limit":%d}}}`, id, id%12, id, id%50))
		if id%10 == 0 {
			line("s2c", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"working on %d"}}`, id))
		}
		if id%100 == 0 {
			line("s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"no record %d"}],"isError":true}}`, id, id))
		} else {
			line("s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"record %d, found at once, with some words about it"}]}}`, id, id))
		}
	}
	return w.Flush()
}
