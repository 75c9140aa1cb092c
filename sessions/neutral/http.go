package neutral

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// moment is what a line says of its exchange. A request has a method, an answer a
// status; SSE marks a line of an event stream.
type moment struct {
	ID      uint32
	Conn    int
	Method  string
	Path    string
	Status  int
	Headers [][2]string
	SSE     bool
	End     bool
	Aborted string // client or server: who broke it off
	Error   string
}

// exchange is an exchange that has not ended.
type exchange struct {
	number   uint32
	up, down int64
	stream   bool
	event    event
	comments int
	blank    int64 // bytes of blank lines and comments before the next event
}

// event is an event of a stream, as far as it has come.
type event struct {
	fields bool // it has any
	from   tap.Record
	wire   int64
	data   [][]byte
	sse    tap.SSE
}

func (t *Translator) exchange(l *line, dir tap.Dir, now time.Duration) {
	m := l.HTTP
	x := t.exchanges[m.ID]
	if x == nil {
		x = &exchange{number: m.ID}
	}
	if m.Method != "" || m.Status != 0 || m.SSE {
		t.keep(x)
	}
	switch {
	case m.Method != "":
		t.moment(requestHead(m), now)
		x.up += t.body(x, dir, l.body(), now)
	case m.Status != 0:
		t.moment(answerHead(m), now)
		x.stream = isStream(m.Headers)
		x.down += t.body(x, dir, l.body(), now)
		if !x.stream {
			t.endExchange(x, now, tap.EndServer, "")
		}
	case m.SSE:
		t.streamLine(x, l.body(), now)
	case m.End:
		t.endExchange(x, now, tap.EndServer, "")
	case m.Aborted == "client":
		t.endExchange(x, now, tap.EndClient, "")
	case m.Aborted != "":
		t.endExchange(x, now, tap.EndBroken, m.Error)
	}
}

func (t *Translator) keep(x *exchange) {
	if t.exchanges == nil {
		t.exchanges = map[uint32]*exchange{}
	}
	t.exchanges[x.number] = x
}

func (t *Translator) moment(x *tap.Exchange, now time.Duration) {
	x.N, x.Time = t.n+1, now
	t.push(tap.Record{HTTP: x}, now)
}

func requestHead(m *moment) *tap.Exchange {
	const proto = "HTTP/1.1"
	start := m.Method + " " + m.Path + " " + proto
	return &tap.Exchange{Exchange: m.ID, Phase: tap.PhaseRequest, Method: m.Method, Target: m.Path, Proto: proto,
		Client: "connection " + strconv.Itoa(m.Conn), Headers: m.Headers, Bytes: headLen(start, m.Headers)}
}

func answerHead(m *moment) *tap.Exchange {
	start := "HTTP/1.1 " + strconv.Itoa(m.Status) + " " + http.StatusText(m.Status)
	return &tap.Exchange{Exchange: m.ID, Phase: tap.PhaseResponse, Status: m.Status, Headers: m.Headers, Bytes: headLen(start, m.Headers)}
}

func headLen(start string, headers [][2]string) int64 {
	n := len(start) + len("\r\n\r\n")
	for _, h := range headers {
		n += len(h[0]) + len(": ") + len(h[1]) + len("\r\n")
	}
	return int64(n)
}

func isStream(headers [][2]string) bool {
	for _, h := range headers {
		if strings.EqualFold(h[0], "content-type") {
			return strings.HasPrefix(strings.ToLower(h[1]), "text/event-stream")
		}
	}
	return false
}

// body records the body of a request or an answer, and gives its length.
func (t *Translator) body(x *exchange, dir tap.Dir, body []byte, now time.Duration) int64 {
	if len(body) == 0 {
		return 0
	}
	size := int64(len(body))
	f := &tap.Frame{Dir: dir, Time: now, EOL: tap.NoEOL, HTTP: &tap.Carriage{Exchange: x.number}}
	for _, eol := range []tap.EOL{tap.CRLF, tap.LF} {
		if rest, ok := bytes.CutSuffix(body, []byte(eol.String())); ok && f.EOL == tap.NoEOL {
			body, f.EOL = rest, eol
		}
	}
	f.Body, f.JSON = body, isJSON(body)
	t.frame(f)
	return size
}

// endExchange says nothing of the second end of an exchange that both sides broke
// off.
func (t *Translator) endExchange(x *exchange, now time.Duration, by, reason string) {
	if t.exchanges[x.number] == nil {
		return
	}
	delete(t.exchanges, x.number)
	if x.blank > 0 || x.event.fields {
		t.moment(&tap.Exchange{Exchange: x.number, Phase: tap.PhaseEvent, SSE: &tap.SSE{Comments: x.comments}, Wire: x.blank + x.event.wire}, now)
	}
	t.moment(&tap.Exchange{Exchange: x.number, Phase: tap.PhaseEnd, By: by, Error: reason, Up: x.up, Down: x.down}, now)
}

// streamLine takes a line of an event stream: a field, a comment, or the blank line
// that ends an event.
func (t *Translator) streamLine(x *exchange, raw []byte, now time.Duration) {
	size := int64(len(raw)) + 1
	x.down += size
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	e := &x.event
	switch {
	case len(raw) == 0 && e.fields:
		e.wire += size + x.blank
		t.eventEnd(x, now)
	case len(raw) == 0:
		x.blank += size
	case raw[0] == ':':
		x.comments++
		x.blank += size
	default:
		if !e.fields {
			e.fields, e.from = true, t.at
		}
		e.wire += size
		e.field(raw)
	}
}

func (e *event) field(raw []byte) {
	name, value, _ := bytes.Cut(raw, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		e.data = append(e.data, value)
	case "event":
		e.sse.Event = string(value)
	case "id":
		id := string(value)
		e.sse.ID = &id
	case "retry":
		e.sse.Retry = string(value)
	}
}

// eventEnd records an event: as a frame if it holds a message.
func (t *Translator) eventEnd(x *exchange, now time.Duration) {
	e := x.event
	e.sse.Comments = x.comments
	x.event, x.comments, x.blank = event{}, 0, 0
	end := t.at.Offset + t.at.Size
	t.at.Offset, t.at.Size = e.from.Offset, end-e.from.Offset
	data := bytes.Join(e.data, []byte("\n"))
	if len(data) == 0 || e.sse.Event == "endpoint" {
		t.moment(&tap.Exchange{Exchange: x.number, Phase: tap.PhaseEvent, SSE: &e.sse, Data: string(data), Wire: e.wire}, now)
		return
	}
	t.frame(&tap.Frame{Dir: tap.S2C, Time: now, EOL: tap.NoEOL, Body: data, JSON: isJSON(data),
		HTTP: &tap.Carriage{Exchange: x.number, Wire: e.wire}, SSE: &e.sse})
}

// Last gives the frame that the last of some lines completes: so one that was put
// together from several is read again. nil if there is none.
func Last(lines []byte) (last *tap.Frame) {
	var t Translator
	for raw := range bytes.Lines(lines) {
		last = nil
		for _, rec := range t.Line(bytes.TrimSuffix(raw, []byte("\n")), tap.Record{}) {
			if rec.Frame != nil {
				last = rec.Frame
			}
		}
	}
	return last
}
