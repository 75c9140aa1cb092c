package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/report"
)

func TestErrorWords(t *testing.T) {
	for want, answer := range map[string]string{
		"Unknown tool: close_ticket (-32602 invalid params)": `{"code":-32602,"message":"Unknown tool: close_ticket"}`,
		"Method not found (-32601)":                          `{"code":-32601,"message":"Method not found"}`,
		"MCP error -32602: no (invalid params)":              `{"code":-32602,"message":"MCP error -32602: no"}`,
		"MCP error -32602: Invalid params":                   `{"code":-32602,"message":"MCP error -32602: Invalid params"}`,
		"-32602 invalid params":                              `{"code":-32602,"message":""}`,
		"no (-32002 resource not found; resource file:///x)": `{"code":-32002,"message":"no","data":{"uri":"file:///x"}}`,
	} {
		e, ok := decode.DescribeError([]byte(`{"jsonrpc":"2.0","id":1,"error":`+answer+`}`), "2025-06-18")
		if got := report.ErrorWords(e); !ok || got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}

// TestWhyIsWhole: a reason is as long as the server made it, up to what a person reads.
func TestWhyIsWhole(t *testing.T) {
	long := strings.Repeat("because ", 60) + "of the end"
	quoted, _ := json.Marshal(long)
	huge, _ := json.Marshal(strings.Repeat("€", 10_000))
	hidden, _ := json.Marshal(`{"ok":false,"error":` + string(quoted) + `}`)
	for name, c := range map[string]struct{ answer, want string }{
		"tool error":      {`"result":{"isError":true,"content":[{"type":"text","text":` + string(quoted) + `}]}`, long},
		"protocol error":  {`"error":{"code":-32602,"message":` + string(quoted) + `}`, long + " (-32602 invalid params)"},
		"hidden error":    {`"result":{"content":[{"type":"text","text":` + string(hidden) + `}]}`, long},
		"without measure": {`"result":{"isError":true,"content":[{"type":"text","text":` + string(huge) + `}]}`, "…"},
	} {
		lines := `{"meta":{"session":"x","transport":"stdio"}}` + "\n" +
			line("c2s", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`) +
			line("s2c", `{"jsonrpc":"2.0","id":1,`+c.answer+`}`)
		s, err := sessions.Read(strings.NewReader(lines))
		if err != nil {
			t.Fatal(err)
		}
		l, err := sessions.Load(s, decode.Options{})
		if err != nil || l.Calls() != 1 {
			t.Fatal(err, l.Calls())
		}
		o := l.Operation(0)
		got := report.Why(l, &o)
		if !strings.Contains(got, c.want) || utf8.RuneCountInString(got) > decode.MaxReason+1 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func line(dir, body string) string {
	b, _ := json.Marshal(map[string]any{"t": 1, "dir": dir, "raw": body})
	return string(b) + "\n"
}
