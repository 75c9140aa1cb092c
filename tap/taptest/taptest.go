// Package taptest checks journals in tests: each line against the format's JSON
// Schema, and what the schema can't say.
package taptest

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcptap/mcptap/tap"
)

var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(tap.Schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("journal.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("journal.json")
})

// Check fails the test unless every line of the journal keeps to the schema, the
// header comes first, numbers have no gap, and nothing follows an end.
func Check(t testing.TB, journal []byte) {
	t.Helper()
	schema, err := compiled()
	if err != nil {
		t.Fatalf("the journal's schema: %v", err)
	}
	for line := range bytes.Lines(journal) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Errorf("journal line %.200q: %v", line, err)
			continue
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("journal line %.200q: %v", line, err)
		}
	}
	checkOrder(t, journal)
}

func checkOrder(t testing.TB, journal []byte) {
	t.Helper()
	want, ended := uint64(0), false
	for _, rec := range Records(t, journal) {
		n, _ := rec.Position()
		if n != want {
			t.Errorf("journal line %d has number %d, want %d", rec.Line, n, want)
		}
		if ended {
			t.Errorf("journal line %d follows the end", rec.Line)
		}
		want, ended = n+1, rec.End != nil
	}
}

// Records reads a whole journal, which must not have a bad line. The records are
// copies: they stay valid.
func Records(t testing.TB, journal []byte) []tap.Record {
	t.Helper()
	var all []tap.Record
	r := tap.NewReader(bytes.NewReader(journal))
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		if rec.Bad != nil {
			t.Errorf("journal line %d: %v", rec.Line, rec.Bad)
		}
		if rec.Frame != nil {
			f := *rec.Frame
			f.Body = bytes.Clone(f.Body)
			if f.Digest != nil {
				d := *f.Digest
				f.Digest = &d
			}
			if f.HTTP != nil {
				c := *f.HTTP
				f.HTTP = &c
			}
			if f.SSE != nil {
				e := *f.SSE
				f.SSE = &e
			}
			rec.Frame = &f
		}
		all = append(all, rec)
	}
	if rec, ok := r.Unfinished(); ok {
		t.Errorf("journal: %v", rec.Bad)
	}
	return all
}

// Raw is what one direction carried, as far as the journal itself holds it.
func Raw(t testing.TB, journal []byte, dir tap.Dir) []byte {
	t.Helper()
	var b []byte
	for _, rec := range Records(t, journal) {
		if rec.Frame != nil && rec.Frame.Dir == dir {
			b = append(append(b, rec.Frame.Body...), rec.Frame.EOL.String()...)
		}
	}
	return b
}
