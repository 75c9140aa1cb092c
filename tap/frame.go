package tap

import "time"

// Dir is the direction of a frame.
type Dir uint8

// The three directions. The zero Dir is none of them.
const (
	C2S    Dir = iota + 1 // client to server
	S2C                   // server to client
	Stderr                // the server's standard error
)

var dirNames = [...]string{C2S: "c2s", S2C: "s2c", Stderr: "stderr"}

// String gives the name that the journal uses: c2s, s2c or stderr.
func (d Dir) String() string {
	if d < C2S || d > Stderr {
		return "?"
	}
	return dirNames[d]
}

// ParseDir is the reverse of Dir.String; ok is false for any other name.
func ParseDir(name string) (d Dir, ok bool) {
	for d := C2S; d <= Stderr; d++ {
		if dirNames[d] == name {
			return d, true
		}
	}
	return 0, false
}

// EOL is how a frame ended on the wire.
type EOL uint8

// The ends of a frame: a line feed as a rule; none at the end of a stream, and
// after a piece of one long stderr line.
const (
	LF EOL = iota
	CRLF
	NoEOL
)

var eolBytes = [...]string{LF: "\n", CRLF: "\r\n", NoEOL: ""}

// String gives the bytes themselves.
func (e EOL) String() string { return eolBytes[e] }

// A Frame is one recorded unit: a line as it crossed the wire, with its number,
// time and direction. It has no meaning yet.
type Frame struct {
	N    uint64        // number in the journal; every record counts, from 1
	Time time.Duration // monotonic, since the session's start
	Dir  Dir
	EOL  EOL
	// JSON says that Body is one valid JSON text, in valid UTF-8 and not nested
	// too deeply for the readers of JSON lines. On stdio it has no line break.
	JSON bool
	// Body is the frame's exact bytes without EOL; nil if Digest is set.
	Body []byte
	// Digest stands for a body that is not in the journal.
	Digest *Digest
	// HTTP is set for a frame that came over HTTP, and SSE as well if it was an
	// event of a stream.
	HTTP *Carriage
	SSE  *SSE
}

// Size is the length of the frame's body in bytes: its end is not counted.
func (f *Frame) Size() int64 {
	if f.Digest != nil {
		return f.Digest.Bytes
	}
	return int64(len(f.Body))
}

// Len is the frame's length on the wire in bytes, its end included.
func (f *Frame) Len() int64 { return f.Size() + int64(len(f.EOL.String())) }

// A Digest describes a body that is not in the journal itself: it lies in a
// side file, or was not kept.
type Digest struct {
	// File names the side file: the journal's name without .jsonl, a dot, and
	// this. Empty if the bytes were not kept. It is data like all else in a
	// journal: check it with SideName before a path is made of it.
	File   string
	Bytes  int64  // the body's true length
	SHA256 string // of the body, in hexadecimal
	Head   string // about the first KiB, for people; bytes that are not UTF-8 became U+FFFD
	Tail   string // about the last KiB, likewise
	Reason string // why the bytes were not kept; empty if File is set
}

// A Header is the first record of a journal: what was tapped, and when.
type Header struct {
	Version   int       `json:"mcptap"`
	Session   string    `json:"session"`
	Start     time.Time `json:"start"`
	Transport string    `json:"transport"`         // stdio, http
	Command   []string  `json:"command,omitempty"` // secrets masked by the caller
	URL       string    `json:"url,omitempty"`     // of the server behind an HTTP tap, secrets masked by the caller
	Listen    string    `json:"listen,omitempty"`  // the URL that an HTTP tap gave to clients
	Cwd       string    `json:"cwd,omitempty"`
	Env       []string  `json:"env,omitempty"` // names only
	PID       int       `json:"pid,omitempty"` // the tap's own
	Host      *Process  `json:"host,omitempty"`
	Label     string    `json:"label,omitempty"`
	Tap       string    `json:"tap,omitempty"` // version of mcptap
	OS        string    `json:"os,omitempty"`
	Excerpt   *Excerpt  `json:"excerpt,omitempty"` // set if this is a part of another recording
}

// An Excerpt says what a recording that was taken out of another one is.
type Excerpt struct {
	Of       string `json:"of"`                 // session that it was taken out of
	Frames   int64  `json:"frames"`             // how many that one had
	Filter   string `json:"filter,omitempty"`   // what selected those that are here
	Redacted bool   `json:"redacted,omitempty"` // secrets are masked: bytes are not all as they crossed
}

// A Process is a process as the tap saw it.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name,omitempty"`
}

// An Event is something other than a frame that happened on the wire.
type Event struct {
	N      uint64
	Time   time.Duration
	Name   string // one of the Event constants; others in later versions
	Detail string // the signal's name, or a sentence
}

// Events.
const (
	EventStdinEnd     = "stdin-end"     // the client closed the server's standard input
	EventStdinBroken  = "stdin-broken"  // the server reads its standard input no more (Detail)
	EventStdoutEnd    = "stdout-end"    // the server closed its standard output
	EventStdoutBroken = "stdout-broken" // the client takes the server's output no more (Detail): the last frames were not delivered
	EventSignal       = "signal"        // the tap passed a signal on, or sent one (Detail)
	EventCapped       = "capped"        // from here on bodies are not kept (Detail)
)

// Lost stands where frames could not be recorded.
type Lost struct {
	Frames int64  `json:"frames"`
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason,omitempty"`
}

// An End is the last record of a journal whose tap ended in order.
type End struct {
	Exit   int    `json:"exit"`             // exit status that the tap ended with
	Signal string `json:"signal,omitempty"` // the signal that ended the server, if one did
	Reason string `json:"reason,omitempty"` // who ended the session, for people
	Frames int64  `json:"frames"`           // frames recorded; set by Writer.End
	Lost   int64  `json:"lost"`             // frames that crossed unrecorded; set by Writer.End
}
