package decode

import (
	"fmt"
	"math/bits"
)

// Faults is a set of broken rules of the JSON-RPC layer. A message may keep its
// kind and still have some: readers differ in what they forgive.
type Faults uint32

// The rules that one frame can break by itself. Rules on how frames follow each
// other are told by the flags of a Call and of a Frame.
const (
	FaultNotJSON   Faults = 1 << 1  // RPC-01: every frame is valid UTF-8 JSON
	FaultVersion   Faults = 1 << 2  // RPC-02: jsonrpc is exactly "2.0"
	FaultIDType    Faults = 1 << 3  // RPC-03: an id is a string or an integer
	FaultIDNull    Faults = 1 << 4  // RPC-04: a request id is not null
	FaultNoResult  Faults = 1 << 7  // RPC-07: a response has exactly one of result, error
	FaultErrorForm Faults = 1 << 11 // RPC-11: error.code is an integer, error.message a string
	FaultErrorID   Faults = 1 << 12 // RPC-12: the id of an error is not null
	FaultBatch     Faults = 1 << 13 // RPC-13: no array frames (but in revision 2025-03-26)
	FaultBatchForm Faults = 1 << 14 // RPC-14: a batch is not empty, not mixed, and without initialize
	FaultNoObject  Faults = 1 << 15 // RPC-15: params and result are objects
	FaultDuplicate Faults = 1 << 16 // RPC-16: no member is there twice
	FaultBigNumber Faults = 1 << 18 // RPC-18: an integer id lies within ±(2^53-1)
)

var faultTexts = map[Faults]string{
	FaultNotJSON:   "not one JSON text in valid UTF-8",
	FaultVersion:   `jsonrpc is not "2.0"`,
	FaultIDType:    "the id is neither a string nor an integer",
	FaultIDNull:    "the id of a request is null",
	FaultNoResult:  "neither a method nor exactly one of result and error",
	FaultErrorForm: "error has no integer code and string message",
	FaultErrorID:   "the id of an error response is null",
	FaultBatch:     "an array of messages, which only revision 2025-03-26 allows",
	FaultBatchForm: "a batch that is empty, mixes responses with requests, or holds initialize",
	FaultNoObject:  "params or result is not an object",
	FaultDuplicate: "a member is there twice",
	FaultBigNumber: "the id is an integer that many readers can't hold (beyond 2^53-1)",
}

// A Fault is one broken rule: its id in the rule table and what is wrong.
type Fault struct{ Rule, Text string }

// List gives the faults one by one, in the order of the rule table.
func (f Faults) List() []Fault {
	var out []Fault
	for ; f != 0; f &= f - 1 {
		n := bits.TrailingZeros32(uint32(f))
		out = append(out, Fault{fmt.Sprintf("RPC-%02d", n), faultTexts[1<<n]})
	}
	return out
}

// Has reports whether all of g are in f.
func (f Faults) Has(g Faults) bool { return f&g == g }
