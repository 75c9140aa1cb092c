// Package neutral reads another JSONL format, of recorders between real clients
// and servers that knew nothing of MCP, as the records that a tap would have made.
//
// It promises that what such a recording holds comes out in the order and with the
// times it has there, and that a line that is none of the format is said to be so.
// It must not interpret messages, and it reads one line at a time.
//
// The first line is {"meta": ...}; then a line a frame, {"t": microseconds, "dir":
// "c2s", "raw": "the line without its line feed"}, with raw_b64 in place of raw when
// it is not UTF-8 and "nl": false when the line had no line feed. A carriage return
// stays in raw. In a recording of HTTP each line names its exchange: the head of a
// request or an answer with its body in raw, a line of an event stream, an end.
package neutral

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/mcptap/mcptap/tap"
)

// Start is how a recording of this format begins.
const Start = `{"meta":`

// line is one line of a recording.
type line struct {
	Meta *struct {
		Session   string
		Transport string
		Command   []string
	}
	T      int64
	Dir    string
	Raw    *string
	RawB64 *[]byte `json:"raw_b64"`
	NL     *bool
	HTTP   *moment
	End    *struct {
		T        int64
		ExitCode int `json:"exit_code"`
		Signal   string
		Asked    string `json:"asked_by_client"` // the signal that the client sent
	}
}

func (l *line) hasBody() bool { return l.Raw != nil || l.RawB64 != nil }

func (l *line) body() []byte {
	switch {
	case l.Raw != nil:
		return []byte(*l.Raw)
	case l.RawB64 != nil:
		return *l.RawB64
	}
	return nil
}

// A Translator makes records of lines. The zero value is ready for the first.
type Translator struct {
	n         uint64
	at        tap.Record // the place of the current line
	out       []tap.Record
	exchanges map[uint32]*exchange
}

// Line gives the records of one line, none as a rule for a line that is only a part
// of an event. at is the place of the line in its file; that of a record that was
// put together from several lines reaches from the first of them to the last.
// Records are valid until the call after.
func (t *Translator) Line(raw []byte, at tap.Record) []tap.Record {
	t.at, t.out = at, t.out[:0]
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return t.bad(fmt.Errorf("not valid JSON: %w", err))
	}
	now := time.Duration(l.T) * time.Microsecond
	dir, known := tap.ParseDir(l.Dir)
	switch {
	case l.Meta != nil:
		t.out = append(t.out, tap.Record{Header: l.header(), Line: at.Line, Offset: at.Offset, Size: at.Size})
	case l.End != nil:
		t.end(&l)
	case !known || l.T < 0:
		return t.bad(errors.New("a frame without a direction or a time"))
	case l.HTTP != nil && l.HTTP.ID == 0:
		return t.bad(errors.New("an exchange without its number"))
	case l.HTTP != nil:
		t.exchange(&l, dir, now)
	case l.hasBody():
		f := &tap.Frame{Dir: dir, Time: now, Body: l.body()}
		cutReturn(f, l.NL)
		f.JSON = isJSON(f.Body) && !bytes.ContainsAny(f.Body, "\r\n")
		t.frame(f)
	}
	return t.out
}

// header is what the first line says. The format has no date: when such a recording
// began is not known.
func (l *line) header() *tap.Header {
	return &tap.Header{Version: tap.Version, Session: l.Meta.Session, Label: l.Meta.Session, Transport: l.Meta.Transport, Command: l.Meta.Command}
}

// Header gives what a recording's first line says of it; nil if it is no first line.
func Header(first []byte) *tap.Header {
	var l line
	if !bytes.HasPrefix(first, []byte(Start)) || json.Unmarshal(first, &l) != nil || l.Meta == nil {
		return nil
	}
	return l.header()
}

// Time is when a line was recorded, since the recording's start. ok is false for one
// that is none of the format, and for the first.
func Time(raw []byte) (at time.Duration, ok bool) {
	var l line
	if json.Unmarshal(raw, &l) != nil {
		return 0, false
	}
	_, known := tap.ParseDir(l.Dir)
	switch {
	case l.End != nil:
		l.T = l.End.T
	case !known:
		return 0, false
	}
	return time.Duration(l.T) * time.Microsecond, l.T >= 0
}

func (t *Translator) bad(err error) []tap.Record {
	return append(t.out, tap.Record{Bad: err, Line: t.at.Line, Offset: t.at.Offset, Size: t.at.Size})
}

// end makes of the last line what a tap would have recorded: how the client asked
// for the end, as far as the recording tells, then the end.
func (t *Translator) end(l *line) {
	at := time.Duration(l.End.T) * time.Microsecond
	switch {
	case l.End.Asked != "":
		t.push(tap.Record{Event: &tap.Event{Time: at, Name: tap.EventSignal, Detail: l.End.Asked + " from the host"}}, at)
	case l.End.Signal == "" && l.End.ExitCode == 0:
		t.push(tap.Record{Event: &tap.Event{Time: at, Name: tap.EventStdinEnd}}, at)
	}
	t.push(tap.Record{End: &tap.End{Exit: l.End.ExitCode, Signal: l.End.Signal}}, at)
}

func (t *Translator) frame(f *tap.Frame) {
	f.N = t.n + 1
	t.push(tap.Record{Frame: f}, f.Time)
}

func (t *Translator) push(rec tap.Record, at time.Duration) {
	t.n++
	rec.Place(t.n, at)
	if rec.Event != nil {
		rec.Event.N = t.n
	}
	rec.Line, rec.Offset, rec.Size = t.at.Line, t.at.Offset, t.at.Size
	t.out = append(t.out, rec)
}

func isJSON(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

// cutReturn takes the carriage return of a line's end out of its body.
func cutReturn(f *tap.Frame, newline *bool) {
	if newline != nil && !*newline {
		f.EOL = tap.NoEOL
		return
	}
	if body, ok := bytes.CutSuffix(f.Body, []byte("\r")); ok {
		f.Body, f.EOL = body, tap.CRLF
	}
}
