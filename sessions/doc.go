// Package sessions is the store of recordings: where they lie, what they are
// called, which are live, which are kept, and how they are opened.
//
// It promises that a recording is created whole and private (folder 0700, file
// 0600) and never over another file, that a live or a kept recording is never
// removed, and that nothing a journal says becomes part of a path.
//
// It must not write into a journal (package tap does), start processes, or
// decide what is printed.
package sessions
