// Package decode gives frames their meaning: bytes in, values out.
//
// It promises to be pure (no IO, no clock, no goroutines), never to panic
// whatever the bytes are, to take time in proportion to them, and to keep what it
// read as it was sent: an id is its own text, since 1, 1.0 and "1" are three
// different ids. What was read and what was worked out are told apart: a guess
// has its reason, and what is not known stays unknown.
//
// It must not change, repair or re-encode what it looks at, and it must not judge:
// whether something breaks the specification is for rules to say.
//
// # The layers
//
// [Parse] tells what one frame is, with the rules of the JSON-RPC layer that it
// breaks ([Faults]). A [Session] takes the records of one tap run one by one and
// joins them: a [Call] is a request with its response and all that hangs on it
// ([Note]), an [Operation] is one call or several that belong together (rounds,
// tasks, pages). [AccountOf] splits the bytes of a frame, [Session.Totals] those of
// a session. [Session.Eras] tells how the two ends came to their revision, and
// [IsProbeOf] joins a session to the process that was probed for it. A [Catalogue]
// holds what the server offered over time.
//
// Over HTTP a frame is a body or an event, and belongs to an [Exchange]. Ids count
// within the MCP session that a header or an endpoint names, in the modern era within
// the exchange. A response in the answer to a POST belongs to the requests of that POST
// or to none. An event that comes twice counts once, and an exchange that ends without
// an answer ends its requests, unless its stream can be gone on with.
//
// A session keeps an index of less than 100 bytes a frame (over HTTP about 180, those
// of its exchange included) and no bodies, but those of listings. Whoever needs a body looks it up by the frame's number and hands it
// in.
//
// # Writing rules
//
// A rule walks what a session knows, and asks for bodies where that is not enough:
//
//	for i := range s.Len() {
//		f := s.Frame(i) // kind, faults, orphan, second, unjoined; f.Call
//	}
//	for i := range s.Calls() {
//		c := s.Call(i) // era, revision, outcome, flags of the exchange
//		for _, n := range s.Notes(i) { ... }
//		request := body(c.Request) // the rule's own look-up
//	}
//	for i := range s.Exchanges() {
//		x := s.Exchange(i) // status, headers, who ended it; x.Call, s.ExchangeFrames(i)
//	}
//	for _, o := range s.Operations() { ... } // legs, times, doubts
//	cat := s.Catalogue() // changes, ignored announcements, unlisted calls
//
// The era and revision to judge a frame by are those of its call; a frame without
// one goes by [Session.Eras]. Everything is known as of the last record: a rule
// that runs on a live session runs again when it has grown. Indexes stay valid.
// Where a capture may miss something, as [Eras] NoOpening, a Doubt or Partial say,
// a rule that depends on the whole traffic holds back.
//
// # Sources
//
// Shapes and joins follow the pages of each revision of the specification:
// basic/index, basic/lifecycle, basic/transports and basic/versioning,
// basic/patterns/mrtr and subscriptions, basic/utilities/progress, cancellation and tasks, server/tools,
// resources, prompts and utilities/pagination. What the official SDKs do beyond
// them is said where it is used.
package decode
