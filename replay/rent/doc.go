// Package rent says what tool definitions and results cost a conversation, turn for
// turn.
//
// Everything that a host puts into a request is read again on every later request of
// the conversation. A tool pays rent: its definition is read on every turn, called or
// not. A result, once it has entered, is carried along to the end. This package adds
// both up, in tokens and in money, by server, tool and part of a definition, without
// caching and with it, and for the ways to load definitions: all up front, or only
// when they are found by a search.
//
// Of a definition only name, description and input schema are rent. What else a
// server sends (title, annotations, output schema, ...) never reaches the model; the
// bytes on the wire are kept beside the tokens to show that.
//
// What the caller does not know (system prompt, the user's text, the model's own
// words) is not in any sum: all of them say at least. A sum may also be too high,
// since a host may have dropped old results; [Carried].Until says so where it is known.
//
// The package is pure, and its inputs are plain values that know nothing of frames or
// hosts.
package rent
