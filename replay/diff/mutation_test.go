package diff

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// line is a line of a recording whose frame can be changed.
type line struct {
	raw  json.RawMessage
	data map[string]any
}

func (l *line) frame() string {
	s, _ := l.data["raw"].(string)
	return s
}

func (l *line) set(frame string) { l.data["raw"] = frame }

// lines takes a recording apart.
func lines(t *testing.T, recording []byte) (out []*line) {
	t.Helper()
	for raw := range bytes.Lines(recording) {
		l := &line{raw: raw}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&l.data); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func together(t *testing.T, all []*line) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// The first line begins with its only member, by which it is told.
	for _, l := range all {
		if err := e.Encode(l.data); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// answerTo finds the line that answers the request with that text in it.
func answerTo(t *testing.T, all []*line, request string) *line {
	t.Helper()
	id := ""
	for _, l := range all {
		f := l.frame()
		if id == "" && strings.Contains(f, request) && gjson.Get(f, "method").Exists() {
			id = gjson.Get(f, "id").Raw
		} else if id != "" && !gjson.Get(f, "method").Exists() && gjson.Get(f, "id").Raw == id {
			return l
		}
	}
	t.Fatalf("no answer to %s", request)
	return nil
}

// replaceIn replaces a text that must be there, once.
func replaceIn(t *testing.T, l *line, from, to string) {
	t.Helper()
	if strings.Count(l.frame(), from) != 1 {
		t.Fatalf("%q is there %d times in %s", from, strings.Count(l.frame(), from), l.frame())
	}
	l.set(strings.Replace(l.frame(), from, to, 1))
}

// delay shifts a line and all after it, in microseconds.
func delay(t *testing.T, all []*line, from *line, by int64) {
	t.Helper()
	found := false
	for _, l := range all {
		found = found || l == from
		n, ok := l.data["t"].(json.Number)
		if !found || !ok {
			continue
		}
		at, err := n.Int64()
		if err != nil {
			t.Fatal(err)
		}
		l.data["t"] = at + by
	}
}

// TestMutations: against a copy with some things changed, exactly these are found.
func TestMutations(t *testing.T) {
	const name = "features-go-noise-kills-client"
	original := readFile(t, name)
	copied := lines(t, original)

	list := answerTo(t, copied, `"tools/list"`)
	tools := gjson.Get(list.frame(), "result.tools").Array()
	first, second := tools[0].Raw, tools[1].Raw
	replaceIn(t, list, first+","+second, second+","+first)
	replaceIn(t, list, `"Answer with n content blocks."`, `"Answer with as many content blocks."`)
	replaceIn(t, list, `"properties":{"bytes":{"type":"integer"}}`, `"properties":{"bytes":{"type":"integer"},"seed":{"type":"integer"}}`)
	slow := answerTo(t, copied, `"no_such_prompt"`)
	delay(t, copied, slow, 250_000)
	hides := answerTo(t, copied, `"fail_flag"`)
	replaceIn(t, hides, `,"isError":true`, ``)
	replaceIn(t, hides, `"flagged as an error"`, `"{\"error\":\"flagged as an error\",\"status\":500}"`)

	d := Compare(side(t, "original", original), side(t, "copy", together(t, copied)), Options{})
	var changes []string
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.OneSided() || r.Moved {
			t.Errorf("%+v", r)
		}
		for _, c := range r.Changes {
			changes = append(changes, strings.Join([]string{r.Name, string(c.What), c.Path, c.A, c.B}, " | "))
		}
	}
	want := []string{
		"fail_flag | outcome |  | tool error | hidden error",
		`fail_flag | result | result.content[0].text | "flagged as an error" | "{\"error\":\"flagged as an error\",\"status\":500}"`,
		"fail_flag | result | result.isError | true | ",
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	want = []string{
		`tools "big" changed, model true, 1 times`,
		`  inputSchema.properties.seed:  | {"type":"integer"}`,
		`tools "many_parts" changed, model true, 1 times`,
		`  description: "Answer with n content blocks." | "Answer with as many content blocks."`,
		`tools "" reordered, model true, 1 times`,
		`finding in B true: TOOL-21 ` + d.Findings[0].Words + ` `,
		`latency prompts/get no_such_prompt: 943µs | 250.943ms, few measurements, but far outside what the other calls vary by`,
		`model: same false, broken by "big"`,
	}
	if diff := cmp.Diff(want, aside(d)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(d.Findings[0].Words, "fail_flag reads as success") {
		t.Error(d.Findings[0].Words)
	}
}
