package wordset

import (
	"encoding/json"
	"testing"
)

func TestSet(t *testing.T) {
	var s Set
	if err := json.Unmarshal([]byte(`["a","b"]`), &s); err != nil || !s["a"] || !s["b"] || s["c"] {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{`["a","a"]`, `{"a":true}`, `[1]`} {
		if json.Unmarshal([]byte(bad), &s) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
