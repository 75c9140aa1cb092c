package decode

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const v2 = `"jsonrpc":"2.0",`

func TestParse(t *testing.T) {
	for body, want := range map[string]Message{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`:         {Kind: Request, Method: "tools/call", ID: "1"},
		`{"method":"ping","jsonrpc":"2.0","id":"1"}`:                         {Kind: Request, Method: "ping", ID: `"1"`},
		`{"jsonrpc":"2.0","id":0,"method":"ping"}`:                           {Kind: Request, Method: "ping", ID: "0"},
		`{"jsonrpc":"2.0","id":"","method":"ping"}`:                          {Kind: Request, Method: "ping", ID: `""`},
		`{"jsonrpc":"2.0","id":9007199254740991,"result":{}}`:                {Kind: Result, ID: "9007199254740991"},
		`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`:                {Kind: Result, ID: "9007199254740993", Faults: FaultBigNumber},
		`{"jsonrpc":"2.0","id":1.0,"result":{"method":"x","id":7}}`:          {Kind: Result, ID: "1.0", Faults: FaultIDType},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:             {Kind: Notification, Method: "notifications/initialized"},
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}`:    {Kind: Error, ID: "4", Code: -32601},
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`: {Kind: Error, ID: "null", Code: -32700, Faults: FaultErrorID},
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`:           {Kind: Error, Code: -32700},
		`{"jsonrpc":"2.0","id":4,"error":"no"}`:                              {Kind: Error, ID: "4", Faults: FaultErrorForm},
		`{"jsonrpc":"2.0","id":4,"error":{"code":1.5,"message":"no"}}`:       {Kind: Error, ID: "4", Code: 1, Faults: FaultErrorForm},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                        {Kind: Malformed, Method: "ping", ID: "null", Faults: FaultIDNull},
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                          {Kind: Malformed, Method: "ping", ID: "{}", Faults: FaultIDType},
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:                        {Kind: Malformed, Method: "ping", ID: "true", Faults: FaultIDType},
		`{"jsonrpc":"2.0","id":1,"method":7}`:                                {Kind: Malformed, ID: "1", Faults: FaultNoResult},
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`:            {Kind: Malformed, ID: "1", Faults: FaultNoResult},
		`{"jsonrpc":"2.0","id":1}`:                                           {Kind: Malformed, ID: "1", Faults: FaultNoResult},
		`{"jsonrpc":"2.0","result":{}}`:                                      {Kind: Malformed, Faults: FaultIDType},
		`{"jsonrpc":"2.0","id":1,"result":[]}`:                               {Kind: Result, ID: "1", Faults: FaultNoObject},
		`{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`:                 {Kind: Request, ID: "1", Method: "x", Faults: FaultNoObject},
		`{"id":1,"method":"x"}`:                                              {Kind: Request, ID: "1", Method: "x", Faults: FaultVersion},
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`:                       {Kind: Request, ID: "2", Method: "x", Faults: FaultDuplicate},
		`{"level":"info","msg":"JSON, but not JSON-RPC"}`:                    {Kind: Malformed, Faults: FaultVersion | FaultNoResult},
		`7`:                                     {Kind: Malformed, Faults: FaultNoResult},
		`null`:                                  {Kind: Malformed, Faults: FaultNoResult},
		` { "id" : 5 , "method" : "a\u0062" } `: {Kind: Request, Method: "ab", ID: "5", Faults: FaultVersion},
		`[]`:                                    {Kind: Batch, Faults: FaultBatch | FaultBatchForm},
		`[{` + v2 + `"id":1,"method":"a"},{` + v2 + `"method":"b"}]`: {Kind: Batch, Faults: FaultBatch, Members: []Message{
			{Kind: Request, Method: "a", ID: "1"}, {Kind: Notification, Method: "b"}}},
		`[{` + v2 + `"id":1,"method":"a"},{` + v2 + `"id":1,"result":{}}]`: {Kind: Batch, Faults: FaultBatch | FaultBatchForm, Members: []Message{
			{Kind: Request, Method: "a", ID: "1"}, {Kind: Result, ID: "1"}}},
	} {
		if diff := cmp.Diff(want, Parse([]byte(body))); diff != "" {
			t.Errorf("Parse(%s): %s", body, diff)
		}
	}
}

func TestFaultList(t *testing.T) {
	got := (FaultVersion | FaultIDNull).List()
	want := []Fault{{"RPC-02", `jsonrpc is not "2.0"`}, {"RPC-04", "the id of a request is null"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClassify(t *testing.T) {
	message := `{"jsonrpc":"2.0","id":1,"result":{}}`
	for body, want := range map[string]StrayKind{
		"":                                      StrayBlank,
		" \t\r":                                 StrayBlank,
		"Content-Length: 38\r":                  StrayHeader,
		"content-length:38":                     StrayHeader,
		"debug: starting" + message:             StrayGlued,
		message + " done":                       StrayTrailing,
		message + message:                       StraySeveral,
		message + ", " + message:                StraySeveral,
		message + "\x1e" + message:              StraySeveral,
		"{":                                     StrayText,
		`{"jsonrpc":"2.0",`:                     StrayPartial,
		`"id":1,"jsonrpc":"2.0"}`:               StrayPartial,
		"caf\xe9":                               StrayEncoding,
		"\xef\xbb\xbf" + message:                StrayBOM,
		`{"jsonrpc":"2.0","id":1,"result":NaN}`: StrayNumber,
		"Server running on stdio":               StrayText,
		"[info] server {ready}":                 StrayText,
		`{"a":
			1}`: StrayLines,
	} {
		if got := Classify([]byte(body)); got != want {
			t.Errorf("Classify(%q) = %q, want %q", body, got, want)
		}
	}
}

func TestParseEnds(t *testing.T) {
	for _, c := range []struct {
		head, tail string
		want       Message
	}{
		{`{"result":{"content":[{"type":"te`, `xt"}]},"jsonrpc":"2.0","id":5}`, Message{Kind: Result, ID: "5"}},
		{`{"jsonrpc":"2.0","id":7,"result":{"content":"aaa`, `aaa"}}`, Message{Kind: Result, ID: "7"}},
		{`{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"aaa`, `aaa"}}`, Message{Kind: Request, ID: "7", Method: "x"}},
		{`{"method":"x","params":{"a":"aaa`, `aaa"},"jsonrpc":"2.0","id":"q"}`, Message{Kind: Request, ID: `"q"`, Method: "x"}},
		{`{"result":{"content":"aaa`, `,"id":3}}`, Message{Kind: Cut}}, // the id of something inside
		{`{"result":{"content":"aaa`, ``, Message{Kind: Cut}},
		{`[{"jsonrpc"`, `}]`, Message{Kind: Batch, Faults: FaultBatch}},
	} {
		if diff := cmp.Diff(c.want, ParseEnds([]byte(c.head), []byte(c.tail))); diff != "" {
			t.Errorf("ParseEnds(%s, %s): %s", c.head, c.tail, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
	f.Add([]byte(`[{"id":`))
	f.Add([]byte(`{"\u`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		Parse(b)
		ParseFrame(b, false, false)
		ParseEnds(b[:len(b)/2], b[len(b)/2:])
		Gist(b, Parse(b))
		DescribeError(b, "2026-07-28")
	})
}

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "1": 0, "[]": 1, `{"a":[1,{"b":2}]}`: 3, `["[[[[", "\"[["]`: 1, "[[[": 3, "]]": 0} {
		if got := Depth([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestIndented(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 5000) + strings.Repeat("]}", 5000)
	for text, want := range map[string]string{`{"a":[1]}`: "{\n  \"a\": [\n    1\n  ]\n}", "no JSON": "no JSON", deep: deep} {
		if got := string(Indented([]byte(text))); got != want {
			t.Errorf("%.20s became %.40q", text, got)
		}
	}
}
