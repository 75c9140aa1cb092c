package decode

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/tap"
)

// drawLine makes a line of a conversation with few ids, names and states, so that
// they collide often.
func drawLine(t *rapid.T) string {
	dir := rapid.SampledFrom([]string{"> ", "< "}).Draw(t, "dir")
	id := rapid.SampledFrom([]string{"0", "1", `"1"`, "1.0", "2", `""`}).Draw(t, "id")
	state := rapid.SampledFrom([]string{"", `,"requestState":"s"`, `,"requestState":"t"`}).Draw(t, "state")
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
	forms := []string{
		`{V2,"id":%[1]s,"method":"tools/call","params":{"name":"%[3]s"%[2]s,"_meta":{"progressToken":%[1]s}}}`,
		`{V2,"id":%[1]s,"result":{"resultType":"input_required","inputRequests":{"k":{}}%[2]s}}`,
		`{V2,"id":%[1]s,"result":{"content":[{"type":"text","text":"{\"ok\":false}"}]}}`,
		`{V2,"id":%[1]s,"error":{"code":-32042,"message":"%[3]s"}}`,
		`{V2,"method":"notifications/progress","params":{"progressToken":%[1]s,"progress":1}}`,
		`{V2,"method":"notifications/cancelled","params":{"requestId":%[1]s}}`,
		`{V2,"id":%[1]s,"method":"tools/list","params":{"cursor":"%[3]s"}}`,
		`{V2,"id":%[1]s,"result":{"tools":[{"name":"%[3]s"}],"nextCursor":"%[3]s"}}`,
		`{V2,"id":%[1]s,"result":{"resultType":"task","taskId":"%[3]s","status":"working"}}`,
		`{V2,"id":%[1]s,"method":"tasks/get","params":{"taskId":"%[3]s"}}`,
		`[{V2,"id":%[1]s,"method":"ping"},{V2,"id":%[1]s,"result":{}}]`,
	}
	return dir + fmt.Sprintf(rapid.SampledFrom(forms).Draw(t, "form"), id, state, name)
}

func drawLines(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.Custom(drawLine), 1, 60).Draw(t, "lines")
}

// TestPropertyFollow: reading a session while it grows changes nothing.
func TestPropertyFollow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := drawLines(rt)
		atOnce, stepwise := New(Options{Bytes: true}), New(Options{Bytes: true})
		feedLines(atOnce, lines...)
		for _, l := range lines {
			feedLines(stepwise, l)
			if rapid.Bool().Draw(rt, "look") {
				describe(stepwise)
				stepwise.Catalogue().Unlisted()
			}
		}
		if diff := cmp.Diff(describe(atOnce), describe(stepwise)); diff != "" {
			rt.Error(diff)
		}
		checkInvariants(t, atOnce)
	})
}

// TestPropertyScopes: what crosses in other scopes makes no difference to a call,
// but for what is joined across scopes by state, cursor or task.
func TestPropertyScopes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := drawLines(rt)
		alone, among := New(Options{}), New(Options{})
		var mine []int
		for i, l := range lines {
			for range rapid.IntRange(0, 2).Draw(rt, "others") {
				addScoped(among, 7, rapid.SampledFrom([]string{"> ", "< "}).Draw(rt, "dir")+rapid.SampledFrom([]string{
					`{V2,"id":1,"method":"ping"}`, `{V2,"id":1,"result":{}}`, `{V2,"method":"notifications/cancelled","params":{"requestId":1}}`,
				}).Draw(rt, "other"), i)
			}
			from := among.Calls()
			addScoped(alone, 3, l, i)
			addScoped(among, 3, l, i)
			for c := from; c < among.Calls(); c++ {
				mine = append(mine, c)
			}
		}
		for i, c := range mine {
			if diff := cmp.Diff(shape3(alone, i), shape3(among, c)); diff != "" {
				rt.Errorf("call %d: %s", i, diff)
			}
		}
	})
}

func addScoped(s *Session, sc Scope, line string, ms int) {
	f := &tap.Frame{Dir: tap.C2S, JSON: true, Time: time.Duration(ms) * time.Millisecond, Body: []byte(expand(line[2:]))}
	if line[0] == '<' {
		f.Dir = tap.S2C
	}
	s.addAt(f, where{scope: sc})
}

// shape3 is what a call is without its indexes.
func shape3(s *Session, i int) string {
	c := s.Call(i)
	var notes []string
	for _, n := range s.Notes(i) {
		notes = append(notes, n.Kind.String())
	}
	return fmt.Sprint(c.Dir, c.ID, c.Method, c.Name, c.Response >= 0, c.Outcome, c.End, c.Ambiguous, c.Reused, c.Second, c.WrongID, c.Late, notes, s.Operation(i).Doubt, len(s.Operation(i).Legs))
}

// TestPropertyAccount: parts add up, and indenting a message only adds space.
func TestPropertyAccount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.Custom(drawValue)
		params := map[string]any{"name": value.Draw(rt, "name"), "content": value.Draw(rt, "content"), "_meta": value.Draw(rt, "meta"), "requestState": value.Draw(rt, "state")}
		for k := range params {
			if rapid.Bool().Draw(rt, "drop") {
				delete(params, k)
			}
		}
		for _, key := range []string{"params", "result"} {
			compact, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "m", key: params})
			indented, _ := json.MarshalIndent(json.RawMessage(compact), "", "  ")
			want := AccountOf(compact, 1)
			if want.Total() != int64(len(compact)+1) {
				rt.Errorf("%s: account %v of %d bytes", compact, want, len(compact)+1)
			}
			want[PartSpace] += int64(len(indented) - len(compact))
			if diff := cmp.Diff(want, AccountOf(indented, 1)); diff != "" {
				rt.Errorf("%s: %s", compact, diff)
			}
		}
	})
}

func drawValue(t *rapid.T) any {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return rapid.String().Draw(t, "string")
	case 1:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
	case 2:
		return nil
	case 3:
		return []any{map[string]any{"type": "text", "text": rapid.String().Draw(t, "text")}}
	case 4:
		return map[string]any{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value"), "a": []any{1, "x "}}
	}
	return []any{}
}

// TestPropertyCanon: equal values have equal hashes however they are written.
func TestPropertyCanon(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := map[string]any{"x": rapid.Custom(drawValue).Draw(rt, "x"), "y": rapid.Custom(drawValue).Draw(rt, "y")}
		a, _ := json.Marshal(v)
		b, _ := json.MarshalIndent(v, " ", "\t")
		ha, _ := canon(a, whole(a))
		hb, ok := canon(b, whole(b))
		if !ok || ha != hb {
			rt.Errorf("%s and %s differ", a, b)
		}
	})
}

func TestCanonNumber(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0"}, {"0", "-0", "0.0", "0e5"}, {"100", "1e2", "1.00e2"}, {"-1.50", "-15e-1"},
		{"9007199254740993"}, {"9007199254740992"}, {"1e400"},
	} {
		for _, s := range same[1:] {
			if canonNumber([]byte(s)) != canonNumber([]byte(same[0])) {
				t.Errorf("%s is %s, %s is %s", s, canonNumber([]byte(s)), same[0], canonNumber([]byte(same[0])))
			}
		}
	}
	if canonNumber([]byte("9007199254740993")) == canonNumber([]byte("9007199254740992")) {
		t.Error("large integers must stay apart")
	}
}
