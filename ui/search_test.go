package ui

import "testing"

// TestToolSearch: every key asks anew; engines differ; what is asked before the tools
// are there is answered when they are; an old answer is dropped.
func TestToolSearch(t *testing.T) {
	d := open(t, "enter", "S")
	d.has("3 tools; / asks for one")
	d.keys("+assign")
	d.has("“assign” gives the model 1 tool of 3", "✓ yes", "mcp__tickets-modern__assign_ticket", "[regex]")
	d.keys("tab")
	d.has("[bm25]", "“assign” gives the model 1 tool")
	d.keys("ctrl+u", "+nothing", "enter")
	d.has("gives the model no tool of 3")
	r := d.app.top().(*reportScreen)
	p := r.page.(*searchPage)
	r.update(searchMsg{page: p, id: p.id - 1})
	if p.result == nil {
		t.Error("an old answer was taken")
	}
	d.keys("tab", "tab", "/", "ctrl+u", "+(", "enter")
	d.has("✗")
	d.keys("/", "ctrl+u", "+comment", "enter", "enter")
	d.has("─ calls", "result of tools/list")
}

func TestToolSearchIsAskedEarly(t *testing.T) {
	d := open(t, "enter")
	s := d.app.top().(*session)
	r := s.newReport("search")
	load := d.app.push(r, r.start())
	p := r.page.(*searchPage)
	if p.ask("assign") != nil {
		t.Error("it asks without tools")
	}
	d.run(load)
	if p.result == nil || len(p.result.All) != 1 {
		t.Error("what was typed early is not answered")
	}
}
