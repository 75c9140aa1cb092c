//go:build unix

package stdio

import "os"

// withoutPath gives the folders that execvp searches when PATH is not set (the
// C library's default) or empty (the current folder); ok is false if it is set.
func withoutPath() (dirs []string, ok bool) {
	path, set := os.LookupEnv("PATH")
	switch {
	case !set:
		return []string{"/bin", "/usr/bin"}, true
	case path == "":
		return []string{"."}, true
	}
	return nil, false
}
