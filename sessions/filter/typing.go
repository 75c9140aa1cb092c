package filter

import "strings"

// State is how far a filter is that is being typed.
type State uint8

// The states of a filter.
const (
	Empty   State = iota
	Partial       // not valid yet; typing on may make it so
	Valid
	Invalid
)

// Typed is what a filter says while it is being typed.
type Typed struct {
	State State
	// Filter is that of the longest beginning that is valid: all of the text when
	// State is Valid. A list can go on with it; nil if there is none.
	Filter *Filter
	// Until is the length of that beginning in bytes.
	Until int
	// Err is what is wrong, and where, when State is Partial or Invalid.
	Err *Error
}

// Typing judges a filter that is being typed.
func Typing(text string) Typed {
	root, err := parse(text)
	switch {
	case err != nil:
		t := Typed{State: Invalid, Err: err}
		if err.Unfinished {
			t.State = Partial
		}
		t.Filter, t.Until = validPrefix(text, err.From)
		return t
	case root == nil:
		return Typed{State: Empty, Until: len(text)}
	}
	return Typed{State: Valid, Filter: &Filter{root}, Until: len(text)}
}

// maxTries bounds how many beginnings are tried, so that a key press costs little.
const maxTries = 64

// validPrefix finds the longest valid beginning that ends before a word before end.
func validPrefix(text string, end int) (*Filter, int) {
	end = min(end, maxText)
	for range maxTries {
		end = len(strings.TrimRight(text[:end], " \t\r\n("))
		if end == 0 {
			break
		}
		if root, err := parse(text[:end]); err == nil && root != nil {
			return &Filter{root}, end
		}
		end = strings.LastIndexAny(text[:end], " \t\r\n(")
		if end < 0 {
			break
		}
	}
	return nil, 0
}
