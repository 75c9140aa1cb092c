// Package talk makes up sessions for tests, frame by frame.
package talk

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// A Talk is a session that a test makes up.
type Talk struct {
	*decode.Session
	Bodies [][]byte
	ids    int
}

// New gives an empty session.
func New() *Talk { return &Talk{Session: decode.New(decode.Options{})} }

// Body gives the bytes of a frame.
func (t *Talk) Body(frame int) []byte { return t.Bodies[frame] }

// Say records a message at a time in milliseconds, and gives its frame.
func (t *Talk) Say(ms int, dir tap.Dir, body string) int {
	t.Bodies = append(t.Bodies, []byte(body))
	t.Add(&tap.Frame{N: uint64(len(t.Bodies)), Time: time.Duration(ms) * time.Millisecond, Dir: dir, JSON: json.Valid([]byte(body)), Body: []byte(body)})
	return len(t.Bodies) - 1
}

// Ask sends a tools/call and gives its id. meta may be empty.
func (t *Talk) Ask(ms int, tool, arguments, meta string) int {
	t.ids++
	if meta != "" {
		meta = `,"_meta":` + meta
	}
	name, _ := json.Marshal(tool)
	t.Say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s%s}}`, t.ids, name, arguments, meta))
	return t.ids
}

// Answer answers a call with a text.
func (t *Talk) Answer(ms, id int, text string) {
	b, _ := json.Marshal(text)
	t.Result(ms, id, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, b))
}

// Result answers a request.
func (t *Talk) Result(ms, id int, result string) {
	t.Say(ms, tap.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result))
}

// Open is a handshake with instructions.
func (t *Talk) Open(ms int, client, instructions string) {
	t.ids++
	b, _ := json.Marshal(instructions)
	t.Say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, t.ids, client))
	t.Result(ms, t.ids, fmt.Sprintf(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"instructions":%s}`, b))
}

// List answers a listing of tools.
func (t *Talk) List(ms int, tools string) {
	t.ids++
	t.Say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, t.ids))
	t.Result(ms, t.ids, `{"tools":[`+tools+`]}`)
}

// Cancel cancels a call.
func (t *Talk) Cancel(ms, id int) {
	t.Say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
}

// Close ends the session at a time in milliseconds.
func (t *Talk) Close(ms int) {
	journal := fmt.Sprintf(`{"mcptap":1,"session":"talk","start":"2026-11-30T12:00:00Z","transport":"stdio"}
{"n":1,"t":%d,"end":{"exit":0,"frames":0,"lost":0}}
`, time.Duration(ms)*time.Millisecond)
	r := tap.NewReader(strings.NewReader(journal))
	for rec, err := r.Next(); err == nil; rec, err = r.Next() {
		if rec.End != nil {
			t.Record(&rec)
		}
	}
}
