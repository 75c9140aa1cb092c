package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/theme"
)

// A menu offers the actions whose keys begin with the key that opened it.
type menu struct {
	title  string
	items  []menuItem
	cursor int
}

type menuItem struct {
	key string // that follows
	act *Action
}

func newMenu(title, prefix string, at place) *menu {
	m := &menu{title: title}
	for _, a := range actionsAt(at) {
		for _, k := range a.Keys {
			if rest, ok := strings.CutPrefix(k, prefix+" "); ok && rest != "" {
				m.items = append(m.items, menuItem{rest, a})
			}
		}
	}
	return m
}

func (a *app) menuKey(k tea.KeyMsg) tea.Cmd {
	m := a.menu
	switch name := k.String(); name {
	case "esc", "q":
		a.menu = nil
	case "enter":
		return a.menuDo(m.cursor)
	case "up", "k", "shift+tab":
		m.cursor = max(0, m.cursor-1)
	case "down", "j", "tab":
		m.cursor = min(len(m.items)-1, m.cursor+1)
	default:
		for i := range m.items {
			if m.items[i].key == name {
				return a.menuDo(i)
			}
		}
	}
	return nil
}

func (a *app) menuDo(i int) tea.Cmd {
	m := a.menu
	if i < 0 || i >= len(m.items) {
		return nil
	}
	a.menu = nil
	return a.do(m.items[i].act.ID)
}

func (a *app) menuClick(e tea.MouseMsg) tea.Cmd {
	if !pressed(e) {
		return nil
	}
	box := a.menu.view(a.env.th, a.w)
	_, y := corner(box, a.w, a.h)
	if i := e.Y - y - 1; i >= 0 && i < len(a.menu.items) {
		return a.menuDo(i)
	}
	a.menu = nil
	return nil
}

func (m *menu) view(th *theme.Theme, w int) []string {
	width := min(74, w-4)
	if width < 70 { // there is no room for what they do
		width = min(24, width)
	}
	lines := make([]string, len(m.items))
	for i, it := range m.items {
		base := draw.Style("")
		if i == m.cursor {
			base = th.Selected
		}
		l := draw.NewLine(width, base).Gap(1).Raw(th.Accent, it.key).Gap(2).Raw("", draw.Cell(strings.TrimPrefix(it.act.Name, m.title+" "), 14, false))
		if l.Left() > 50 {
			l.Gap(1).Raw(th.Dim, it.act.Help)
		}
		lines[i] = l.String()
	}
	return boxed(th, m.title, lines, width)
}
