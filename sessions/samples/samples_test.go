package samples

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap/taptest"
)

// TestSamples: the samples are whole recordings that show what they are there for.
func TestSamples(t *testing.T) {
	store, err := Store(filepath.Join(t.TempDir(), "samples"))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string][]decode.Outcome{
		"tickets-2025": {decode.ToolError, decode.ProtocolError}, "tickets-2026": {decode.ToolError, decode.ProtocolError},
		"school": {decode.HiddenError, decode.ToolError}, "rounds": {decode.Cancelled}, "http": {decode.Cancelled},
		"rough": {decode.HiddenError, decode.TransportError},
	}
	infos, err := store.List()
	if err != nil || len(infos) != len(outcomes) {
		t.Fatalf("%d samples, want %d: %v", len(infos), len(outcomes), err)
	}
	for _, i := range infos {
		t.Run(i.Label(), func(t *testing.T) {
			journal, err := os.ReadFile(i.Path)
			if err != nil {
				t.Fatal(err)
			}
			taptest.Check(t, journal)
			s, err := sessions.Open(i.Path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			l, err := sessions.Load(s, decode.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []decode.Outcome
			for n := range l.Calls() {
				got = append(got, l.Call(n).Outcome)
			}
			for _, want := range outcomes[i.Label()] {
				if !slices.Contains(got, want) {
					t.Errorf("no operation ends as %s", want)
				}
			}
		})
	}
}

// ours are places and names that only the machine of a recording has.
var ours = regexp.MustCompile(`/(?:tmp|work|root|Users)\b|\(devel\)`)

func TestNothingOfAMachine(t *testing.T) {
	files, err := filepath.Glob("recordings/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	size := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
		if found := ours.Find(b); found != nil {
			t.Errorf("%s has %q", f, found)
		}
	}
	if size > 300_000 {
		t.Errorf("the samples have %d bytes", size)
	}
}
