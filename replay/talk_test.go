package replay

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// A talk is a session that a test makes up, frame by frame.
type talk struct {
	*Session
	bodies [][]byte
	ids    int
}

func newTalk(name string) *talk {
	t := &talk{Session: &Session{Session: decode.New(decode.Options{}), Name: name}}
	t.Session.Body = func(frame int) []byte { return t.bodies[frame] }
	return t
}

// say records a message at a time in milliseconds.
func (t *talk) say(ms int, dir tap.Dir, body string) int {
	t.bodies = append(t.bodies, []byte(body))
	t.Add(&tap.Frame{N: uint64(len(t.bodies)), Time: time.Duration(ms) * time.Millisecond, Dir: dir, JSON: json.Valid([]byte(body)), Body: []byte(body)})
	return len(t.bodies) - 1
}

// ask sends a tools/call and gives its id.
func (t *talk) ask(ms int, tool, arguments, meta string) int {
	t.ids++
	if meta != "" {
		meta = `,"_meta":` + meta
	}
	t.say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, t.ids, tool, arguments, meta))
	return t.ids
}

// answer answers a call with a text.
func (t *talk) answer(ms, id int, text string) {
	b, _ := json.Marshal(text)
	t.say(ms, tap.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%s}]}}`, id, b))
}

// list answers a listing of tools.
func (t *talk) list(ms int, tools string) {
	t.ids++
	t.say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, t.ids))
	t.say(ms, tap.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]}}`, t.ids, tools))
}

func (t *talk) cancel(ms, id int) {
	t.say(ms, tap.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
}

func line(t testing.TB, talks ...*talk) *Timeline {
	t.Helper()
	all := make([]*Session, len(talks))
	for i, k := range talks {
		all[i] = k.Session
	}
	return New(Options{}, all...)
}
