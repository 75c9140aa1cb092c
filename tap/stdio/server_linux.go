package stdio

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// groupAttr also has the kernel kill the server's process when the tap dies. A
// host that kills the tap means the server.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// pipeSize is what the pipes to the server hold. The default of 64 KiB makes a
// megabyte sixteen turns of reading and writing between two processes.
const pipeSize = 256 << 10

func cloexecPipe(ends *[2]int) error {
	err := unix.Pipe2(ends[:], unix.O_CLOEXEC)
	if err == nil {
		_, _ = unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, pipeSize) // a user's limit may forbid it
	}
	return err
}
