package exact

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A Cache keeps answers. Keys are SHA-256 in hex; they hold nothing of what was sent.
// It may be used by several goroutines.
type Cache interface {
	Load(key string) (n int, ok bool)
	Store(key string, n int) error
}

// Dir is a cache in a folder: one small file an answer. The folder is made with 0700
// when there is something to keep, files have 0600.
type Dir string

type kept struct {
	InputTokens *int `json:"input_tokens"`
}

// Load gives nothing for an answer that is not there or makes no sense.
func (d Dir) Load(key string) (int, bool) {
	path, err := d.path(key)
	if err != nil {
		return 0, false
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1024))
	var k kept
	if err != nil || json.Unmarshal(b, &k) != nil || k.InputTokens == nil || *k.InputTokens < 1 {
		return 0, false
	}
	return *k.InputTokens, true
}

// Store writes beside and renames, so that an answer is there whole or not at all.
func (d Dir) Store(key string, n int) error {
	path, err := d.path(key)
	if err == nil {
		err = d.store(path, n)
	}
	if err != nil {
		return fmt.Errorf("keeping a token count in %s: %w; it will be asked for again next time", string(d), err)
	}
	return nil
}

func (d Dir) store(path string, n int) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(string(d), ".new-*") // with 0600
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "{\"input_tokens\":%d}\n", n)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// path takes nothing but a hash into a path.
func (d Dir) path(key string) (string, error) {
	if b, err := hex.DecodeString(key); err != nil || len(b) != 32 {
		return "", errors.New("the key is no SHA-256")
	}
	return filepath.Join(string(d), key+".json"), nil
}
