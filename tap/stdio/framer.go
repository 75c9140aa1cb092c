package stdio

import (
	"bytes"
	"unicode/utf8"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/internal/jsontext"
)

// readSize is the most that is read at once. A pipe holds 64 KiB unless told
// otherwise, so larger reads would rarely be filled.
const readSize = 128 << 10

// A framer cuts one direction's bytes into frames, at line feeds only. The bytes
// are read into the room it gives, so that nothing is copied on the way.
//
// Its frames do not depend on how the bytes were cut into reads.
type framer struct {
	dir   tap.Dir
	limit int // the longest body that is kept in memory
	// spill starts taking a frame that outgrew limit. If it is nil, such a
	// line comes out in pieces of about limit bytes instead.
	spill func() *tap.Spill

	buf        []byte
	start, end int // the unfinished frame (what of it is not spilled) in buf
	fed        int // up to where check has seen it
	check      jsontext.Checker
	large      *tap.Spill // set while an outgrown frame comes in
	frames     []tap.Frame
}

func newFramer(dir tap.Dir, limit int, spill func() *tap.Spill) *framer {
	return &framer{
		dir: dir, limit: limit, spill: spill,
		// All of it at once, for the longest frame and a CR that may belong to
		// its end: that costs address space, not memory, since pages that no
		// frame ever reached are never touched.
		buf:    make([]byte, limit+1+readSize),
		frames: make([]tap.Frame, 0, 64),
	}
}

// room is where the next read goes. Frames given out before are void with it.
func (f *framer) room() []byte {
	if f.start > 0 {
		copy(f.buf, f.buf[f.start:f.end])
		f.end -= f.start
		f.fed -= f.start
		f.start = 0
	}
	return f.buf[f.end : f.end+readSize]
}

// take handles the n bytes that were read into room and returns the frames that
// they finished.
func (f *framer) take(n int) []tap.Frame {
	f.frames = f.frames[:0]
	from := f.end
	f.end += n
	for {
		i := bytes.IndexByte(f.buf[from:f.end], '\n')
		if i < 0 {
			break
		}
		from += i
		f.finish(from, tap.LF)
		from++
		f.start, f.fed = from, from
	}
	f.hold(f.withoutCR(f.end))
	return f.frames
}

// close gives the frame that the end of the stream left without a line end.
func (f *framer) close() []tap.Frame {
	f.frames = f.frames[:0]
	if f.start < f.end || f.large != nil {
		f.finish(f.end, tap.NoEOL)
		f.start = f.end
	}
	return f.frames
}

// withoutCR steps back over a CR before end: it may be part of the line's end.
func (f *framer) withoutCR(end int) int {
	if end > f.start && f.buf[end-1] == '\r' {
		return end - 1
	}
	return end
}

// finish makes a frame of buf[start:end].
func (f *framer) finish(end int, eol tap.EOL) {
	if eol == tap.LF {
		if body := f.withoutCR(end); body < end {
			end, eol = body, tap.CRLF
		}
	}
	f.hold(end)
	frame := tap.Frame{Dir: f.dir, EOL: eol, JSON: f.check.Valid()}
	if f.large != nil {
		frame.Digest = f.large.Digest()
		f.large = nil
	} else {
		frame.Body = f.buf[f.start:end]
	}
	f.frames = append(f.frames, frame)
	f.check.Reset()
}

// hold shows the unfinished frame up to end to the checker, and hands on what is
// too long to keep.
func (f *framer) hold(end int) {
	if f.spill == nil {
		f.cut(end)
	}
	if f.fed < end {
		f.check.Feed(f.buf[f.fed:end])
		f.fed = end
	}
	if f.large == nil && f.spill != nil && end-f.start > f.limit {
		f.large = f.spill()
	}
	if f.large != nil {
		f.large.Add(f.buf[f.start:end])
		f.start = end
	}
}

// cut takes pieces of limit bytes off a line that is longer, at the boundaries
// of characters where there are any.
func (f *framer) cut(end int) {
	for end-f.start > f.limit {
		at := f.start + f.limit
		for back := at; back > at-utf8.UTFMax; back-- {
			if utf8.RuneStart(f.buf[back]) {
				at = back
				break
			}
		}
		f.frames = append(f.frames, tap.Frame{Dir: f.dir, EOL: tap.NoEOL, Body: f.buf[f.start:at]})
		f.start, f.fed = at, at
		f.check.Reset()
	}
}
