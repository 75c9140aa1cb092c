package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/vlist"
)

// help shows the keys that work where it was asked for, and the signs of that screen.
type help struct {
	env  *env
	list vlist.List
	rows []helpRow
}

type helpRow struct{ key, name, text, head string }

func newHelp(e *env, at place) *help {
	h := &help{env: e}
	group := ""
	for _, a := range actionsAt(at) {
		if a.Group != group {
			if group != "" {
				h.rows = append(h.rows, helpRow{})
			}
			group = a.Group
			h.rows = append(h.rows, helpRow{head: group})
		}
		keys := a.Binding().Help()
		h.rows = append(h.rows, helpRow{key: keys.Key, name: a.Name, text: keys.Desc})
	}
	if at&inSession != 0 {
		h.rows = append(h.rows, helpRow{}, helpRow{head: "Signs"})
		for _, o := range outcomeSigns {
			h.rows = append(h.rows, helpRow{key: o.sign, name: o.word, text: o.help})
		}
	}
	h.list.SetLen(len(h.rows), false)
	return h
}

func (h *help) place() place { return inHelp }
func (h *help) close()       {}

func (h *help) update(tea.Msg) tea.Cmd { return nil }

func (h *help) do(id string) (tea.Cmd, bool) {
	if id == "up" || id == "down" { // the text moves, there is nothing to choose
		h.list.Scroll(map[string]int{"up": -1, "down": 1}[id])
		return nil, true
	}
	return nil, moveList(&h.list, id)
}

func (h *help) click(m tea.MouseMsg) tea.Cmd {
	wheel(&h.list, m)
	return nil
}

func (h *help) view(w, height int) []string {
	th := h.env.th
	keys, names := 14, 20
	if w >= 100 {
		keys, names = 17, 23
	}
	lines := []string{titleLine(th, w, "help", "the keys that work here; esc goes back"), draw.Blank(w)}
	h.list.SetHeight(height - len(lines))
	return append(lines, h.list.Rows(w, func(int) uint64 { return uint64(th.Version) }, 0, func(i int, _ uint8) string {
		r := h.rows[i]
		if r.head != "" {
			return draw.NewLine(w, "").Gap(2).Raw(th.Strong, r.head).String()
		}
		return draw.NewLine(w, "").Gap(2).Raw(th.Accent, draw.Cell(r.key, keys, false)).Gap(1).Raw("", draw.Cell(r.name, names, false)).Gap(1).Raw(th.Dim, r.text).String()
	})...)
}
