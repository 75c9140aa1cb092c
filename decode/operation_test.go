package decode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

// ops writes the operations of a script in short: one step a millisecond.
func ops(s *Session) (out []string) {
	for _, o := range s.Operations() {
		var legs []string
		for _, l := range o.Legs {
			legs = append(legs, fmt.Sprint(l.Role, l.Frames))
		}
		line := fmt.Sprintf("%v %v %s server %v client %v", o.Kind, o.Outcome, strings.Join(legs, " "), o.Server, o.Client)
		if o.Doubt != "" {
			line += " doubt"
		}
		out = append(out, line)
	}
	return out
}

func callLine(id int, name, more string) string {
	return fmt.Sprintf(`> {V2,"id":%d,"method":"tools/call","params":{"name":%q%s}}`, id, name, more)
}

func interimLine(id int, key, state string) string {
	if state != "" {
		state = `,"requestState":` + state
	}
	return fmt.Sprintf(`< {V2,"id":%d,"result":{"resultType":"input_required","inputRequests":{%q:{"method":"roots/list"}}%s}}`, id, key, state)
}

func doneLine(id int) string {
	return fmt.Sprintf(`< {V2,"id":%d,"result":{"resultType":"complete","content":[]}}`, id)
}

func TestRounds(t *testing.T) {
	const answer = `,"inputResponses":{"k":{}}`
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"by state", []string{callLine(1, "a", ""), interimLine(1, "k", `"s1"`), callLine(2, "a", answer+`,"requestState":"s1"`), doneLine(2)},
			[]string{"rounds ok request[0 1] round[2 3] server 2ms client 1ms"}},
		{"two at once, by state", []string{callLine(1, "a", ""), callLine(2, "a", ""), interimLine(1, "k", `"s1"`), interimLine(2, "k", `"s2"`),
			callLine(3, "a", answer+`,"requestState":"s2"`), callLine(4, "a", answer+`,"requestState":"s1"`), doneLine(3), doneLine(4)},
			[]string{"rounds ok request[0 2] round[5 7] server 4ms client 3ms", "rounds ok request[1 3] round[4 6] server 4ms client 1ms"}},
		{"by arguments", []string{callLine(1, "a", `,"arguments":{"x":1,"y":2}`), interimLine(1, "k", ""), callLine(2, "a", answer+`,"arguments":{"y":2,"x":1.0}`), doneLine(2)},
			[]string{"rounds ok request[0 1] round[2 3] server 2ms client 1ms"}},
		{"other arguments", []string{callLine(1, "a", `,"arguments":{"x":1}`), interimLine(1, "k", ""), callLine(2, "a", answer+`,"arguments":{"x":2}`), doneLine(2)},
			[]string{"call input required request[0 1] server 1ms client 0s", "call ok request[2 3] server 1ms client 0s doubt"}},
		{"other keys", []string{callLine(1, "a", ""), interimLine(1, "z", ""), callLine(2, "a", answer), doneLine(2)},
			[]string{"call input required request[0 1] server 1ms client 0s", "call ok request[2 3] server 1ms client 0s doubt"}},
		{"two alike", []string{callLine(1, "a", ""), callLine(2, "a", ""), interimLine(1, "k", ""), interimLine(2, "k", ""), callLine(3, "a", answer), doneLine(3)},
			[]string{"call input required request[0 2] server 2ms client 0s", "call input required request[1 3] server 2ms client 0s", "call ok request[4 5] server 1ms client 0s doubt"}},
		{"answered twice", []string{callLine(1, "a", ""), interimLine(1, "k", `"s"`), callLine(2, "a", `,"requestState":"s"`), callLine(3, "a", `,"requestState":"s"`), doneLine(3)},
			[]string{"rounds ok request[0 1] round[2] round[3 4] server 2ms client 1ms"}},
		{"never answered", []string{callLine(1, "a", ""), interimLine(1, "k", `"s"`), callLine(2, "a", ""), doneLine(2)},
			[]string{"call input required request[0 1] server 1ms client 0s", "call ok request[2 3] server 1ms client 0s"}},
	} {
		s, _ := script(t, c.lines...)
		if diff := cmp.Diff(c.want, ops(s)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestTasks(t *testing.T) {
	const stamps = `"createdAt":"2026-08-01T10:00:00Z","lastUpdatedAt":"2026-08-01T10:00:00Z"`
	poll := func(id int) string {
		return fmt.Sprintf(`> {V2,"id":%d,"method":"tasks/get","params":{"taskId":"t1"}}`, id)
	}
	flat := func(id int, status, more string) string {
		return fmt.Sprintf(`< {V2,"id":%d,"result":{"resultType":"complete","taskId":"t1","status":%q,%s%s}}`, id, status, stamps, more)
	}
	made := fmt.Sprintf(`< {V2,"id":1,"result":{"resultType":"task","taskId":"t1","status":"working",%s,"ttlMs":null}}`, stamps)
	legacy := fmt.Sprintf(`< {V2,"id":1,"result":{"task":{"taskId":"t1","status":"working",%s,"ttl":null}}}`, stamps)
	for _, c := range []struct {
		name   string
		lines  []string
		want   string
		states string
	}{
		{"extension, tool error", []string{callLine(1, "a", ""), made, poll(2), flat(2, "working", ""), poll(3), flat(3, "completed", `,"result":{"content":[],"isError":true}`)},
			"task tool error request[0 1] poll[2 3] poll[4 5] server 5ms client 0s", "working completed"},
		{"extension, input", []string{callLine(1, "a", ""), made, poll(2), flat(2, "input_required", `,"inputRequests":{}`),
			`> {V2,"id":3,"method":"tasks/update","params":{"taskId":"t1","inputResponses":{}}}`, doneLine(3), poll(4), flat(4, "completed", `,"result":{}`)},
			"task ok request[0 1] poll[2 3] input[4 5] poll[6 7] server 5ms client 2ms", "working input_required completed"},
		{"extension, failed", []string{callLine(1, "a", ""), made, poll(2), flat(2, "failed", `,"error":{"code":-32603,"message":"no"}`)},
			"task protocol error request[0 1] poll[2 3] server 3ms client 0s", "working failed"},
		{"2025-11-25", []string{callLine(1, "a", `,"task":{}`), legacy, `< {V2,"method":"notifications/tasks/status","params":{"taskId":"t1","status":"completed"}}`,
			`> {V2,"id":2,"method":"tasks/result","params":{"taskId":"t1"}}`, `< {V2,"id":2,"result":{"content":[],"isError":true}}`},
			"task tool error request[0 1 2] result[3 4] server 3ms client 1ms", "working completed"},
		{"never collected", []string{callLine(1, "a", ""), made}, "task open request[0 1] server 1ms client 0s", "working"},
		{"unknown", []string{poll(1), flat(1, "working", "")}, "call ok request[0 1] server 1ms client 0s doubt", "working"},
	} {
		s, _ := script(t, c.lines...)
		if diff := cmp.Diff([]string{c.want}, ops(s)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		var states []string
		for _, st := range s.Operations()[0].Task {
			states = append(states, st.Status)
		}
		if got := strings.Join(states, " "); got != c.states {
			t.Errorf("%s: states %q, want %q", c.name, got, c.states)
		}
	}
}

// TestServerTask: a server may ask for a task as well, and polls for it.
func TestServerTask(t *testing.T) {
	s, _ := script(t,
		`< {V2,"id":1,"method":"sampling/createMessage","params":{"task":{}}}`, `> {V2,"id":1,"result":{"task":{"taskId":"t9","status":"working"}}}`,
		`< {V2,"id":2,"method":"tasks/get","params":{"taskId":"t9"}}`, `> {V2,"id":2,"result":{"taskId":"t9","status":"completed"}}`,
		`< {V2,"id":3,"method":"tasks/result","params":{"taskId":"t9"}}`, `> {V2,"id":3,"result":{"role":"assistant"}}`)
	if diff := cmp.Diff([]string{"task ok request[0 1] poll[2 3] result[4 5] server 1ms client 4ms"}, ops(s)); diff != "" {
		t.Error(diff)
	}
}

func TestURLElicitation(t *testing.T) {
	s, _ := script(t,
		callLine(1, "a", `,"arguments":{"x":1}`),
		`< {V2,"id":1,"error":{"code":-32042,"message":"sign in","data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://srv.example/","message":"m"}]}}}`,
		`< {V2,"method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`,
		callLine(2, "a", `,"arguments":{"x":1}`), doneLine(2))
	if diff := cmp.Diff([]string{"url elicitation ok request[0 1 2] retry[3 4] server 2ms client 2ms"}, ops(s)); diff != "" {
		t.Error(diff)
	}
}

func TestNested(t *testing.T) {
	nested := func(id int) string {
		return fmt.Sprintf(`< {V2,"id":%d,"method":"elicitation/create","params":{}}`, id)
	}
	reply := func(id int) string { return fmt.Sprintf(`> {V2,"id":%d,"result":{"action":"accept"}}`, id) }
	s, _ := script(t, callLine(1, "a", ""), nested(1), nested(2), reply(1), reply(2), doneLine(1),
		callLine(2, "b", ""), callLine(3, "c", ""), nested(3), reply(3), doneLine(2), doneLine(3))
	more, _ := script(t, callLine(1, "a", ""), `> {V2,"method":"notifications/cancelled","params":{"requestId":1}}`, callLine(2, "b", ""), nested(1))
	if c := more.Call(2); c.Parent != 1 {
		t.Errorf("a cancelled call is in the way: %+v", c)
	}
	want := []string{
		"call ok request[0 1 2 3 4 5] server 2ms client 3ms",
		"call ok request[6 10] server 4ms client 0s", "call ok request[7 11] server 4ms client 0s",
		"call ok request[8 9] server 0s client 1ms", // whose it is can't be told
	}
	if diff := cmp.Diff(want, ops(s)); diff != "" {
		t.Error(diff)
	}
}

func TestSibling(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	header := func(at time.Duration, host int, command ...string) *tap.Record {
		return &tap.Record{Header: &tap.Header{Start: start.Add(at), Command: command, Host: &tap.Process{PID: host}}}
	}
	open := func(h *tap.Record, lines ...string) Opening {
		s, _ := script(t, lines...)
		s.Record(h)
		return s.Opening()
	}
	discover := []string{
		`> {V2,"id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`< {V2,"id":"server-discover-probe-1","result":{"supportedVersions":["2025-11-25","2026-07-28"]}}`,
	}
	probe := open(header(0, 7, "node", "s.mjs"), discover...)
	for _, c := range []struct {
		name string
		main Opening
		want bool
	}{
		{"no handshake", open(header(time.Second, 7, "node", "s.mjs"), listRequest(0, "")), true},
		{"initialize", open(header(time.Second, 7, "node", "s.mjs"), `> {V2,"id":0,"method":"initialize","params":{}}`), true},
		{"another command", open(header(time.Second, 7, "node", "t.mjs"), listRequest(0, "")), false},
		{"another host", open(header(time.Second, 8, "node", "s.mjs"), listRequest(0, "")), false},
		{"much later", open(header(time.Minute, 7, "node", "s.mjs"), listRequest(0, "")), false},
		{"before", open(header(-time.Second, 7, "node", "s.mjs"), listRequest(0, "")), false},
		{"probes itself", open(header(time.Second, 7, "node", "s.mjs"), discover...), false},
	} {
		reason, ok := IsProbeOf(probe, c.main)
		if ok != c.want || ok != (reason != "") {
			t.Errorf("%s: %v %q, want %v", c.name, ok, reason, c.want)
		}
	}
	if got := probe.Revision(); got != "2026-07-28" {
		t.Errorf("revision %q", got)
	}
}

// TestAlone: a call that is alone tells all that its operation does.
func TestAlone(t *testing.T) {
	alone := 0
	for _, file := range corpusFiles(t) {
		s := feed(New(Options{}), loadCorpus(t, file))
		for i := range s.Calls() {
			if !s.Alone(i) {
				continue
			}
			alone++
			c, o := s.Call(i), s.Operation(i)
			frames := []int{c.Request}
			if c.Response >= 0 {
				frames = append(frames, c.Response)
			}
			if len(o.Legs) != 1 || !slices.Equal(o.Legs[0].Frames, frames) || o.Outcome != c.Outcome || o.End != c.End || o.Dir != c.Dir {
				t.Errorf("%s: call %d: %+v, %+v", file, i, c, o)
			}
		}
	}
	if alone == 0 {
		t.Error("none is alone")
	}
}
