// Package tap has the words of capture: Frame, Dir and Header, and the journal
// that holds them, its Writer and its Reader.
//
// A journal is one file a session: JSON Lines, UTF-8, append only, described in
// full by Format and by the JSON Schema in journal.schema.json. It promises that
//
//   - the bytes of a frame can be taken out again exactly as they crossed,
//   - the order of records is an order in which things can have happened: one
//     lock gives a frame its number, its time and its place in the file,
//   - what could not be written is counted, and said in the file as soon as it
//     can be written to again,
//   - reading never stops early and never panics, whatever the file holds.
//
// This package must not interpret what it carries (package decode does), start
// processes or open connections (packages tap/stdio and tap/httptap do), or
// choose where files lie (package sessions does).
package tap
