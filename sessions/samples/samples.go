// Package samples are recordings that the program carries with it, to look at before
// there are any of one's own, and to test and to draw pictures with.
//
// They were recorded by the tap from real servers; recordings/README.md says which.
// They are read only when they are asked for, and never change.
package samples

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcptap/mcptap/sessions"
)

//go:embed recordings/*.jsonl
var recordings embed.FS

// written is when the files say that they were last written.
var written = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Store puts the samples into a folder of recordings, which it makes. The folder must
// not be there yet.
func Store(dir string) (sessions.Store, error) {
	files, err := recordings.ReadDir("recordings")
	if err != nil {
		return sessions.Store{}, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return sessions.Store{}, fmt.Errorf("unpacking the samples: %w", err)
	}
	for _, f := range files {
		if err := unpack(f.Name(), dir); err != nil {
			return sessions.Store{}, fmt.Errorf("unpacking the samples: %w", err)
		}
	}
	return sessions.Store{Dir: dir}, nil
}

func unpack(name, dir string) error {
	b, err := recordings.ReadFile("recordings/" + name)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, written, written)
}
