package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcptap/mcptap/sessions/neutral"
)

// ErrStopped tells that something was stopped before it came to its end.
var ErrStopped = errors.New("stopped")

// Mentions reports whether a recording may have a frame whose bytes hold what a test
// looks for (filter.Needs makes one), by reading its file and decoding nothing. If it
// gives false there is none. It may be wrong the other way: it does not look into what
// is encoded or lies in side files, and takes for granted that it is there. The error is
// ErrStopped when stop has said so, and else that of the file.
func Mentions(path string, in func([]byte) bool, stop func() bool) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf, kept, first := make([]byte, window), 0, true
	for {
		if stop() {
			return false, ErrStopped
		}
		n, err := io.ReadFull(f, buf[kept:])
		whole, ended := buf[:kept+n], err != nil
		if ended && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, fmt.Errorf("reading the session: %w", err)
		}
		if !ended { // a line that goes on waits for its end
			whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
		}
		if first && bytes.HasPrefix(whole, []byte(neutral.Start)) || elsewhere(whole) || in(whole) {
			return true, nil
		}
		if ended {
			return false, nil
		}
		first = first && len(whole) == 0
		if len(whole) == 0 {
			buf = append(buf, make([]byte, len(buf))...)
			kept += n
			continue
		}
		kept = copy(buf, buf[len(whole):kept+n])
	}
}

// elsewhere reports lines with a frame whose bytes are not in them as they are.
func elsewhere(lines []byte) bool {
	return bytes.Contains(lines, []byte(`"b64"`)) || bytes.Contains(lines, []byte(`"file"`))
}
