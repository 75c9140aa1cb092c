package report

import (
	"slices"
	"time"

	"github.com/mcptap/mcptap/decode"
)

// A Group is the operations of one method, or of one tool.
type Group struct {
	Method   string         `json:"method"`
	Name     string         `json:"name,omitempty"` // of a tool
	Count    int            `json:"count"`
	Outcomes map[string]int `json:"outcomes"`
	P50      float64        `json:"p50_ms"`
	P95      float64        `json:"p95_ms"`
	Max      float64        `json:"max_ms"`
	C2S      int64          `json:"bytes_c2s"`
	S2C      int64          `json:"bytes_s2c"`

	Times []time.Duration `json:"-"` // of the operations that have ended, sorted
}

// Groups sorts the operations that are wanted, by the calls that lead them, by method and
// tool, in the order in which they first came.
func Groups(s *decode.Session, wanted func(call int) bool) []*Group {
	found := map[[2]string]*Group{}
	order := []*Group{} // printed as [] if there is none
	for i := range s.Calls() {
		if !s.Leads(i) && s.Call(i).Parent < 0 {
			continue // a further leg of an operation that is counted
		}
		if !wanted(i) {
			continue
		}
		o := OperationOf(s, i)
		key := [2]string{o.Method}
		if o.Method == "tools/call" {
			key[1] = o.Name
		}
		g := found[key]
		if g == nil {
			g = &Group{Method: key[0], Name: key[1], Outcomes: map[string]int{}}
			found[key] = g
			order = append(order, g)
		}
		g.add(s, &o)
	}
	for _, g := range order {
		slices.Sort(g.Times)
		g.P50, g.P95, g.Max = percentile(g.Times, 50), percentile(g.Times, 95), percentile(g.Times, 100)
	}
	return order
}

func (g *Group) add(s *decode.Session, o *decode.Operation) {
	g.Count++
	g.Outcomes[o.Outcome.String()]++
	c2s, s2c := Bytes(s, o)
	g.C2S += c2s
	g.S2C += s2c
	if took := o.End - o.Start; o.End > 0 && took >= 0 && !s.Call(o.Legs[0].Call).Listen { // a foreign clock may jump back
		g.Times = append(g.Times, took)
	}
}

// percentile is the nearest rank's, in milliseconds; 0 if there is none.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := max(1, (len(sorted)*p+99)/100)
	return float64(sorted[rank-1]) / float64(time.Millisecond)
}
