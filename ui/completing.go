package ui

import "github.com/mcptap/mcptap/sessions/filter"

// ways are what a filter that is being typed may become: each of the ways to go on, as
// the whole text.
func (c *calls) ways(text string) (all []string) {
	for _, w := range filter.Complete(text, len(text), &c.words) {
		if w.From < 0 || w.To > len(text) || w.From > w.To {
			continue
		}
		if whole := text[:w.From] + w.Text + text[w.To:]; whole != text {
			all = append(all, whole)
		}
	}
	return all
}

// filterWrongAt is the byte at which a filter is wrong; -1 if it is right, or may become
// so by typing on.
func filterWrongAt(text string) int {
	if typed := filter.Typing(text); typed.State == filter.Invalid {
		return typed.Err.From
	}
	return -1
}
