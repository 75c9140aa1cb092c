package demo

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// ticket is one entry of the tracker. Comments is never nil: an empty list is
// part of what the model reads.
type ticket struct {
	Title    string   `json:"title"`
	Status   string   `json:"status"`
	Comments []string `json:"comments"`
	Assignee string   `json:"assignee,omitempty"`
}

// entry is a ticket as a tool shows it, with its id.
type entry struct {
	ID string `json:"id"`
	*ticket
}

// desk is the tracker of one server. The entries keep their order, since answers
// must be the same on every run.
type desk struct {
	entries []entry
	people  []string
}

func newDesk() *desk {
	return &desk{
		entries: []entry{
			{"T-101", &ticket{Title: "Login times out on mobile", Status: "open", Comments: []string{}}},
			{"T-102", &ticket{Title: "CSV export drops the last row", Status: "open", Comments: []string{}}},
			{"T-103", &ticket{Title: "Dark mode colors on billing page", Status: "closed", Comments: []string{}}},
		},
		people: []string{"ana", "bo"},
	}
}

func (d *desk) find(id string) *ticket {
	for _, e := range d.entries {
		if e.ID == id {
			return e.ticket
		}
	}
	return nil
}

// search returns an empty list rather than nil, which JSON would show as null.
func (d *desk) search(query, status string) []entry {
	found := []entry{}
	for _, e := range d.entries {
		named := strings.Contains(strings.ToLower(e.Title), strings.ToLower(query))
		if named && (status == "any" || status == e.Status) {
			found = append(found, e)
		}
	}
	return found
}

func (d *desk) knows(person string) bool { return slices.Contains(d.people, person) }

// pretty is JSON the way the Python and TypeScript servers put it into text:
// two spaces deep. It takes only values of this package, which always encode.
func pretty(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v)
	return strings.TrimSuffix(out.String(), "\n")
}
