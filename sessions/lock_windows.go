package sessions

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Locks on Windows keep others from reading what is locked. So the lock lies on
// a byte far behind any end of file.
var lockAt = windows.Overlapped{OffsetHigh: 1 << 30}

// lock marks a recording as live until f is closed or its process ends.
func lock(f *os.File) error {
	at := lockAt
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at)
}

// live reports whether somebody has the lock. Asking does not get in the way of
// others who ask.
func live(f *os.File) bool {
	at := lockAt
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true
	}
	unlock(f)
	return false
}

// tryLock takes the lock only if nobody has it; ok is false if somebody does.
func tryLock(f *os.File) (ok bool) {
	at := lockAt
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	return !errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

func unlock(f *os.File) {
	at := lockAt
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}
