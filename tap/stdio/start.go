package stdio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// A StartError says in one sentence why the server could not be started.
type StartError struct {
	Status   int // exit status for the tap
	sentence string
	err      error
}

func (e *StartError) Error() string { return e.sentence }

func (e *StartError) Unwrap() error { return e.err }

// lookPath finds the program as execvp does: a name that PATH finds in the current
// folder is used, and without PATH there is the system's own.
func lookPath(name string) (string, error) {
	if dirs, ok := withoutPath(); ok && name != "" && !strings.ContainsRune(name, os.PathSeparator) {
		for _, dir := range dirs {
			if path, err := exec.LookPath(dir + string(os.PathSeparator) + name); err == nil {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	return path, err
}

// explain turns what the system said into a StartError.
func explain(name, path string, err error) *StartError {
	e := &StartError{Status: ExitNotExecutable, err: err}
	var why string
	switch {
	case name == "":
		e.Status, why = ExitNotFound, "the command is empty"
	case folderGone():
		why = "the working folder does not exist any more"
	case errors.Is(err, exec.ErrNotFound) && !strings.ContainsRune(name, os.PathSeparator):
		e.Status, why = ExitNotFound, "there is no such command in PATH (hosts often start servers with a shorter PATH than a shell's: try the full path)"
	case errors.Is(err, fs.ErrNotExist) && path != "" && exists(path):
		e.Status, why = ExitNotFound, missingInterpreter(path)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		e.Status, why = ExitNotFound, "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		why = "it is not executable: permission denied"
	default:
		why = cause(err)
	}
	e.sentence = fmt.Sprintf("starting the server %q: %s", name, why)
	return e
}

func cause(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	if p := (*exec.Error)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

func folderGone() bool {
	dir, err := os.Getwd()
	return err != nil || !exists(dir)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// missingInterpreter explains an existing file that the system does not find:
// its first line names a program that is not there, or its loader is not.
func missingInterpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return cause(err)
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	if name, ok := bytes.CutPrefix(line, []byte("#!")); ok {
		return fmt.Sprintf("the interpreter that its first line names does not exist: %q", strings.TrimSpace(string(name)))
	}
	return "the file is there, but not the loader or library it needs"
}
