package stdio

import (
	"os"

	"github.com/mcptap/mcptap/tap"
)

// Host is the process that started this one, with its name where the system
// tells it.
func Host() tap.Process {
	pid := os.Getppid()
	return tap.Process{PID: pid, Name: processName(pid)}
}
