package decode

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcptap/mcptap/tap"
)

const journal = `{"mcptap":1,"session":"s","start":"2026-11-30T12:00:00Z","transport":"stdio","command":["node","s.mjs"]}
{"n":1,"t":1000,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}}
{"n":2,"t":2000,"dir":"stderr","text":"started"}
{"n":3,"t":3000,"lost":{"frames":2,"bytes":100,"reason":"disk full"}}
{"n":6,"t":4000,"dir":"s2c","eol":"","text":"{\"jsonrpc\""}
{"n":7,"t":5000,"event":"stdout-end"}
{"n":8,"t":9000,"end":{"exit":3,"frames":3,"lost":2}}
`

// TestRecord feeds a session from a journal as its reader gives it.
func TestRecord(t *testing.T) {
	s := New(Options{})
	in := tap.NewReader(strings.NewReader(journal))
	for {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || r.Bad != nil {
			t.Fatal(err, r.Bad)
		}
		s.Record(&r)
	}
	if got, want := s.Gaps(), (Gaps{Lost: 2, Missing: 2, Ended: true}); got != want {
		t.Errorf("gaps %+v, want %+v", got, want)
	}
	if got, want := s.Ends(), (Ends{Stdin: -1, Stdout: 5 * time.Microsecond, Process: 9 * time.Microsecond, Exit: 3}); got != want {
		t.Errorf("ends %+v, want %+v", got, want)
	}
	c := s.Call(0)
	if c.Outcome != TransportError || !strings.Contains(c.Why, "exit status 3") || !strings.Contains(c.Why, "2 frames were not recorded") {
		t.Errorf("call %+v", c)
	}
	if f := s.Frame(2); f.N != 6 || f.Kind != Stray || f.Stray != StrayPartial || f.EOL != tap.NoEOL {
		t.Errorf("frame %+v", f)
	}
	if o := s.Opening(); o.Last != 9*time.Microsecond || o.Header.Session != "s" || o.OnlyProbe {
		t.Errorf("opening %+v", o)
	}
}
