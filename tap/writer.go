package tap

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// Version is the version of the journal format that Writer writes.
const Version = 1

const (
	// flushAt is how much of a batch is gathered before it is written. A batch
	// is what one read from a pipe (64 KiB at most) held.
	flushAt = 128 << 10
	// copyBelow is the length from which a body is written from where it lies
	// instead of being copied into the batch.
	copyBelow = 16 << 10
	// writeAt is the most that is written at once: for megabytes in one piece the
	// kernel looks for huge pages, which can take longer than all the rest.
	writeAt = 256 << 10
	// firstBuf is the room that a journal begins with: there may be hundreds, and
	// most are small.
	firstBuf = 4 << 10
	// retryOpen is how often a journal that could not be opened is tried again.
	retryOpen = time.Second
)

// A File is what a journal is written to: an *os.File opened for appending.
type File interface {
	io.WriteCloser
	Truncate(size int64) error
}

// WriterOptions are a Writer's ways to the outside.
type WriterOptions struct {
	// Open creates the journal's file. It is called at once and, as long as it
	// fails, again when frames come, at most once a second.
	Open func() (File, error)
	// Side creates a side file, given the part of its name that follows the
	// journal's. Nil keeps large frames as length and hash only.
	Side func(suffix string) (File, error)
	// DropSide removes a side file that could not be completed.
	DropSide func(suffix string)
	// Since gives the monotonic time since the session's start.
	Since func() time.Duration
	// MaxBytes is the length from which on bodies are recorded as length and
	// hash only; 0 means no limit. Side files count.
	MaxBytes int64
	// Warn takes a sentence for the user; it is called once per kind of trouble.
	Warn func(string)
}

// A Writer writes a journal. All its methods may be called from several
// goroutines. None of them fails: what can't be written is counted, warned of
// once, and recorded as lost as soon as the file takes data again.
type Writer struct {
	mu      sync.Mutex
	opt     WriterOptions
	file    File
	header  []byte // not yet written
	tried   time.Duration
	n       uint64 // number of the last record
	frames  int64  // recorded
	allLost int64
	lost    Lost // not yet recorded
	size    int64
	sides   int64 // bytes in side files
	nSides  int
	torn    bool   // the file may end in half a line
	capped  string // what was said of the session's limit
	owesCap bool   // and is not recorded yet
	paysCap bool   // but is part of this batch
	closed  bool
	warned  map[string]bool

	buf     []byte // the batch being gathered
	written int64  // bytes of the batch that are in the file
	err     error  // the batch's first error
}

// NewWriter opens a journal and writes its header.
func NewWriter(h Header, opt WriterOptions) *Writer {
	h.Version = Version
	header, err := json.Marshal(h)
	if err != nil { // a year beyond 9999
		h.Start = time.Time{}
		header, _ = json.Marshal(h)
	}
	w := &Writer{opt: opt, header: append(header, '\n'), warned: map[string]bool{}, buf: make([]byte, 0, firstBuf)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tried = -retryOpen
	w.begin(w.opt.Since())
	w.commit()
	return w
}

// Record gives each frame its number and time and writes them all, before it
// returns. It reports false, and does nothing, once the journal has ended: then
// the frames must not be delivered.
func (w *Writer) Record(frames []Frame) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	now := w.opt.Since()
	first := w.begin(now)
	for i := range frames {
		w.frame(&frames[i], now)
	}
	if w.commit() {
		w.frames += int64(len(frames))
		return true
	}
	w.lose(first, frames)
	return true
}

// lose counts a batch that could not be written, moments of exchanges like
// frames without bytes, and goes back to the number before it.
func (w *Writer) lose(last uint64, frames []Frame, moments ...*Exchange) {
	w.n = last
	n := int64(len(frames))
	for i := range frames {
		w.lost.Bytes += frames[i].Len()
	}
	for _, x := range moments {
		if x != nil {
			n++
		}
	}
	w.lost.Frames += n
	w.lost.Reason = w.err.Error()
	w.allLost += n
}

// Event records that something happened beside the frames.
func (w *Writer) Event(name, detail string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	now := w.opt.Since()
	first := w.begin(now)
	w.event(now, name, detail)
	if !w.commit() {
		w.n = first
	}
}

