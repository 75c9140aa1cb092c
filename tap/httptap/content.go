package httptap

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxCodings is how many encodings of one body may be stacked.
	maxCodings = 4
	// maxWindow is how far back a zstd stream may refer: what RFC 9659 allows for
	// HTTP. The others can't ask for more than 16 MiB.
	maxWindow = 8 << 20
	// maxDecoded is how much of one body is decoded: far more than an answer or a
	// day's events, and less than a disk.
	maxDecoded = 1 << 30
	// decodeRoom is the largest piece that is decoded at once.
	decodeRoom = 32 << 10
)

// errTooLong is Close's error for a body that decodes to more than the limit.
var errTooLong = errors.New("the decoded body is longer than is looked at")

// A decoder takes the encodings of Content-Encoding off a copy of a body while it
// comes, so that it is recorded as what it says. It is used by one goroutine.
//
// The libraries' readers pull, but bytes are pushed here, and a message has to be
// recorded before it is passed on. So the reader runs in a coroutine that gives
// the turn back when it has decoded something and when it wants more bytes.
type decoder struct {
	out  func([]byte)
	left int64 // bytes that may still be decoded
	in   []byte
	fed  bool // there was a byte
	end  bool // there are no more
	next func() ([]byte, bool)
	stop func()
	err  error // set when the coroutine has ended
	over bool
}

// newDecoder returns a decoder for the value of a Content-Encoding header (several
// of them joined with commas), which gives out at most limit bytes. out gets the
// decoded bytes and may keep none of them. An empty encoding and identity decode
// to the bytes themselves; an encoding that is not known is an error.
//
// Close must be called, whatever happens.
func newDecoder(encoding string, limit int64, out func([]byte)) (*decoder, error) {
	codings, err := splitCodings(encoding)
	if err != nil {
		return nil, err
	}
	d := &decoder{out: out, left: limit}
	d.next, d.stop = iter.Pull(func(yield func([]byte) bool) {
		d.err = d.decode(codings, yield)
		d.over = true
	})
	return d, nil
}

// splitCodings is the list of encodings, in the order that they were put on.
func splitCodings(encoding string) ([]string, error) {
	var codings []string
	for coding := range strings.SplitSeq(encoding, ",") {
		coding = strings.ToLower(strings.TrimSpace(coding))
		switch coding {
		case "", "identity":
			continue
		case "gzip", "x-gzip", "deflate", "br", "zstd":
			codings = append(codings, coding)
		default:
			return nil, fmt.Errorf("the content encoding %q is not known", coding)
		}
	}
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%d content encodings on top of each other are too many", len(codings))
	}
	return codings, nil
}

// Feed takes the next bytes of the body. When it returns, all that can be decoded
// from the bytes so far has been given out: with deflate and gzip, all up to the
// last flush, which is what ends every event of a stream.
func (d *decoder) Feed(b []byte) {
	if len(b) == 0 || d.over {
		return
	}
	d.fed, d.in = true, b
	d.run()
	d.in = nil
}

// Close says that the body has ended. The error is nil if it was whole, and tells
// otherwise what was wrong with it: then out has had what came before that.
func (d *decoder) Close() error {
	d.end = true
	if d.fed && !d.over {
		d.run()
	}
	d.stop()
	if !d.fed {
		return nil // an answer without a body may have the header too
	}
	return d.err
}

// run lets the coroutine go on until it wants more bytes, or has ended.
func (d *decoder) run() {
	for {
		piece, ok := d.next()
		if !ok || piece == nil {
			return
		}
		d.out(piece)
	}
}

// decode is the coroutine: it yields what it decodes, and nil for more bytes.
func (d *decoder) decode(codings []string, yield func([]byte) bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoding the body: %v", r) // a fault of a library must not end the tap
		}
	}()
	l := &layers{top: &source{d: d, yield: yield}}
	defer l.close()
	for _, coding := range slices.Backward(codings) { // the last one put on comes off first
		if err := l.add(coding); err != nil {
			return decodeError(err)
		}
	}
	room := make([]byte, decodeRoom)
	for {
		n, err := l.top.Read(room[:min(int64(len(room)), d.left+1)])
		whole := n
		n = int(min(int64(n), d.left))
		d.left -= int64(n)
		if n > 0 && !yield(room[:n]) {
			return errStopped
		}
		if n < whole {
			return errTooLong
		}
		if err == io.EOF {
			return l.rest()
		}
		if err != nil {
			return decodeError(err)
		}
	}
}

var errStopped = errors.New("decoding was stopped")

func decodeError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the encoded body was cut off")
	}
	return fmt.Errorf("decoding the body: %w", err)
}

// source is what the readers read: the bytes that were fed. When they are used up
// it gives the turn back to Feed.
type source struct {
	d     *decoder
	yield func([]byte) bool
}

func (s *source) Read(p []byte) (int, error) {
	for len(s.d.in) == 0 {
		if s.d.end {
			return 0, io.EOF
		}
		if !s.yield(nil) {
			return 0, errStopped
		}
	}
	n := copy(p, s.d.in)
	s.d.in = s.d.in[n:]
	return n, nil
}

// layers are the readers for stacked encodings, and what each reads from.
type layers struct {
	top    io.Reader
	inputs []*bufio.Reader
	zstd   []*zstd.Decoder
}

// add puts the reader for one more encoding on top.
func (l *layers) add(coding string) (err error) {
	in := bufio.NewReader(l.top)
	l.inputs = append(l.inputs, in)
	switch coding {
	case "gzip", "x-gzip":
		l.top, err = newMembers(in)
	case "deflate":
		l.top, err = newDeflate(in)
	case "br":
		l.top = brotli.NewReader(in)
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			l.top, l.zstd = z, append(l.zstd, z)
		}
	}
	return err
}

// members reads a gzip stream member by member. The library's own way looks for
// another member before it gives out the end of one.
type members struct {
	in  *bufio.Reader
	zip *gzip.Reader
	end bool // of a member
}

func newMembers(in *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{in: in, zip: z}, nil
}

func (m *members) Read(p []byte) (int, error) {
	if m.end {
		if _, err := m.in.Peek(1); err != nil {
			return 0, err
		}
		if err := m.zip.Reset(m.in); err != nil {
			return 0, err
		}
		m.zip.Multistream(false)
		m.end = false
	}
	n, err := m.zip.Read(p)
	if errors.Is(err, io.EOF) {
		m.end, err = true, nil
	}
	return n, err
}

// rest takes what the encodings have after the end of what they hold: their own
// ends, and nothing else.
func (l *layers) rest() error {
	for _, in := range slices.Backward(l.inputs) {
		if _, err := in.ReadByte(); err == nil {
			return errors.New("there are bytes after the end of the encoded body")
		} else if err != io.EOF {
			return decodeError(err)
		}
	}
	return nil
}

func (l *layers) close() {
	for _, z := range l.zstd {
		z.Close()
	}
}

// newDeflate reads what servers send as deflate: zlib by the letter of RFC 9110,
// and raw deflate by many. The first two bytes tell.
func newDeflate(in *bufio.Reader) (io.Reader, error) {
	head, err := in.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}
