package cost

import "fmt"

// atLevels are breakpoints at the end of each level, which keeps tools and system
// cached when the messages change.
func atLevels(blocks []Block) (breaks []int) {
	for i := range blocks {
		if i+1 == len(blocks) || blocks[i+1].Level != blocks[i].Level {
			breaks = append(breaks, i)
		}
	}
	return breaks
}

// fullPrice gives the cost in tokens at the input price; 0 without a price.
func (c *Charge) fullPrice() float64 {
	if !c.Priced {
		return 0
	}
	return c.USD * 1e6 / c.Price.Input
}

// A total is the sum of charges.
type total struct {
	Requests                    int
	Prompt, Read, Written, Full int
	Again                       int // tokens paid again because the cache was missed
	USD                         float64
	FullPrice                   float64 // tokens at the input price
	Unpriced                    int     // requests without a known price
}

// add adds a charge.
func (t *total) add(c *Charge) {
	t.Requests++
	t.Prompt += c.Prompt
	t.Read += c.Read
	t.Written += c.Written
	t.Full += c.Full
	t.Again += c.Miss.Again
	t.USD += c.USD
	t.FullPrice += c.fullPrice()
	if !c.Priced {
		t.Unpriced++
	}
}

// run sends requests through a new simulation.
func run(rules Rules, mode Mode, requests []Request) ([]Charge, total, error) {
	s, err := New(rules, mode)
	if err != nil {
		return nil, total{}, err
	}
	var sum total
	charges := make([]Charge, 0, len(requests))
	for i := range requests {
		c, err := s.Send(&requests[i])
		if err != nil {
			return nil, total{}, fmt.Errorf("reckoning the cost of request %d: %w", i+1, err)
		}
		charges = append(charges, c)
		sum.add(&c)
	}
	return charges, sum, nil
}
