package draw

import "strings"

// Mark puts a style on every place of a drawn row that has text, letters in either case.
// What the row looks like beside them stays.
func Mark(row, text string, s Style) string {
	if s == "" || text == "" || len(row) < len(text) {
		return row
	}
	lit := places(row, text)
	if lit == nil {
		return row
	}
	var b, active strings.Builder
	on := false
	for i, at := 0, 0; i < len(row); {
		if n := escape(row[i:]); n > 0 {
			seq := row[i : i+n]
			if seq == reset {
				active.Reset()
			} else if seq[n-1] == 'm' {
				active.WriteString(seq)
			}
			b.WriteString(seq)
			if on {
				b.WriteString(string(s))
			}
			i += n
			continue
		}
		switch {
		case lit[at] && !on:
			b.WriteString(string(s))
		case !lit[at] && on:
			b.WriteString(reset + active.String())
		}
		on = lit[at]
		b.WriteByte(row[i])
		i, at = i+1, at+1
	}
	if on {
		b.WriteString(reset)
	}
	return b.String()
}

// places tells of each byte of a row, less its sequences, whether it is part of a place
// that has text; nil if there is none.
func places(row, text string) (lit []bool) {
	var plain strings.Builder
	for i := 0; i < len(row); {
		if n := escape(row[i:]); n > 0 {
			i += n
			continue
		}
		plain.WriteByte(row[i])
		i++
	}
	in := plain.String()
	for i := 0; i+len(text) <= len(in); i++ {
		if !strings.EqualFold(in[i:i+len(text)], text) {
			continue
		}
		if lit == nil {
			lit = make([]bool, len(in))
		}
		for k := range len(text) {
			lit[i+k] = true
		}
		i += len(text) - 1
	}
	return lit
}

// escape is the length of the control sequence that a row goes on with; 0 if there is none.
func escape(row string) int {
	if len(row) < 3 || row[0] != 0x1b || row[1] != '[' {
		return 0
	}
	for i := 2; i < len(row); i++ {
		if row[i] >= 0x40 {
			return i + 1
		}
	}
	return len(row)
}
