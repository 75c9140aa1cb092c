//go:build unix

package stdio

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcptap/mcptap/tap"
)

// sigTerm and sigKill end a server.
var (
	sigTerm os.Signal = unix.SIGTERM
	sigKill os.Signal = unix.SIGKILL
)

// A server is the process of the server's command and our ends of its pipes.
type server struct {
	process *os.Process
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	stderr  io.ReadCloser
	guard   *guard
}

// start runs argv in a process group of its own, so that everything a launcher
// starts can be reached.
func start(argv []string) (*server, *StartError) {
	path, err := lookPath(argv[0])
	if err != nil {
		return nil, explain(argv[0], "", err)
	}
	var p pipes
	if err := p.open(); err != nil {
		return nil, explain(argv[0], path, err)
	}
	attr := &os.ProcAttr{Files: p.theirs[:], Sys: groupAttr()}
	process, err := os.StartProcess(path, argv, attr)
	if errors.Is(err, unix.ENOEXEC) { // a script without a first line: execvp gives it to sh
		process, err = os.StartProcess("/bin/sh", append([]string{"sh", path}, argv[1:]...), attr)
	}
	p.closeTheirs()
	if err != nil {
		p.closeOurs()
		return nil, explain(argv[0], path, err)
	}
	return &server{process: process, stdin: p.ours[0], stdout: p.ours[1], stderr: p.ours[2], guard: startGuard(process.Pid)}, nil
}

// pipes are the three pipes to a server.
type pipes struct {
	ours   [3]fd
	theirs [3]*os.File
}

func (p *pipes) open() error {
	for i := range p.ours {
		var ends [2]int
		if err := cloexecPipe(&ends); err != nil {
			return os.NewSyscallError("pipe", err)
		}
		ours, theirs := ends[0], ends[1]
		if i == 0 {
			ours, theirs = theirs, ours
		}
		p.ours[i] = fd(ours)
		p.theirs[i] = os.NewFile(uintptr(theirs), "pipe")
	}
	return nil
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

func (p *pipes) closeOurs() {
	for _, d := range p.ours {
		_ = d.Close()
	}
}

func hostIn(f *os.File) fd  { return descriptor(f) }
func hostOut(f *os.File) fd { return descriptor(f) }

// descriptor takes the number out of f. (File.Fd would also make it blocking.)
func descriptor(f *os.File) (d fd) {
	d = -1
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(n uintptr) { d = fd(n) })
	}
	return d
}

// wait waits for the server's own process.
func (s *server) wait() tap.End {
	state, err := s.process.Wait()
	if err != nil {
		return tap.End{Exit: 1, Reason: err.Error()}
	}
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return tap.End{Exit: 128 + int(status.Signal()), Signal: signalName(status.Signal())}
	}
	return tap.End{Exit: status.ExitStatus()}
}

// signal sends sig to the server's own process. One that is stopped goes on, so
// that it can act on it.
func (s *server) signal(sig os.Signal) {
	_ = s.process.Signal(sig)
	if ends(sig) {
		_ = s.process.Signal(unix.SIGCONT)
	}
}

// signalGroup sends sig to the server and all that it started.
func (s *server) signalGroup(sig os.Signal) {
	_ = unix.Kill(-s.process.Pid, sig.(syscall.Signal))
	if ends(sig) {
		_ = unix.Kill(-s.process.Pid, unix.SIGCONT)
	}
}

// inputUnread reports that no process reads the server's input any more.
func (s *server) inputUnread() bool { return s.stdin.(fd).broken() }

func (s *server) groupAlive() bool { return unix.Kill(-s.process.Pid, 0) == nil }

func (s *server) release() { s.guard.stop() }

func signalName(sig os.Signal) string {
	n, ok := sig.(syscall.Signal)
	if !ok {
		return sig.String()
	}
	if name := unix.SignalName(n); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(n))
}
