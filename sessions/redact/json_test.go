package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1.0, "b" :[true,null,"x\u00e9"] }`:                      `{"a": 1.0, "b" :[true,null,"x\u00e9"] }`,
		`{"password":"x","n":1}`:                                       `{"password":"***","n":1}`,
		`{ "api_key" : 123456789012345678901 , "x":1}`:                 `{ "api_key" : "***" , "x":1}`,
		`{"api\u005fkey":"s"}`:                                         `{"api\u005fkey":"***"}`,
		`{"token":null,"secret":true,"password":""}`:                   `{"token":null,"secret":true,"password":""}`,
		`{"secrets":["a",["b",1],{"c":"d"}]}`:                          `{"secrets":["***",["***","***"],{"c":"***"}]}`,
		`{"properties":{"api_key":{"type":"string"}}}`:                 `{"properties":{"api_key":{"type":"string"}}}`,
		`{"text":"{\"password\":\"x\",\"n\":[1]}"}`:                    `{"text":"{\"password\":\"***\",\"n\":[1]}"}`,
		`{"text":"Result: {\"password\": \"x y\"}"}`:                   `{"text":"Result: {\"password\": \"***\"}"}`,
		`{"text":"token="}`:                                            `{"text":"token="}`,
		`["--api-key","s","--verbose","-v"]`:                           `["--api-key","***","--verbose","-v"]`,
		`["--api-key","--next"]`:                                       `["--api-key","--next"]`,
		`"\u0073k-ant-0123456789abcdef"`:                               `"***"`,
		`{"url":"https://u:pw@host/x?token=abc"}`:                      `{"url":"https://***:***@host/x?token=***"}`,
		`{"_meta":{"progressToken":7},"nextCursor":"abc"}`:             `{"_meta":{"progressToken":7},"nextCursor":"abc"}`,
		`{"sk-ant-0123456789abcdef":1}`:                                `{"***":1}`,
		`not JSON, password: hunter2.9`:                                `not JSON, password: ***`,
		`{"headers":{"Authorization":"Bearer abc","Accept":"text/*"}}`: `{"headers":{"Authorization":"***","Accept":"text/*"}}`,
		`7`: `7`,
		``:  ``,
		"[\"line\u2028\",\"<&>\",{\"password\":\"<&>\"}]":              "[\"line\u2028\",\"<&>\",{\"password\":\"***\"}]",
		`{"a":"<&> password=hunter2.9 \u0007"}`:                        `{"a":"<&> password=*** \u0007"}`,
		`{"a":{"b":[{"token":"x"}]},"c":[]}`:                           `{"a":{"b":[{"token":"***"}]},"c":[]}`,
		`{"text":"{\"text\":\"{\\\"password\\\":\\\"a\\\\nb\\\"}\"}"}`: `{"text":"{\"text\":\"{\\\"password\\\":\\\"***\\\"}\"}"}`,
		strings.Repeat("[", 9000) + `"ok"` + strings.Repeat("]", 9000): strings.Repeat("[", 9000) + `"ok"` + strings.Repeat("]", 9000),
	} {
		if got := JSON(in); got != want {
			t.Errorf("%.200s\n gives %.200s\nwant %.200s", in, got, want)
		}
	}
}

// FuzzJSON: a JSON text stays one, of one line if it was, and masking again changes
// nothing.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"password":"x","token":17,"a":["b",{"api_key":null}]}`, `{"text":"{\"secret\":\"s\\\"x\",\"n\":1}"}`, `"Authorization: Bearer abc\\def"`, `{"":"token="}`, `{"env":["API_KEY=x y","--token","v"],"secret":["a",["b"]]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := JSON(s)
		if !json.Valid([]byte(s)) {
			return
		}
		if !json.Valid([]byte(once)) || strings.Count(once, "\n") > strings.Count(s, "\n") {
			t.Fatalf("%s became %s", s, once)
		}
		if twice := JSON(once); twice != once && !strings.Contains(s, `\`) { // what a mask ends may make sense of escapes around it
			t.Fatalf("%s became %s, then %s", s, once, twice)
		}
	})
}
