package filter

import "strings"

// kindOf says what a field's values are.
type kindOf uint8

const (
	names    kindOf = iota // whole names: words, globs, regular expressions
	prose                  // a text that the value stands in
	fixed                  // one of some words
	times                  // durations
	sizes                  // numbers of bytes
	numbers                // plain numbers
	gjsonish               // a path into a frame's JSON
)

// A Field is what a term may ask for.
type Field struct {
	Name  string
	About string   // one line, for help and completion
	Words []string // all it can be, if that is known

	kind kindOf
	unit string // of a number without one
	body bool   // it looks into frames
	get  compiler
}

// Numeric reports a field that is compared: ms>100.
func (f *Field) Numeric() bool { return f.kind == times || f.kind == sizes || f.kind == numbers }

// fields is the one table of the language. It is filled in by init, since what
// compiles a term looks fields up.
var fields []*Field

func init() {
	fields = []*Field{
		{Name: "tool", About: "the tool that is called", get: nameTerm("tools/call")},
		{Name: "name", About: "the tool, prompt or URI that a request names", get: nameTerm("")},
		{Name: "method", About: "the method, that of the request for a response", get: methodTerm},
		{Name: "status", About: "how the call ended", kind: fixed, Words: statusWords, get: statusTerm},
		{Name: "dir", About: "the direction", kind: fixed, Words: []string{"c2s", "s2c", "stderr"}, get: dirTerm},
		{Name: "kind", About: "what a message is, or how calls belong together", kind: fixed, Words: kindWords, get: kindTerm},
		{Name: "id", About: "the JSON-RPC id", get: idTerm},
		{Name: "server", About: "the session's server or label", get: serverTerm},
		{Name: "turn", About: "the turn of the model that asked for the call", kind: numbers, get: turnTerm},
		{Name: "ms", About: "the time it took (us, ms, s, m)", kind: times, unit: "ms", get: tookTerm},
		{Name: "t", About: "when it began, from the session's start (us, ms, s, m)", kind: times, unit: "s", get: whenTerm},
		{Name: "bytes", About: "bytes on the wire (k, M, G, KiB, MiB, GiB)", kind: sizes, get: bytesTerm},
		{Name: "n", About: "the frame's number in the recording", kind: numbers, get: numberTerm},
		{Name: "code", About: "the code of a JSON-RPC error", kind: numbers, get: codeTerm},
		{Name: "mark", About: "whether a frame is marked", kind: fixed, Words: []string{"yes", "no"}, get: markTerm},
		{Name: "note", About: "the note on a frame", kind: prose, get: noteTerm},
		{Name: "text", About: "what a frame says; a word alone means the same", kind: prose, body: true, get: textTerm},
		{Name: "path", About: "a gjson path in a frame, or path=value", kind: gjsonish, body: true, get: pathTerm},
	}
}

func lookUp(name string) *Field {
	for _, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return f
		}
	}
	return nil
}

func fieldNames() string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.Name
	}
	return strings.Join(all, ", ")
}
