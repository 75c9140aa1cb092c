package ui

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
)

// TestRent: the tools in each order, what was never called, and rows that lead to frames.
func TestRent(t *testing.T) {
	d := open(t, "end", "enter", "r")
	d.has("rent  of school", "tokens of tools in a request", "costs", "not cached", "tokens of each request")
	r := d.app.top().(*reportScreen)
	p := r.page.(*rentPage)
	for range rentOrders {
		d.keys("o")
		d.screen()
	}
	if p.order != 0 {
		t.Errorf("the orders do not come round: %d", p.order)
	}
	for i := range p.len() {
		if f := p.frame(i); i < len(p.v.tools) && f < 0 {
			t.Errorf("tool %d leads nowhere", i)
		}
	}
	d.keys("home", "enter")
	d.has("─ calls", "result of tools/list")
}

// TestRentOfNothing: a session without tools says so.
func TestRentOfNothing(t *testing.T) {
	store := turnStore(t)
	d := drive(t, store, colorprofile.NoTTY, 80, 24).keys("enter", "r")
	d.has("tools", "look")
	d.keys("esc", "S", "+look")
	d.has("gives the model 1 tool of 1")
}

// TestTogether: the other sessions of the host count in what the model reads and in the
// rent, as long as they are asked for.
func TestTogether(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 140, 40)
	store := d.app.env.Store
	d.app.env.Together = func(*sessions.Loaded) []string {
		return []string{store.Path("20261129T081500Z-school-5e6f")}
	}
	d.keys("enter", "end", "T")
	d.has("2 sessions together", "mcp__school__menu", "mcp__tickets-modern__add_comment")
	d.keys("r")
	d.has("5 tools, 2 sessions together", "school", "book_room")
	d.keys("T")
	d.has("3 tools, as generic")
	d.keys("esc")
	d.has("turn 1/1 · as generic")
	d.app.env.Together = func(*sessions.Loaded) []string { return []string{"/no/such/file.jsonl"} }
	d.keys("T")
	d.has("no such file")
}

// TestOrderBeforeThereIsAny: keys may come before what they are about.
func TestOrderBeforeThereIsAny(t *testing.T) {
	store := testStore(t)
	d := drive(t, store, colorprofile.TrueColor, 100, 30).keys("enter")
	s := d.app.top().(*session)
	for _, id := range []string{"findings", "stats", "peers", "rent", "search", "diff"} {
		r := s.newReport(id)
		for _, a := range actions {
			if a.where&r.place() != 0 && a.ID != "query" {
				r.do(a.ID)
			}
		}
		r.view(100, 29)
	}
}
