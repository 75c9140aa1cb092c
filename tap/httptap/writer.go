package httptap

import (
	"net/http"
	"sync"
	"time"
)

// headWait is how long an answer's head may wait for the first bytes of a body of
// known length, so that both go in one piece.
const headWait = time.Millisecond

// A writer takes an answer to the client. Nothing waits in it for more to come.
//
// It bounds how long a client may take nothing of what it is sent. Silence of the
// server does not count: each piece has a time of its own.
type writer struct {
	http.ResponseWriter
	x       *exchange
	control *http.ResponseController
	now     func() time.Time
	stall   time.Duration

	mu    sync.Mutex
	until time.Time   // the deadline that is set
	head  *time.Timer // sends the head alone
	left  int64       // of a body of known length
	over  bool
}

func newWriter(w http.ResponseWriter, x *exchange) *writer {
	return &writer{ResponseWriter: w, x: x, control: http.NewResponseController(w), now: x.tap.Now, stall: x.tap.stall}
}

func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// within gives the client its time for what is sent now. A deadline is good for
// several pieces that follow each other.
func (w *writer) within() {
	if now := w.now(); w.until.Sub(now) < w.stall*9/10 {
		w.until = now.Add(w.stall)
		_ = w.control.SetWriteDeadline(w.until)
	}
}

// sent takes the time back where it would run while nothing is sent: on HTTP/2 a
// deadline ends the stream whether or not something is on its way.
func (w *writer) sent() {
	if w.x.in.ProtoMajor > 1 {
		w.until = time.Time{}
		_ = w.control.SetWriteDeadline(w.until)
	}
}

func (w *writer) WriteHeader(status int) {
	if status == http.StatusContinue && w.x.in.Header.Get("Expect") != "" {
		return // the server says it itself when the body is read, which comes next
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.within()
	defer w.sent()
	w.ResponseWriter.WriteHeader(status)
	if w.left = w.x.bodyLength(); w.left > 0 && status >= http.StatusOK {
		w.head = time.AfterFunc(headWait, w.flushHead)
	}
}

// flushHead sends the head of an answer whose body does not come yet.
func (w *writer) flushHead() {
	w.x.recordOwed()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		_ = w.flush()
	}
}

func (w *writer) flush() error {
	w.within()
	defer w.sent()
	return w.control.Flush()
}

// FlushError is what a ResponseController calls.
func (w *writer) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

// Write sends a piece of a body. The reverse proxy flushes one of unknown length
// itself; the server flushes what is left when the handler returns, which it does
// at once after the last byte; but on HTTP/2 the end may come later than that.
func (w *writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.head != nil {
		w.head.Stop()
	}
	w.within()
	defer w.sent()
	n, err := w.ResponseWriter.Write(b)
	known := w.left > 0
	w.left -= int64(n)
	if err == nil && known && (w.left > 0 || w.x.viaHTTP2()) {
		err = w.flush()
	}
	return n, err
}

// end is called when the handler is about to return: the rest has its time too,
// and so has a client that still sends a body which nobody reads any more.
func (w *writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.head != nil {
		w.head.Stop()
	}
	w.within()
	if up := w.x.up; up != nil && !up.hasEnded() {
		_ = w.control.SetReadDeadline(w.now().Add(linger))
	}
}

// bodyLength is the length of the answer's body; 0 if there is none, or none that
// is known.
func (x *exchange) bodyLength() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.down == nil || x.down.done {
		return 0
	}
	return max(0, x.down.length)
}

func (x *exchange) viaHTTP2() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.answer != nil && x.answer.ProtoMajor > 1
}
