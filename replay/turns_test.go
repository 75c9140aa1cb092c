package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

// turns writes a timeline's turns as text: calls joined by +, turns by the rule and
// strength that part them.
func turns(t *Timeline) string {
	var b strings.Builder
	for i, turn := range t.Turns {
		if i > 0 {
			fmt.Fprintf(&b, " |%s %s| ", turn.Reason.Rule, turn.Reason.Strength)
		}
		for k, c := range turn.Calls {
			if k > 0 {
				fmt.Fprintf(&b, " +%s %s+ ", t.Calls[c].Join.Rule, t.Calls[c].Join.Strength)
			}
			b.WriteString(t.Calls[c].Tool)
		}
	}
	return b.String()
}

// pair makes two calls with a gap, the second of which has these arguments.
func pair(gap int, result, arguments string) *told {
	k := newTalk("s")
	k.List(0, `{"name":"a","description":"Says READY-1 or listed-77","inputSchema":{"type":"object"}}`)
	id := k.Ask(1000, "a", `{"q":"known value 12"}`, "")
	k.Answer(1100, id, result)
	id = k.Ask(1100+gap, "b", arguments, "")
	k.Answer(1200+gap, id, "done")
	return k
}

func TestTurns(t *testing.T) {
	overlap := newTalk("s")
	overlap.Ask(1000, "a", "{}", "")
	overlap.Ask(1001, "b", "{}", "")
	overlap.Answer(1500, 1, "x")
	overlap.Ask(1600, "c", "{}", "")
	overlap.Answer(1700, 2, "x")

	gaveUp := newTalk("s")
	gaveUp.Ask(1000, "a", "{}", "")
	gaveUp.Cancel(2000, 1)
	gaveUp.Ask(2900, "b", "{}", "")

	silent := newTalk("s")
	silent.Ask(1000, "a", "{}", "")
	silent.Ask(50_000, "b", "{}", "")
	silent.Ask(120_000, "c", "{}", "")

	slow := newTalk("s")
	id := slow.Ask(1000, "a", "{}", "")
	slow.Ask(130_000, "b", "{}", "")
	slow.Answer(140_000, id, "x")

	requests := newTalk("s")
	id = requests.Ask(1000, "a", "{}", `{"vscode.requestId":"r1"}`)
	requests.Ask(1001, "b", "{}", `{"vscode.requestId":"r2"}`)
	requests.Answer(1100, id, "x")

	for _, c := range []struct {
		name string
		talk *told
		want string
	}{
		{"a short gap", pair(10, "x", "{}"), "a +gap likely+ b"},
		{"a long gap", pair(900, "x", "{}"), "a |gap likely| b"},
		{"a gap between", pair(400, "x", "{}"), "a |gap unknown| b"},
		{"overlap", overlap, "a +overlap strong+ b +overlap strong+ c"},
		{"cancelled", gaveUp, "a |gap likely| b"},
		{"never answered", silent, "a +overlap strong+ b |gap likely| c"},
		{"so slow that it may be in the background", slow, "a +overlap unknown+ b"},
		{"another request of the user", requests, "a |request id exact| b"},
		{"data flow", pair(10, "made ticket T-1042.", `{"id":"T-1042"}`), "a |data flow strong| b"},
		{"data flow, a number", pair(10, `{"id": 88231}`, `{"id":88231}`), "a |data flow strong| b"},
		{"data flow, deep", pair(10, "see ab12-cd34", `{"x":[{"y":"ab12-cd34"}]}`), "a |data flow strong| b"},
		{"only a part of a word", pair(10, "made ticket T-10423", `{"id":"T-1042"}`), "a +gap likely+ b"},
		{"what the list says", pair(10, "listed-77", `{"id":"listed-77"}`), "a +gap likely+ b"},
		{"what arguments said before", pair(10, "known value 12", `{"id":"known value 12"}`), "a +gap likely+ b"},
		{"too short", pair(10, "abc", `{"id":"abc"}`), "a +gap likely+ b"},
		{"plain words at once", pair(10, "closed tickets", `{"status":"closed"}`), "a +gap likely+ b"},
		{"plain words later", pair(300, "closed tickets", `{"status":"closed"}`), "a |data flow likely| b"},
	} {
		if got := turns(line(t, c.talk)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestCalibrated parts the gaps of a session where they part by themselves.
func TestCalibrated(t *testing.T) {
	k := newTalk("s")
	at := 1000
	for i := range 30 {
		at += 200 // no reply of a model, but slow tools one after the other
		if i%3 == 0 {
			at += 1500
		}
		id := k.Ask(at, "a", "{}", "")
		k.Answer(at+5, id, "x")
	}
	tl := line(t, k)
	if !tl.Split.Calibrated || tl.Split.Same < 250*time.Millisecond || tl.Split.Same > 1600*time.Millisecond {
		t.Errorf("the split is %+v", tl.Split)
	}
	if len(tl.Turns) != 10 {
		t.Errorf("%d turns, want 10", len(tl.Turns))
	}
	for _, one := range [][]time.Duration{{}, make([]time.Duration, 100)} {
		if s := calibrate(one); s.Calibrated {
			t.Errorf("%d gaps of one kind part at %v", len(one), s.Same)
		}
	}
}

func TestSeveralSessions(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	a, b := newTalk("a"), newTalk("b")
	a.start, b.start = start, start.Add(2*time.Second)
	a.Ask(3000, "one", "{}", "")
	b.Ask(1001, "two", "{}", "") // one millisecond later
	a.Answer(3050, 1, "x")
	b.Answer(1500, 1, "x")
	b.Ask(2500, "three", "{}", "")
	tl := line(t, a, b)
	if got := turns(tl); got != "one +overlap strong+ two |gap likely| three" {
		t.Error(got)
	}
	if got := tl.Time(tl.Len()); got != 4500*time.Millisecond {
		t.Errorf("it ends at %v", got)
	}
	b.start = time.Time{}
	if got := line(t, a, b).Unaligned(); len(got) != 1 || got[0] != 1 {
		t.Errorf("unaligned are %v", got)
	}
}

func TestApart(t *testing.T) {
	k := newTalk("s")
	k.List(0, `{"name":"app","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}},{"name":"both","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["model","app"]}}}`)
	k.Ask(1000, "app", "{}", "")
	k.Ask(1001, "both", "{}", "")
	k.Ask(1002, "approve", `{"tool_name":"Bash","input":{"command":"ls"}}`, "")
	k.Ask(1003, "mine", "{}", "")
	k.Ask(1004, "again", "{}", `{"claudecode/toolUseId":"toolu_1"}`)
	k.Ask(1005, "again", "{}", `{"claudecode/toolUseId":"toolu_1"}`)
	tl := New(Options{NotModel: []string{"mine"}}, k.session())
	var model, apart []string
	for i := range tl.Calls {
		model = append(model, tl.Calls[i].Tool)
	}
	for i := range tl.Apart {
		apart = append(apart, tl.Apart[i].Tool)
		if tl.Apart[i].Reason == "" || tl.ApartOf(0, tl.Apart[i].Index) != tl.Apart[i].Reason {
			t.Errorf("%s has no reason", tl.Apart[i].Tool)
		}
	}
	if diff := cmp.Diff([]string{"both", "again"}, model); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"app", "approve", "mine", "again"}, apart); diff != "" {
		t.Error(diff)
	}
	if tl.Calls[1].ID != "toolu_1" {
		t.Errorf("its id is %q", tl.Calls[1].ID)
	}
	retried := newTalk("s")
	retried.Ask(1000, "a", "{}", `{"claudecode/toolUseId":"toolu_1"}`)
	retried.Cancel(2000, 1)
	id := retried.Ask(2001, "a", "{}", `{"claudecode/toolUseId":"toolu_1"}`)
	retried.Answer(2100, id, "at last")
	if tl := line(t, retried); len(tl.Calls) != 1 || tl.Calls[0].Answer.Frame != 3 || tl.CallOf(0, 1) != 0 || len(tl.Apart) != 1 {
		t.Errorf("a call that was tried again is %+v", tl.Calls)
	}
	early := newTalk("s")
	early.Ask(10, "a", "{}", "")
	if tl := line(t, early); len(tl.Calls) != 1 || tl.Calls[0].Doubt == "" {
		t.Errorf("a call right after the start: %+v", tl.Calls)
	}
}

// TestAnswers finds what a use of a tool came to when it takes several calls.
func TestAnswers(t *testing.T) {
	rounds := newTalk("s")
	rounds.Ask(1000, "a", "{}", "")
	rounds.Say(1010, tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}},"requestState":"s1"}}`)
	asked := line(t, rounds)
	if a := asked.Calls[0].Answer; a.There() || !asked.Turns[0].Open {
		t.Errorf("a question is no answer: %+v", a)
	}
	rounds.Say(1500, tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{},"inputResponses":{"q":{"action":"accept"}},"requestState":"s1"}}`)
	rounds.Say(1600, tap.S2C, `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`)
	asked.Refresh()
	if len(asked.Calls) != 1 || asked.Calls[0].Answer.Frame != 3 || asked.Calls[0].Answer.Path != "/result" {
		t.Errorf("the rounds are %+v", asked.Calls)
	}

	task := newTalk("s")
	task.Say(1000, tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"task":{"ttl":1000}}}`)
	task.Say(1010, tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1","status":"working","createdAt":"x","ttl":1000}}}`)
	task.Say(1500, tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"t1"}}`)
	task.Say(1600, tap.S2C, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"late"}]}}`)
	tl := line(t, task)
	if len(tl.Calls) != 1 || tl.Calls[0].Answer.Frame != 3 {
		t.Errorf("the task is %+v", tl.Calls)
	}

	inlined := newTalk("s")
	inlined.Say(1000, tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	inlined.Say(1010, tap.S2C, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t1","status":"working"}}`)
	inlined.Say(1500, tap.C2S, `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t1"}}`)
	inlined.Say(1600, tap.S2C, `{"jsonrpc":"2.0","id":2,"result":{"taskId":"t1","status":"completed","result":{"content":[{"type":"text","text":"late"}]}}}`)
	tl = line(t, inlined)
	if len(tl.Calls) != 1 || tl.Calls[0].Answer.Path != "/result/result" {
		t.Fatalf("the task is %+v", tl.Calls)
	}
	if got := tl.ResultValue(&tl.Calls[0], inlined.Bodies[3]).Get("content").Raw; !json.Valid([]byte(got)) || !strings.Contains(got, "late") {
		t.Errorf("its result is %s", got)
	}
}

func TestBatch(t *testing.T) {
	k := newTalk("s")
	k.Say(1000, tap.C2S, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b","arguments":{"x":1}}}]`)
	k.Say(1100, tap.S2C, `[{"jsonrpc":"2.0","id":2,"result":{"content":[]}},{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}]`)
	tl := line(t, k)
	if got := turns(tl); got != "a +overlap strong+ b" {
		t.Error(got)
	}
	if a, b := tl.Calls[0].Answer.Path, tl.Calls[1].Answer.Path; a != "/1/error" || b != "/0/result" {
		t.Errorf("the answers stand at %s and %s", a, b)
	}
	for i := range tl.Calls {
		if tl.CallOf(0, tl.Calls[i].Index) != i {
			t.Errorf("call %d is not found again", i)
		}
	}
}
