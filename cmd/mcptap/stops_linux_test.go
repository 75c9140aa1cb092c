package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestStops: stopped by its key or from outside, the program gives the terminal to its
// shell, and draws all of its screen again when that takes it up.
func TestStops(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(s *screenTest, pid int){
		"key":     func(s *screenTest, _ int) { s.keys("\x1a") },
		"SIGTSTP": func(_ *screenTest, pid int) { _ = syscall.Kill(pid, syscall.SIGTSTP) },
		"SIGSTOP": func(_ *screenTest, pid int) { _ = syscall.Kill(pid, syscall.SIGSTOP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := exec.Command("bash", "--norc", "--noprofile", "-i")
			s := commandOnScreen(t, 80, 24, false, shell)
			s.keys("mcptap --dir " + sampleStore(t) + " browse school\r")
			s.wait("─ calls", "menu week=49")
			before := s.text()
			stop(s, childOf(t, shell.Process.Pid))
			s.wait("Stopped")
			s.keys("clear; echo $((6*7))\r")
			s.wait("42")
			s.keys("fg\r")
			s.until(func(screen string) bool { return screen == before })
			s.keys("q")
			s.until(func(screen string) bool { return !strings.Contains(screen, "─ calls") })
			s.keys("clear; stty -a | grep -oE '[- ](icanon|echo) '\r")
			s.wait(" icanon", " echo")
		})
	}
}

// childOf is the process that a shell is waiting for.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.Fields(string(b))[0])
	if err != nil {
		t.Fatal(err)
	}
	return child
}
