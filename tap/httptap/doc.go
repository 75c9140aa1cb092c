// Package httptap is the tap for MCP servers on HTTP: a reverse proxy that
// records what crosses it.
//
// It mirrors the whole origin of the server: http://127.0.0.1:PORT/mcp stands for
// https://host/mcp, and every other path for its like. It promises that
//   - heads, bodies and trailers pass as they are, both ways, and every piece of a
//     body when it comes; what had to be changed all the same (see Mapping) is in
//     the journal;
//   - the last byte of a message, of an event of a stream or of a body is in the
//     journal before anyone has it;
//   - each client gets a journal of its own, so that two never mix;
//   - secrets of HTTP are masked before they are recorded (Masker);
//   - nothing is sent anywhere but to the server's origin.
//
// It must not retry, follow redirects, decompress what it passes on, or answer in
// the server's place, but for a request that it refuses or can't deliver.
//
// The parts: proxy.go forwards, with request.go for the bodies that come in and
// writer.go for the answers that go out; exchange.go records one exchange, with
// recorder.go and collect.go for bodies and sse.go for event streams; clients.go
// finds the journal that an exchange belongs to, with peer_linux.go for the process
// at the other end; guard.go refuses what a web page sends; tap.go listens.
package httptap
