package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/tap"
)

const (
	clientMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"lab-client","version":"0.1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	serverMeta = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"acme-tickets","version":"1.0.0"}}`
	callParams = `"name":"search_tickets","arguments":{"query":"login"}`
	callOld    = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{` + callParams + `}}`
	callNew    = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{` + callParams + `,` + clientMeta + `}}`
)

func account(envelope, meta, payload int64) (a Account) {
	a[PartEnvelope], a[PartMeta], a[PartPayload] = envelope, meta, payload
	return a
}

// TestAccountSeed has the frames of the article that this account explains: the
// same call takes 299 bytes in the stateless protocol and 111 in the old one.
func TestAccountSeed(t *testing.T) {
	ticket := `{"id":"T-101","title":"Login button does nothing on Safari","status":"open"}`
	for _, c := range []struct {
		name, body string
		want       Account
	}{
		{"discover request", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + clientMeta + `}}`, account(63, 187, 0)},
		{"call, new", callNew, account(58, 188, 53)},
		{"call, old", callOld, account(58, 0, 53)},
		{"initialize request", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab-client","version":"0.1"}}}`, account(58, 0, 99)},
		{"initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, account(54, 0, 0)},
		{"list request, with an empty result", `{"jsonrpc":"2.0","id":2,"result":{}}`, account(36, 0, 0)},
		{"round, both fields", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","requestState":"s","inputResponses":{}}}`, func() Account {
			a := account(58, 0, 10)
			a[PartRounds] = 18 + 19 + 2
			return a
		}()},
		{"list request, old", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, account(46, 0, 0)},
		{"error result", `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"Error executing tool close_ticket: no"}],"isError":true,` +
			`"resultType":"complete",` + serverMeta + `}}`, account(36, 113, 89)},
		{"discover result", `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"resultType":"complete","cacheScope":"private","ttlMs":0,` + serverMeta + `}}`, account(36, 146, 34)},
	} {
		if diff := cmp.Diff(c.want, AccountOf([]byte(c.body), 0)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if len(callNew) != 299 || len(callOld) != 111 {
		t.Errorf("the calls have %d and %d bytes, want 299 and 111", len(callNew), len(callOld))
	}
	text, _ := json.Marshal(ticket)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":%s}],"structuredContent":{"result":[%s]}}}`, text, ticket)
	a, copies := AccountCopies([]byte(body), 1)
	if want := (Copies{Text: int64(len(text)), Structured: int64(len(ticket) + 13)}); copies != want {
		t.Errorf("copies %+v, want %+v", copies, want)
	}
	if a[PartDuplicate] != copies.Structured || a.Total() != int64(len(body)+1) {
		t.Errorf("account %v of %d bytes", a, len(body)+1)
	}
}

// TestAccountSeedResult has the result of the same article: 432 bytes, of which the
// text literal is 118 and structuredContent 93. Both hold the same ticket.
func TestAccountSeedResult(t *testing.T) {
	base := `{"id":101,"title":"","status":"open","owner":"sam"}`
	title := strings.Repeat("x", 80-len(base))
	ticket := strings.Replace(base, `""`, `"`+title+`"`, 1)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(ticket), "", "  "); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(pretty.String())
	body := `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":` + string(text) + `}],"structuredContent":{"result":[` + ticket +
		`]},"isError":false,"resultType":"complete",` + serverMeta + `}}`
	if len(body) != 432 || len(text) != 118 {
		t.Fatalf("%d bytes, text %d", len(body), len(text))
	}
	a, copies := AccountCopies([]byte(body), 0)
	want := account(36, 113, 283-93-22)
	want[PartDuplicate], want[PartTextSpace] = 93, 22
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if copies != (Copies{Text: 118, Structured: 93}) {
		t.Errorf("copies %+v", copies)
	}
}

// TestAccountOrder: the order of members makes no difference.
func TestAccountOrder(t *testing.T) {
	for _, body := range []string{
		`{"params":{` + clientMeta + `,` + callParams + `},"method":"tools/call","id":3,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","params":{"arguments":{"query":"login"},` + clientMeta + `,"name":"search_tickets"},"id":3,"method":"tools/call"}`,
	} {
		if diff := cmp.Diff(AccountOf([]byte(callNew), 0), AccountOf([]byte(body), 0)); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

// TestAccountSpace: indenting adds white space and nothing else.
func TestAccountSpace(t *testing.T) {
	for _, body := range []string{callOld, callNew} {
		var indented bytes.Buffer
		if err := json.Indent(&indented, []byte(body), " ", "\t"); err != nil {
			t.Fatal(err)
		}
		want := AccountOf([]byte(body), 0)
		want[PartSpace] = int64(indented.Len() - len(body))
		if diff := cmp.Diff(want, AccountOf(indented.Bytes(), 0)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDuplicates(t *testing.T) {
	for _, c := range []struct {
		name, texts, structured string
		duplicate, space        int64
	}{
		{"equal", `["{\"a\":1,\"b\":[2]}"]`, `{"b":[2.0],"a":1}`, 17, 0},
		{"indented", `["{\n  \"a\": 1\n}"]`, `{"a":1}`, 7, 7},
		{"space in a string", `["{\"a\": \"b c\"}"]`, `{"a":"b c"}`, 11, 1},
		{"wrapped", `["[1,2]"]`, `{"result":[1,2]}`, 16, 0},
		{"a block an item", `["{\"a\":1}","{\"a\":2}"]`, `{"result":[{"a":1},{"a":2}]}`, 28, 0},
		{"a block an item, too few", `["{\"a\":1}"]`, `{"result":[{"a":1},{"a":2}]}`, 0, 0},
		{"bare list", `["1","2"]`, `[1,2]`, 5, 0},
		{"scalar", `["hello"]`, `{"result":"hello"}`, 18, 0},
		{"a part", `["{\"name\":\"a long enough name\"}"]`, `{"item":{"name":"a long enough name"},"n":1}`, 35, 0},
		{"other", `["{\"a\":1}"]`, `{"a":2}`, 0, 0},
		{"big numbers differ", `["9007199254740993"]`, `9007199254740992`, 0, 0},
		{"not alone", `["done","{\"a\":1}"]`, `{"a":1}`, 7, 0},
		{"no JSON", `["plain words"]`, `{"a":1}`, 0, 0},
	} {
		var texts []string
		if err := json.Unmarshal([]byte(c.texts), &texts); err != nil {
			t.Fatal(err)
		}
		var blocks []map[string]string
		for _, s := range texts {
			blocks = append(blocks, map[string]string{"type": "text", "text": s})
		}
		content, _ := json.Marshal(blocks)
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"content":%s,"structuredContent":%s}}`, content, c.structured)
		a := AccountOf([]byte(body), 0)
		if a[PartDuplicate] != c.duplicate || a[PartTextSpace] != c.space || a.Total() != int64(len(body)) {
			t.Errorf("%s: duplicate %d, text space %d, total %d; want %d, %d, %d", c.name, a[PartDuplicate], a[PartTextSpace], a.Total(), c.duplicate, c.space, len(body))
		}
	}
}

func TestTotals(t *testing.T) {
	s := New(Options{Bytes: true})
	for i, body := range []string{callOld, callNew, `{"jsonrpc":"2.0","id":3,"result":{}}`, "banner"} {
		dir := tap.C2S
		if i > 1 {
			dir = tap.S2C
		}
		s.Add(&tap.Frame{N: uint64(i + 1), Dir: dir, JSON: i < 3, Body: []byte(body)})
	}
	got := s.Totals()
	if got.All.Total() != 299+111+36+6+4 || got.Dirs[tap.C2S].Total() != 299+111+2 || got.All[PartLineEnd] != 4 {
		t.Errorf("totals %v", got.All)
	}
	if m := got.Methods["tools/call"]; m == nil || m.Frames != 3 || m.Total() != 299+111+36+3 {
		t.Errorf("tools/call: %+v", m)
	}
	if got.Metadata() != 188 || got.All[PartStray] != 6 {
		t.Errorf("metadata %d, stray %d", got.Metadata(), got.All[PartStray])
	}
}

// TestAccountHostile: what is made to be compared for ever is not. Comparing all
// with all would not end within the time limit of a test.
func TestAccountHostile(t *testing.T) {
	const n = 20_000
	blocks := strings.Repeat(`{"type":"text","text":"[1,2,3,4,5,6,7,8,9]"},`, n)
	numbers := strings.Repeat(`[1,2,3,4,5,6,7,8,8],`, n)
	deep := strings.Repeat("[", 8000) + strings.Repeat("]", 8000)
	for _, body := range []string{
		`{"result":{"content":[` + blocks + `{}],"structuredContent":[` + numbers + `0]}}`,
		`{"result":{"content":[` + blocks + `{}],"structuredContent":{"a":[` + numbers + `0]}}}`,
		`{"result":{"content":[{"type":"text","text":"` + deep + `"}],"structuredContent":` + deep + `}}`,
		`{"params":` + strings.Repeat(`{"params":`, 5000) + strings.Repeat("}", 5001),
		`{"result":{"content":[{"type":"text","text":"` + strings.Repeat(`\\`, 500_000) + `"}],"structuredContent":1}}`,
	} {
		a := AccountOf([]byte(body), 1)
		if a.Total() != int64(len(body)+1) {
			t.Errorf("%.60s: account %v of %d bytes", body, a, len(body)+1)
		}
	}
}

func TestAccountCorpus(t *testing.T) {
	for _, file := range corpusFiles(t) {
		for _, st := range loadCorpus(t, file) {
			if st.Frame == nil || !st.Frame.JSON {
				continue
			}
			a := AccountOf(st.Frame.Body, 0)
			if a.Total() != int64(len(st.Frame.Body)) || min(a[PartEnvelope], a[PartMeta], a[PartPayload], a[PartRounds], a[PartSpace]) < 0 {
				t.Errorf("%s: %d bytes, account %v", file, len(st.Frame.Body), a)
			}
		}
	}
}

func FuzzAccount(f *testing.F) {
	f.Add([]byte(callNew), uint8(1))
	f.Add([]byte(`[{"result":{"content":[{"text":"[1 , 2]"}],"structuredContent":[1,2]}}]`), uint8(0))
	f.Add([]byte(`{"result":{"a":"`), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, end uint8) {
		a := AccountOf(b, int(end))
		if a.Total() != int64(len(b))+int64(end) {
			t.Errorf("%d bytes and %d, account %v", len(b), end, a)
		}
		for p, n := range a {
			if n < 0 {
				t.Errorf("%v is %d", Part(p), n)
			}
		}
	})
}
