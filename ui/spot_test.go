package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// spotOf is the session on top, and the row of the frame that its cursor is on.
func spotOf(t *testing.T, d *driver) (s *session, row string) {
	t.Helper()
	s, ok := d.app.top().(*session)
	if !ok {
		t.Fatalf("no session is on top:\n%s", d.screen())
	}
	s.feed.Lock()
	defer s.feed.Unlock()
	p := &s.frame
	from, to := p.list.Range()
	if at := p.list.Cursor(); at < from || at >= to || s.at.frame.h == 0 {
		t.Errorf("the cursor of the frame is not in view:\n%s", d.screen())
	}
	return s, strings.TrimSpace(p.draw(p.list.Cursor(), 200, ""))
}

// TestHitIsInView: enter on a hit goes to the row of the frame that has it, n to the next,
// and esc back to the search.
func TestHitIsInView(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 60}} {
		d := drive(t, testStore(t), colorprofile.NoTTY, size[0], size[1]).keys("F", "+T-102", "enter")
		f := theFind(d)
		hits := f.list.Len()
		for i := range hits {
			if f.rows[i].hit < 0 {
				continue
			}
			f.list.Go(i)
			before := f.list.Cursor()
			d.keys("enter")
			s, row := spotOf(t, d)
			if !strings.Contains(row, "T-102") || s.focus != inFrame {
				t.Errorf("%v: hit %d leads to the row %q at place %d", size, i, row, s.focus)
			}
			at := s.frame.list.Cursor()
			d.keys("n")
			if _, row := spotOf(t, d); !strings.Contains(row, "T-102") {
				t.Errorf("%v: n goes from row %d to %q", size, at, row)
			}
			d.keys("esc")
			if d.app.top() != screen(f) || f.list.Cursor() != before {
				t.Fatalf("%v: esc does not come back to the search:\n%s", size, d.screen())
			}
		}
	}
}

// TestHitInText: a hit in what is no JSON is gone to as well, and one that the frame does
// not have as it was found leaves the frame as it is.
func TestHitInText(t *testing.T) {
	d := find(t, testStore(t), "serving on stdio").keys("enter")
	s, row := spotOf(t, d)
	if !strings.Contains(row, "serving on stdio") || s.frame.tree() != nil {
		t.Errorf("it leads to %q", row)
	}
	rows := s.frame.list.Len()
	s.leadTo(s.frame.body.Frame, spot{texts: []string{"nothing like it"}})
	if s.frame.list.Len() != rows {
		t.Errorf("the frame has %d rows, not %d", s.frame.list.Len(), rows)
	}
}

// TestToolIsInView: a tool's row in the rent, and in the search for tools, leads to its
// definition.
func TestToolIsInView(t *testing.T) {
	d := drive(t, testStore(t), colorprofile.NoTTY, 80, 24).keys("enter", "r")
	r := d.app.top().(*reportScreen)
	p := r.page.(*rentPage)
	for i := range p.v.tools {
		r.list.Go(i)
		d.keys("enter")
		s, _ := spotOf(t, d)
		if want := fmt.Sprintf(`"name":%q`, p.v.tools[i].name); !strings.Contains(string(s.frame.tree().Value(s.frame.list.Cursor())), want) {
			t.Errorf("tool %s leads to %s", p.v.tools[i].name, s.frame.path())
		}
		d.has(p.v.tools[i].name)
		d.keys("esc")
		if d.app.top() != screen(r) {
			t.Fatal("esc does not come back to the rent")
		}
	}
	d.keys("esc", "S", "+assign", "enter", "enter")
	s, _ := spotOf(t, d)
	if !strings.Contains(string(s.frame.tree().Value(s.frame.list.Cursor())), `"name":"assign_ticket"`) {
		t.Errorf("the search for a tool leads to %s", s.frame.path())
	}
}

// TestDifferenceIsInView: a row of a comparison leads to what differs in it.
func TestDifferenceIsInView(t *testing.T) {
	d := drive(t, changedStore(t), colorprofile.NoTTY, 100, 30).keys("/", "+legacy", "enter", "down", "enter", "d", "enter")
	r := d.app.top().(*reportScreen)
	p := r.page.(*diffPage)
	led := 0
	for i := range p.rows {
		at := p.spot(i)
		if at.pointer == "" || p.frame(i) < 0 {
			continue
		}
		led++
		r.list.Go(i)
		d.keys("enter")
		s, _ := spotOf(t, d)
		if got := s.frame.tree().Pointer(s.frame.list.Cursor()); got == "" || !strings.HasPrefix(at.pointer, got) {
			t.Errorf("row %d leads to %s, not to %s", i, got, at.pointer)
		}
		d.keys("esc")
	}
	if led == 0 {
		t.Error("no row has a place that differs")
	}
}

// TestFindingIsInView: of a finding that names something in its frame the cursor is on
// that; the calls keep the focus, since it may be nowhere.
func TestFindingIsInView(t *testing.T) {
	lines := []string{
		`{"n":1,"t":1,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}`,
		`{"n":2,"t":2,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}}]}}}`,
	}
	d := drive(t, storeOf(t, map[string]string{"20261130T120000Z-twice-0001": "twice"}, lines), colorprofile.NoTTY, 80, 24).keys("enter", "i")
	r := d.app.top().(*reportScreen)
	p := r.page.(*findingsPage)
	i := slices.IndexFunc(p.rows, func(f findingRow) bool {
		return f.Finding != nil && strings.Contains(f.Words(), "two") && f.Frame == 1
	})
	if i < 0 {
		t.Fatalf("no finding names the tool:\n%s", d.screen())
	}
	r.list.Go(i)
	d.keys("enter")
	if s, row := spotOf(t, d); !strings.Contains(row, `"two"`) || s.focus != inCalls {
		t.Errorf("it leads to %q", row)
	}
	d.keys("esc")
	if d.app.top() != screen(r) {
		t.Error("esc does not come back to the findings")
	}
}

// TestSpotKeepsToItsFrame: whoever goes on before the frame is there is not taken to a row
// of another.
func TestSpotKeepsToItsFrame(t *testing.T) {
	d := find(t, testStore(t), "T-102").keys("enter")
	s, _ := spotOf(t, d)
	s.leadTo(2, spot{texts: []string{"nothing like it"}})
	d.keys("tab", "down")
	if !s.frame.lead.isZero() {
		t.Error("a spot is left over")
	}
}
