package diff

import (
	"fmt"
	"testing"
)

// many is a session of n calls; every skip-th is left out, and every change-th has
// another result.
func many(n, skip, change int) script {
	var acts []act
	for i := range n {
		if skip > 0 && i%skip == 0 {
			continue
		}
		text := i
		if change > 0 && i%change == 0 {
			text = -i
		}
		acts = append(acts, act{
			fmt.Sprintf(`> {"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"t%d","arguments":{"n":%d}}}`, i%20, i%500),
			fmt.Sprintf(`< {"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"{\"n\":%d}"}]}}`, text),
		})
	}
	return play(acts)
}

// BenchmarkCompare tells whether a comparison takes time in proportion to its length:
// ns/operation should not change between the sizes.
func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		a, build := many(n, 0, 0), many(n, 97, 10)
		x, y := a.side("a"), build.side("b")
		webX, webY := a.web("a", true, 36), build.web("b", false, 0)
		for _, c := range []struct {
			name string
			do   func()
		}{{"", func() { newWork(x, y, Options{}).compare() }}, {"over-http", func() { newWork(webX, webY, Options{}).compare() }}, {"with-findings", func() { Compare(x, y, Options{}) }}} {
			b.Run(itoa(n)+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					c.do()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
			})
		}
	}
}
