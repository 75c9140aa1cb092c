package ui

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// inputFilter takes what a terminal answers to questions out of what the user types,
// so that a late answer is not read as keys.
type inputFilter struct {
	*os.File
	pending []byte          // the beginning of an answer
	ground  func(dark bool) // takes the answer that tells the background
	ended   func()          // is told that the terminal is gone; bubbletea would wait for ever
}

// maxAnswer bounds an answer; what is longer is none.
const maxAnswer = 4096

// Read reads from the terminal. It may give nothing at all.
func (f *inputFilter) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if err != nil && f.ended != nil {
		go f.ended() // the program may be waiting for us to read
	}
	if n == 0 {
		return n, err
	}
	return copy(p, f.filter(p[:n])), err
}

// filter gives what was typed. It never gives more than it was given, so that what was
// held back may have to wait for room.
func (f *inputFilter) filter(b []byte) []byte {
	in := slices.Concat(f.pending, b)
	f.pending = nil
	var out []byte
loop:
	for len(in) > 0 {
		n, whole := answer(in)
		switch {
		case n > 0 && !whole && len(in) < maxAnswer:
			f.pending = in
			break loop
		case n > 0 && whole:
			f.take(in[:n])
			in = in[n:]
		default:
			out, in = append(out, in[0]), in[1:]
		}
	}
	if len(out) > len(b) {
		out, f.pending = out[:len(b)], slices.Concat(out[len(b):], f.pending)
	}
	return out
}

// answer gives the length of the answer that b begins with; 0 if it begins with none.
// An answer is an operating system command with a number (ESC ] 1 1 ; …), a device
// control string (ESC P …) or device attributes (ESC [ ? … c). ESC ] alone is a key.
func answer(b []byte) (n int, whole bool) {
	if len(b) < 3 || b[0] != 0x1b {
		return 0, false
	}
	switch {
	case b[1] == ']' && b[2] >= '0' && b[2] <= '9', b[1] == 'P' && strings.IndexByte("01>!$+", b[2]) >= 0:
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1, true
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2, true
			}
		}
		return len(b), false
	case b[1] == '[' && b[2] == '?':
		for i := 3; i < len(b); i++ {
			switch {
			case b[i] == 'c' || b[i] == 'y':
				return i + 1, true
			case b[i] >= 0x40 || b[i] < ' ':
				return 0, false
			}
		}
		return len(b), false
	}
	return 0, false
}

// take reads the answer that tells the background's colour.
func (f *inputFilter) take(b []byte) {
	rgb, ok := strings.CutPrefix(string(b), "\x1b]11;rgb:")
	if !ok || f.ground == nil {
		return
	}
	parts := strings.Split(strings.TrimRight(rgb, "\x07\x1b\\"), "/")
	if len(parts) != 3 {
		return
	}
	light := 0.0
	for i, weight := range []float64{.299, .587, .114} {
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return
		}
		light += weight * float64(n) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	go f.ground(light < .5) // the program may be waiting for us to read
}
