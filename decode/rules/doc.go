// Package rules judges a session by the specification: which rules does its
// traffic break, where, and who broke them.
//
// Findings are data: a rule, a frame, a side, arguments. They become words where
// they are shown ([Finding.Words]). A repeated fault is one finding with a count.
//
// It promises to judge each message by the rules of its own revision only, to
// hold back where the capture does not show the whole traffic, and to be pure:
// bytes in, findings out, no panic whatever the bytes are. A suspicion is called
// one.
//
// It must not do IO: the bodies of frames come in through a function.
//
// A rule is one entry of a table and one small function. The tables stand in one
// file each by the part of the specification that the rules come from (rpc.go,
// lifecycle.go, ...), with the functions below them; every rule has one sequence
// of frames that triggers it and one near it that must not, in testdata.
package rules
