//go:build unix && !linux

package stdio

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func cloexecPipe(ends *[2]int) error {
	syscall.ForkLock.RLock() // no fork may come in between
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(ends[:]); err != nil {
		return err
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return nil
}
