package decode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcptap/mcptap/tap"
)

const (
	initLine     = `> {V2,"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	initDone     = `< {V2,"id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"2"}}}`
	readyLine    = `> {V2,"method":"notifications/initialized"}`
	modernMeta   = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	discoverLine = `> {V2,"id":0,"method":"server/discover","params":{` + modernMeta + `}}`
	discoverDone = `< {V2,"id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{}}}`
	refusal      = `< {V2,"id":0,"error":{"code":-32601,"message":"no"}}`
	modernCall   = `> {V2,"id":7,"method":"tools/call","params":{"name":"a",` + modernMeta + `}}`
)

func TestEras(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  Eras
	}{
		{"legacy", []string{initLine, initDone, readyLine, callLine(2, "a", ""), doneLine(2)},
			Eras{Era: Legacy, Revision: "2025-06-18", ProbeCall: -1, InitOK: true, Ready: true}},
		{"modern", []string{discoverLine, discoverDone, modernCall, doneLine(7)},
			Eras{Era: Modern, Revision: "2026-07-28", Probe: ProbeOK, InitCall: -1, Supported: []string{"2026-07-28", "2025-11-25"}}},
		{"probe refused, legacy", []string{discoverLine, refusal, initLine, initDone, readyLine},
			Eras{Era: Legacy, Revision: "2025-06-18", Probe: ProbeRefused, InitCall: 1, InitOK: true, Ready: true, Fallback: true}},
		{"probe never answered", []string{discoverLine, initLine, initDone},
			Eras{Era: Legacy, Revision: "2025-06-18", Probe: ProbeSilent, InitCall: 1, InitOK: true, Fallback: true}},
		{"probe answered late, in the handshake", []string{discoverLine, initLine, discoverDone, initDone},
			Eras{Era: Legacy, Revision: "2025-06-18", Probe: ProbeOK, InitCall: 1, InitOK: true, Fallback: true, Supported: []string{"2026-07-28", "2025-11-25"}}},
		{"mixed", []string{initLine, initDone, modernCall, doneLine(7)},
			Eras{Era: Mixed, Revision: "2025-06-18", ProbeCall: -1, InitOK: true}},
		{"no opening, modern", []string{modernCall, doneLine(7)},
			Eras{Era: Modern, Revision: "2026-07-28", ProbeCall: -1, InitCall: -1, NoOpening: true}},
		{"no opening, unknown", []string{callLine(2, "a", ""), `< {V2,"id":2,"result":{"content":[],"structuredContent":{}}}`},
			Eras{AtLeast: "2025-06-18", ProbeCall: -1, InitCall: -1, NoOpening: true}},
		{"probe answered with legacy revisions only", []string{discoverLine, `< {V2,"id":0,"result":{"supportedVersions":["2025-11-25"]}}`},
			Eras{Probe: ProbeOK, InitCall: -1, Supported: []string{"2025-11-25"}}},
		{"initialize refused", []string{initLine, `< {V2,"id":1,"error":{"code":-32022,"message":"no"}}`},
			Eras{ProbeCall: -1}},
		{"nothing", []string{readyLine}, Eras{ProbeCall: -1, InitCall: -1, Ready: true}},
	} {
		s, _ := script(t, c.lines...)
		if diff := cmp.Diff(c.want, s.Eras(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestRefusedProbe: how a legacy server answers a probe is no failure, all else is.
func TestRefusedProbe(t *testing.T) {
	const gone = `< {V2,"id":0,"error":{"code":-32022,"message":"no"}}`
	for _, c := range []struct {
		name   string
		lines  []string
		want   Outcome
		failed bool
	}{
		{"the client fell back", []string{discoverLine, refusal, initLine, initDone}, RefusedProbe, false},
		{"nothing but a probe: the client goes on in another session", []string{discoverLine, refusal}, RefusedProbe, false},
		{"the client did not fall back", []string{discoverLine, refusal, modernCall}, ProtocolError, true},
		{"a modern server's error", []string{discoverLine, gone}, ProtocolError, true},
		{"the same, and the client fell back", []string{discoverLine, gone, initLine, initDone}, RefusedProbe, false},
		{"answered", []string{discoverLine, discoverDone}, OK, false},
	} {
		s, _ := script(t, c.lines...)
		call, o := s.Call(0), s.Operation(0)
		if call.Outcome != c.want || o.Outcome != c.want || o.Outcome.Failed() != c.failed || call.HasError() != (c.want != OK) {
			t.Errorf("%s: %s, operation %s, error %v", c.name, call.Outcome, o.Outcome, call.HasError())
		}
	}
}

func TestRequestEra(t *testing.T) {
	for _, c := range []struct {
		line string
		w    where
		want Era
		rev  string
	}{
		{modernCall, where{}, Modern, "2026-07-28"},
		{initLine, where{}, Legacy, ""},
		{`> {V2,"id":1,"method":"ping"}`, where{}, Legacy, ""},
		{`> {V2,"id":1,"method":"server/discover"}`, where{}, Modern, ""}, // malformed: no version
		{`> {V2,"id":1,"method":"tools/list"}`, where{}, EraUnknown, ""},
		{`> {V2,"id":1,"method":"tools/list"}`, where{version: "2026-07-28"}, Modern, "2026-07-28"},
		{`> {V2,"id":1,"method":"tools/list"}`, where{version: "2025-06-18"}, Legacy, "2025-06-18"},
		{`> {V2,"id":1,"method":"tools/list"}`, where{session: true}, Legacy, ""},
		{`< {V2,"id":1,"method":"roots/list"}`, where{}, Legacy, ""},
	} {
		s := New(Options{})
		dir := tap.C2S
		if c.line[0] == '<' {
			dir = tap.S2C
		}
		s.addAt(&tap.Frame{Dir: dir, JSON: true, Body: []byte(expand(c.line[2:]))}, c.w)
		if got := s.Call(0); got.Era != c.want || got.Revision != c.rev {
			t.Errorf("%s: %v %q, want %v %q", c.line, got.Era, got.Revision, c.want, c.rev)
		}
	}
}

func TestPeers(t *testing.T) {
	s, _ := script(t, initLine, initDone, modernCall,
		`< {V2,"id":7,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"3","title":"S"}}}}`,
		`> {V2,"id":8,"method":"x","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}`)
	if diff := cmp.Diff([]Peer{{Name: "c", Version: "1", Frame: 0, Where: "initialize"}}, s.Clients()); diff != "" {
		t.Error(diff)
	}
	want := []Peer{{Name: "s", Version: "2", Frame: 1, Where: "result"}, {Name: "s", Version: "3", Title: "S", Frame: 3, Where: "_meta"}}
	if diff := cmp.Diff(want, s.Servers()); diff != "" {
		t.Error(diff)
	}
}
