package stdio

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/mcptap/mcptap/tap"
)

var (
	sigTerm os.Signal = os.Interrupt
	sigKill os.Signal = os.Kill
)

// A server is the process of the server's command and our ends of its pipes.
type server struct {
	process *os.Process
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	stderr  io.ReadCloser
	job     windows.Handle
}

// start runs argv in a console process group and a job object of its own. The
// job ends all its processes when its last handle closes, that is when the tap
// ends, however that comes.
func start(argv []string) (*server, *StartError) {
	path, err := lookPath(argv[0])
	if err != nil {
		return nil, explain(argv[0], "", err)
	}
	var ours, theirs [3]*os.File
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, explain(argv[0], path, err)
		}
		ours[i], theirs[i] = r, w
		if i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	sys := &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if isBatch(path) {
		sys.CmdLine = batchCommandLine(path, argv[1:])
		path = filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe")
	}
	process, err := os.StartProcess(path, argv, &os.ProcAttr{Files: theirs[:], Sys: sys})
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		for _, f := range ours {
			_ = f.Close()
		}
		return nil, explain(argv[0], path, err)
	}
	return &server{process: process, stdin: ours[0], stdout: ours[1], stderr: ours[2], job: newJob(process.Pid)}, nil
}

func isBatch(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".cmd" || ext == ".bat"
}

// newJob puts a process into a job that dies with this process; 0 if the system
// refuses.
func newJob(pid int) windows.Handle {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0
	}
	return job
}

// hostFile is one of the host's ends.
type hostFile struct{ *os.File }

func hostIn(f *os.File) hostFile  { return hostFile{f} }
func hostOut(f *os.File) hostFile { return hostFile{f} }

// broken can't be asked of a Windows pipe; a failing write tells it.
func (hostFile) broken() bool { return false }

func (s *server) wait() tap.End {
	state, err := s.process.Wait()
	if err != nil {
		return tap.End{Exit: 1, Reason: err.Error()}
	}
	return tap.End{Exit: state.ExitCode()}
}

func (s *server) signal(sig os.Signal) { s.signalGroup(sig) }

// signalGroup sends a break, the only thing that a console group can be sent, or
// ends the whole job.
func (s *server) signalGroup(sig os.Signal) {
	if sig != sigKill && windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(s.process.Pid)) == nil {
		return
	}
	if s.job == 0 {
		_ = s.process.Kill()
		return
	}
	_ = windows.TerminateJobObject(s.job, 1)
}

// inputUnread can't be asked of a Windows pipe.
func (s *server) inputUnread() bool { return true }

func (s *server) groupAlive() bool { return false }

func (s *server) release() {
	if s.job != 0 {
		_ = windows.CloseHandle(s.job)
	}
}

func signalName(sig os.Signal) string { return sig.String() }
