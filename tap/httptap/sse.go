package httptap

import (
	"bytes"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

// A splitter cuts an event stream into events, however its bytes are cut. It
// follows the event stream format of the HTML standard: lines end in LF, CR LF or
// CR, one byte order mark may lead, an event ends at a blank line, and what is
// unfinished at the end of the stream is no event.
//
// Data goes to the collector as it comes. A blank line that ends in CR is complete
// at the CR; an LF after it belongs to it.
type splitter struct {
	data *collector
	// emit is called at the end of each event that had a field, with the collector
	// holding its data if it had any.
	emit func(e *eventHead)

	line    []byte // of the line that comes in, unless it is data
	inData  bool   // inside the value of a data line
	atValue bool   // before the value's first byte
	afterCR bool
	begun   bool // past the place of a byte order mark
	event   eventHead
}

// eventHead is an event without its data.
type eventHead struct {
	tap.SSE
	fields  bool // it had any
	hasData bool
	wire    int64 // bytes on the stream since the event before
}

// maxField is how much of a line is kept that is not data.
const maxField = 64 << 10

var (
	dataField = []byte("data:")
	byteOrder = []byte("\xef\xbb\xbf")
)

// feed takes the next bytes.
func (s *splitter) feed(b []byte) {
	for len(b) > 0 {
		if s.afterCR && b[0] == '\n' {
			s.afterCR = false
			s.event.wire++
			b = b[1:]
			continue
		}
		s.afterCR = false
		i := lineEnd(b)
		if i < 0 {
			s.event.wire += int64(len(b))
			s.take(b)
			return
		}
		s.event.wire += int64(i) + 1
		s.take(b[:i])
		s.afterCR = b[i] == '\r'
		s.endLine()
		b = b[i+1:]
	}
}

// lineEnd is the index of the first CR or LF; -1 if there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// take takes bytes of one line.
func (s *splitter) take(b []byte) {
	if s.inData {
		s.addData(b)
		return
	}
	if s.begun && len(s.line) == 0 && bytes.HasPrefix(b, dataField) {
		s.beginData(b[len(dataField):])
		return
	}
	s.line = append(s.line, b[:min(len(b), max(0, maxField-len(s.line)))]...)
	if !s.begun && len(s.line) >= len(byteOrder) {
		s.line = bytes.TrimPrefix(s.line, byteOrder)
		s.begun = true
	}
	if bytes.HasPrefix(s.line, dataField) {
		rest := s.line[len(dataField):]
		s.line = nil
		s.beginData(rest)
	}
}

// beginData starts a line of data; several are joined with line feeds.
func (s *splitter) beginData(rest []byte) {
	if s.event.hasData {
		s.data.add([]byte{'\n'})
	}
	s.inData, s.atValue = true, true
	s.event.hasData, s.event.fields = true, true
	s.addData(rest)
}

func (s *splitter) addData(b []byte) {
	if s.atValue && len(b) > 0 {
		s.atValue = false
		if b[0] == ' ' {
			b = b[1:]
		}
	}
	if len(b) > 0 {
		s.data.add(b)
	}
}

func (s *splitter) endLine() {
	line := s.line
	s.line = s.line[:0]
	s.begun = true
	switch {
	case s.inData:
		s.inData = false
	case len(line) == 0:
		s.endEvent()
	case line[0] == ':':
		s.event.Comments++
	case string(line) == "event: message": // as nearly all are
		s.event.Event, s.event.fields = "message", true
	default:
		s.field(string(line))
	}
}

func (s *splitter) field(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	s.event.fields = true
	switch name {
	case "event":
		s.event.Event = value
	case "data":
		s.beginData(nil)
		s.inData = false
	case "id":
		if !strings.Contains(value, "\x00") {
			s.event.ID = &value
		}
	case "retry":
		s.event.Retry = value
	}
}

func (s *splitter) endEvent() {
	if !s.event.fields {
		return // blank lines after a comment, or just blank lines
	}
	s.emit(&s.event)
	s.event = eventHead{}
}

// rest is what the stream ended with: comments, or an event that was never
// finished.
func (s *splitter) rest() (e eventHead, ok bool) {
	return s.event, s.event.wire > 0
}
