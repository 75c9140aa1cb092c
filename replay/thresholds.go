package replay

import (
	_ "embed"
	"encoding/json"
	"sync"
	"time"
)

//go:embed thresholds.json
var thresholdsFile []byte

// millis is a time in the data file.
type millis float64

func (m millis) duration() time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond))
}

// thresholds is thresholds.json; its fields are explained there.
type thresholds struct {
	AsOf      string `json:"as_of"`
	Gap       struct{ Same, New millis }
	Calibrate struct {
		Gaps, Buckets, Sides int
		From, To             millis
	}
	Flow struct {
		String, Identifier, Digits, Bytes, Values int
	}
	Open       millis
	Background millis
	Early      millis
	ToolUseID  string   `json:"tool_use_id"`
	RequestIDs []string `json:"request_ids"`
	Permission []string
}

var theThresholds = sync.OnceValue(func() *thresholds {
	t := new(thresholds)
	if err := json.Unmarshal(thresholdsFile, t); err != nil {
		panic(err) // our own file, checked by a test
	}
	return t
})

// ThresholdsAsOf is the date of the numbers that the grouping rests on.
func ThresholdsAsOf() string { return theThresholds().AsOf }
