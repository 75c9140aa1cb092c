//go:build unix

package sessions

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock marks a recording as live until f is closed or its process ends.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return err
		}
	}
}

// live reports whether somebody has the lock. Asking does not get in the way of
// others who ask.
func live(f *os.File) bool {
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK {
		return true
	}
	unlock(f)
	return false
}

// tryLock takes the lock only if nobody has it; ok is false if somebody does.
func tryLock(f *os.File) (ok bool) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return err != unix.EWOULDBLOCK
}

func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