// Skip records that frames crossed here which the caller leaves out, or has not got.
func (w *Writer) Skip(l Lost) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	now := w.opt.Since()
	first := w.begin(now)
	w.start(now)
	w.member("lost", l)
	if !w.commit() {
		w.n = first
		return
	}
	w.allLost += l.Frames
}

// End writes the last record and closes the file; whatever is recorded after it
// is refused. It returns the end as written.
func (w *Writer) End(e End) End {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.Frames, e.Lost = w.frames, w.allLost
	if w.closed {
		return e
	}
	now := w.opt.Since()
	w.begin(now)
	w.start(now)
	w.member("end", e)
	w.commit()
	w.closed = true
	if w.file != nil {
		if err := w.file.Close(); err != nil {
			w.warn("close", fmt.Sprintf("closing the journal: %v", err))
		}
	}
	return e
}

// begin starts a batch with what is owed to the file: the header, the end of a
// torn line, the loss. It returns the number to go back to if the batch fails.
func (w *Writer) begin(now time.Duration) (last uint64) {
	w.buf, w.written, w.err, w.paysCap = w.buf[:0], 0, nil, false
	last = w.n
	if w.file == nil && !w.open(now) {
		return last
	}
	if w.torn {
		w.buf = append(w.buf, '\n')
	}
	w.buf = append(w.buf, w.header...)
	if w.lost.Frames > 0 {
		w.start(now)
		w.member("lost", w.lost)
	}
	return last
}

func (w *Writer) open(now time.Duration) bool {
	if now-w.tried < retryOpen {
		w.err = errNotOpen
		return false
	}
	w.tried = now
	w.file, w.err = w.opt.Open()
	if w.err != nil {
		w.file = nil
		w.warn("record", fmt.Sprintf("not recording: %v; the session goes on", w.err))
	}
	return w.err == nil
}

var errNotOpen = fmt.Errorf("the journal could not be opened")

// commit writes what is left of the batch and reports whether all of it is in
// the file. If not, it takes the part that is there out again.
func (w *Writer) commit() bool {
	w.flush()
	if w.err == nil {
		w.size += w.written
		w.torn, w.header, w.lost = false, nil, Lost{}
		w.owesCap = w.owesCap && !w.paysCap
		return true
	}
	if w.file != nil {
		w.warn("record", fmt.Sprintf("not recording: %v; the session goes on, the loss is counted", w.err))
		if w.written > 0 {
			w.torn = w.file.Truncate(w.size) != nil
		}
	}
	return false
}

func (w *Writer) flush() {
	w.write(w.buf)
	w.buf = w.buf[:0]
}

func (w *Writer) write(b []byte) {
	for w.err == nil && len(b) > 0 {
		n, err := w.file.Write(b[:min(len(b), writeAt)])
		w.written += int64(n)
		w.err = err
		b = b[n:]
	}
}

func (w *Writer) warn(kind, sentence string) {
	if w.opt.Warn != nil && !w.warned[kind] {
		w.warned[kind] = true
		w.opt.Warn(sentence)
	}
}

// start begins a record: its number and time.
func (w *Writer) start(now time.Duration) {
	w.n++
	w.buf = append(w.buf, `{"n":`...)
	w.buf = strconv.AppendUint(w.buf, w.n, 10)
	w.buf = append(w.buf, `,"t":`...)
	w.buf = strconv.AppendInt(w.buf, int64(now), 10)
}

// member ends a record with one member whose value is v.
func (w *Writer) member(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte("null")
	}
	w.buf = append(w.buf, `,"`+name+`":`...)
	w.buf = append(w.buf, b...)
	w.buf = append(w.buf, "}\n"...)
}

func (w *Writer) event(now time.Duration, name, detail string) {
	w.start(now)
	w.buf = append(w.buf, `,"event":`...)
	w.buf = appendString(w.buf, []byte(name))
	if detail != "" {
		w.buf = append(w.buf, `,"detail":`...)
		w.buf = appendString(w.buf, []byte(detail))
	}
	w.buf = append(w.buf, "}\n"...)
}

