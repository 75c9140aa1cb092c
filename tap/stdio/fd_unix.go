//go:build unix

package stdio

import (
	"io"

	"golang.org/x/sys/unix"
)

// An fd is a file descriptor that is read and written with plain blocking system
// calls: about a third of the latency that os.File adds, whose pipes go through
// the runtime's poller. Descriptors that the host set to non-blocking are waited
// for, never changed: the flag would change for the host too.
type fd int

func (d fd) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(d), b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			d.wait(unix.POLLIN)
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (d fd) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := unix.Write(int(d), b[done:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			d.wait(unix.POLLOUT)
		case err != nil:
			return done, err
		default:
			done += n
		}
	}
	return done, nil
}

func (d fd) wait(events int16) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(d), Events: events}}, -1)
}

// broken reports whether the other end of a pipe or socket that we write to is
// gone.
func (d fd) broken() bool {
	p := []unix.PollFd{{Fd: int32(d)}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}

func (d fd) Close() error { return unix.Close(int(d)) }
