package ui

import (
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
)

// changedStore has a session more: the legacy one of a server that answers otherwise.
func changedStore(t testing.TB) sessions.Store {
	t.Helper()
	store := testStore(t)
	const of, id = "20261130T125000Z-tickets-legacy-1a2b", "20261130T130500Z-tickets-legacy-9f9f"
	b, err := os.ReadFile(store.Path(of))
	if err != nil {
		t.Fatal(err)
	}
	s := strings.ReplaceAll(string(b), of, id)
	s = strings.ReplaceAll(s, "Login times out on mobile", "Login is slow on mobile")
	s = strings.ReplaceAll(s, "No ticket T-999", "there is no T-999")
	s = strings.ReplaceAll(s, "Assign a ticket", "Give a ticket")
	if err := os.WriteFile(store.Path(id), []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestDiff: sessions of the same name are offered first; what differs is said; and a row
// leads to the answers on both sides, where the difference is.
func TestDiff(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {120, 40}} {
		d := drive(t, changedStore(t), colorprofile.NoTTY, size[0], size[1])
		d.keys("/", "+legacy", "enter", "down", "enter", "d")
		d.has("compare", "with which?")
		d.keys("enter")
		d.has("A 12:50:00 tickets-le", "B 12:50:00 tickets-le", "9 operations on both sides")
		d.keys("o")
		d.has("≠")
		compare(t, "diff-changed-"+itoa(size[0])+"x"+itoa(size[1]), d.screen())
		d.keys("home", "down")
		d.has("what differs", "− A  ", "+ B  ")
		p := d.app.top().(*reportScreen).page.(*diffPage)
		row := p.at(d.app.top().(*reportScreen).list.Cursor())
		d.keys("O")
		s, ok := d.app.top().(*session)
		if !ok {
			t.Fatalf("O opens no session:\n%s", d.screen())
		}
		if s.path == p.env.Store.Path("20261130T125000Z-tickets-legacy-1a2b") || s.calls.frameAtCursor() != s.feed.Counterpart(firstFrame(row.B)) {
			t.Errorf("O leads to frame %d of %s", s.calls.frameAtCursor(), s.path)
		}
		d.keys("esc")
		d.has("compare")
		d.keys("enter")
		if s := d.app.top().(*session); s.calls.frameAtCursor() != s.feed.Counterpart(firstFrame(row.A)) {
			t.Errorf("enter leads to frame %d", s.calls.frameAtCursor())
		}
	}
}

// TestDiffOfNothing: a comparison with a session that is gone says so in its place.
func TestDiffOfNothing(t *testing.T) {
	d := open(t, "enter", "d")
	p := d.app.top().(*reportScreen).page.(*choicePage)
	if err := os.Remove(p.rows[0].info.Path); err != nil {
		t.Fatal(err)
	}
	d.keys("enter")
	d.has("compare", "such file")
	d.keys("esc")
	d.has("─ calls")
}
