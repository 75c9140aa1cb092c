package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// A line of a neutral recording: another JSONL format, of recorders that knew
// nothing of MCP. Its first line is {"meta": ...}; then a line a frame,
// {"t": microseconds, "dir": "c2s", "raw": "the line without its line feed"},
// with raw_b64 in place of raw when it is not UTF-8 and "nl": false when the
// line had no line feed. A carriage return stays in raw. HTTP frames carry their
// exchange; a line of an event stream is a frame of its own.
type neutralLine struct {
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
	HTTP   *neutralHTTP
	End    *struct {
		T        int64
		ExitCode int `json:"exit_code"`
		Signal   string
		Asked    string `json:"asked_by_client"` // the signal that the client sent
	}
}

type neutralHTTP struct {
	ID      uint32
	Headers [][2]string
	SSE     bool
}

// neutral turns lines of a neutral recording into the records that a tap would
// have made.
type neutral struct {
	n         uint64
	queue     []tap.Record // records of the last line beyond its first
	exchanges map[uint32]decode.Where
}

const neutralStart = `{"meta":`

// record gives the record of one line; ok is false if the line holds nothing to
// record (the blank line between two events, a status without a body).
func (c *neutral) record(line []byte) (rec tap.Record, where decode.Where, ok bool) {
	var l neutralLine
	if err := json.Unmarshal(line, &l); err != nil {
		return tap.Record{Bad: fmt.Errorf("not valid JSON: %w", err)}, where, true
	}
	switch {
	case l.Meta != nil:
		h := &tap.Header{Version: tap.Version, Session: l.Meta.Session, Label: l.Meta.Session, Transport: l.Meta.Transport, Command: l.Meta.Command}
		return tap.Record{Header: h}, where, true
	case l.End != nil:
		c.end(&l)
		rec, _ = c.next()
		return rec, where, true
	case l.Raw == nil && l.RawB64 == nil:
		return tap.Record{}, where, false
	}
	return c.frame(&l)
}

// end makes of the last line what a tap would have recorded: how the client asked
// for the end, as far as the recording tells, then the end.
func (c *neutral) end(l *neutralLine) {
	at := time.Duration(l.End.T) * time.Microsecond
	switch {
	case l.End.Asked != "":
		c.push(tap.Record{Event: &tap.Event{Time: at, Name: tap.EventSignal, Detail: l.End.Asked + " from the host"}}, at)
	case l.End.Signal == "" && l.End.ExitCode == 0:
		c.push(tap.Record{Event: &tap.Event{Time: at, Name: tap.EventStdinEnd}}, at)
	}
	c.push(tap.Record{End: &tap.End{Exit: l.End.ExitCode, Signal: l.End.Signal}}, at)
}

func (c *neutral) push(rec tap.Record, at time.Duration) {
	c.n++
	rec.Place(c.n, at)
	if rec.Event != nil {
		rec.Event.N = c.n
	}
	c.queue = append(c.queue, rec)
}

// next gives the next queued record.
func (c *neutral) next() (rec tap.Record, ok bool) {
	if len(c.queue) == 0 {
		return rec, false
	}
	rec, c.queue = c.queue[0], c.queue[1:]
	return rec, true
}

func (c *neutral) frame(l *neutralLine) (rec tap.Record, where decode.Where, ok bool) {
	dir, known := tap.ParseDir(l.Dir)
	if !known || l.T < 0 {
		return tap.Record{Bad: errors.New("a frame without a direction or a time")}, where, true
	}
	f := &tap.Frame{Dir: dir, Time: time.Duration(l.T) * time.Microsecond, Body: l.body()}
	if l.HTTP != nil {
		where = c.where(l.HTTP)
		f.EOL = tap.NoEOL
		if l.HTTP.SSE {
			data, isData := bytes.CutPrefix(f.Body, []byte("data:"))
			if !isData {
				return tap.Record{}, where, false
			}
			f.Body = bytes.TrimSpace(data)
		}
		if len(f.Body) == 0 {
			return tap.Record{}, where, false
		}
	} else {
		cutEnd(f, l.NL)
	}
	c.n++
	f.N = c.n
	f.JSON = json.Valid(f.Body) && utf8.Valid(f.Body) && !bytes.ContainsAny(f.Body, "\r\n")
	rec = tap.Record{Frame: f}
	rec.Place(f.N, f.Time)
	return rec, where, true
}

func (l *neutralLine) body() []byte {
	if l.Raw != nil {
		return []byte(*l.Raw)
	}
	return *l.RawB64
}

// cutEnd takes the carriage return of a line's end out of its body.
func cutEnd(f *tap.Frame, newline *bool) {
	if newline != nil && !*newline {
		f.EOL = tap.NoEOL
		return
	}
	if body, ok := bytes.CutSuffix(f.Body, []byte("\r")); ok {
		f.Body, f.EOL = body, tap.CRLF
	}
}

// where gives the scope of an exchange: a modern one is its own, all others are
// of one session, as far as a recording tells.
func (c *neutral) where(h *neutralHTTP) decode.Where {
	w, ok := c.exchanges[h.ID]
	if ok {
		return w
	}
	w.Scope, w.Exchange = 1, h.ID+1
	for _, pair := range h.Headers {
		switch strings.ToLower(pair[0]) {
		case "mcp-protocol-version":
			w.Version = pair[1]
		case "mcp-session-id":
			w.MCPSession = true
		}
	}
	if w.Version >= "2026-07-28" {
		w.Scope = decode.Scope(h.ID) + 2
	}
	if c.exchanges == nil {
		c.exchanges = map[uint32]decode.Where{}
	}
	c.exchanges[h.ID] = w
	return w
}
