package toolsearch

import (
	_ "embed"
	"encoding/json"
	"sync"
	"time"
)

//go:embed search.json
var factsJSON []byte

// facts is what search.json says.
type facts struct {
	Date         string `json:"date"`
	DefaultLimit int    `json:"default_limit"`
	MaxLimit     int    `json:"max_limit"`
	MaxTools     int    `json:"max_tools"`
	Regex        struct {
		MaxPattern int       `json:"max_pattern"` // characters
		BudgetMS   int       `json:"budget_ms"`
		Readings   []reading `json:"readings"` // the first one is the likeliest
	} `json:"regex"`
	BM25 struct {
		MaxQuery   int       `json:"max_query"` // characters
		K1         []float64 `json:"k1"`        // the first of each is the usual one
		B          []float64 `json:"b"`
		NameWeight []float64 `json:"name_weight"`
		SkipStops  []bool    `json:"skip_stop_words"`
		StopWords  []string  `json:"stop_words"`
	} `json:"bm25"`
	Obvious struct {
		Words     int      `json:"words"`
		StopWords []string `json:"stop_words"`
	} `json:"obvious"`
}

// A reading is one way to understand what the documentation says of the regex
// engine.
type reading struct {
	Joined     bool `json:"joined"` // fields are joined by a space, not matched one by one
	IgnoreCase bool `json:"ignore_case"`
}

// setting is one choice of the parameters of BM25.
type setting struct {
	k1, b, nameWeight float64
	skipStops         bool // words that say nothing are not counted
}

// Read when they are needed: the tap's start does not wait for them.
var (
	known    = sync.OnceValue(loadFacts)
	settings = sync.OnceValue(grid)
	stops    = sync.OnceValue(func() map[string]bool { return setOf(known().Obvious.StopWords) })
	bm25Stop = sync.OnceValue(func() map[string]bool { return setOf(known().BM25.StopWords) })
)

func loadFacts() (f facts) {
	if err := json.Unmarshal(factsJSON, &f); err != nil {
		panic("toolsearch: search.json: " + err.Error()) // a mistake of ours, found by any test
	}
	return f
}

// grid is every combination, the usual one first.
func grid() (all []setting) {
	for _, k1 := range known().BM25.K1 {
		for _, b := range known().BM25.B {
			for _, w := range known().BM25.NameWeight {
				for _, skip := range known().BM25.SkipStops {
					all = append(all, setting{k1, b, w, skip})
				}
			}
		}
	}
	return all
}

func setOf(words []string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// Date is the day from which the facts about the engines are (YYYY-MM-DD).
func Date() string { return known().Date }

// DefaultLimit is how many tools a search gives the model unless it asks for
// another number.
func DefaultLimit() int { return known().DefaultLimit }

// MaxLimit is the largest limit that the API takes.
func MaxLimit() int { return known().MaxLimit }

func budget() time.Duration { return time.Duration(known().Regex.BudgetMS) * time.Millisecond }
