package decode

import "github.com/tidwall/gjson"

// Part is a part of a frame that its bytes are spent on.
type Part uint8

// The parts of a frame. Together they are its exact length on the wire.
const (
	PartEnvelope  Part = iota // outer braces, jsonrpc, id, method, the keys of params, result and error, commas between
	PartMeta                  // _meta; of results also resultType, ttlMs and cacheScope
	PartRounds                // inputRequests, inputResponses, requestState
	PartPayload               // everything else
	PartDuplicate             // what says again what another part of the payload says
	PartSpace                 // insignificant white space
	PartTextSpace             // the same inside JSON that travels as a text, escapes included
	PartLineEnd               // of the frame
	PartStray                 // bytes of what is no message
	PartLong                  // of a frame too long to be taken apart: it lies in a side file
	NumParts
)

var partNames = [...]string{"envelope", "_meta", "mrtr", "payload", "duplicate", "space", "text space", "line end", "stray", "too long to split"}

func (p Part) String() string { return nameOf(partNames[:], int(p)) }

// An Account is how many bytes a frame, or a sum of frames, spends on each part.
type Account [NumParts]int64

// Total is the sum of all parts.
func (a *Account) Total() (n int64) {
	for _, v := range a {
		n += v
	}
	return n
}

// Overhead is what the protocol adds to the payload of a message.
func (a *Account) Overhead() int64 {
	return a[PartEnvelope] + a[PartMeta] + a[PartRounds] + a[PartSpace]
}

// Add adds another account.
func (a *Account) Add(b *Account) {
	for i := range a {
		a[i] += b[i]
	}
}

// Copies are the two places that say the same in one result, in bytes as they
// stand in the frame.
type Copies struct {
	Text       int64 // text blocks, their quotation marks included
	Structured int64 // the value of structuredContent
}

// AccountOf splits the bytes of a body that is one JSON text. lineEnd is the
// length of the frame's end. The parts add up to len(body)+lineEnd whatever the
// bytes are: what is no message is all PartStray.
//
// A member costs its key, colon and value. Of the n-1 commas of params or result,
// the payload is charged those between its own members, and the others go one per
// member to _meta, then to mrtr: so the order of members makes no difference.
func AccountOf(body []byte, lineEnd int) Account {
	a, _ := accountOf(body, lineEnd)
	return a
}

// AccountCopies is AccountOf that also tells what says the same.
func AccountCopies(body []byte, lineEnd int) (Account, Copies) { return accountOf(body, lineEnd) }

func accountOf(body []byte, lineEnd int) (Account, Copies) {
	k := bookkeeper{b: body}
	k.run(lineEnd)
	return k.a, k.copies
}

func (k *bookkeeper) run(lineEnd int) {
	in := trim(k.b, whole(k.b))
	switch {
	case isArray(k.b, in) && gjson.ValidBytes(k.b):
		for w := walk(k.b, in); w.next(); {
			k.message(w.value)
		}
	case isObject(k.b, in):
		k.message(in)
	}
	k.a[PartSpace] = int64(spaceIn(k.b, whole(k.b)))
	k.a[PartEnvelope] = int64(len(k.b)) - k.a.Total()
	if k.a[PartEnvelope] < 2 || !isObject(k.b, in) && !isArray(k.b, in) {
		// No JSON after all, or none that is a message: even its braces are more.
		*k = bookkeeper{b: k.b, a: strayAccount(len(k.b), lineEnd)}
	}
	k.a[PartLineEnd] = int64(lineEnd)
}

func strayAccount(size, lineEnd int) (a Account) {
	a[PartStray], a[PartLineEnd] = int64(size), int64(lineEnd)
	return a
}

// spaceIn counts insignificant white space.
func spaceIn(b []byte, in span) (n int) {
	for i := in.from; i < in.to; {
		switch b[i] {
		case '"':
			i = skipString(b[:in.to], i)
			continue
		case ' ', '\t', '\n', '\r':
			n++
		}
		i++
	}
	return n
}

// bookkeeper charges the parts that are not the envelope, which is the rest.
type bookkeeper struct {
	b      []byte
	a      Account
	copies Copies
}

// solid is the length of a value without insignificant white space.
func (k *bookkeeper) solid(v span) int64 {
	if c := first(k.b, v); c != '{' && c != '[' {
		return int64(v.size())
	}
	return int64(v.size() - spaceIn(k.b, v))
}

// cost is the length of the current member: key, quotation marks, colon, value.
func (k *bookkeeper) cost(w *walker) int64 {
	return int64(w.key.size()) + 3 + k.solid(w.value)
}

func (k *bookkeeper) message(in span) {
	if !isObject(k.b, in) {
		k.a[PartPayload] += k.solid(in)
		return
	}
	for w := walk(k.b, in); w.next(); {
		switch string(w.name()) {
		case "jsonrpc", "id", "method":
		case "params":
			k.body(w.value, false)
		case "result":
			k.body(w.value, true)
			k.copied(w.value)
		case "error":
			k.a[PartPayload] += k.solid(w.value)
		default:
			k.a[PartPayload] += k.cost(&w)
		}
	}
}

// body charges the members of params or result.
func (k *bookkeeper) body(in span, isResult bool) {
	if !isObject(k.b, in) {
		k.a[PartPayload] += k.solid(in)
		return
	}
	var members [NumParts]int64
	for w := walk(k.b, in); w.next(); {
		p := partOf(string(w.name()), isResult)
		k.a[p] += k.cost(&w)
		members[p]++
	}
	meta, rounds, payload := members[PartMeta], members[PartRounds], members[PartPayload]
	between := max(0, payload-1)
	k.a[PartPayload] += between
	rest := max(0, meta+rounds+payload-1-between)
	k.a[PartMeta] += min(rest, meta)
	k.a[PartRounds] += min(max(0, rest-meta), rounds)
}

func partOf(name string, isResult bool) Part {
	switch name {
	case "_meta":
		return PartMeta
	case "requestState":
		return PartRounds
	case "inputResponses":
		if !isResult {
			return PartRounds
		}
	case "inputRequests":
		if isResult {
			return PartRounds
		}
	case "resultType", "ttlMs", "cacheScope":
		if isResult {
			return PartMeta
		}
	}
	return PartPayload
}
