package tap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxFrame is the longest body that a journal holds itself; longer ones go to a
// side file. 8 MiB, because a tap keeps an unfinished frame of each direction in
// memory and has to stay far below 48 MiB, and because it is above what hosts
// take: the Go SDK reads 16 MiB at most, the TypeScript SDK 10 MiB, and tool
// results beyond a megabyte are refused or cut by all that we know.
const MaxFrame = 8 << 20

const excerpt = 1 << 10

// full reports whether n more bytes of body would pass the session's limit.
func (w *Writer) full(n int64) bool {
	return w.opt.MaxBytes > 0 && w.size+w.sides+w.written+int64(len(w.buf))+n > w.opt.MaxBytes
}

const reasonCapped = "the session reached its size limit"

// shortBody is the length up to which a body is kept beyond the session's limit:
// its digest would take no less room.
const shortBody = 160

// sayCapped records once, before the next record, that the limit was reached. The
// lock must be held.
func (w *Writer) sayCapped() {
	if w.capped == "" {
		w.capped = fmt.Sprintf("%s of %d bytes; from here on frames are kept as length and hash", reasonCapped, w.opt.MaxBytes)
		w.owesCap = true
		w.warn("capped", w.capped)
	}
}

// cap replaces a body by its digest, and says so before the first one.
func (w *Writer) cap(f *Frame, now time.Duration) {
	w.sayCapped()
	if w.owesCap && !w.paysCap {
		w.paysCap = true
		w.event(now, EventCapped, w.capped)
	}
	if f.Digest != nil || len(f.Body) <= shortBody {
		return
	}
	sum := sha256.Sum256(f.Body)
	f.Digest = &Digest{Bytes: int64(len(f.Body)), SHA256: hex.EncodeToString(sum[:]), Reason: reasonCapped}
	f.Body = nil
}

// A Spill takes the bytes of one frame that is too long for the journal, as they
// come, to a side file. It never fails: bytes that can't be kept are hashed and
// counted all the same.
type Spill struct {
	w      *Writer
	name   string
	file   File
	reason string
	hash   hash.Hash
	bytes  int64
	head   []byte
	tail   []byte
	unseen bool // not even its ends are kept
}

// Spill starts a side file for a frame of the given direction.
func (w *Writer) Spill(dir Dir) *Spill {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &Spill{w: w, hash: sha256.New()}
	switch {
	case w.full(MaxFrame):
		s.reason = reasonCapped
		w.sayCapped()
	case w.opt.Side == nil || w.file == nil:
		s.reason = "no place for a side file"
	default:
		w.nSides++
		s.name = dir.String() + "-" + strconv.Itoa(w.nSides) + ".bin"
		var err error
		if s.file, err = w.opt.Side(s.name); err != nil {
			s.file = nil
			s.fail(err.Error())
		}
	}
	return s
}

// Unkept takes the bytes of a frame of which only length and hash are recorded,
// for this reason.
func Unkept(reason string) *Spill {
	return &Spill{hash: sha256.New(), reason: reason, unseen: true}
}

// fail gives the side file up. The lock must be held.
func (s *Spill) fail(reason string) {
	s.reason = reason
	s.w.sides -= s.bytes
	s.w.warn("side", fmt.Sprintf("a large frame is kept as length and hash only: %s", reason))
	if s.file != nil {
		_ = s.file.Truncate(0) // half a frame helps nobody, and the disk may be full
		_ = s.file.Close()
		s.file = nil
		if s.w.opt.DropSide != nil {
			s.w.opt.DropSide(s.name)
		}
	}
}

// Add takes the next bytes of the body.
func (s *Spill) Add(b []byte) {
	s.hash.Write(b)
	if s.unseen {
		s.bytes += int64(len(b))
		return
	}
	if room := excerpt - len(s.head); room > 0 {
		s.head = append(s.head, b[:min(room, len(b))]...)
	}
	s.tail = append(s.tail, b[max(0, len(b)-excerpt):]...)
	s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-excerpt):]...)
	s.keep(b)
	s.bytes += int64(len(b))
}

func (s *Spill) keep(b []byte) {
	if s.file == nil {
		return
	}
	_, err := s.file.Write(b)
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	switch {
	case err != nil:
		s.fail(err.Error())
	case s.w.full(int64(len(b))):
		s.fail(reasonCapped)
		s.w.sayCapped()
	default:
		s.w.sides += int64(len(b))
	}
}

// Digest closes the side file and describes what was added.
func (s *Spill) Digest() *Digest {
	if s.file != nil {
		if err := s.file.Close(); err != nil {
			s.reason = err.Error()
		}
	}
	d := &Digest{
		Bytes:  s.bytes,
		SHA256: hex.EncodeToString(s.hash.Sum(nil)),
		Head:   strings.ToValidUTF8(string(s.head), "\uFFFD"),
		Tail:   string(bytes.ToValidUTF8(s.tail, []byte("\uFFFD"))),
		Reason: s.reason,
	}
	if s.reason == "" {
		d.File = s.name
	}
	return d
}

var sideName = regexp.MustCompile(`^(c2s|s2c|stderr)-[1-9][0-9]{0,8}\.bin$`)

// SideName reports whether a Digest's File is a name that a Writer gives.
func SideName(s string) bool { return sideName.MatchString(s) }
