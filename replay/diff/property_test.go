package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// act is one thing that a client does: its lines, with the id left open.
type act []string

// drawActs makes up what a client did: few methods, tools and arguments, so that they
// are the same often; some at once, some with questions, notifications and noise.
func drawActs(t *rapid.T) []act {
	return rapid.SliceOfN(rapid.Custom(drawAct), 0, 30).Draw(t, "acts")
}

func drawAct(t *rapid.T) act {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
	n := rapid.IntRange(0, 2).Draw(t, "n")
	result := rapid.SampledFrom([]string{
		`"result":{"content":[{"type":"text","text":"%d"}]}`, `"result":{"content":[{"type":"text","text":"{\"n\":%d}"}],"isError":true}`,
		`"error":{"code":-32602,"message":"no %d"}`,
	}).Draw(t, "result")
	call := fmt.Sprintf(`> {"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"%s","arguments":{"n":%d}}}`, name, n)
	answer := `< {"jsonrpc":"2.0","id":ID,` + fmt.Sprintf(result, n) + `}`
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return act{call, `< {"jsonrpc":"2.0","id":ID,"method":"elicitation/create","params":{"message":"?"}}`, `> {"jsonrpc":"2.0","id":ID,"result":{"action":"accept"}}`, answer}
	case 1:
		return act{`> {"jsonrpc":"2.0","id":ID,"method":"ping"}`, `< {"jsonrpc":"2.0","id":ID,"result":{}}`}
	case 2:
		return act{fmt.Sprintf(`> {"jsonrpc":"2.0","id":ID,"method":"resources/read","params":{"uri":"x://%d"}}`, n), `< {"jsonrpc":"2.0","id":ID,"result":{"contents":[]}}`}
	}
	return act{call, answer}
}

// play writes acts down as a session, one after the other.
func play(acts []act) script {
	s := script{
		`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
		`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
	}
	for i, a := range acts {
		for _, l := range a {
			s = append(s, strings.ReplaceAll(l, "ID", itoa(1000+i))) // ids of one length
		}
	}
	return s
}

func TestPropertySelf(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := play(drawActs(rt)).side("a")
		if d := Compare(a, a, Options{}); !d.Same() {
			rt.Error(describe(d))
		}
	})
}

// TestPropertyMirror: from the other end, everything is on the other side.
func TestPropertyMirror(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := play(drawActs(rt)).side("a"), play(drawActs(rt)).side("b")
		ab, ba := Compare(a, b, Options{}), Compare(b, a, Options{})
		if d := cmp.Diff(sorted(ba, nil), mirror(ab)); d != "" {
			rt.Error(d)
		}
		if ab.Bill.A != ba.Bill.B || ab.Bill.B != ba.Bill.A {
			rt.Error("the bills differ")
		}
	})
}

// TestPropertyRemoved: an operation less shows as that one, and nothing else.
func TestPropertyRemoved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		acts := drawActs(rt)
		if len(acts) == 0 {
			return
		}
		i := rapid.IntRange(0, len(acts)-1).Draw(rt, "removed")
		whole, less := play(acts).side("a"), play(slices.Delete(slices.Clone(acts), i, i+1)).side("b")
		gone := act(play(acts[i : i+1])[2:])
		size := int64(0)
		for _, l := range gone {
			size += int64(len(l) - 2 + 1)
		}
		d := Compare(whole, less, Options{})
		var only []Row
		for _, r := range d.Rows {
			if r.OneSided() {
				only = append(only, r)
			} else if r.Moved || len(r.Changes) > 0 && !sameWork(acts, i) {
				rt.Errorf("%s %s differs as well", r.Method, r.Name)
			}
		}
		if len(only) != 1 || only[0].B != nil || only[0].A.Bytes.Total() != size && !sameWork(acts, i) || d.Bill.A.Total()-d.Bill.B.Total() != size {
			rt.Errorf("removed %v:\n%s", gone, describe(d))
		}
	})
}

// sameWork reports whether another act asks for what act i asks for: which of them is
// gone can't be told then by what was asked.
func sameWork(acts []act, i int) bool {
	for j := range acts {
		if j != i && acts[j][0] == acts[i][0] {
			return true
		}
	}
	return false
}

// TestPropertyParallel: calls made at once are the same work in any order.
func TestPropertyParallel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(rt, "calls")
		order := rapid.Permutation(row(0, n)).Draw(rt, "order")
		atOnce := func(order []float64) script {
			var asks, answers script
			for _, k := range order {
				asks = append(asks, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":"t","arguments":{"k":%v}}}`, k, k))
				answers = append(answers, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%v,"result":{"content":[{"type":"text","text":"%v"}]}}`, k, k))
			}
			return append(asks, answers...)
		}
		d := Compare(atOnce(row(0, n)).side("a"), atOnce(order).side("b"), Options{})
		for _, r := range d.Rows {
			if r.OneSided() || r.Moved || len(r.Changes) > 0 {
				rt.Errorf("%+v", r)
			}
		}
	})
}
