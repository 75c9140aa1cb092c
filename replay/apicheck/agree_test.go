package apicheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/internal/talk"
)

// hostile are definitions that somebody refuses for a reason of their own.
func hostile() []string {
	var out []string
	for _, c := range cases {
		for _, d := range c.tools {
			if len(d) < 10_000 {
				out = append(out, d)
			}
		}
	}
	return append(out,
		`{"name":"half","inputSchema":{"type":"object","description":"\ud83d"}}`,
		`{"name":"props","inputSchema":{"type":"object","properties":[]}}`,
		`{"name":"","inputSchema":{"type":"object"}}`,
	)
}

// TestRequestsAgree: a definition that a host's requests leave out is one that is
// found to be refused, and names are the same in both.
func TestRequestsAgree(t *testing.T) {
	left := 0
	for i := range claude.Builtin().Profiles {
		h := &claude.Builtin().Profiles[i]
		if h.Shape != "" {
			continue // of the API's own client only the toolset is known
		}
		p := For(h)
		if p.Name != h.ID {
			t.Errorf("%s is judged as %s", h.ID, p.Name)
		}
		k := talk.New()
		k.List(10, strings.Join(hostile(), ","))
		line := replay.New(replay.Options{}, &replay.Session{Session: k.Session, Name: "server1", Body: k.Body})
		r := claude.NewBook(line, claude.Options{Profile: h}).Request(0)
		tools, at := []Tool{}, map[string]int{}
		for n, d := range hostile() {
			tools = append(tools, toolOf("server1", []byte(d)))
			at[fmt.Sprintf("/result/tools/%d", n)] = n
		}
		refused := map[int]bool{}
		for _, f := range Check(tools, p) {
			if f.Severity == rules.Error || f.Severity == rules.Warning {
				refused[f.Tool] = true
			}
		}
		for _, b := range r.LeftOut {
			left++
			n := at[b.Links()[0].Path]
			if !refused[n] {
				t.Errorf("%s leaves out %.80s: %s; and nothing is found in it", h.ID, hostile()[n], b.Notes[len(b.Notes)-1].Words)
			}
		}
		for _, b := range r.Tools {
			if b.Definition() == nil {
				continue
			}
			if got, want := p.Compose("server1", b.Name.Tool), b.Name.Judged(); got != want {
				t.Errorf("%s: %q is %q in requests, and judged as %q", h.ID, b.Name.Tool, want, got)
			}
			if sent := gjson.GetBytes(b.JSON(), "name").String(); b.Name.Refused == "" && sent != b.Name.Judged() {
				t.Errorf("%s: %q is sent as %q, and judged as %q", h.ID, b.Name.Tool, sent, b.Name.Judged())
			}
		}
	}
	if left < 50 {
		t.Errorf("only %d definitions were left out", left)
	}
}
