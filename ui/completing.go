package ui

import "github.com/mcptap/mcptap/sessions/filter"

// waysOn are what a filter that is being typed may become: each of the ways to go on, as
// the whole text.
func waysOn(text string, words *filter.Vocabulary) (all []string) {
	for _, w := range filter.Complete(text, len(text), words) {
		if w.From < 0 || w.To > len(text) || w.From > w.To {
			continue
		}
		if whole := text[:w.From] + w.Text + text[w.To:]; whole != text {
			all = append(all, whole)
		}
	}
	return all
}

func (c *calls) ways(text string) []string { return waysOn(text, &c.words) }

// filterWrongAt is the byte at which a filter is wrong; -1 if it is right, or may become
// so by typing on.
func filterWrongAt(text string) int {
	if typed := filter.Typing(text); typed.State == filter.Invalid {
		return typed.Err.From
	}
	return -1
}
