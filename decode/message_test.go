package decode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for body, want := range map[string]Message{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`:         {Kind: Request, Method: "tools/call", ID: "1"},
		`{"method":"ping","jsonrpc":"2.0","id":"1"}`:                         {Kind: Request, Method: "ping", ID: `"1"`},
		`{"jsonrpc":"2.0","id":0,"method":"ping"}`:                           {Kind: Request, Method: "ping", ID: "0"},
		`{"jsonrpc":"2.0","id":"","method":"ping"}`:                          {Kind: Request, Method: "ping", ID: `""`},
		`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`:                {Kind: Result, ID: "9007199254740993"},
		`{"jsonrpc":"2.0","id":1.0,"result":{"method":"x","id":7}}`:          {Kind: Result, ID: "1.0"},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:             {Kind: Notification, Method: "notifications/initialized"},
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}`:    {Kind: Error, ID: "4", Code: -32601},
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`: {Kind: Error, ID: "null", Code: -32700},
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`:           {Kind: Error, Code: -32700},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                        {Kind: Malformed, Method: "ping", ID: "null"},
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                          {Kind: Malformed, Method: "ping", ID: "{}"},
		`{"jsonrpc":"2.0","id":1,"method":7}`:                                {Kind: Malformed, ID: "1"},
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`:            {Kind: Malformed, ID: "1"},
		`{"jsonrpc":"2.0","id":1}`:                                           {Kind: Malformed, ID: "1"},
		`{"jsonrpc":"2.0","result":{}}`:                                      {Kind: Malformed},
		`[{"jsonrpc":"2.0","id":1,"method":"a"}]`:                            {Kind: Batch},
		`7`:                                     {Kind: Malformed},
		`null`:                                  {Kind: Malformed},
		` { "id" : 5 , "method" : "a\u0062" } `: {Kind: Request, Method: "ab", ID: "5"},
	} {
		if diff := cmp.Diff(want, Parse([]byte(body))); diff != "" {
			t.Errorf("Parse(%s): %s", body, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
	f.Add([]byte(`[{"id":`))
	f.Fuzz(func(_ *testing.T, b []byte) { Parse(b) })
}
