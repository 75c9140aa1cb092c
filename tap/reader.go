package tap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcptap/mcptap/tap/internal/jsontext"
)

// maxLine is the longest line that is read: the longest body, all of it control
// characters in their six-byte escape, and the record around it.
const maxLine = 6*MaxFrame + 64<<10

// A Record is one line of a journal. Exactly one of the pointers is set.
type Record struct {
	Line   int   // from 1
	Offset int64 // of the line's first byte in the file
	Size   int64 // of the line, its end included
	// Missing counts numbers skipped since the record before: lines that were
	// taken out of the file.
	Missing uint64

	n uint64
	t time.Duration

	Header *Header
	Frame  *Frame
	Event  *Event
	HTTP   *Exchange
	Lost   *Lost
	End    *End
	// Bad is set for a line that is no record: it says why.
	Bad error
}

// A Reader reads a journal record by record. It takes every line for what it is
// worth: one that is torn, glued, padded or foreign comes out as a Record with
// Bad set, and the reading goes on after it.
type Reader struct {
	Parser
	in     *bufio.Reader
	line   []byte // what was read of the current line
	last   []byte // the line of the last record
	long   int64  // bytes of a line that is too long, already passed over
	lineNo int
	offset int64
	n      uint64 // number of the last record
}

// A Parser parses single lines of a journal. The zero value is ready.
type Parser struct {
	check    jsontext.Checker
	frame    Frame
	digest   Digest
	carriage Carriage
	sse      SSE
}

// Parse gives the record of one line, without its end. What it points to is valid
// until the call after, and as long as the line is not written to.
func (r *Parser) Parse(line []byte) (rec Record) {
	if r.plain(line) {
		rec.Frame = &r.frame
		rec.n, rec.t = r.frame.N, r.frame.Time
	} else {
		r.general(line, &rec)
	}
	return rec
}

// NewReader reads a journal from in.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10)}
}

// Next gives the next record. What it points to is valid until the call after.
//
// At the end of in it gives io.EOF, but keeps the beginning of a line that is
// not finished: once in has more, Next goes on where it stopped. Unfinished
// gives that beginning up.
func (r *Reader) Next() (Record, error) {
	for {
		piece, err := r.in.ReadSlice('\n')
		r.gather(piece)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return Record{}, err
		}
		return r.record(), nil
	}
}

// Unfinished reports a last line without its end: the journal of a tap that is
// writing it right now, or that was killed while it did.
func (r *Reader) Unfinished() (Record, bool) {
	if len(r.line) == 0 && r.long == 0 {
		return Record{}, false
	}
	rec := r.place()
	rec.Bad = fmt.Errorf("the line has no end (%d bytes): its tap is still writing it, or was killed", rec.Size)
	return rec, true
}

func (r *Reader) gather(piece []byte) {
	if r.long > 0 || len(r.line)+len(piece) > maxLine {
		r.long += int64(len(r.line) + len(piece))
		r.line = r.line[:0]
		return
	}
	r.line = append(r.line, piece...)
}

func (r *Reader) place() Record {
	return Record{Line: r.lineNo + 1, Offset: r.offset, Size: int64(len(r.line)) + r.long}
}

// record parses the gathered line and makes room for the next.
func (r *Reader) record() Record {
	rec := r.place()
	if r.long > 0 {
		rec.Bad = fmt.Errorf("the line is longer than any that mcptap writes (%d bytes)", r.long)
	} else {
		r.parse(bytes.TrimSuffix(r.line, []byte("\n")), &rec)
	}
	r.lineNo++
	r.offset += rec.Size
	r.last, r.line, r.long = r.line, r.line[:0], 0
	return rec
}

func (r *Reader) parse(line []byte, rec *Record) {
	at := *rec
	*rec = r.Parse(line)
	rec.Line, rec.Offset, rec.Size = at.Line, at.Offset, at.Size
	if rec.n == 0 {
		return
	}
	if rec.n > r.n+1 {
		rec.Missing = rec.n - r.n - 1
	}
	r.n = rec.n
}

// Line is the line that the last record was read from, without its end. It is
// valid until the next call of Next.
func (r *Reader) Line() []byte { return bytes.TrimSuffix(r.last, []byte("\n")) }

