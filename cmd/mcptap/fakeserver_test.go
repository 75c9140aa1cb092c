//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// fakeServer is a server with the manners that its arguments ask for, one after
// the other.
func fakeServer() {
	modes := map[string]func(arg string){
		"echo":         func(string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
		"answer":       answer,
		"wire":         logAndAnswer,
		"read":         func(string) { _, _ = io.Copy(io.Discard, os.Stdin) },
		"say":          func(s string) { fmt.Print(s) },
		"line":         func(s string) { fmt.Println(s) },
		"log":          func(s string) { fmt.Fprint(os.Stderr, s) },
		"log-bytes":    func(s string) { repeat(os.Stderr, s) },
		"say-bytes":    func(s string) { repeat(os.Stdout, s) },
		"exit":         func(s string) { os.Exit(number(s)) },
		"sleep":        func(s string) { time.Sleep(time.Duration(number(s)) * time.Millisecond) },
		"close-stdout": func(string) { _ = os.Stdout.Close() },
		"close-stdin":  func(string) { _ = os.Stdin.Close() },
		"ignore":       func(string) { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) },
		"report":       reportSignals,
		"pid":          func(string) { fmt.Println(os.Getpid()) },
		"forever":      func(string) { select {} },
		"child":        startChild,
		"save":         saveOnSignal,
		"fork":         fork,
		"die":          func(string) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
		"env":          func(string) { fmt.Print(strings.Join(os.Environ(), "\n") + "\n") },
		"cwd":          func(string) { d, _ := os.Getwd(); fmt.Println(d) },
		"args":         func(string) { fmt.Printf("%q\n", os.Args) },
	}
	for _, a := range os.Args[1:] {
		name, arg, _ := strings.Cut(a, "=")
		if do := modes[name]; do != nil {
			do(arg)
		}
	}
}

// answer answers each request line with its id, as fast as it can.
func answer(string) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if _, id, ok := bytes.Cut(line, []byte(`"id":`)); ok {
			id = id[:bytes.IndexAny(id, ",}")]
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
		}
		if in.Buffered() == 0 {
			_ = out.Flush()
		}
		if err != nil {
			return
		}
	}
}

// logAndAnswer appends every line that comes to a file, then sends it back.
func logAndAnswer(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		panic(err)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := f.Write(line); err != nil {
			panic(err)
		}
		if _, err := os.Stdout.Write(line); err != nil {
			return
		}
	}
}

// reportSignals prints every signal that comes, until SIGTERM does.
func reportSignals(string) {
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH)
	fmt.Println("ready")
	for s := range c {
		fmt.Println(s)
		if s == syscall.SIGTERM {
			return
		}
	}
}

// saveOnSignal has a helper do the work that is left when SIGTERM comes, and says
// whether it could.
func saveOnSignal(string) {
	helper := exec.Command(os.Args[0], "forever")
	if err := helper.Start(); err != nil {
		panic(err)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	fmt.Println("ready")
	<-c
	time.Sleep(50 * time.Millisecond)
	if helper.Process.Signal(syscall.Signal(0)) != nil {
		fmt.Println("the helper is gone")
		return
	}
	_ = helper.Process.Kill()
	if err := helper.Wait(); err != nil && helper.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		fmt.Println("the helper was ended by somebody else")
		return
	}
	fmt.Println("saved")
}

// fork leaves the serving to a child and ends well.
func fork(modes string) {
	startChild(modes)
	os.Exit(0)
}

// startChild starts this server once more, holding the same pipes, and prints
// its process id. "child=ignore,forever" are the child's own modes.
func startChild(modes string) {
	c := exec.Command(os.Args[0], strings.Split(modes, ",")...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		panic(err)
	}
	fmt.Println(c.Process.Pid)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// repeat writes N bytes of text without a line end.
func repeat(w io.Writer, n string) {
	piece := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	for left := number(n); left > 0; left -= len(piece) {
		if _, err := w.Write(piece[:min(left, len(piece))]); err != nil {
			return
		}
	}
}
