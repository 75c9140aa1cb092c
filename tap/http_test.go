package tap

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSSEIsWrittenAsItIsRead compares it with what encoding/json makes of it.
func TestSSEIsWrittenAsItIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := SSE{Event: rapid.String().Draw(t, "event"), Retry: rapid.StringN(0, 3, 9).Draw(t, "retry"), Comments: rapid.IntRange(0, 3).Draw(t, "comments")}
		if rapid.Bool().Draw(t, "has an id") {
			id := string(rapid.SliceOf(rapid.Byte()).Draw(t, "id"))
			s.ID = &id
		}
		var got SSE
		if err := json.Unmarshal(s.append(nil), &got); err != nil {
			t.Fatalf("%q: %v", s.append(nil), err)
		}
		s.Event, s.Retry = strings.ToValidUTF8(s.Event, "\uFFFD"), strings.ToValidUTF8(s.Retry, "\uFFFD")
		if s.ID != nil {
			*s.ID = strings.ToValidUTF8(*s.ID, "\uFFFD")
		}
		if d := cmp.Diff(s, got); d != "" {
			t.Error(d)
		}
	})
}
