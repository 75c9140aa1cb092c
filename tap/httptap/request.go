package httptap

import (
	"io"
	"net/http"
	"time"
)

const (
	// firstPiece is the most of a body that is read before it is known whose
	// request it is; what has come by then is passed on with the head.
	firstPiece = 16 << 10
	// firstWait is how long the head waits for that if the body has no length: it
	// may be a stream whose first piece comes much later.
	firstWait = 50 * time.Millisecond
	// linger is how long a client may go on to send a body that nobody reads any
	// more.
	linger = time.Second
)

// begun reads what has come of a body: its beginning, and what gives the rest. A
// client that waits to be asked for it is not asked.
func begun(r *http.Request) (first []byte, rest io.ReadCloser) {
	switch {
	case r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "":
		return nil, r.Body
	case r.ContentLength < 0:
		a := &ahead{ReadCloser: r.Body, ready: make(chan struct{})}
		go a.fetch()
		select {
		case <-a.ready:
			first, a.first = a.first, nil
		case <-time.After(firstWait):
		}
		return first, a
	}
	first = make([]byte, min(r.ContentLength, firstPiece))
	if isForm(r) {
		first = make([]byte, r.ContentLength)
		n, err := io.ReadFull(r.Body, first)
		if err != nil {
			return first[:n], &failing{r.Body, err}
		}
		return first, r.Body
	}
	n, err := r.Body.Read(first)
	if err != nil {
		return first[:n], &failing{r.Body, err}
	}
	return first[:n], r.Body
}

// ahead is a body whose first read happens beside.
type ahead struct {
	io.ReadCloser
	ready chan struct{}
	first []byte
	err   error
}

func (a *ahead) fetch() {
	defer close(a.ready)
	room := make([]byte, firstPiece)
	n, err := a.ReadCloser.Read(room)
	a.first, a.err = room[:n], err
}

func (a *ahead) Read(p []byte) (int, error) {
	<-a.ready
	switch {
	case len(a.first) > 0:
		n := copy(p, a.first)
		a.first = a.first[n:]
		return n, nil
	case a.err != nil:
		return 0, a.err
	}
	return a.ReadCloser.Read(p)
}

// failing gives an error that a read has already met.
type failing struct {
	io.ReadCloser
	err error
}

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// streamed has a body pass by its recorder, and bounds how long a client may be
// silent within one that it has begun.
func (t *Tap) streamed(w http.ResponseWriter, body *tee) *tee {
	control := http.NewResponseController(w)
	body.during = func() { _ = control.SetReadDeadline(t.Now().Add(t.stall)) }
	body.atEnd = func() { _ = control.SetReadDeadline(time.Time{}) }
	return body
}
