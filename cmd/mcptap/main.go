// Mcptap is a wire tap for the Model Context Protocol: it records what an MCP
// host and a server say to each other, and shows it. See 'mcptap help'.
package main

import (
	"os"
	"runtime"
	"time"

	"github.com/mcptap/mcptap/cmd/internal/cli"
)

// The main goroutine stays on the main thread: the kernel ends a tapped server
// when the thread that started it ends, and the main thread lasts longest.
func init() { runtime.LockOSThread() }

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
	}))
}
