package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/internal/talk"
	"github.com/mcptap/mcptap/tap"
)

// FuzzRequest makes a session of arbitrary lines: whatever they are, every request
// is one that the API would take, and every frame has a reach.
func FuzzRequest(f *testing.F) {
	f.Add(`{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`, `{"name":"t","arguments":{"a":1}}`, `{"content":[{"type":"text","text":"x"}]}`, uint8(0))
	f.Add(`{"tools":[{"name":"t","description":"d","inputSchema":{"type":"object","anyOf":[]}},{"name":"t","inputSchema":{"type":"object"}}]}`, `{"name":"t"}`, `{"content":[{"type":"image","mimeType":"image/png","data":"eA=="}],"isError":true}`, uint8(1))
	f.Add(`{"tools":{}}`, `{"name":7,"arguments":[],"_meta":{"claudecode/toolUseId":"?"}}`, `{"content":[{"type":"resource","resource":{"blob":"eA==","mimeType":"application/pdf"}},{"type":"audio"}],"structuredContent":{}}`, uint8(3))
	f.Add(`{"tools":[]}`, `{"name":"\ud800"}`, `{"content":[{"type":"text","text":"\udc00"},{"type":"resource_link"}],"structuredContent":[1]}`, uint8(4))
	ids := Builtin().IDs()
	f.Fuzz(func(t *testing.T, tools, params, result string, host uint8) {
		for _, s := range []string{tools, params, result} {
			if !json.Valid([]byte(s)) || strings.ContainsAny(s, "\r\n") || !json.Valid([]byte(`{"a":`+s+`}`)) {
				return
			}
		}
		k := talk.New()
		k.Say(10, tap.C2S, `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
		k.Say(20, tap.S2C, `{"jsonrpc":"2.0","id":"l","result":`+tools+`}`)
		for i, id := range []string{`1`, `"two"`} {
			k.Say(1000*(i+1), tap.C2S, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":`+params+`}`)
			k.Say(1000*(i+1)+10, tap.S2C, `{"jsonrpc":"2.0","id":`+id+`,"result":`+result+`}`)
		}
		for i := range k.Bodies {
			if !validUTF8(k.Bodies[i]) {
				return // no frame that is JSON
			}
		}
		b := bookOf(t, k, "srv", ids[int(host)%len(ids)])
		for m := range b.Timeline().Len() + 1 {
			r := b.RequestAt(m)
			if found := Check(r.JSON()); len(found) > 0 {
				t.Fatalf("at %d: %v\n%s", m, found, r.JSON())
			}
			r.Changes()
			r.Placeholders()
		}
		for i := range b.Timeline().Len() {
			b.Reach(b.Timeline().Frame(i))
		}
	})
}

func validUTF8(b []byte) bool { return strings.ToValidUTF8(string(b), "") == string(b) }

// FuzzCheck looks at arbitrary requests.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"assistant","content":[{"type":"mcp_tool_use","id":"a"}]}],"tools":[{}],"system":[{}]}`))
	f.Add([]byte(`[[[`))
	f.Fuzz(func(_ *testing.T, b []byte) { Check(b) })
}

// FuzzProfiles reads arbitrary profiles; what is taken can be used.
func FuzzProfiles(f *testing.F) {
	f.Add([]byte(`{"defaults":{"model":"m","max_tokens":1,"chars_per_token":4,"search_tool":"S","image_types":["image/png"]},"profiles":[
		{"id":"generic","date":"d","confidence":"low","evidence":"e","name":{"template":"{server}_{tool}","keep":"a-z","max":9,"over":"cut"},"instructions":{"lane":"system"},
		"structured":"prefer","structured_on_error":"both","texts":"joined","loading":"deferred_names","result_max_tokens":1,
		"blocks":{"text":"text","image":"image","image_other":"json","audio":"saved","resource_link":"line","resource_text":"prefixed","resource_pdf":"document","resource_blob":"drop","other":"raises"}}]}`))
	f.Add([]byte(`{"profiles":[{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseProfiles(b)
		if err != nil {
			return
		}
		k := oneResult(`{"content":[{"type":"text","text":"x"},{"type":"audio"}],"structuredContent":{"a":1}}`)
		for i := range p.Profiles {
			line := replay.New(replay.Options{}, &replay.Session{Session: k.Session, Body: k.Body, Name: "s"})
			r := NewBook(line, Options{Profile: &p.Profiles[i]}).Request(1)
			if found := Check(r.JSON()); len(found) > 0 {
				t.Fatalf("%s: %v", p.Profiles[i].ID, found)
			}
		}
	})
}
