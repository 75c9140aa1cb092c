// Package claude assembles the Messages API request that a host makes of an MCP
// session: what of the session the model reads, in which place, and what it never
// reads.
//
// It promises that every request it gives is valid by the rules of the API (Check
// tells them), that what a server said stands in it byte for byte where the host
// leaves it alone, that every block names the frames and members it comes from, and
// that what the wire does not tell stands there as a visible mark and never as a
// guess.
//
// It must not read files or clocks, keep bodies (it keeps where they are), count
// tokens, or take one host's way for the truth: how a host does it is a dated
// profile (profiles.json) with its evidence and its confidence.
//
// # Use
//
// A Book is made once of a replay.Timeline. Book.Request(n) is what the model reads
// after turn n: the calls of turns 1 to n with their results; Request(0) comes before
// the first. Requests share their blocks, and bodies are read only when the JSON of
// a block is asked for, so going from turn to turn costs next to nothing.
//
// A Block is new in the request of its turn and resent in all later ones. Block.Links
// leads to frames, Request.Find back from them. Book.Reach tells of each member of a
// frame whether it reaches the model.
//
// # Sources
//
// Shapes and rules of the API: the official Go SDK v2.15.0 and the vendor's
// documentation of 2026-08-22; error messages of the API as public issues quote them
// (tool_use.id and property keys "should match pattern", "text content blocks must be
// non-empty", "content cannot be empty if is_error is true"). Hosts: see the evidence
// of each profile.
package claude
