// Package demo is a small MCP server and a small MCP client that belong
// together: a ticket tracker, acme-tickets, and one scripted session with it.
//
// `mcptap demo` starts [Serve] as a child process behind the real tap and plays
// the client's side with [Drive], once in each era. The journals of those two
// sessions are what a newcomer sees first, and they are the fixture for screens
// and for the comparison of the eras, so the traffic is chosen to show one of
// each outcome: ok, tool error, protocol error and hidden error.
//
// # Promises
//
//   - Both sides write what a careful SDK would write: every frame of both eras
//     fits the official schema of its revision, compact, one message a line.
//   - The bytes are the same on every run and on every machine. Nothing depends
//     on the clock, on the order of a map or on scheduling: the client sends one
//     request, waits for its answer, and sends the next.
//   - The server answers every request and every line that it cannot read, and
//     no input can make it panic or write anything but JSON-RPC messages.
//   - One message is one Write, so a tap sees frames whole unless the operating
//     system cuts them.
//
// # What it must not do
//
// It imports nothing of mcptap. A demo that shared the decoder with the tool it
// demonstrates would agree with it by construction, and a fault in the one
// would hide in the other. It opens no file and no socket, and keeps its
// tickets in memory.
package demo
