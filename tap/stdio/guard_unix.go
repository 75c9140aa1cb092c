//go:build unix

package stdio

import (
	"os"
	"strconv"
	"syscall"
)

// A guard is a small shell that outlives a tap that was killed, and ends what
// the tap would have ended: the server's whole group. The kernel's own
// parent-death signal exists on Linux only, and reaches just one process.
//
// The shell waits on a pipe that nobody ever writes to. Only the tap holds its
// other end, so the pipe ends when the tap does, however that came.
type guard struct {
	process *os.Process
	pipe    *os.File
}

const guardScript = `read -r x
kill -s TERM -- "-$1" 2>/dev/null || exit 0
sleep 2
kill -s KILL -- "-$1" 2>/dev/null`

// startGuard starts a guard for a process group. Without a shell there is none;
// the tap works all the same.
func startGuard(group int) *guard {
	var ends [2]int
	if cloexecPipe(&ends) != nil {
		return nil
	}
	read, write := os.NewFile(uintptr(ends[0]), "guard"), os.NewFile(uintptr(ends[1]), "guard")
	defer read.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = write.Close()
		return nil
	}
	defer null.Close()
	process, err := os.StartProcess("/bin/sh", []string{"mcptap-guard", "-c", guardScript, "mcptap-guard", strconv.Itoa(group)}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: []*os.File{read, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true}, // out of reach of what is meant for the tap's group
	})
	if err != nil {
		_ = write.Close()
		return nil
	}
	return &guard{process, write}
}

// stop ends the guard, which must happen before the tap does.
func (g *guard) stop() {
	if g == nil {
		return
	}
	_ = g.process.Kill()
	_, _ = g.process.Wait()
	_ = g.pipe.Close()
}
