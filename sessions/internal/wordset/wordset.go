// Package wordset has the word lists of the dated data files: a JSON list of
// strings that code asks for membership. It refuses a word that is listed twice,
// since that is a slip of whoever wrote the file.
package wordset

import (
	"encoding/json"
	"fmt"
)

// A Set is a list of words.
type Set map[string]bool

// UnmarshalJSON reads a list of strings.
func (s *Set) UnmarshalJSON(b []byte) error {
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*s = make(Set, len(list))
	for _, word := range list {
		if (*s)[word] {
			return fmt.Errorf("%q is listed twice", word)
		}
		(*s)[word] = true
	}
	return nil
}