func (w *Writer) frame(f *Frame, now time.Duration) {
	if w.owesCap || f.Digest == nil && w.full(int64(len(f.Body))) {
		w.cap(f, now)
	}
	w.start(now)
	f.N, f.Time = w.n, now
	w.buf = append(w.buf, `,"dir":"`...)
	w.buf = append(w.buf, f.Dir.String()...)
	w.buf = append(w.buf, '"')
	switch f.EOL {
	case CRLF:
		w.buf = append(w.buf, `,"eol":"\r\n"`...)
	case NoEOL:
		w.buf = append(w.buf, `,"eol":""`...)
	}
	if f.HTTP != nil {
		w.carriage(f)
	}
	switch {
	case f.Digest != nil:
		w.digest(f.Digest, f.JSON)
	case f.JSON && f.HTTP != nil && hasBreak(f.Body):
		w.buf = append(w.buf, `,"json":true,"text":"`...)
		w.pieces(f.Body, appendEscaped)
		w.buf = append(w.buf, '"')
	case f.JSON:
		w.buf = append(w.buf, `,"msg":`...)
		w.body(f.Body)
	case utf8.Valid(f.Body):
		w.buf = append(w.buf, `,"text":"`...)
		w.pieces(f.Body, appendEscaped)
		w.buf = append(w.buf, '"')
	default:
		w.buf = append(w.buf, `,"b64":"`...)
		w.pieces(f.Body, base64.StdEncoding.AppendEncode)
		w.buf = append(w.buf, '"')
	}
	w.buf = append(w.buf, "}\n"...)
	if len(w.buf) >= flushAt {
		w.flush()
	}
}

// hasBreak reports a line break: a body on HTTP may have them, a line of a
// journal may not.
func hasBreak(b []byte) bool {
	return bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0
}

// body writes the bytes as they are.
func (w *Writer) body(b []byte) {
	if len(b) < copyBelow {
		w.buf = append(w.buf, b...)
		return
	}
	w.flush()
	w.write(b)
}

// pieces writes the bytes in another form, a bounded piece at a time. A piece is
// a multiple of 3 bytes, so that base64 needs no padding before the end.
func (w *Writer) pieces(b []byte, form func(dst, src []byte) []byte) {
	const piece = 3 << 12
	for len(b) > piece {
		w.buf = form(w.buf, b[:piece])
		b = b[piece:]
		if len(w.buf) >= copyBelow {
			w.flush()
		}
	}
	w.buf = form(w.buf, b)
}

func (w *Writer) digest(d *Digest, isJSON bool) {
	if d.File != "" {
		w.buf = append(w.buf, `,"file":`...)
		w.buf = appendString(w.buf, []byte(d.File))
	}
	w.buf = append(w.buf, `,"bytes":`...)
	w.buf = strconv.AppendInt(w.buf, d.Bytes, 10)
	w.buf = append(w.buf, `,"sha256":"`...)
	w.buf = append(w.buf, d.SHA256...)
	w.buf = append(w.buf, `","json":`...)
	w.buf = strconv.AppendBool(w.buf, isJSON)
	for _, m := range [...]struct{ name, value string }{{"head", d.Head}, {"tail", d.Tail}, {"reason", d.Reason}} {
		if m.value != "" {
			w.buf = append(w.buf, `,"`+m.name+`":`...)
			w.buf = appendString(w.buf, []byte(m.value))
		}
	}
}

// appendString appends b, valid UTF-8, as a JSON string.
func appendString(dst, b []byte) []byte {
	return append(appendEscaped(append(dst, '"'), b), '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends the inside of a JSON string. A string may be escaped in
// pieces, since only ASCII is ever escaped.
func appendEscaped(dst, b []byte) []byte {
	from := 0
	for i, ch := range b {
		if ch >= ' ' && ch != '"' && ch != '\\' && ch != 0x7f {
			continue
		}
		dst = append(dst, b[from:i]...)
		from = i + 1
		switch ch {
		case '"', '\\':
			dst = append(dst, '\\', ch)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[ch>>4], hexDigits[ch&15])
		}
	}
	return append(dst, b[from:]...)
}
