package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/jsontree"
)

// A frameJob is what takes longer to do with a frame than a key may: a command does it
// with a clone of the tree, while the tree itself is shown. One is at work at a time; a
// frame, a key or a width that comes meanwhile and changes the tree makes it void.
type frameJob struct {
	id      string // of the action; "find" or "wrap"
	row     int    // that the cursor was on
	text    string // to find
	started bool
}

var jobWords = map[string]string{"unfold": "unfolding…", "open": "unfolding…", "unfold-all": "unfolding…", "find": "searching…", "wrap": "breaking lines…"}

// later leaves something to a command, unless one is at it.
func (p *framePane) later(id string, row int) {
	job := frameJob{id: id, row: row, text: p.search}
	if p.job != nil && p.job.id == id && p.job.row == row && p.job.text == p.search {
		return
	}
	p.job = &job
}

// rewrap breaks texts at the width there is; it reports whether it did.
func (p *framePane) rewrap() bool {
	t := p.tree()
	if t == nil || p.job != nil || t.Wrap() == textWidth(p.w) {
		return false
	}
	if t.LongWrap(textWidth(p.w)) {
		p.later("wrap", p.list.Cursor())
		return false
	}
	t.SetWrap(textWidth(p.w))
	return true
}

// start gives the command of a job that has none yet.
func (p *framePane) start() tea.Cmd {
	job := p.job
	if job == nil || job.started || p.body == nil {
		return nil
	}
	job.started = true
	msg := frameJobMsg{job: job, body: p.body}
	t := p.tree()
	if t == nil {
		from := p.afterCursor()
		return func() tea.Msg {
			msg.at = findBytes(msg.body.Bytes, job.text, from)
			msg.ok = msg.at >= 0
			return msg
		}
	}
	msg.tree = t.Clone()
	wrap := textWidth(p.w)
	return func() tea.Msg {
		msg.at, msg.ok = job.do(msg.tree, wrap)
		return msg
	}
}

// do gives the row to go to.
func (j *frameJob) do(t *jsontree.Tree, wrap int) (row int, ok bool) {
	switch j.id {
	case "unfold", "open":
		return j.row, t.Open(j.row)
	case "unfold-all":
		t.OpenAll()
	case "find":
		return t.Find(j.text, j.row)
	case "wrap":
		t.SetWrap(wrap)
	}
	return j.row, true
}

// did takes what a job made, unless it is void by now. A cursor that moved meanwhile
// stays on its row, unless something was to be found.
func (p *framePane) did(m frameJobMsg) tea.Cmd {
	if m.job != p.job || m.body != p.body {
		return nil
	}
	p.job = nil
	if m.job.id == "find" && !m.ok {
		return p.found(m.job.text, 0, false)
	}
	if m.tree == nil {
		return p.found(m.job.text, m.at/p.perRow(), true)
	}
	more := m.tree.Len() - m.body.Tree.Len()
	row := p.list.Cursor()
	switch opened := m.job.id == "unfold" || m.job.id == "open"; {
	case m.job.id == "find":
		row = m.at
	case opened && row > m.job.row:
		row += more
	}
	p.body.Tree = m.tree
	p.changed()
	p.list.Go(row)
	return nil
}
