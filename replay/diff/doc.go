// Package diff compares two sessions: which operations both have, what each costs,
// what behaves differently, and what of it the model would notice.
//
// It promises to be pure (no IO, no clock, no goroutines), never to panic whatever
// the bytes are, and to be the same from both ends: what stands on one side of
// diff(A, B) stands on the other of diff(B, A). A session compared with itself has
// no difference. Every frame of both directions counts in exactly one row, so the
// rows of a side add up to what crossed its wire.
//
// It must not call noise a difference: what was not the same can't be told from
// what varies by itself (identifiers, times) by equality, so such values are
// recognised, taken as equal, and listed as what they are ([Diff.Volatile]).
// Latencies are compared by tests ([Times]).
//
// # How it goes
//
// Each session becomes a [source]: its opening, its subscriptions, its operations,
// and the messages that belong to none. Openings and subscriptions are compared as
// wholes, since the eras do them by other means. Operations are aligned by method,
// target and arguments in order (align.go, pairing.go); those left over are paired when they
// only changed places, or when they differ in arguments alone. Then every pair is
// compared: bytes, outcome, result.
//
// # For pages and screens
//
// [Diff.Answers] gives the three things that a reader wants to know first, as values and
// in words. A [Row] has the frames and exchanges of both sides to jump to ([Part]), its
// bytes by part ([Row.Lines]), its changes, and words for all of them; [Bill.Groups] and
// [Lines] account for the whole; [Diff.Verdicts] has the differences by kind. Words and
// values hold text from the outside: make it safe before drawing it.
//
// # HTTP
//
// What carries a message counts with it: the heads of request and answer with what the
// client sent, framing with each event. Requests without a message, and what streams
// carry beside messages, have rows of their own ([RowExchanges]); a legacy session's GET
// stream is compared with a modern one's listen stream.
//
// # Sources
//
// Which method exists in which revision follows the schema of each revision; that
// what a server asks (elicitation, sampling, roots) comes as a request up to
// 2025-11-25 and within a result from 2026-07-28 on, follows basic/patterns/mrtr;
// subscriptions follow basic/patterns/subscriptions.
package diff