// plain parses a frame as Writer lays it out, which is how nearly every line
// looks: the body is everything between its key and the closing brace.
func (r *Parser) plain(line []byte) bool {
	s := scanner{rest: line}
	n := s.number(`{"n":`)
	t := s.number(`,"t":`)
	dir := s.dir()
	if !s.ok() || n == 0 {
		return false
	}
	r.frame = Frame{N: n, Time: time.Duration(t), Dir: dir, EOL: s.eol()}
	if s.skip(`,"http":`) && !r.plainCarriage(&s) {
		return false
	}
	switch {
	case s.skip(`,"msg":`):
		body, closed := bytes.CutSuffix(s.rest, []byte("}"))
		if !closed || !r.validJSON(body) {
			return false
		}
		r.frame.JSON, r.frame.Body = true, body
		return true
	case s.skip(`,"text":"`):
		body, closed := bytes.CutSuffix(s.rest, []byte(`"}`))
		if !closed || bytes.ContainsAny(body, `"\`) || !utf8.Valid(body) {
			return false // escapes are left to general
		}
		r.frame.Body = body
		return true
	}
	return false
}

// plainCarriage reads what the writer says of HTTP. It reports false for a layout
// that is left to general.
func (r *Parser) plainCarriage(s *scanner) bool {
	r.carriage = Carriage{}
	object, ok := s.object()
	if !ok || json.Unmarshal(object, &r.carriage) != nil {
		return false
	}
	r.frame.HTTP = &r.carriage
	if !s.skip(`,"sse":`) {
		return true
	}
	r.sse = SSE{}
	if object, ok = s.object(); !ok || json.Unmarshal(object, &r.sse) != nil {
		return false
	}
	r.frame.SSE = &r.sse
	return true
}

// validText is validJSON for a body that may have line breaks.
func (r *Parser) validText(b []byte) bool {
	r.check.Breaks = true
	defer func() { r.check.Breaks = false }()
	return r.validJSON(b)
}

func (r *Parser) validJSON(b []byte) bool {
	r.check.Reset()
	r.check.Feed(b)
	return r.check.Valid()
}

// scanner reads the fixed beginning of a record.
type scanner struct {
	rest   []byte
	failed bool
}

func (s *scanner) ok() bool { return !s.failed }

func (s *scanner) skip(prefix string) bool {
	if len(s.rest) < len(prefix) || string(s.rest[:len(prefix)]) != prefix {
		return false
	}
	s.rest = s.rest[len(prefix):]
	return true
}

func (s *scanner) number(prefix string) (n uint64) {
	s.failed = s.failed || !s.skip(prefix)
	i := 0
	for ; i < len(s.rest) && i < 19 && '0' <= s.rest[i] && s.rest[i] <= '9'; i++ {
		n = n*10 + uint64(s.rest[i]-'0')
	}
	s.failed = s.failed || i == 0 || i == 19 && n > 1<<63-1
	s.rest = s.rest[i:]
	return n
}

// object takes an object without objects in it, and without an escaped quote.
func (s *scanner) object() ([]byte, bool) {
	inString := false
	for i, ch := range s.rest {
		switch {
		case ch == '\\' || i == 0 && ch != '{':
			return nil, false
		case ch == '"':
			inString = !inString
		case ch == '}' && !inString:
			object := s.rest[:i+1]
			s.rest = s.rest[i+1:]
			return object, true
		}
	}
	return nil, false
}

func (s *scanner) dir() Dir {
	for d := C2S; d <= Stderr; d++ {
		if s.skip(`,"dir":"` + dirNames[d] + `"`) {
			return d
		}
	}
	s.failed = true
	return 0
}

func (s *scanner) eol() EOL {
	switch {
	case s.skip(`,"eol":"\r\n"`):
		return CRLF
	case s.skip(`,"eol":""`):
		return NoEOL
	}
	return LF
}

// wireRecord is any record, whatever its layout.
type wireRecord struct {
	Mcptap *int
	N      *uint64
	T      *int64
	Dir    string
	EOL    *string
	Msg    json.RawMessage
	Text   *string
	B64    *[]byte
	File   string
	Bytes  *int64
	SHA256 string
	JSON   bool
	Head   string
	Tail   string
	Reason string
	Event  string
	Detail string
	HTTP   json.RawMessage
	SSE    *SSE
	Lost   *Lost
	End    *End
}

// general parses a line of any layout into rec.
func (r *Parser) general(line []byte, rec *Record) {
	var w wireRecord
	if err := json.Unmarshal(line, &w); err != nil {
		rec.Bad = badLine(line, err)
		return
	}
	if w.Mcptap != nil {
		rec.Header, rec.Bad = parseHeader(line)
		return
	}
	if w.N == nil || w.T == nil || *w.N == 0 || *w.T < 0 {
		rec.Bad = errors.New("not a record of mcptap: it has no number and time")
		return
	}
	rec.n, rec.t = *w.N, time.Duration(*w.T)
	switch {
	case w.Dir != "":
		rec.Frame, rec.Bad = r.generalFrame(&w)
	case w.HTTP != nil:
		rec.HTTP, rec.Bad = generalExchange(&w)
	case w.Event != "":
		rec.Event = &Event{N: rec.n, Time: rec.t, Name: w.Event, Detail: w.Detail}
	case w.Lost != nil:
		rec.Lost = w.Lost
	case w.End != nil:
		rec.End = w.End
	default:
		rec.Bad = errors.New("a record of a kind that this version of mcptap does not know")
	}
}

func badLine(line []byte, err error) error {
	if nuls := len(line) - len(bytes.TrimLeft(line, "\x00")); nuls > 0 {
		return fmt.Errorf("the line starts with %d NUL bytes: the machine lost what was there", nuls)
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return errors.New("the line is empty")
	}
	return fmt.Errorf("not valid JSON, perhaps torn or glued: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func parseHeader(line []byte) (*Header, error) {
	h := new(Header)
	if err := json.Unmarshal(line, h); err != nil {
		return nil, fmt.Errorf("a header that can't be read: %w", err)
	}
	if h.Version > Version {
		return nil, fmt.Errorf("the journal has format version %d, this mcptap reads versions up to %d", h.Version, Version)
	}
	return h, nil
}

func (r *Parser) generalFrame(w *wireRecord) (*Frame, error) {
	dir, ok := ParseDir(w.Dir)
	if !ok {
		return nil, fmt.Errorf("a frame with unknown direction %.20q", w.Dir)
	}
	eol, ok := parseEOL(w.EOL)
	if !ok {
		return nil, fmt.Errorf("a frame with unknown line end %.20q", *w.EOL)
	}
	r.frame = Frame{N: *w.N, Time: time.Duration(*w.T), Dir: dir, EOL: eol}
	if w.HTTP != nil {
		r.carriage = Carriage{}
		if err := json.Unmarshal(w.HTTP, &r.carriage); err != nil {
			return nil, fmt.Errorf("a frame whose HTTP exchange can't be read: %w", err)
		}
		r.frame.HTTP, r.frame.SSE = &r.carriage, w.SSE
	}
	switch {
	case w.Msg != nil:
		r.frame.JSON, r.frame.Body = true, w.Msg
	case w.Text != nil:
		r.frame.Body = []byte(*w.Text)
		r.frame.JSON = w.JSON && r.validText(r.frame.Body)
	case w.B64 != nil:
		r.frame.Body = *w.B64
	case w.Bytes != nil && *w.Bytes >= 0:
		r.digest = Digest{File: w.File, Bytes: *w.Bytes, SHA256: w.SHA256, Head: w.Head, Tail: w.Tail, Reason: w.Reason}
		r.frame.JSON, r.frame.Digest = w.JSON, &r.digest
	default:
		return nil, errors.New("a frame without a body")
	}
	return &r.frame, nil
}

func generalExchange(w *wireRecord) (*Exchange, error) {
	x := new(Exchange)
	if err := json.Unmarshal(w.HTTP, x); err != nil {
		return nil, fmt.Errorf("an HTTP exchange that can't be read: %w", err)
	}
	if x.Exchange == 0 || x.Phase == "" {
		return nil, errors.New("a moment of an HTTP exchange without its number or phase")
	}
	x.N, x.Time = *w.N, time.Duration(*w.T)
	return x, nil
}

func parseEOL(s *string) (EOL, bool) {
	if s == nil {
		return LF, true
	}
	for e := LF; e <= NoEOL; e++ {
		if eolBytes[e] == *s {
			return e, true
		}
	}
	return 0, false
}

// Place gives a record that does not come from a journal its number and time.
func (r *Record) Place(n uint64, t time.Duration) { r.n, r.t = n, t }

// Position is the record's number and time; both are 0 for a header and for
// what is no record.
func (r *Record) Position() (n uint64, t time.Duration) { return r.n, r.t }
