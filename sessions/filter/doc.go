// Package filter is the language that selects calls and frames of a session:
//
//	tool:add_* and status:tool-error or ms>100
//
// [Parse] reads a filter once, [Filter.On] joins it to a session, and the [Matcher]
// that this gives tells of one call or frame after the other whether it is selected.
// [Typing] judges a filter that is being typed, [Complete] says how it may go on.
//
// It promises that printing a filter and parsing it again gives the same filter, that
// and, or and not are those of logic (what a term can't tell is not selected by it, and
// is by its negation), that an error names its place and a next step, and that terms
// which look into frames are asked last and only when the others leave it open.
//
// It must not read files, know a clock, or change what it looks at: bodies, turns and
// marks are handed in by functions of a [Source].
//
// # What a call is judged by
//
// A call that leads an operation is judged as a list shows it: its outcome, time and
// bytes are those of the whole operation, and a term about its messages holds when one
// of them has it. Further legs and requests of the server are judged by themselves.
// A frame is judged by itself, and by the call that it belongs to.
//
// # How text is found
//
// Text is looked for in the bytes as they crossed, without a copy. Letter case does
// not count, by Unicode's simple folding. Escapes of JSON are undone where they stand,
// however deep they are nested: ü finds ü, \u00fc, and the \\u00fc of JSON within a
// JSON string; "a" finds \"a\". Two spellings of one letter (u and a combining
// diaeresis) are two texts. A regular expression runs over the bytes as they are, and
// if there are escapes and it has not matched, over a copy without them.
package filter
